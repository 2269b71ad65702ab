import { assertEquals, assertMatch, test } from "../../tests/testing.ts";
import type { Kind } from "./model/mod.ts";
import { configMaps, foos, mergePatch, Rig } from "./_server_rig.ts";
import { configMap } from "./kind_test_data.ts";

const hold = { finalizers: ["example.com/hold"] };

test("a deletion answers a Status with the UID, and the object is gone", async () => {
  using rig = new Rig();
  const created = (await rig.createFoo("f")).body;
  const { code, body } = await rig.send("DELETE", `${foos}/f`);
  assertEquals(code, 200);
  assertEquals(body, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: "f", group: "example.com", kind: "foos", uid: created.metadata.uid },
  });
  assertEquals((await rig.send("GET", `${foos}/f`)).code, 404);
  assertEquals((await rig.send("DELETE", `${foos}/f`)).code, 404);
});

test("finalizers hold a deleted object until the last one goes", async () => {
  using rig = new Rig();
  await rig.createFoo("f", {}, { finalizers: ["example.com/a", "example.com/b"] });
  const { code, body } = await rig.send("DELETE", `${foos}/f`);
  assertEquals([code, body.kind, body.metadata.generation], [200, "Foo", 2]);
  assertEquals(
    [body.metadata.deletionTimestamp, body.metadata.deletionGracePeriodSeconds],
    ["2026-01-01T00:00:00Z", 0],
  );
  const again = (await rig.send("DELETE", `${foos}/f`)).body;
  assertEquals(again, body);
  const added = await rig.send(
    "PATCH",
    `${foos}/f`,
    { metadata: { finalizers: ["example.com/a", "example.com/c"] } },
    mergePatch,
  );
  assertMatch(added.body.message, /no new finalizers can be added if the object is being deleted/);
  await rig.send("PATCH", `${foos}/f`, { metadata: { finalizers: ["example.com/b"] } }, mergePatch);
  assertEquals((await rig.send("GET", `${foos}/f`)).body.metadata.finalizers, ["example.com/b"]);
  const last = await rig.send("PATCH", `${foos}/f`, { metadata: { finalizers: null } }, mergePatch);
  assertEquals([last.code, last.body.metadata.finalizers], [200, undefined]);
  assertEquals((await rig.send("GET", `${foos}/f`)).code, 404);
});

test("a watcher sees the mark, each finalizer that goes, and the end", async () => {
  using rig = new Rig();
  const { body } = await rig.createConfigMap("a", {}, hold);
  const watch = await rig.watch(`${configMaps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  await rig.send("DELETE", `${configMaps}/a`);
  await rig.send("PATCH", `${configMaps}/a`, { metadata: { finalizers: [] } }, mergePatch);
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
  test(`DELETE${query} ${JSON.stringify(options) ?? ""} leaves the object to the collector with ${finalizers}`, async () => {
    using rig = new Rig();
    await rig.createConfigMap("a");
    const { body } = await rig.send("DELETE", `${configMaps}/a${query}`, options);
    assertEquals([body.kind, body.metadata.finalizers], ["ConfigMap", finalizers]);
  });
}

test("a policy takes the other one's finalizer away", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a", {}, { finalizers: ["foregroundDeletion", "example.com/hold"] });
  const { body } = await rig.send("DELETE", `${configMaps}/a?propagationPolicy=Background`);
  assertEquals(body.metadata.finalizers, ["example.com/hold"]);
});

test("the deprecated wish not to orphan is answered with 202 while something holds the object", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a", {}, hold);
  assertEquals((await rig.send("DELETE", `${configMaps}/a`, { orphanDependents: false })).code, 202);
});

const preconditions: readonly (readonly [object, RegExp])[] = [
  [{ uid: "wrong" }, /the UID in the precondition \(wrong\) does not match the UID in record/],
  [
    { resourceVersion: "1" },
    /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record/,
  ],
];

for (const [precondition, message] of preconditions) {
  test(`a deletion with ${JSON.stringify(precondition)} is refused with 409`, async () => {
    using rig = new Rig();
    await rig.createConfigMap("a");
    const { code, body } = await rig.send("DELETE", `${configMaps}/a`, { preconditions: precondition });
    assertEquals([code, body.reason], [409, "Conflict"]);
    assertMatch(body.message, message);
  });
}

test("a deletion with the right preconditions goes through", async () => {
  using rig = new Rig();
  const { metadata } = (await rig.createConfigMap("a")).body;
  const options = { preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion } };
  assertEquals((await rig.send("DELETE", `${configMaps}/a`, options)).code, 200);
});

/** A kind with a grace of 30 seconds, as Pods have it. */
const graceful: Kind = {
  ...configMap,
  deletion: { answersObject: true, grace: (_object, asked) => asked ?? 30 },
};

function gracefulRig(): Rig {
  return new Rig({
    families: [{ collection: "configmaps", served: [graceful], storage: graceful }],
  });
}

test("a graceful deletion marks the object, may be shortened but not lengthened, and ends with a grace of 0", async () => {
  using rig = gracefulRig();
  await rig.createConfigMap("a");
  const graceOf = async (query: string) => {
    const { metadata } = (await rig.send("DELETE", `${configMaps}/a${query}`)).body;
    return [metadata.deletionGracePeriodSeconds, metadata.deletionTimestamp];
  };
  assertEquals(await graceOf(""), [30, "2026-01-01T00:00:30Z"]);
  await rig.clock.advance(2_000);
  assertEquals(await graceOf(""), [30, "2026-01-01T00:00:30Z"]);
  assertEquals(await graceOf("?gracePeriodSeconds=60"), [30, "2026-01-01T00:00:30Z"]);
  assertEquals(await graceOf("?gracePeriodSeconds=10"), [10, "2026-01-01T00:00:10Z"]);
  assertEquals(await graceOf("?gracePeriodSeconds=0"), [0, "2026-01-01T00:00:02Z"]);
  assertEquals((await rig.send("GET", `${configMaps}/a`)).code, 404);
});

test("a graceful deletion of 0 takes the object at once, and answers it", async () => {
  using rig = gracefulRig();
  await rig.createConfigMap("a");
  const { body } = await rig.send("DELETE", `${configMaps}/a?gracePeriodSeconds=0`);
  assertEquals([body.kind, body.metadata.name], ["ConfigMap", "a"]);
  assertEquals((await rig.send("GET", `${configMaps}/a`)).code, 404);
});

test("finalizers and grace hold an object both", async () => {
  using rig = gracefulRig();
  await rig.createConfigMap("a", {}, hold);
  await rig.send("DELETE", `${configMaps}/a?gracePeriodSeconds=5`);
  await rig.send("PATCH", `${configMaps}/a`, { metadata: { finalizers: null } }, mergePatch);
  assertEquals((await rig.send("GET", `${configMaps}/a`)).code, 200);
  await rig.send("DELETE", `${configMaps}/a?gracePeriodSeconds=0`);
  assertEquals((await rig.send("GET", `${configMaps}/a`)).code, 404);
});

test("a collection is deleted as its selectors and finalizers allow, and answers what it was", async () => {
  using rig = new Rig();
  for (const name of ["a", "b"]) await rig.createConfigMap(name, {}, { labels: { app: "x" } });
  await rig.createConfigMap("c", {}, { labels: { app: "x" }, ...hold });
  await rig.createConfigMap("d");
  const { code, body } = await rig.send("DELETE", `${configMaps}?labelSelector=app%3Dx`);
  assertEquals([code, body.kind, body.items.length], [200, "ConfigMapList", 3]);
  const left = (await rig.send("GET", configMaps)).body.items;
  assertEquals(left.map((item: { metadata: { name: string } }) => item.metadata.name), ["c", "d"]);
  assertEquals((await rig.send("DELETE", "/api/v1/configmaps")).code, 405);
});

test("a dry run deletes nothing", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a");
  await rig.createConfigMap("b", {}, hold);
  assertEquals((await rig.send("DELETE", `${configMaps}/a?dryRun=All`)).body.status, "Success");
  const held = (await rig.send("DELETE", `${configMaps}/b`, { dryRun: ["All"] })).body;
  assertEquals(held.metadata.deletionTimestamp, "2026-01-01T00:00:00Z");
  const { items } = (await rig.send("GET", configMaps)).body;
  assertEquals(items.map((item: { metadata: object }) => "deletionTimestamp" in item.metadata), [false, false]);
});
