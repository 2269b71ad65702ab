import { assertEquals, assertMatch, test } from "../../tests/testing.ts";
import type { Kind } from "./model/mod.ts";
import { configMaps, foos, mergePatch, TestServer } from "./testing/test_server.ts";
import { configMap } from "./testing/test_kinds.ts";

const hold = { finalizers: ["example.com/hold"] };

test("a deletion returns a Status with the UID, and removes the object", async () => {
  using server = new TestServer();
  const created = (await server.createFoo("f")).body;
  const { code, body } = await server.send("DELETE", `${foos}/f`);
  assertEquals(code, 200);
  assertEquals(body, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: "f", group: "example.com", kind: "foos", uid: created.metadata.uid },
  });
  assertEquals((await server.send("GET", `${foos}/f`)).code, 404);
  assertEquals((await server.send("DELETE", `${foos}/f`)).code, 404);
});

test("finalizers keep a deleted object until the last one is removed", async () => {
  using server = new TestServer();
  await server.createFoo("f", {}, { finalizers: ["example.com/a", "example.com/b"] });
  const { code, body } = await server.send("DELETE", `${foos}/f`);
  assertEquals([code, body.kind, body.metadata.generation], [200, "Foo", 2]);
  assertEquals(
    [body.metadata.deletionTimestamp, body.metadata.deletionGracePeriodSeconds],
    ["2026-01-01T00:00:00Z", 0],
  );
  const again = (await server.send("DELETE", `${foos}/f`)).body;
  assertEquals(again, body);
  const added = await server.send(
    "PATCH",
    `${foos}/f`,
    { metadata: { finalizers: ["example.com/a", "example.com/c"] } },
    mergePatch,
  );
  assertMatch(added.body.message, /no new finalizers can be added if the object is being deleted/);
  await server.send("PATCH", `${foos}/f`, { metadata: { finalizers: ["example.com/b"] } }, mergePatch);
  assertEquals((await server.send("GET", `${foos}/f`)).body.metadata.finalizers, ["example.com/b"]);
  const last = await server.send("PATCH", `${foos}/f`, { metadata: { finalizers: null } }, mergePatch);
  assertEquals([last.code, last.body.metadata.finalizers], [200, undefined]);
  assertEquals((await server.send("GET", `${foos}/f`)).code, 404);
});

test("a watch gets the deletionTimestamp, each removed finalizer, and the deletion", async () => {
  using server = new TestServer();
  const { body } = await server.createConfigMap("a", {}, hold);
  const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  await server.send("DELETE", `${configMaps}/a`);
  await server.send("PATCH", `${configMaps}/a`, { metadata: { finalizers: [] } }, mergePatch);
  assertEquals(await watch.take(2), ["MODIFIED a@6", "DELETED a@7"]);
  await watch.cancel();
});

const policies: readonly (readonly [string, object | undefined, readonly string[]])[] = [
  ["?propagationPolicy=Orphan", undefined, ["orphan"]],
  ["?propagationPolicy=Foreground", undefined, ["foregroundDeletion"]],
  ["", { propagationPolicy: "Foreground" }, ["foregroundDeletion"]],
  ["", { orphanDependents: true }, ["orphan"]],
];

for (const [query, options, finalizers] of policies) {
  test(`DELETE${query} ${JSON.stringify(options) ?? ""} leaves the object to the garbage collector with ${finalizers}`, async () => {
    using server = new TestServer();
    await server.createConfigMap("a");
    const { body } = await server.send("DELETE", `${configMaps}/a${query}`, options);
    assertEquals([body.kind, body.metadata.finalizers], ["ConfigMap", finalizers]);
  });
}

test("a propagation policy removes the finalizer of another one", async () => {
  using server = new TestServer();
  await server.createConfigMap("a", {}, { finalizers: ["foregroundDeletion", "example.com/hold"] });
  const { body } = await server.send("DELETE", `${configMaps}/a?propagationPolicy=Background`);
  assertEquals(body.metadata.finalizers, ["example.com/hold"]);
});

test("orphanDependents: false gets 202 while finalizers keep the object", async () => {
  using server = new TestServer();
  await server.createConfigMap("a", {}, hold);
  assertEquals((await server.send("DELETE", `${configMaps}/a`, { orphanDependents: false })).code, 202);
});

const preconditions: readonly (readonly [object, RegExp])[] = [
  [{ uid: "wrong" }, /the UID in the precondition \(wrong\) does not match the UID in record/],
  [
    { resourceVersion: "1" },
    /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record/,
  ],
];

for (const [precondition, message] of preconditions) {
  test(`a deletion with ${JSON.stringify(precondition)} is rejected with 409`, async () => {
    using server = new TestServer();
    await server.createConfigMap("a");
    const { code, body } = await server.send("DELETE", `${configMaps}/a`, { preconditions: precondition });
    assertEquals([code, body.reason], [409, "Conflict"]);
    assertMatch(body.message, message);
  });
}

test("a deletion with matching preconditions succeeds", async () => {
  using server = new TestServer();
  const { metadata } = (await server.createConfigMap("a")).body;
  const options = { preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion } };
  assertEquals((await server.send("DELETE", `${configMaps}/a`, options)).code, 200);
});

/** A kind with a grace period of 30 seconds, like Pods. */
const graceful: Kind = {
  ...configMap,
  deletion: { returnsObject: true, grace: (_object, asked) => asked ?? 30 },
};

function gracefulRig(): TestServer {
  return new TestServer({
    families: [{ collection: "configmaps", served: [graceful], storage: graceful }],
  });
}

test("a graceful deletion sets deletionTimestamp, can be shortened but not lengthened, and ends with a grace period of 0", async () => {
  using server = gracefulRig();
  await server.createConfigMap("a");
  const graceOf = async (query: string) => {
    const { metadata } = (await server.send("DELETE", `${configMaps}/a${query}`)).body;
    return [metadata.deletionGracePeriodSeconds, metadata.deletionTimestamp];
  };
  assertEquals(await graceOf(""), [30, "2026-01-01T00:00:30Z"]);
  await server.clock.advance(2_000);
  assertEquals(await graceOf(""), [30, "2026-01-01T00:00:30Z"]);
  assertEquals(await graceOf("?gracePeriodSeconds=60"), [30, "2026-01-01T00:00:30Z"]);
  assertEquals(await graceOf("?gracePeriodSeconds=10"), [10, "2026-01-01T00:00:10Z"]);
  assertEquals(await graceOf("?gracePeriodSeconds=0"), [0, "2026-01-01T00:00:02Z"]);
  assertEquals((await server.send("GET", `${configMaps}/a`)).code, 404);
});

test("a deletion with a grace period of 0 removes the object at once, and returns it", async () => {
  using server = gracefulRig();
  await server.createConfigMap("a");
  const { body } = await server.send("DELETE", `${configMaps}/a?gracePeriodSeconds=0`);
  assertEquals([body.kind, body.metadata.name], ["ConfigMap", "a"]);
  assertEquals((await server.send("GET", `${configMaps}/a`)).code, 404);
});

test("both finalizers and a grace period keep an object", async () => {
  using server = gracefulRig();
  await server.createConfigMap("a", {}, hold);
  await server.send("DELETE", `${configMaps}/a?gracePeriodSeconds=5`);
  await server.send("PATCH", `${configMaps}/a`, { metadata: { finalizers: null } }, mergePatch);
  assertEquals((await server.send("GET", `${configMaps}/a`)).code, 200);
  await server.send("DELETE", `${configMaps}/a?gracePeriodSeconds=0`);
  assertEquals((await server.send("GET", `${configMaps}/a`)).code, 404);
});

test("deletecollection deletes the selected objects, respects finalizers, and returns the list", async () => {
  using server = new TestServer();
  for (const name of ["a", "b"]) await server.createConfigMap(name, {}, { labels: { app: "x" } });
  await server.createConfigMap("c", {}, { labels: { app: "x" }, ...hold });
  await server.createConfigMap("d");
  const { code, body } = await server.send("DELETE", `${configMaps}?labelSelector=app%3Dx`);
  assertEquals([code, body.kind, body.items.length], [200, "ConfigMapList", 3]);
  const left = (await server.send("GET", configMaps)).body.items;
  assertEquals(left.map((item: { metadata: { name: string } }) => item.metadata.name), ["c", "d"]);
  assertEquals((await server.send("DELETE", "/api/v1/configmaps")).code, 405);
});

test("a dry run deletes nothing", async () => {
  using server = new TestServer();
  await server.createConfigMap("a");
  await server.createConfigMap("b", {}, hold);
  assertEquals((await server.send("DELETE", `${configMaps}/a?dryRun=All`)).body.status, "Success");
  const held = (await server.send("DELETE", `${configMaps}/b`, { dryRun: ["All"] })).body;
  assertEquals(held.metadata.deletionTimestamp, "2026-01-01T00:00:00Z");
  const { items } = (await server.send("GET", configMaps)).body;
  assertEquals(items.map((item: { metadata: object }) => "deletionTimestamp" in item.metadata), [false, false]);
});
