import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import type { User } from "./model/mod.ts";
import { configMaps, foos, TestServer } from "./testing/test_server.ts";

const tableType = "application/json;as=Table;v=v1;g=meta.k8s.io";

test("a list has apiVersion and kind; items of built-in kinds do not, those of custom resources do", async () => {
  using server = new TestServer();
  await server.createConfigMap("a");
  await server.createFoo("f");
  const maps = (await server.send("GET", configMaps)).body;
  assertEquals([maps.kind, maps.apiVersion, maps.metadata], ["ConfigMapList", "v1", { resourceVersion: "6" }]);
  assertEquals([maps.items[0].kind, maps.items[0].metadata.name], [undefined, "a"]);
  const custom = (await server.send("GET", foos)).body;
  assertEquals(custom.metadata, { continue: "", resourceVersion: "6" });
  assertEquals(custom.items[0].kind, "Foo");
});

test("pages of a list are consistent, and an expired token gets 410 with another token", async () => {
  using server = new TestServer();
  for (const name of ["a", "b", "c"]) await server.createConfigMap(name);
  const first = (await server.send("GET", `${configMaps}?limit=2`)).body;
  assertEquals([first.items.length, first.metadata.remainingItemCount], [2, 1]);
  const token = encodeURIComponent(first.metadata.continue);
  await server.createConfigMap("aa");
  const rest = (await server.send("GET", `${configMaps}?limit=2&continue=${token}`)).body;
  assertEquals([rest.items.length, rest.metadata.resourceVersion], [1, first.metadata.resourceVersion]);
  server.api.storage.compact(8);
  const { code, body } = await server.send("GET", `${configMaps}?limit=2&continue=${token}`);
  assertEquals([code, body.reason], [410, "Expired"]);
  const next = encodeURIComponent(body.metadata.continue);
  assertEquals((await server.send("GET", `${configMaps}?limit=2&continue=${next}`)).body.items[0].metadata.name, "c");
});

test("a table has columns, a row for each object, and the part of the object in includeObject", async () => {
  using server = new TestServer();
  await server.createConfigMap("a");
  const headers = { accept: tableType };
  const table = (await server.send("GET", configMaps, undefined, { headers })).body;
  assertEquals([table.kind, table.metadata, table.columnDefinitions[0].name], [
    "Table",
    { resourceVersion: "5" },
    "Name",
  ]);
  assertEquals([table.rows[0].cells, table.rows[0].object.kind], [["a"], "PartialObjectMetadata"]);
  const objectOf = async (include: string) =>
    (await server.send("GET", `${configMaps}/a?includeObject=${include}`, undefined, { headers })).body.rows[0].object
      ?.kind;
  assertEquals([await objectOf("Object"), await objectOf("None"), await objectOf("Metadata")], [
    "ConfigMap",
    undefined,
    "PartialObjectMetadata",
  ]);
  const bad = await server.send("GET", `${configMaps}?includeObject=Bogus`, undefined, { headers });
  assertEquals([bad.code, bad.body.reason], [400, "BadRequest"]);
});

test("objects and lists have each their form of partial metadata", async () => {
  using server = new TestServer();
  await server.createConfigMap("a", { data: { k: "v" } });
  const as = (kind: string) => ({ headers: { accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` } });
  const one = (await server.send("GET", `${configMaps}/a`, undefined, as("PartialObjectMetadata"))).body;
  assertEquals([one.kind, one.metadata.name, one.data], ["PartialObjectMetadata", "a", undefined]);
  const list = (await server.send("GET", configMaps, undefined, as("PartialObjectMetadataList"))).body;
  assertEquals([list.kind, list.items[0].kind], ["PartialObjectMetadataList", "PartialObjectMetadata"]);
  const wrong = await server.send("GET", configMaps, undefined, as("PartialObjectMetadata"));
  assertEquals([wrong.code, wrong.body.reason], [406, "NotAcceptable"]);
});

test("responses are YAML on request, and indented with pretty or for curl", async () => {
  using server = new TestServer();
  await server.createConfigMap("a", { data: { on: "2026-01-01T00:00:00Z", yes: "no" } });
  const yaml = await server.send("GET", `${configMaps}/a`, undefined, { headers: { accept: "application/yaml" } });
  assertEquals(yaml.headers.get("content-type"), "application/yaml");
  const data = 'data:\n  "on": "2026-01-01T00:00:00Z"\n  "yes": "no"';
  assert(yaml.text.startsWith(`apiVersion: v1\n${data}\nkind: ConfigMap\nmetadata:\n`), yaml.text);
  const pretty = await server.send("GET", `${configMaps}/a?pretty=true`);
  assert(pretty.text.startsWith('{\n  "apiVersion": "v1",\n'), pretty.text);
  const curl = await server.send("GET", `${configMaps}/a`, undefined, { headers: { "user-agent": "curl/8" } });
  assertEquals(curl.text, pretty.text);
});

test("errors have the requested format, or indented JSON when that is not possible", async () => {
  using server = new TestServer();
  const rejected = async (accept: string) => {
    const { code, headers, text } = await server.send("GET", `${configMaps}/none`, undefined, { headers: { accept } });
    return [code, headers.get("content-type"), text.slice(0, 14)];
  };
  assertEquals(await rejected("application/yaml"), [404, "application/yaml", "apiVersion: v1"]);
  assertEquals(await rejected(tableType), [404, "application/json", '{\n  "kind": "S']);
  assertEquals(await rejected(`${tableType},application/json`), [404, "application/json", '{"kind":"Statu']);
  assertEquals((await rejected("text/html"))[0], 406);
});

test("a response to HEAD has no body", async () => {
  using server = new TestServer();
  await server.createFoo("f");
  const [found, rejected] = [
    await server.send("HEAD", `${foos}/f`, undefined),
    await server.send("HEAD", `${configMaps}/a`, undefined),
  ];
  assertEquals([found.code, found.text, rejected.code, rejected.text], [200, "", 405, ""]);
});

test("a body may be YAML, and its duplicate keys cause warnings", async () => {
  using server = new TestServer();
  const yaml = "metadata:\n  name: a\ndata:\n  k: v\n  k: w\n";
  const { code, body, headers } = await server.send("POST", configMaps, yaml, {
    headers: { "content-type": "application/yaml" },
  });
  assertEquals([code, body.data], [201, { k: "w" }]);
  assertEquals(headers.get("warning"), '299 - "line 5: key \\"k\\" already set in map"');
});

test("a response has Content-Length and Cache-Control", async () => {
  using server = new TestServer();
  const { headers, text } = await server.createConfigMap("a", { data: { k: "ü€😀" } });
  assertEquals(Number(headers.get("content-length")), new TextEncoder().encode(text).length);
  assertEquals(headers.get("cache-control"), "no-cache, private");
});

test("health checks have a short and a verbose response, and report failed checks", async () => {
  using server = new TestServer();
  for (const path of ["/healthz", "/livez", "/readyz", "/readyz/ping"]) {
    assertEquals((await server.send("GET", path)).text, "ok");
  }
  assertEquals((await server.send("GET", "/livez?verbose")).text, "[+]ping ok\nlivez check passed\n");
  const checks = [{ name: "ping", check: () => undefined }, { name: "disk", check: () => "full" }];
  using ill = new TestServer({ checks });
  const { code, text } = await ill.send("GET", "/readyz");
  assertEquals([code, text], [500, "[+]ping ok\n[-]disk failed: reason withheld\nreadyz check failed\n"]);
  assertEquals((await ill.send("GET", "/readyz?exclude=disk")).code, 200);
});

test("/metrics/slis says how often each check succeeded and failed, and its last result", async () => {
  const problems: (string | undefined)[] = ["full", undefined, undefined];
  using server = new TestServer({ checks: [{ name: "disk", check: () => problems.shift() }] });
  await server.send("GET", "/readyz");
  await server.send("GET", "/readyz/disk");
  await server.send("GET", "/livez");
  const { text, headers } = await server.send("GET", "/metrics/slis");
  assertEquals(text.split("\n").filter((line) => !line.startsWith("#") && line !== ""), [
    'kubernetes_healthcheck{name="disk",type="readyz"} 1',
    'kubernetes_healthcheck{name="disk",type="livez"} 1',
    'kubernetes_healthchecks_total{name="disk",status="error",type="readyz"} 1',
    'kubernetes_healthchecks_total{name="disk",status="success",type="readyz"} 1',
    'kubernetes_healthchecks_total{name="disk",status="success",type="livez"} 1',
  ]);
  assertEquals(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
});

test("metrics count the requests by verb and kind, and the stored objects", async () => {
  using server = new TestServer();
  await server.createConfigMap("a");
  await server.send("GET", `${configMaps}/a`);
  await server.send("GET", "/apis/nope/v1/things");
  const { text } = await server.send("GET", "/metrics");
  const labels = 'group="",version="v1",resource="configmaps",subresource=""';
  assert(text.includes(`apiserver_request_total{verb="POST",${labels},scope="namespace",code="201"} 1`), text);
  assert(text.includes(`apiserver_request_total{verb="GET",${labels},scope="resource",code="200"} 1`), text);
  assert(text.includes('apiserver_storage_objects{resource="configmaps"} 1'), text);
  assert(!text.includes("things"));
});

const bob: User = { name: "bob", uid: "", groups: [], extra: new Map() };

test("an unknown user gets 401, a forbidden request 403, and probes need no credentials", async () => {
  using server = new TestServer({
    authenticator: { authenticate: (request) => request.headers.has("authorization") ? bob : undefined },
    authorizer: { authorize: ({ verb }) => ({ isAllowed: verb === "list", reason: "because" }) },
  });
  assertEquals((await server.send("GET", "/healthz")).code, 200);
  const unknown = await server.send("GET", configMaps);
  assertEquals([unknown.code, unknown.body.reason, unknown.body.message], [401, "Unauthorized", "Unauthorized"]);
  const extra = { headers: { authorization: "Bearer x" } };
  assertEquals((await server.send("GET", configMaps, undefined, extra)).code, 200);
  const rejected = await server.send("DELETE", `${configMaps}/a`, undefined, extra);
  assertEquals([rejected.code, rejected.body.reason, rejected.body.details], [403, "Forbidden", {
    name: "a",
    kind: "configmaps",
  }]);
  assertEquals(
    rejected.body.message,
    'configmaps "a" is forbidden: User "bob" cannot delete resource "configmaps" in API group "" ' +
      'in the namespace "default": because',
  );
  const path = await server.send("GET", "/metrics", undefined, extra);
  assertEquals(path.body.message, 'forbidden: User "bob" cannot get path "/metrics": because');
});

test("an update that creates needs the permission to create", async () => {
  using server = new TestServer({
    authorizer: { authorize: ({ verb }) => ({ isAllowed: verb === "patch", reason: "" }) },
  });
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  const { code, body } = await server.send("PATCH", `${configMaps}/a?fieldManager=m`, object, {
    headers: { "content-type": "application/apply-patch+yaml" },
  });
  assertEquals(code, 403);
  assertMatch(body.message, /cannot create resource "configmaps"/);
});

test("actions and reviews go to their registered handlers, with a decoded body", async () => {
  using server = new TestServer({
    subresources: [{
      collection: "configmaps",
      subresource: "poke",
      handle: ({ name, body, verb, isDryRun }) => ({
        kind: "object",
        code: 201,
        object: { kind: "Poke", apiVersion: "v1", metadata: { name }, verb, isDryRun, body: body ?? null },
      }),
    }],
    reviews: [{ collection: "foos.example.com", review: ({ body }) => ({ ...body, status: { allowed: true } }) }],
  });
  const family = server.api.kinds.family("configmaps");
  if (family === undefined) throw new Error("no ConfigMaps");
  const poke = { name: "poke", verbs: ["create" as const], body: { group: "", version: "v1", kind: "Poke" } };
  const kind = { ...family.storage, subresources: new Map([["poke", poke]]) };
  server.api.kinds.set({ ...family, served: [kind], storage: kind });
  const { code, body } = await server.send("POST", `${configMaps}/a/poke`, { hard: true });
  assertEquals([code, body.verb, body.metadata.name], [201, "create", "a"]);
  assertEquals(body.body, { hard: true, apiVersion: "v1", kind: "Poke", metadata: {} });
  assertEquals((await server.send("GET", `${configMaps}/a/poke`)).code, 405);
  const review = await server.createFoo("f", { replicas: 1 });
  assertEquals([review.code, review.body.status], [201, { allowed: true }]);
  assertEquals(server.api.storage.size("foos.example.com"), 0);
});

test("bodies in other formats go to their decoders, for built-in kinds", async () => {
  const contentType = "application/vnd.example";
  const decode = (bytes: Uint8Array) => ({ metadata: { name: new TextDecoder().decode(bytes) } });
  using server = new TestServer({ decoders: [{ contentType, decode }] });
  const extra = { headers: { "content-type": contentType } };
  const created = await server.send("POST", configMaps, "a", extra);
  assertEquals([created.code, created.body.metadata.name], [201, "a"]);
  assertEquals((await server.send("POST", foos, "a", extra)).code, 415);
  const rejected = await server.send("POST", configMaps, "a", { headers: { "content-type": "text/plain" } });
  assertMatch(rejected.body.message, /application\/json, application\/yaml, .*application\/vnd.example$/);
});
