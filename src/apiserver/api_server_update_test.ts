import { assertEquals, assertMatch, test } from "../../tests/testing.ts";
import type { AdmissionPlugin } from "./model/mod.ts";
import {
  applyPatch,
  configMaps,
  foos,
  jsonPatch,
  mergePatch,
  strategicPatch,
  TestServer,
} from "./testing/test_server.ts";

const modified = "the object has been modified; please apply your changes to the latest version and try again";

test("an update replaces the object, keeps its identity, and conflicts on an old resourceVersion", async () => {
  using server = new TestServer();
  const created = (await server.createConfigMap("a", { data: { k: "v" } })).body;
  const object = { metadata: { name: "a", resourceVersion: created.metadata.resourceVersion }, data: { k: "w" } };
  const updated = await server.send("PUT", `${configMaps}/a`, object);
  assertEquals([updated.code, updated.body.data, updated.body.metadata.uid], [200, { k: "w" }, created.metadata.uid]);
  assertEquals(updated.body.metadata.creationTimestamp, created.metadata.creationTimestamp);
  const late = await server.send("PUT", `${configMaps}/a`, object);
  assertEquals([late.code, late.body.reason], [409, "Conflict"]);
  assertEquals(late.body.message, `Operation cannot be fulfilled on configmaps "a": ${modified}`);
});

test("an update without resourceVersion overwrites a built-in object, but not a custom one", async () => {
  using server = new TestServer();
  await server.createConfigMap("a");
  assertEquals((await server.send("PUT", `${configMaps}/a`, { metadata: { name: "a" }, data: { x: "1" } })).code, 200);
  await server.createFoo("f");
  const object = { apiVersion: "example.com/v1", kind: "Foo", metadata: { name: "f" }, spec: { replicas: 3 } };
  const { code, body } = await server.send("PUT", `${foos}/f`, object);
  assertEquals([code, body.details.causes[0].message], [422, "Invalid value: 0: must be specified for an update"]);
});

test("an update that changes nothing keeps the resourceVersion and causes no event", async () => {
  using server = new TestServer();
  const created = (await server.createConfigMap("a", { data: { k: "v" } })).body;
  const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${created.metadata.resourceVersion}`);
  await server.clock.advance(5_000);
  for (const object of [created, { metadata: { name: "a" }, data: { k: "v" } }]) {
    const { body } = await server.send("PUT", `${configMaps}/a`, object);
    assertEquals(body, created);
  }
  assertEquals((await server.send("PATCH", `${configMaps}/a`, { data: { k: "v" } }, mergePatch)).body, created);
  await server.send("PATCH", `${configMaps}/a`, { data: { k: "w" } }, mergePatch);
  assertEquals(await watch.take(1), ["MODIFIED a@6"]);
  await watch.cancel();
});

test("the generation counts only changes of the spec", async () => {
  using server = new TestServer();
  await server.createFoo("f", { replicas: 1 });
  const patched = async (path: string, patch: object) =>
    (await server.send("PATCH", `${foos}/f${path}`, patch, mergePatch)).body.metadata.generation;
  assertEquals(await patched("", { metadata: { labels: { a: "b" } } }), 1);
  assertEquals(await patched("", { spec: { replicas: 2 } }), 2);
  assertEquals(await patched("/status", { status: { replicas: 2 } }), 2);
  assertEquals(await patched("", { metadata: { generation: 9 } }), 2);
});

test("a write to status does not change the spec, and the other way round", async () => {
  using server = new TestServer();
  await server.createFoo("f", { replicas: 1 });
  const both = { spec: { replicas: 5 }, status: { replicas: 5 } };
  const status = (await server.send("PATCH", `${foos}/f/status`, both, mergePatch)).body;
  assertEquals([status.spec.replicas, status.status], [1, { replicas: 5 }]);
  const spec = (await server.send("PATCH", `${foos}/f`, { ...both, status: { replicas: 7 } }, mergePatch)).body;
  assertEquals([spec.spec.replicas, spec.status], [5, { replicas: 5 }]);
  const managers = spec.metadata.managedFields.map((entry: { subresource?: string }) => entry.subresource ?? "");
  assertEquals(managers, ["", "status"]);
});

test("scale reads and writes the replicas of any kind, and tracks their owner", async () => {
  using server = new TestServer();
  await server.createFoo("f", { replicas: 2, selector: "app=f" });
  const scale = (await server.send("GET", `${foos}/f/scale`)).body;
  assertEquals([scale.kind, scale.spec, scale.status], ["Scale", { replicas: 2 }, { replicas: 0, selector: "app=f" }]);
  const put = await server.send("PUT", `${foos}/f/scale`, { ...scale, spec: { replicas: 4 } });
  assertEquals([put.code, put.body.spec], [200, { replicas: 4 }]);
  const late = await server.send("PUT", `${foos}/f/scale`, { ...scale, spec: { replicas: 5 } });
  assertEquals([late.code, late.body.reason], [409, "Conflict"]);
  const patched = await server.send("PATCH", `${foos}/f/scale`, { spec: { replicas: 6 } }, mergePatch);
  assertEquals(patched.body.spec, { replicas: 6 });
  const { body } = await server.send("GET", `${foos}/f`);
  assertEquals([body.spec.replicas, body.metadata.generation], [6, 3]);
  const scaler = body.metadata.managedFields.find((entry: { subresource?: string }) => entry.subresource === "scale");
  assertEquals(scaler.fieldsV1, { "f:spec": { "f:replicas": {} } });
  const negative = await server.send("PATCH", `${foos}/f/scale`, { spec: { replicas: -1 } }, mergePatch);
  assertEquals([negative.code, negative.body.details.causes[0].field], [422, ".spec.replicas"]);
});

const identity: readonly (readonly [string, object, number, RegExp])[] = [
  ["another name", { name: "b" }, 400, /the name of the object \(b\) does not match the name on the URL \(a\)/],
  ["another namespace", { name: "a", namespace: "x" }, 400, /namespace of the provided object does not match/],
  [
    "another UID",
    { name: "a", uid: "wrong" },
    409,
    /Precondition failed: UID in precondition: wrong, UID in object meta/,
  ],
  ["a version that is no number", { name: "a", resourceVersion: "x" }, 500, /strconv.ParseUint: parsing "x"/],
];

for (const [what, metadata, code, message] of identity) {
  test(`a PUT with ${what} is rejected with ${code}`, async () => {
    using server = new TestServer();
    await server.createConfigMap("a");
    const response = await server.send("PUT", `${configMaps}/a`, { metadata });
    assertEquals(response.code, code);
    assertMatch(response.body.message, message);
  });
}

test("patches of all types change the object", async () => {
  using server = new TestServer();
  await server.createConfigMap("a", { data: { k: "v" } });
  const send = (patch: object | string, how: { readonly headers: Readonly<Record<string, string>> }, query = "") =>
    server.send("PATCH", `${configMaps}/a${query}`, patch, how);
  assertEquals((await send({ data: { m: "1", k: null } }, mergePatch)).body.data, { m: "1" });
  assertEquals((await send([{ op: "add", path: "/data/j", value: "2" }], jsonPatch)).body.data, { m: "1", j: "2" });
  assertEquals((await send({ data: { s: "3" } }, strategicPatch)).body.data, { m: "1", j: "2", s: "3" });
  const applied = await send(
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {z: '4'}",
    applyPatch,
    "?fieldManager=m",
  );
  assertEquals([applied.code, applied.body.data.z], [200, "4"]);
});

test("apply creates a missing object, and conflicts on fields of other managers unless it is forced", async () => {
  using server = new TestServer();
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "mine" } };
  const path = `${configMaps}/a?fieldManager=me`;
  assertEquals((await server.send("PATCH", path, object, applyPatch)).code, 201);
  await server.send("PATCH", `${configMaps}/a`, { data: { k: "theirs" } }, mergePatch);
  const rejected = await server.send("PATCH", path, object, applyPatch);
  assertEquals([rejected.code, rejected.body.details.causes[0].field], [409, ".data.k"]);
  const forced = await server.send("PATCH", `${path}&force=true`, object, applyPatch);
  assertEquals([forced.code, forced.body.data], [200, { k: "mine" }]);
  assertEquals((await server.send("PATCH", `${configMaps}/a`, object, applyPatch)).code, 422);
});

test("an apply with a version that no object has creates, or conflicts", async () => {
  using server = new TestServer();
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", resourceVersion: "1" },
    data: { k: "v" },
  };
  const apply = () => server.send("PATCH", `${configMaps}/a?fieldManager=me`, object, applyPatch);
  const created = await apply();
  assertEquals([created.code, created.body.metadata.resourceVersion], [201, "5"]);
  const late = await apply();
  assertEquals([late.code, late.body.reason], [409, "Conflict"]);
});

test("a patch without a version is repeated after a concurrent write, one with a version conflicts", async () => {
  let races = 2;
  const racer: AdmissionPlugin = {
    name: "racer",
    async validate(request) {
      if (request.operation !== "UPDATE" || request.user.name !== "system:admin" || races-- <= 0) return;
      const { storage } = server.api;
      const found = storage.find("configmaps", "default", "a");
      if (found !== undefined) storage.update("configmaps", found, { ...found.object, data: { race: String(races) } });
      await Promise.resolve();
    },
  };
  using server = new TestServer({ admission: [racer] });
  const created = (await server.createConfigMap("a")).body;
  const won = await server.send("PATCH", `${configMaps}/a`, { data: { k: "v" } }, mergePatch);
  assertEquals([won.code, won.body.data], [200, { race: "0", k: "v" }]);
  races = 1;
  const { resourceVersion } = created.metadata;
  const lost = await server.send(
    "PATCH",
    `${configMaps}/a`,
    { metadata: { resourceVersion }, data: { k: "w" } },
    mergePatch,
  );
  assertEquals([lost.code, lost.body.reason], [409, "Conflict"]);
});

test("a dry run of an update returns the object and stores nothing", async () => {
  using server = new TestServer();
  const created = (await server.createConfigMap("a", { data: { k: "v" } })).body;
  const { body } = await server.send("PATCH", `${configMaps}/a?dryRun=All`, { data: { k: "w" } }, mergePatch);
  assertEquals([body.data, body.metadata.resourceVersion], [{ k: "w" }, created.metadata.resourceVersion]);
  assertEquals((await server.send("GET", `${configMaps}/a`)).body, created);
});

test("an object written in one version can be read in another", async () => {
  using server = new TestServer();
  const beta = "/apis/example.com/v1beta1/namespaces/default/foos";
  const object = { apiVersion: "example.com/v1beta1", kind: "Foo", metadata: { name: "f" }, spec: { size: 3 } };
  const created = (await server.send("POST", beta, object)).body;
  assertEquals([created.apiVersion, created.spec.size], ["example.com/v1beta1", 3]);
  assertEquals((await server.send("GET", `${foos}/f`)).body.spec.replicas, 3);
  const patched = (await server.send("PATCH", `${beta}/f`, { spec: { size: 4 } }, mergePatch)).body;
  assertEquals([patched.spec.size, patched.metadata.generation], [4, 2]);
  const { items } = (await server.send("GET", beta)).body;
  assertEquals(items.map((item: { spec: { size: number } }) => item.spec.size), [4]);
});

test("an update of a missing object creates it only if the kind allows that", async () => {
  using server = new TestServer();
  const { code, body } = await server.send("PUT", `${configMaps}/a`, { metadata: { name: "a" } });
  assertEquals([code, body.message], [404, 'configmaps "a" not found']);
  const family = server.api.kinds.family("configmaps");
  const kind = family?.storage;
  if (family === undefined || kind === undefined) throw new Error("no ConfigMaps");
  const lenient = { ...kind, allowsCreateOnUpdate: true };
  server.api.kinds.set({ ...family, served: [lenient], storage: lenient });
  assertEquals((await server.send("PUT", `${configMaps}/a`, { metadata: { name: "a" } })).code, 201);
});
