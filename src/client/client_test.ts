/** The verbs, over a transport in memory: what they send, what they make of the answer. */
import { builtin, type Infer, type KubeObject, type Resource, resourceVersion } from "../api/mod.ts";
import { VirtualClock } from "../async/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertType, type Same, test } from "../../tests/testing.ts";
import { RecordingLogger } from "./_access_test_data.ts";
import { isAlreadyExists, isConflict, isGone, isNotFound } from "./api_error.ts";
import { Client, type ClientOptions } from "./client.ts";
import { UnreachableError } from "./unreachable_error.ts";

const { ConfigMap, Deployment, Namespace } = builtin;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly accept: string | null;
  readonly contentType: string | null;
  readonly body: unknown;
}

interface Rig {
  readonly client: Client;
  readonly sent: Sent[];
}

/** A client whose server answers with what `answer` makes of a request. */
function rig(answer: (sent: Sent) => Response, options: ClientOptions = {}): Rig {
  const sent: Sent[] = [];
  const client = new Client(async (request) => {
    const url = new URL(request.url);
    const text = await request.text();
    const one = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      accept: request.headers.get("accept"),
      contentType: request.headers.get("content-type"),
      body: text === "" ? undefined : JSON.parse(text),
    };
    sent.push(one);
    return answer(one);
  }, options);
  return { client, sent };
}

const configMap = (name = "a", fields: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "ns", resourceVersion: "5" },
  data: { key: "value" },
  ...fields,
});
const status = (code: number, reason: string) =>
  Response.json({ kind: "Status", code, reason, message: reason }, { status: code });

test("get() reads an object of the type of its resource", async () => {
  const { client, sent } = rig(() => Response.json(configMap()));
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

test("any literal of a Resource will do", async () => {
  const widget: Resource<KubeObject & { readonly spec: { readonly size: number } }> = {
    group: "example.dev",
    version: "v1",
    kind: "Widget",
    plural: "widgets",
    scope: "Cluster",
  };
  const { client, sent } = rig(() =>
    Response.json({ apiVersion: "example.dev/v1", kind: "Widget", metadata: {}, spec: { size: 2 } })
  );
  assertEquals((await client.get(widget, "w")).spec.size, 2);
  assertEquals(sent[0]?.path, "/apis/example.dev/v1/widgets/w");
});

test("get() throws for what is not there, find() does not", async () => {
  const { client } = rig(() => status(404, "NotFound"));
  const error = await assertRejects(
    () => client.get(ConfigMap, "ns/a"),
    /^Cannot get ConfigMap "ns\/a": NotFound \(404 NotFound\)$/,
  );
  assert(isNotFound(error));
  assertEquals(await client.find(ConfigMap, "ns/a"), undefined);
  await assertRejects(() => rig(() => status(403, "Forbidden")).client.find(ConfigMap, "ns/a"), /Forbidden/);
});

test("list() gives items their kind, a version and the token of the next page", async () => {
  const { apiVersion: _, kind: __, ...bare } = configMap();
  const list = {
    apiVersion: "v1",
    kind: "ConfigMapList",
    metadata: { resourceVersion: "7", continue: "more" },
    items: [bare],
  };
  const { client, sent } = rig(() => Response.json(list));
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

test("a list may have null for items, and loses managedFields unless they are wanted", async () => {
  const empty = rig(() => Response.json({ kind: "ConfigMapList", metadata: {}, items: null }));
  assertEquals((await empty.client.list(ConfigMap)).items, []);
  const item = configMap("a", { metadata: { name: "a", managedFields: [{ manager: "m" }] } });
  const full = rig(() => Response.json({ kind: "ConfigMapList", metadata: {}, items: [item] }));
  assertEquals((await full.client.list(ConfigMap)).items[0]?.metadata, { name: "a" });
  const kept = await full.client.list(ConfigMap, { keepManagedFields: true });
  assertEquals(kept.items[0]?.metadata.managedFields?.length, 1);
});

test("listAll() follows the pages of one snapshot", async () => {
  const { client, sent } = rig(({ query }) => {
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

test("pages() stops asking when its reader leaves", async () => {
  const { client, sent } = rig(() =>
    Response.json({ kind: "ConfigMapList", metadata: { continue: "again" }, items: [] })
  );
  let pages = 0;
  for await (const _ of client.pages(ConfigMap)) if (++pages === 3) break;
  assertEquals(sent.length, 3);
});

test("watch() streams events, and refuses as the server does", async () => {
  const event = { type: "ADDED", object: configMap() };
  const { client, sent } = rig(({ query }) =>
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
  const refused = client.watch(ConfigMap, { resourceVersion: "1", signal });
  assert(
    isGone(await assertRejects(() => refused.next(), /^Cannot watch ConfigMap \(v1\) in all namespaces: Expired/)),
  );
});

test("listWatch() binds resource, namespace and selectors for a cache", async () => {
  const { client, sent } = rig(({ query }) =>
    query.watch === "true"
      ? new Response("")
      : Response.json({ kind: "PodList", metadata: { resourceVersion: "1" }, items: [] })
  );
  const signal = new AbortController().signal;
  const listWatch = client.listWatch(builtin.Pod, { namespace: "ns", fieldSelector: { "spec.nodeName": "a" } });
  assertEquals((await listWatch.list({ limit: 10 }, signal)).resourceVersion, resourceVersion("1"));
  for await (const _ of listWatch.watch({ resourceVersion: "1" }, signal)) assert(false);
  assertEquals(sent.map(({ path, query }) => [path, query]), [
    ["/api/v1/namespaces/ns/pods", { fieldSelector: "spec.nodeName=a", limit: "10" }],
    ["/api/v1/namespaces/ns/pods", { watch: "true", fieldSelector: "spec.nodeName=a", resourceVersion: "1" }],
  ]);
});

test("create() fills in what the resource says, and posts to the namespace of the object", async () => {
  const { client, sent } = rig(() => Response.json(configMap(), { status: 201 }));
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
  await client.create(Namespace, { metadata: { generateName: "test-" }, spec: {} });
  assertEquals(sent[1]?.path, "/api/v1/namespaces");
});

test("an object of another kind, or without the names it needs, is refused before it is sent", async () => {
  const { client, sent } = rig(() => Response.json(configMap()));
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

test("update() puts the whole object, or its status alone", async () => {
  const { client, sent } = rig(() => Response.json(configMap()));
  const object = await client.get(ConfigMap, "ns/a");
  await client.update(ConfigMap, { ...object, data: { key: "other" } });
  await client.update(ConfigMap, object, { subresource: "status" });
  assertEquals(sent.slice(1).map(({ method, path }) => [method, path]), [
    ["PUT", "/api/v1/namespaces/ns/configmaps/a"],
    ["PUT", "/api/v1/namespaces/ns/configmaps/a/status"],
  ]);
});

test("[82] update() refuses an object with an integer that was rounded on reading; apply and patch go on", async () => {
  const text =
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"spec":{"list":[1,{"id":9007199254740993}]}}';
  const { client, sent } = rig(() => new Response(text));
  const object = await client.get(ConfigMap, "ns/a");
  const error = await assertRejects(() => client.update(ConfigMap, object));
  assertMatch(
    error.message,
    /^Cannot update ConfigMap "ns\/a": the integer at spec.list\[1\].id is beyond 2\^53 .*use apply or patch/,
  );
  assertEquals(sent.length, 1);
  await client.patch(ConfigMap, "ns/a", { kind: "merge", value: { data: { a: "b" } } });
  await client.apply(ConfigMap, { metadata: { name: "a", namespace: "ns" }, data: { a: "b" } }, { fieldManager: "me" });
  assertEquals(sent.length, 3);
});

test("[82] long digits in text, safe integers and floats do not stand in the way of update()", async () => {
  const fields = {
    data: { id: "9007199254740993" },
    safe: 9007199254740991,
    small: 1.5,
    large: 1e300,
    date: 1_700_000_000_000_000,
  };
  const { client, sent } = rig(() => Response.json(configMap("a", fields)));
  await client.update(ConfigMap, await client.get(ConfigMap, "ns/a"));
  assertEquals(sent[1]?.body, configMap("a", fields));
});

test("patch() has three forms, each with its content type", async () => {
  const { client, sent } = rig(() => Response.json(configMap()));
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

test("apply() is a patch in the name of a field manager", async () => {
  const { client, sent } = rig(() => Response.json(configMap()));
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

test("delete() says what became of the object", async () => {
  const deleting = configMap("a", { metadata: { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" } });
  const answers = [Response.json({ kind: "Status", status: "Success" }), Response.json(deleting)];
  const { client, sent } = rig(() => answers.shift() ?? status(409, "Conflict"));
  const preconditions = { uid: "u", resourceVersion: resourceVersion("5") };
  const options = { preconditions, propagationPolicy: "Foreground", gracePeriodSeconds: 0 } as const;
  assertEquals(await client.delete(ConfigMap, "ns/a", options), { kind: "deleted" });
  assertEquals(sent[0]?.body, { apiVersion: "v1", kind: "DeleteOptions", ...options });
  const second = await client.delete(ConfigMap, "ns/a");
  assertEquals(second.kind === "object" && second.object.metadata.deletionTimestamp, "2026-01-01T00:00:00Z");
  assert(isConflict(await assertRejects(() => client.delete(ConfigMap, "ns/a", options))));
});

test("deleteCollection() wants a namespace and passes the selector", async () => {
  const { client, sent } = rig(() => Response.json({ kind: "Status" }));
  await client.deleteCollection(ConfigMap, { namespace: "ns", labelSelector: { matchLabels: { a: "b" } } });
  assertEquals([sent[0]?.method, sent[0]?.path, sent[0]?.query], ["DELETE", "/api/v1/namespaces/ns/configmaps", {
    labelSelector: "a=b",
  }]);
  await assertRejects(() => client.deleteCollection(ConfigMap), /a namespace is needed$/);
});

test("evict() and createToken() post to their subresources", async () => {
  const { client, sent } = rig(() =>
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

test("a dry-run client stores nothing, whatever the verb", async () => {
  const { client, sent } = rig(() => Response.json(configMap()), { fieldManager: "me" });
  const dry = client.dryRunClient();
  const object = { metadata: { name: "a", namespace: "ns" } };
  await dry.create(ConfigMap, object);
  await dry.apply(ConfigMap, object, { fieldManager: "other" });
  await dry.patch(ConfigMap, "ns/a", { kind: "merge", value: {} });
  await dry.update(ConfigMap, await dry.get(ConfigMap, "ns/a"));
  await dry.delete(ConfigMap, "ns/a");
  await dry.deleteCollection(ConfigMap, { namespace: "ns" });
  await dry.evict("ns/p");
  const isDry = ({ query, body }: Sent) => query.dryRun === "All" || JSON.stringify(body).includes('"dryRun":["All"]');
  const writes = sent.filter(({ method }) => method !== "GET");
  assertEquals([writes.length, writes.filter(isDry).length], [7, 7]);
  assertEquals(writes.slice(0, 3).map(({ query }) => query.fieldManager), ["me", "other", "me"]);
});

test("[75] a create that lost the race says so, to be told apart from other conflicts", async () => {
  const { client } = rig(() => status(409, "AlreadyExists"));
  const error = await assertRejects(() => client.create(ConfigMap, { metadata: { name: "a", namespace: "ns" } }));
  assert(isAlreadyExists(error) && !isConflict(error));
});

test("[81] answers that are not what they should be are typed errors", async () => {
  const cases: readonly (readonly [Response, RegExp])[] = [
    [
      new Response("<html><h1>502 Bad Gateway</h1></html>", { status: 502 }),
      /^Cannot get ConfigMap "ns\/a": 502 Bad Gateway \(502\)$/,
    ],
    [new Response('{"kind":"ConfigMap","metadata":{', { status: 200 }), /its answer cannot be read: /],
    [new Response("<html>login</html>", { status: 200 }), /its answer cannot be read: /],
    [new Response("[]", { status: 200 }), /its answer cannot be read: the answer is not a JSON object$/],
    [new Response("{}", { status: 200 }), /its answer cannot be read: the answer is no v1 ConfigMap$/],
    [
      new Response(null, { status: 302, headers: { location: "https://elsewhere" } }),
      /redirects to elsewhere, which is not followed/,
    ],
  ];
  for (const [response, pattern] of cases) {
    await assertRejects(() => rig(() => response.clone()).client.get(ConfigMap, "ns/a"), pattern);
  }
});

test("[95] an answer that nests 100,000 levels deep is an error, not a crash", async () => {
  const deep = '{"kind":"ConfigMap","x":' + "[".repeat(100_000) + "]".repeat(100_000) + "}";
  await assertRejects(
    () => rig(() => new Response(deep)).client.get(ConfigMap, "ns/a"),
    /nests deeper than 512 levels$/,
  );
});

test("[94] [16] keys and names that are words of JavaScript survive a round trip", async () => {
  const text =
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"__proto__","namespace":"constructor","labels":{"toString":"x"}},"data":{"__proto__":"p","constructor":"c"}}';
  let put = "";
  const client = new Client(async (request) => {
    if (request.method === "PUT") put = await request.text();
    return new Response(text);
  });
  const object = await client.get(ConfigMap, "constructor/__proto__");
  await client.update(ConfigMap, object);
  assertEquals(put, text);
  assertEquals([Reflect.get({}, "p"), Object.getPrototypeOf(object.data ?? {}) === Object.prototype], [
    undefined,
    true,
  ]);
});

/** A body that never ends, and counts what was taken of it. */
function endless(): { body: ReadableStream<Uint8Array>; taken: () => number; cancelled: Promise<void> } {
  let taken = 0;
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const chunk = new Uint8Array(64 * 1024).fill(32);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      taken += chunk.length;
      controller.enqueue(chunk);
    },
    cancel: () => resolve(),
  }, { highWaterMark: 0 });
  return { body, taken: () => taken, cancelled };
}

test("[21] [81] endless answers end at the limit, errors at 64 KiB, and both are cancelled", async () => {
  const large = endless();
  const options = { maxBodyBytes: 1_000_000 };
  await assertRejects(
    () => rig(() => new Response(large.body), options).client.get(ConfigMap, "ns/a"),
    /larger than 1000000 bytes$/,
  );
  await large.cancelled;
  assert(large.taken() <= 1_000_000 + 2 * 65_536);
  const error = endless();
  await assertRejects(
    () => rig(() => new Response(error.body, { status: 500 })).client.get(ConfigMap, "ns/a"),
    /500 InternalError/,
  );
  await error.cancelled;
  assert(error.taken() <= 3 * 65_536);
  const announced = rig(() => new Response("{}", { headers: { "content-length": "99999999999" } }), options);
  await assertRejects(() => announced.client.get(ConfigMap, "ns/a"), /larger than 1000000 bytes$/);
});

test("[81] a body shorter than its content-length is an error", async () => {
  const { client } = rig(() => new Response('{"kind":"ConfigMap"}', { headers: { "content-length": "100" } }));
  const error = await assertRejects(() => client.get(ConfigMap, "ns/a"), /the answer broke off after 20 of 100 bytes$/);
  assert(error instanceof UnreachableError);
});

test("an answer that stops in the middle is given up after the stall time, not before", async () => {
  const clock = new VirtualClock();
  let send: (text: string) => void = () => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (send = (text) => controller.enqueue(new TextEncoder().encode(text))),
  });
  const { client } = rig(() => new Response(body), { clock, stallTimeoutMs: 1000 });
  const reading = client.get(ConfigMap, "ns/a");
  const failed = assertRejects(() => reading);
  for (let step = 0; step < 5; step++) {
    await clock.advance(900);
    send(" ");
  }
  await clock.advance(1000);
  const error = await failed;
  assert(error instanceof UnreachableError);
  assertEquals([error.reason.kind, error.reason.detail, clock.pendingTimers], ["timeout", "stalled", 0]);
});

test("a request timeout covers answer and body, and spares watches", async () => {
  const clock = new VirtualClock();
  const hang = (request: Request) =>
    new Promise<Response>((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
  const client = new Client(hang, { clock, requestTimeoutMs: 5000 });
  const reading = client.get(ConfigMap, "ns/a");
  const failed = assertRejects(() => reading, /^Cannot get ConfigMap "ns\/a": no answer in time$/);
  await clock.advance(5000);
  assert(await failed instanceof UnreachableError);
  const controller = new AbortController();
  const watching = client.watch(ConfigMap, { signal: controller.signal }).next();
  await clock.advance(1_000_000);
  const reason = new Error("stop");
  controller.abort(reason);
  assertEquals(await assertRejects(() => watching), reason);
  assertEquals(clock.pendingTimers, 0);
});

test("[17] an abort rejects with the signal's reason", async () => {
  const { client, sent } = rig(() => Response.json(configMap()));
  const reason = new Error("stop");
  assertEquals(await assertRejects(() => client.get(ConfigMap, "ns/a", { signal: AbortSignal.abort(reason) })), reason);
  assertEquals(sent.length, 0);
});

test("the server's warnings are logged once each", async () => {
  const logger = new RecordingLogger();
  const headers = { warning: '299 - "v1 Endpoints is deprecated"' };
  const { client } = rig(() => Response.json(configMap(), { headers }), { logger });
  await client.get(ConfigMap, "ns/a");
  await client.get(ConfigMap, "ns/b");
  assertEquals(logger.records.map(({ fields }) => fields), [{ warning: "v1 Endpoints is deprecated" }]);
});

test("raw() sends what no verb says", async () => {
  const { client, sent } = rig(() => new Response("ok"));
  assertEquals(await client.raw("/readyz?verbose"), "ok");
  assertEquals([sent[0]?.path, sent[0]?.query], ["/readyz", { verbose: "" }]);
  await client.raw("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { method: "POST", body: "{}" });
  assertEquals([sent[1]?.method, sent[1]?.contentType], ["POST", "application/json"]);
  await assertRejects(() => client.raw("version"), /does not start with "\/"$/);
});
