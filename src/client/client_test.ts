/** Tests of the verbs with a transport in memory: what they send, and how they decode the response. */
import { builtin, type Infer, type KubeObject, type Resource, resourceVersion } from "../api/mod.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertType,
  type Same,
  test,
} from "../../tests/testing.ts";
import { isAlreadyExists, isConflict, isGone, isNotFound } from "./api_error.ts";
import { Client } from "./client.ts";
import { configMap, type SentRequest, status, testClient } from "./testing/test_client.ts";

const { ConfigMap, Deployment, Namespace } = builtin;

test("get() reads an object of the type of its resource", async () => {
  const { client, sent } = testClient(() => Response.json(configMap()));
  const found = await client.get(ConfigMap, "ns/a");
  assertType<Same<typeof found, Infer<typeof ConfigMap>>>(true);
  assertEquals(found.data?.key, "value");
  assertEquals([sent[0]?.method, sent[0]?.path, sent[0]?.accept], [
    "GET",
    "/api/v1/namespaces/ns/configmaps/a",
    "application/json",
  ]);
  await client.get(ConfigMap, "ns/a", { subresource: "status", resourceVersion: "0", metadataOnly: true });
  assertEquals([sent[1]?.path, sent[1]?.query], ["/api/v1/namespaces/ns/configmaps/a/status", {
    resourceVersion: "0",
  }]);
  assertMatch(sent[1]?.accept ?? "", /as=PartialObjectMetadata;/);
});

test("a Resource may be any object literal", async () => {
  const widget: Resource<KubeObject & { readonly spec: { readonly size: number } }> = {
    group: "example.dev",
    version: "v1",
    kind: "Widget",
    plural: "widgets",
    scope: "Cluster",
  };
  const { client, sent } = testClient(() =>
    Response.json({ apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "w" }, spec: { size: 2 } })
  );
  assertEquals((await client.get(widget, "w")).spec.size, 2);
  assertEquals(sent[0]?.path, "/apis/example.dev/v1/widgets/w");
});

test("get() throws for an object that does not exist, find() returns undefined", async () => {
  const { client } = testClient(() => status(404, "NotFound"));
  const error = await assertRejects(
    () => client.get(ConfigMap, "ns/a"),
    /^Cannot get ConfigMap "ns\/a": NotFound \(404 NotFound\)$/,
  );
  assert(isNotFound(error));
  assertEquals(await client.find(ConfigMap, "ns/a"), undefined);
  await assertRejects(() => testClient(() => status(403, "Forbidden")).client.find(ConfigMap, "ns/a"), /Forbidden/);
});

test("list() returns items with their kind, a version and the token of the next page", async () => {
  const { apiVersion: _, kind: __, ...bare } = configMap();
  const list = {
    apiVersion: "v1",
    kind: "ConfigMapList",
    metadata: { resourceVersion: "7", continue: "more" },
    items: [bare],
  };
  const { client, sent } = testClient(() => Response.json(list));
  const page = await client.list(ConfigMap, { namespace: "ns", limit: 1, labelSelector: "a=b" });
  assertEquals([page.resourceVersion, page.continue], [resourceVersion("7"), "more"]);
  assertEquals([page.items[0]?.apiVersion, page.items[0]?.kind], ["v1", "ConfigMap"]);
  assertEquals([sent[0]?.path, sent[0]?.query], ["/api/v1/namespaces/ns/configmaps", {
    limit: "1",
    labelSelector: "a=b",
  }]);
  await client.list(Deployment, { metadataOnly: true, resourceVersion: "0", resourceVersionMatch: "NotOlderThan" });
  assertEquals(sent[1]?.path, "/apis/apps/v1/deployments");
  assertEquals(sent[1]?.query, { resourceVersion: "0", resourceVersionMatch: "NotOlderThan" });
  assertMatch(sent[1]?.accept ?? "", /as=PartialObjectMetadataList;/);
});

test("list() accepts null for items, and removes managedFields unless they are requested", async () => {
  const empty = testClient(() => Response.json({ kind: "ConfigMapList", metadata: {}, items: null }));
  assertEquals((await empty.client.list(ConfigMap)).items, []);
  const item = configMap("a", { metadata: { name: "a", managedFields: [{ manager: "m" }] } });
  const full = testClient(() => Response.json({ kind: "ConfigMapList", metadata: {}, items: [item] }));
  assertEquals((await full.client.list(ConfigMap)).items[0]?.metadata, { name: "a" });
  const kept = await full.client.list(ConfigMap, { keepManagedFields: true });
  assertEquals(kept.items[0]?.metadata.managedFields?.length, 1);
});

test("listAll() reads all pages of one snapshot", async () => {
  const { client, sent } = testClient(({ query }) => {
    const at = Number(query.continue ?? "0");
    const metadata = { resourceVersion: "9", continue: at < 2 ? String(at + 1) : "" };
    return Response.json({ kind: "ConfigMapList", metadata, items: [configMap(`n${at}`)] });
  });
  const all = await client.listAll(ConfigMap, { resourceVersion: "9", resourceVersionMatch: "Exact" });
  assertEquals(all.items.map(({ metadata }) => metadata.name), ["n0", "n1", "n2"]);
  assertEquals(sent.map(({ query }) => [query.continue, query.resourceVersion, query.limit]), [
    [undefined, "9", "500"],
    ["1", undefined, "500"],
    ["2", undefined, "500"],
  ]);
});

test("pages() sends no more requests when its reader stops", async () => {
  let tokens = 0;
  const { client, sent } = testClient(() =>
    Response.json({ kind: "ConfigMapList", metadata: { continue: `${++tokens}` }, items: [] })
  );
  let pages = 0;
  for await (const _ of client.pages(ConfigMap)) if (++pages === 3) break;
  assertEquals(sent.length, 3);
});

test("watch() streams events, and throws the error of the server", async () => {
  const event = { type: "ADDED", object: configMap() };
  const { client, sent } = testClient(({ query }) =>
    query.resourceVersion === "1" ? status(410, "Expired") : new Response(`${JSON.stringify(event)}\n`)
  );
  const signal = new AbortController().signal;
  const events = [];
  const options = { namespace: "ns", sendInitialEvents: true, allowWatchBookmarks: true, timeoutSeconds: 300, signal };
  for await (const batch of client.watch(ConfigMap, options)) events.push(...batch);
  assertEquals(JSON.stringify(events), JSON.stringify([event]));
  assertEquals(sent[0]?.query, {
    watch: "true",
    resourceVersionMatch: "NotOlderThan",
    timeoutSeconds: "300",
    allowWatchBookmarks: "true",
    sendInitialEvents: "true",
  });
  const rejected = client.watch(ConfigMap, { resourceVersion: "1", signal });
  assert(
    isGone(await assertRejects(() => rejected.next(), /^Cannot watch ConfigMap \(v1\) in all namespaces: Expired/)),
  );
});

test("listWatch() binds resource, namespace and selectors for a cache", async () => {
  const { client, sent } = testClient(({ query }) =>
    query.watch === "true"
      ? new Response("")
      : Response.json({ kind: "PodList", metadata: { resourceVersion: "1" }, items: [] })
  );
  const signal = new AbortController().signal;
  const listWatch = client.listWatch(builtin.Pod, { namespace: "ns", fieldSelector: { "spec.nodeName": "a" } });
  assertEquals((await listWatch.list({ limit: 10 }, signal)).resourceVersion, resourceVersion("1"));
  const batches = [];
  for await (const batch of listWatch.watch({ resourceVersion: "1" }, signal)) batches.push(batch);
  assertEquals([batches, listWatch.announcesOpen], [[[]], true], "an empty batch says that the watch was accepted");
  assertEquals(sent.map(({ path, query }) => [path, query]), [
    ["/api/v1/namespaces/ns/pods", { fieldSelector: "spec.nodeName=a", limit: "10" }],
    ["/api/v1/namespaces/ns/pods", { watch: "true", fieldSelector: "spec.nodeName=a", resourceVersion: "1" }],
  ]);
});

test("create() adds apiVersion and kind, and posts to the namespace of the object", async () => {
  const { client, sent } = testClient(() => Response.json(configMap(), { status: 201 }));
  await client.create(ConfigMap, { metadata: { name: "a", namespace: "ns" }, data: { k: "v" } }, {
    fieldManager: "me",
    fieldValidation: "Strict",
  });
  assertEquals([sent[0]?.method, sent[0]?.path, sent[0]?.contentType], [
    "POST",
    "/api/v1/namespaces/ns/configmaps",
    "application/json",
  ]);
  assertEquals(sent[0]?.query, { fieldManager: "me", fieldValidation: "Strict" });
  assertEquals(sent[0]?.body, {
    metadata: { name: "a", namespace: "ns" },
    data: { k: "v" },
    apiVersion: "v1",
    kind: "ConfigMap",
  });
  const other = testClient(() => Response.json({ apiVersion: "v1", kind: "Namespace", metadata: { name: "test-1" } }));
  await other.client.create(Namespace, { metadata: { generateName: "test-" }, spec: {} });
  assertEquals(other.sent[0]?.path, "/api/v1/namespaces");
});

test("an object of another kind, or without a required name, is refused before it is sent", async () => {
  const { client, sent } = testClient(() => Response.json(configMap()));
  const metadata = { name: "a", namespace: "ns" };
  await assertRejects(
    () => client.create(ConfigMap, { kind: "Secret", metadata }),
    /^Cannot write ConfigMap \(v1\): the object is a Secret \(v1\)$/,
  );
  await assertRejects(() => client.create(ConfigMap, { metadata: { name: "a" } }), /metadata.namespace is missing$/);
  await assertRejects(
    () => client.apply(ConfigMap, { metadata: { namespace: "ns" } }, { fieldManager: "me" }),
    /metadata.name is missing$/,
  );
  await assertRejects(() => client.apply(ConfigMap, {}, { fieldManager: "me" }), /it has no metadata$/);
  await assertRejects(() => client.get(ConfigMap, "../secrets/x"), /namespace ".." may not be ".."$/);
  assertEquals(sent.length, 0);
});

test("update() sends the whole object, also to the status subresource", async () => {
  const { client, sent } = testClient(() => Response.json(configMap()));
  const object = await client.get(ConfigMap, "ns/a");
  await client.update(ConfigMap, { ...object, data: { key: "other" } });
  await client.update(ConfigMap, object, { subresource: "status" });
  assertEquals(sent.slice(1).map(({ method, path }) => [method, path]), [
    ["PUT", "/api/v1/namespaces/ns/configmaps/a"],
    ["PUT", "/api/v1/namespaces/ns/configmaps/a/status"],
  ]);
});

test("[82] an integer of 64 bits survives a read, update(), apply() and patch() exactly", async () => {
  const text =
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"spec":{"list":[1,{"id":9007199254740993}]}}';
  const sent: string[] = [];
  const client = new Client(async (request) => {
    sent.push(await request.text());
    return new Response(text);
  });
  const object = await client.get(ConfigMap, "ns/a");
  await client.update(ConfigMap, object);
  await client.create(ConfigMap, object);
  await client.apply(ConfigMap, object, { fieldManager: "me" });
  await client.patch(ConfigMap, "ns/a", { kind: "merge", value: object });
  await client.patch(ConfigMap, "ns/a", { kind: "json", operations: [{ op: "test", path: "/x", value: 2n ** 60n }] });
  assertEquals(sent.map((body) => /"id":9007199254740993[},]/.test(body)), [false, true, true, true, true, false]);
  assertEquals(sent[5], '[{"op":"test","path":"/x","value":1152921504606846976}]');
});

test("[82] update() refuses a number beyond 2^53, which a calculation may have rounded", async () => {
  const { client, sent } = testClient(() => Response.json(configMap()));
  const { metadata } = await client.get(ConfigMap, "ns/a");
  const rounded = { apiVersion: "v1", kind: "ConfigMap", metadata, spec: { list: [1, { id: 2 ** 53 }] } } as const;
  const error = await assertRejects(() => client.update(ConfigMap, rounded));
  assertMatch(
    error.message,
    /^Cannot update ConfigMap "ns\/a": the integer at spec.list\[1\].id is a number beyond 2\^53 .*use a bigint$/,
  );
  assertEquals(sent.length, 1);
});

test("writes refuse a number that JSON does not have, which would be sent as null", async () => {
  const { client, sent } = testClient(() => Response.json(configMap()));
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "ns" },
    x: [null, NaN],
  } as const;
  const operations = [{ op: "add", path: "/x", value: Infinity }] as const;
  const writes: readonly (readonly [() => Promise<unknown>, string])[] = [
    [() => client.create(ConfigMap, object), 'Cannot create ConfigMap "ns/a": x[1] is NaN, which JSON does not have'],
    [() => client.update(ConfigMap, object), 'Cannot update ConfigMap "ns/a": x[1] is NaN, which JSON does not have'],
    [() => client.apply(ConfigMap, object, { fieldManager: "t" }), 'Cannot apply ConfigMap "ns/a": x[1] is NaN, which'],
    [() => client.patch(ConfigMap, "ns/a", { kind: "json", operations }), "[0].value is Infinity, which JSON does"],
  ];
  for (const [write, message] of writes) assertStringIncludes((await assertRejects(write)).message, message);
  assertEquals(sent.length, 0);
});

test("writes refuse what JSON.stringify writes as an empty object or as null", async () => {
  const { client, sent } = testClient(() => Response.json(configMap()));
  const metadata = { name: "a", namespace: "ns" };
  const create = (data: unknown) =>
    client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata, data } as never);
  for (
    const [data, lost] of [
      [new Map([["a", "b"]]), "data is of the type Map"],
      [{ a: Promise.resolve("b") }, "data.a is of the type Promise"],
      [{ a: new Uint8Array([1]) }, "data.a is of the type Uint8Array"],
      [[new Set(), "a"], "data[0] is of the type Set"],
      [["a", undefined], "data[1] is undefined"],
      [["a", () => "b"], "data[1] is of the type function"],
      [{ a: new Date(NaN) }, "data.a is an invalid Date"],
      [{ toJSON: () => ({ a: NaN }) }, "data.a is NaN"],
    ] as const
  ) {
    const expected = `Cannot create ConfigMap "ns/a": ${lost}, which JSON does not have`;
    assertEquals((await assertRejects(() => create(data))).message, expected);
  }
  assertEquals(sent.length, 0);
  class Empty {}
  for (const data of [{ a: new Date(0), b: undefined, c: null, d: {} }, new Empty(), { 0: "x" }, [null]]) {
    await create(data);
  }
  assertEquals(sent.length, 4);
});

test("[82] update() accepts long digits in strings, safe integers and floats", async () => {
  const fields = {
    data: { id: "9007199254740993" },
    safe: 9007199254740991,
    small: 1.5,
    large: 1e300,
    date: 1_700_000_000_000_000,
  };
  const { client, sent } = testClient(() => Response.json(configMap("a", fields)));
  await client.update(ConfigMap, await client.get(ConfigMap, "ns/a"));
  assertEquals(sent[1]?.body, configMap("a", fields));
});

test("patch() sends each kind of patch with its content type", async () => {
  const { client, sent } = testClient(() => Response.json(configMap()));
  await client.patch(ConfigMap, "ns/a", { kind: "merge", value: { data: { a: null } } });
  await client.patch(Deployment, "ns/a", { kind: "strategic", value: { spec: { replicas: 2 } } }, {
    subresource: "scale",
  });
  await client.patch(ConfigMap, "ns/a", { kind: "json", operations: [{ op: "remove", path: "/data" }] }, {
    dryRun: true,
  });
  assertEquals(sent.map(({ contentType, path, body }) => [contentType, path, body]), [
    ["application/merge-patch+json", "/api/v1/namespaces/ns/configmaps/a", { data: { a: null } }],
    ["application/strategic-merge-patch+json", "/apis/apps/v1/namespaces/ns/deployments/a/scale", {
      spec: { replicas: 2 },
    }],
    ["application/json-patch+json", "/api/v1/namespaces/ns/configmaps/a", [{ op: "remove", path: "/data" }]],
  ]);
  assertEquals(sent[2]?.query, { dryRun: "All" });
});

test("apply() sends an apply patch with its field manager", async () => {
  const { client, sent } = testClient(() =>
    Response.json(configMap("a", { apiVersion: "apps/v1", kind: "Deployment" }))
  );
  await client.apply(Deployment, { metadata: { name: "a", namespace: "ns" }, spec: { replicas: 3 } }, {
    fieldManager: "foo",
    force: true,
  });
  const [one] = sent;
  assertEquals([one?.method, one?.contentType, one?.query], ["PATCH", "application/apply-patch+yaml", {
    fieldManager: "foo",
    force: "true",
  }]);
  assertEquals(one?.body, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a", namespace: "ns" },
    spec: { replicas: 3 },
  });
});

test("delete() returns whether the object was removed or is terminating", async () => {
  const deleting = configMap("a", {
    metadata: { name: "a", namespace: "ns", deletionTimestamp: "2026-01-01T00:00:00Z" },
  });
  const responses = [Response.json({ kind: "Status", status: "Success" }), Response.json(deleting)];
  const { client, sent } = testClient(() => responses.shift() ?? status(409, "Conflict"));
  const preconditions = { uid: "u", resourceVersion: resourceVersion("5") };
  const options = { preconditions, propagationPolicy: "Foreground", gracePeriodSeconds: 0 } as const;
  assertEquals(await client.delete(ConfigMap, "ns/a", options), { kind: "deleted" });
  assertEquals(sent[0]?.body, { apiVersion: "v1", kind: "DeleteOptions", ...options });
  const second = await client.delete(ConfigMap, "ns/a");
  assertEquals(second.kind === "object" && second.object.metadata.deletionTimestamp, "2026-01-01T00:00:00Z");
  assert(isConflict(await assertRejects(() => client.delete(ConfigMap, "ns/a", options))));
});

test("deleteCollection() requires a namespace and sends the selector", async () => {
  const { client, sent } = testClient(() => Response.json({ kind: "Status" }));
  await client.deleteCollection(ConfigMap, { namespace: "ns", labelSelector: { matchLabels: { a: "b" } } });
  assertEquals([sent[0]?.method, sent[0]?.path, sent[0]?.query], ["DELETE", "/api/v1/namespaces/ns/configmaps", {
    labelSelector: "a=b",
  }]);
  await assertRejects(() => client.deleteCollection(ConfigMap), /a namespace is needed$/);
});

test("evict() and createToken() post to their subresources", async () => {
  const { client, sent } = testClient(() =>
    Response.json({ kind: "TokenRequest", status: { token: "t", expirationTimestamp: "later" } })
  );
  await client.evict("ns/p", { preconditions: { uid: "u" } });
  assertEquals(sent[0]?.path, "/api/v1/namespaces/ns/pods/p/eviction");
  assertEquals(sent[0]?.body, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: "p", namespace: "ns" },
    deleteOptions: { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid: "u" } },
  });
  const token = await client.createToken("ns/sa", { audiences: ["x"], expirationSeconds: 600 });
  assertEquals([token.token, sent[1]?.path], ["t", "/api/v1/namespaces/ns/serviceaccounts/sa/token"]);
});

test("a dry-run client sends every write as a dry run", async () => {
  const { client, sent } = testClient(() => Response.json(configMap()), { fieldManager: "me" });
  const dry = client.dryRunClient();
  const object = { metadata: { name: "a", namespace: "ns" } };
  await dry.create(ConfigMap, object);
  await dry.apply(ConfigMap, object, { fieldManager: "other" });
  await dry.patch(ConfigMap, "ns/a", { kind: "merge", value: {} });
  await dry.update(ConfigMap, await dry.get(ConfigMap, "ns/a"));
  await dry.delete(ConfigMap, "ns/a");
  await dry.deleteCollection(ConfigMap, { namespace: "ns" });
  await dry.evict("ns/p");
  const isDry = ({ query, body }: SentRequest) =>
    query.dryRun === "All" || JSON.stringify(body).includes('"dryRun":["All"]');
  const writes = sent.filter(({ method }) => method !== "GET");
  assertEquals([writes.length, writes.filter(isDry).length], [7, 7]);
  assertEquals(writes.slice(0, 3).map(({ query }) => query.fieldManager), ["me", "other", "me"]);
});

test("[75] a create of an existing object throws AlreadyExists, which is not a conflict", async () => {
  const { client } = testClient(() => status(409, "AlreadyExists"));
  const error = await assertRejects(() => client.create(ConfigMap, { metadata: { name: "a", namespace: "ns" } }));
  assert(isAlreadyExists(error) && !isConflict(error));
});

test("raw() sends a request to any path", async () => {
  const { client, sent } = testClient(() => new Response("ok"));
  assertEquals(await client.raw("/readyz?verbose"), "ok");
  assertEquals([sent[0]?.path, sent[0]?.query], ["/readyz", { verbose: "" }]);
  await client.raw("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { method: "POST", body: "{}" });
  assertEquals([sent[1]?.method, sent[1]?.contentType], ["POST", "application/json"]);
  await assertRejects(() => client.raw("version"), /does not start with "\/"$/);
});
