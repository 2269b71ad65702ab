import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { type AdmissionPlugin, type AdmissionRequest, type Draft, isDraft, put } from "./model/mod.ts";
import { configMaps, foos, TestServer } from "./testing/test_server.ts";

test("the server sets the identity of a created object, and ignores the one in the body", async () => {
  using server = new TestServer();
  const { code, body } = await server.createConfigMap("a", { data: { k: "v" } }, {
    uid: "mine",
    creationTimestamp: "2020-01-01T00:00:00Z",
    deletionTimestamp: "2020-01-01T00:00:00Z",
    selfLink: "/x",
  });
  const { uid, creationTimestamp, managedFields, ...metadata } = body.metadata;
  assertEquals(code, 201);
  assertMatch(uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assertEquals(creationTimestamp, "2026-01-01T00:00:00Z");
  assertEquals(metadata, { name: "a", namespace: "default", resourceVersion: "5" });
  assertEquals(managedFields, [{
    manager: "test",
    operation: "Update",
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { ".": {}, "f:k": {} } },
  }]);
  assertEquals((await server.send("GET", `${configMaps}/a`)).body, body);
});

test("two servers with the same seed send the same responses, byte for byte", async () => {
  const responses = await Promise.all([1, 2].map(async () => {
    using server = new TestServer();
    await server.send("POST", configMaps, { metadata: { generateName: "a-" } });
    return (await server.send("GET", configMaps)).text;
  }));
  assertEquals(responses[0], responses[1]);
});

test("a generated name has five more characters, at most 63, and is not in use", async () => {
  using server = new TestServer();
  const prefix = "p".repeat(70);
  const first = await server.send("POST", configMaps, { metadata: { generateName: prefix } });
  assertMatch(first.body.metadata.name, /^p{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  // The same seed generates the same names again.
  using again = new TestServer();
  const taken =
    (await again.send("POST", `${configMaps}?dryRun=All`, { metadata: { generateName: "x-" } })).body.metadata;
  using third = new TestServer();
  await third.createConfigMap(taken.name);
  const { body } = await third.send("POST", configMaps, { metadata: { generateName: "x-" } });
  assertMatch(body.metadata.name, /^x-.{5}$/);
});

test("a create of an existing object is rejected, and the message says when it is being deleted", async () => {
  using server = new TestServer();
  await server.createConfigMap("a", {}, { finalizers: ["example.com/hold"] });
  const { code, body } = await server.createConfigMap("a");
  assertEquals([code, body.reason, body.message], [409, "AlreadyExists", 'configmaps "a" already exists']);
  assertEquals(body.details, { name: "a", kind: "configmaps" });
  await server.send("DELETE", `${configMaps}/a`);
  const late = await server.createConfigMap("a");
  assertEquals(late.body.message, 'object is being deleted: configmaps "a" already exists');
});

test("a create in a missing or terminating namespace is rejected", async () => {
  using server = new TestServer();
  const missing = await server.send("POST", "/api/v1/namespaces/nope/configmaps", { metadata: { name: "a" } });
  assertEquals([missing.code, missing.body.message], [404, 'namespaces "nope" not found']);
  await server.send("POST", "/api/v1/namespaces", { metadata: { name: "x", finalizers: ["example.com/hold"] } });
  await server.send("DELETE", "/api/v1/namespaces/x");
  const late = await server.send("POST", "/api/v1/namespaces/x/configmaps", { metadata: { name: "a" } });
  assertEquals([late.code, late.body.reason], [403, "Forbidden"]);
  assertMatch(late.body.message, /unable to create new content in namespace x because it is being terminated/);
  assertEquals(late.body.details.causes[0].reason, "NamespaceTerminating");
});

const invalid: readonly (readonly [string, object, string])[] = [
  ["no name", {}, "metadata.name: Required value: name or generateName is required"],
  ["a name", { name: "Bad_Name" }, "metadata.name: Invalid value"],
  ["a generateName", { generateName: "Bad_" }, "metadata.generateName: Invalid value"],
  ["a label key", { name: "a", labels: { "bad key": "" } }, "metadata.labels: Invalid value"],
  ["a label", { name: "a", labels: { ok: "bad value!" } }, "metadata.labels: Invalid value"],
  ["an annotation key", { name: "a", annotations: { "bad key": "" } }, "metadata.annotations: Invalid value"],
  [
    "annotations of more than 256 KiB",
    { name: "a", annotations: { large: "x".repeat(256 * 1024) } },
    "metadata.annotations: Too long: may not be more than 262144 bytes",
  ],
  ["a finalizer", { name: "a", finalizers: ["bad one!"] }, "metadata.finalizers: Invalid value"],
  [
    "a finalizer without a domain",
    { name: "a", finalizers: ["hold"] },
    "name is neither a standard finalizer name nor is it fully qualified",
  ],
  [
    "both finalizers of the collector",
    { name: "a", finalizers: ["orphan", "foregroundDeletion"] },
    "finalizer orphan and foregroundDeletion cannot be both set",
  ],
  [
    "an owner without a UID",
    { name: "a", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p" }] },
    'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
  ],
  [
    "two controllers",
    {
      name: "a",
      ownerReferences: ["p", "q"].map((name) => ({ apiVersion: "v1", kind: "Pod", name, uid: name, controller: true })),
    },
    'Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q',
  ],
  [
    "an Event as owner",
    { name: "a", ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "e", uid: "1" }] },
    "/v1, Kind=Event is disallowed from being an owner",
  ],
];

for (const [what, metadata, message] of invalid) {
  test(`invalid ${what} gets 422 with its cause`, async () => {
    using server = new TestServer();
    const { code, body } = await server.send("POST", configMaps, { metadata });
    assertEquals([code, body.reason, body.details.kind], [422, "Invalid", "ConfigMap"]);
    assert(body.message.includes(message), body.message);
    assert(body.details.causes.length > 0);
  });
}

test("a create with a resourceVersion is rejected", async () => {
  using server = new TestServer();
  const { code, body } = await server.createConfigMap("a", {}, { resourceVersion: "5" });
  assertEquals([code, body.message], [500, "resourceVersion should not be set on objects to be created"]);
});

test("a duplicate owner reference is dropped, with a warning", async () => {
  using server = new TestServer();
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
  const { body, headers } = await server.createConfigMap("a", {}, { ownerReferences: [owner, owner] });
  assertEquals(body.metadata.ownerReferences, [owner]);
  assertMatch(
    headers.get("warning") ?? "",
    /^299 - "\.metadata\.ownerReferences contains duplicate entries; .*observed: u"$/,
  );
});

test("unknown and duplicate fields cause warnings, a rejection or nothing, depending on fieldValidation", async () => {
  using server = new TestServer();
  const body = (name: string) => `{"metadata":{"name":"${name}","foo":1},"bar":2,"data":{"a":"1","a":"2"}}`;
  const warned = await server.send("POST", configMaps, body("a"));
  assertEquals(warned.code, 201);
  assertEquals(
    warned.headers.get("warning"),
    '299 - "unknown field \\"metadata.foo\\"", 299 - "unknown field \\"bar\\"", 299 - "duplicate field \\"data.a\\""',
  );
  const rejected = await server.send("POST", `${configMaps}?fieldValidation=Strict`, body("b"));
  assertEquals(
    [rejected.code, rejected.body.message],
    [
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ' +
      'unknown field "metadata.foo", unknown field "bar", duplicate field "data.a"',
    ],
  );
  const ignored = await server.send("POST", `${configMaps}?fieldValidation=Ignore`, body("c"));
  assertEquals([ignored.code, ignored.headers.get("warning")], [201, null]);
});

test("a dry run of a create returns the object and stores nothing", async () => {
  using server = new TestServer();
  await server.send("GET", configMaps);
  const before = server.api.storage.revision;
  const { code, body } = await server.send("POST", `${configMaps}?dryRun=All`, { metadata: { name: "a" } });
  assertEquals([code, body.metadata.name, body.metadata.resourceVersion], [201, "a", undefined]);
  assertEquals((await server.send("GET", `${configMaps}/a`)).code, 404);
  assertEquals(server.api.storage.revision, before);
  await server.createConfigMap("a");
  assertEquals((await server.send("POST", `${configMaps}?dryRun=All`, { metadata: { name: "a" } })).code, 409);
});

test("create applies the defaults, generation and rules of the kind", async () => {
  using server = new TestServer();
  const { body } = await server.createFoo("f", { replicas: 2, unknown: 1 }, {});
  assertEquals([body.spec, body.metadata.generation, body.status], [{ replicas: 2, color: "red" }, 1, undefined]);
  const rejected = await server.createFoo("g", { replicas: 11 });
  assertEquals([rejected.code, rejected.body.details.causes[0].field], [422, "spec.replicas"]);
});

test("admission sees the object with its defaults, may change it, and may reject it", async () => {
  const seen: string[] = [];
  const plugin: AdmissionPlugin = {
    name: "test",
    admit(request: AdmissionRequest) {
      seen.push(`admit ${request.operation} ${request.kind.kind} ${request.namespace}/${request.name}`);
      if (request.object !== undefined && request.kind.kind === "Foo") {
        put(request.object, "status", { from: "admission" });
      }
    },
    async validate(request: AdmissionRequest) {
      await Promise.resolve();
      seen.push(`validate ${request.operation} ${JSON.stringify(request.object?.["spec"] ?? null)}`);
      request.warn("mind the gap");
      if (request.name === "no") throw new Error("a bug in a plugin");
    },
  };
  using server = new TestServer({ admission: [plugin] });
  await server.send("GET", "/readyz");
  seen.length = 0;
  const { headers } = await server.createFoo("f");
  assertEquals(seen, ["admit CREATE Foo default/f", 'validate CREATE {"color":"red"}']);
  assertEquals(headers.get("warning"), '299 - "mind the gap"');
  const broken = await server.createFoo("no");
  assertEquals([broken.code, broken.body.reason, server.errors.length], [500, "InternalError", 1]);
  assertEquals((await server.send("GET", `${foos}/no`)).code, 404);
});

test("managedFields that admission makes invalid are restored, with a warning", async () => {
  const garbler: AdmissionPlugin = {
    name: "garbler",
    admit({ object, kind }) {
      if (object === undefined || kind.kind !== "ConfigMap") return;
      object["metadata"] = { ...metadataIn(object), managedFields: [{ operation: "Nonsense" }] };
    },
  };
  using server = new TestServer({ admission: [garbler] });
  const { body, headers } = await server.createConfigMap("a", { data: { k: "v" } });
  assertEquals(body.metadata.managedFields[0].manager, "test");
  assertMatch(headers.get("warning") ?? "", /managedFields was in an invalid state after admission/);
});

function metadataIn(object: Draft): Draft {
  const metadata = object["metadata"];
  return isDraft(metadata) ? metadata : {};
}

test("an object that is too large is stored without its managedFields, or rejected", async () => {
  using server = new TestServer();
  const data: Record<string, string> = {};
  for (let index = 0; index < 12_000; index++) data[`key-${index}-${"x".repeat(40)}`] = "v".repeat(30);
  const { code, body } = await server.createConfigMap("a", { data });
  assertEquals([code, body.metadata.managedFields], [201, undefined]);
  const rejected = await server.createConfigMap("b", { data: { large: "x".repeat(1_700_000) } });
  assertEquals([rejected.code, rejected.body.message], [500, "etcdserver: request is too large"]);
});

test("the system namespaces exist from the start", async () => {
  using server = new TestServer();
  const { body } = await server.send("GET", "/api/v1/namespaces");
  const names = body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
  assertEquals(names, ["default", "kube-node-lease", "kube-public", "kube-system"]);
  const { code, body: rejected } = await server.send("DELETE", "/api/v1/namespaces/default");
  assertEquals([code, rejected.message], [403, 'namespaces "default" is forbidden: this namespace may not be deleted']);
});
