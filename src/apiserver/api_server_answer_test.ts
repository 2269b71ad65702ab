import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import type { User } from "./model/mod.ts";
import { configMaps, foos, Rig } from "./_server_rig.ts";

const tableType = "application/json;as=Table;v=v1;g=meta.k8s.io";

test("a list names its kind and version; items of built-in kinds do not, those of custom ones do", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a");
  await rig.createFoo("f");
  const maps = (await rig.send("GET", configMaps)).body;
  assertEquals([maps.kind, maps.apiVersion, maps.metadata], ["ConfigMapList", "v1", { resourceVersion: "6" }]);
  assertEquals([maps.items[0].kind, maps.items[0].metadata.name], [undefined, "a"]);
  const custom = (await rig.send("GET", foos)).body;
  assertEquals(custom.metadata, { continue: "", resourceVersion: "6" });
  assertEquals(custom.items[0].kind, "Foo");
});

test("pages of a list fit together, and an expired token is answered with 410 and another", async () => {
  using rig = new Rig();
  for (const name of ["a", "b", "c"]) await rig.createConfigMap(name);
  const first = (await rig.send("GET", `${configMaps}?limit=2`)).body;
  assertEquals([first.items.length, first.metadata.remainingItemCount], [2, 1]);
  const token = encodeURIComponent(first.metadata.continue);
  await rig.createConfigMap("aa");
  const rest = (await rig.send("GET", `${configMaps}?limit=2&continue=${token}`)).body;
  assertEquals([rest.items.length, rest.metadata.resourceVersion], [1, first.metadata.resourceVersion]);
  rig.server.storage.compact(8);
  const { code, body } = await rig.send("GET", `${configMaps}?limit=2&continue=${token}`);
  assertEquals([code, body.reason], [410, "Expired"]);
  const next = encodeURIComponent(body.metadata.continue);
  assertEquals((await rig.send("GET", `${configMaps}?limit=2&continue=${next}`)).body.items[0].metadata.name, "c");
});

test("a table has columns, a row for each object, and as much of the object as was asked for", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a");
  const headers = { accept: tableType };
  const table = (await rig.send("GET", configMaps, undefined, { headers })).body;
  assertEquals([table.kind, table.metadata, table.columnDefinitions[0].name], [
    "Table",
    { resourceVersion: "5" },
    "Name",
  ]);
  assertEquals([table.rows[0].cells, table.rows[0].object.kind], [["a"], "PartialObjectMetadata"]);
  const objectOf = async (include: string) =>
    (await rig.send("GET", `${configMaps}/a?includeObject=${include}`, undefined, { headers })).body.rows[0].object
      ?.kind;
  assertEquals([await objectOf("Object"), await objectOf("None"), await objectOf("Metadata")], [
    "ConfigMap",
    undefined,
    "PartialObjectMetadata",
  ]);
  const bad = await rig.send("GET", `${configMaps}?includeObject=Bogus`, undefined, { headers });
  assertEquals([bad.code, bad.body.reason], [400, "BadRequest"]);
});

test("metadata alone can be had of objects and lists, each in its own form", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a", { data: { k: "v" } });
  const as = (kind: string) => ({ headers: { accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` } });
  const one = (await rig.send("GET", `${configMaps}/a`, undefined, as("PartialObjectMetadata"))).body;
  assertEquals([one.kind, one.metadata.name, one.data], ["PartialObjectMetadata", "a", undefined]);
  const list = (await rig.send("GET", configMaps, undefined, as("PartialObjectMetadataList"))).body;
  assertEquals([list.kind, list.items[0].kind], ["PartialObjectMetadataList", "PartialObjectMetadata"]);
  const wrong = await rig.send("GET", configMaps, undefined, as("PartialObjectMetadata"));
  assertEquals([wrong.code, wrong.body.reason], [406, "NotAcceptable"]);
});

test("answers are YAML for who wants that, and indented for people", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a", { data: { on: "2026-01-01T00:00:00Z", yes: "no" } });
  const yaml = await rig.send("GET", `${configMaps}/a`, undefined, { headers: { accept: "application/yaml" } });
  assertEquals(yaml.headers.get("content-type"), "application/yaml");
  const data = 'data:\n  "on": "2026-01-01T00:00:00Z"\n  "yes": "no"';
  assert(yaml.text.startsWith(`apiVersion: v1\n${data}\nkind: ConfigMap\nmetadata:\n`), yaml.text);
  const pretty = await rig.send("GET", `${configMaps}/a?pretty=true`);
  assert(pretty.text.startsWith('{\n  "apiVersion": "v1",\n'), pretty.text);
  const curl = await rig.send("GET", `${configMaps}/a`, undefined, { headers: { "user-agent": "curl/8" } });
  assertEquals(curl.text, pretty.text);
});

test("refusals are written as was asked for, and where that cannot be as indented JSON", async () => {
  using rig = new Rig();
  const refused = async (accept: string) => {
    const { code, headers, text } = await rig.send("GET", `${configMaps}/none`, undefined, { headers: { accept } });
    return [code, headers.get("content-type"), text.slice(0, 14)];
  };
  assertEquals(await refused("application/yaml"), [404, "application/yaml", "apiVersion: v1"]);
  assertEquals(await refused(tableType), [404, "application/json", '{\n  "kind": "S']);
  assertEquals(await refused(`${tableType},application/json`), [404, "application/json", '{"kind":"Statu']);
  assertEquals((await refused("text/html"))[0], 406);
});

test("HEAD is answered with the head alone", async () => {
  using rig = new Rig();
  await rig.createFoo("f");
  const [found, refused] = [
    await rig.send("HEAD", `${foos}/f`, undefined),
    await rig.send("HEAD", `${configMaps}/a`, undefined),
  ];
  assertEquals([found.code, found.text, refused.code, refused.text], [200, "", 405, ""]);
});

test("YAML is taken for a body, and what is twice in it is warned of", async () => {
  using rig = new Rig();
  const yaml = "metadata:\n  name: a\ndata:\n  k: v\n  k: w\n";
  const { code, body, headers } = await rig.send("POST", configMaps, yaml, {
    headers: { "content-type": "application/yaml" },
  });
  assertEquals([code, body.data], [201, { k: "w" }]);
  assertEquals(headers.get("warning"), '299 - "line 5: key \\"k\\" already set in map"');
});

test("an answer says how long it is, and that it is not to be kept", async () => {
  using rig = new Rig();
  const { headers, text } = await rig.createConfigMap("a", { data: { k: "ü€😀" } });
  assertEquals(Number(headers.get("content-length")), new TextEncoder().encode(text).length);
  assertEquals(headers.get("cache-control"), "no-cache, private");
});

test("health has an answer for probes and one for people, and says what fails", async () => {
  using rig = new Rig();
  for (const path of ["/healthz", "/livez", "/readyz", "/readyz/ping"]) {
    assertEquals((await rig.send("GET", path)).text, "ok");
  }
  assertEquals((await rig.send("GET", "/livez?verbose")).text, "[+]ping ok\nlivez check passed\n");
  const checks = [{ name: "ping", check: () => undefined }, { name: "disk", check: () => "full" }];
  using ill = new Rig({ checks });
  const { code, text } = await ill.send("GET", "/readyz");
  assertEquals([code, text], [500, "[+]ping ok\n[-]disk failed: reason withheld\nreadyz check failed\n"]);
  assertEquals((await ill.send("GET", "/readyz?exclude=disk")).code, 200);
});

test("metrics count the requests by what they were, and the objects that are stored", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a");
  await rig.send("GET", `${configMaps}/a`);
  await rig.send("GET", "/apis/nope/v1/things");
  const { text } = await rig.send("GET", "/metrics");
  const labels = 'group="",version="v1",resource="configmaps",subresource=""';
  assert(text.includes(`apiserver_request_total{verb="POST",${labels},scope="namespace",code="201"} 1`), text);
  assert(text.includes(`apiserver_request_total{verb="GET",${labels},scope="resource",code="200"} 1`), text);
  assert(text.includes('apiserver_storage_objects{resource="configmaps"} 1'), text);
  assert(!text.includes("things"));
});

const nobody: User = { name: "bob", uid: "", groups: [], extra: new Map() };

test("who is not known is refused with 401, who may not with 403, and probes need neither", async () => {
  using rig = new Rig({
    authenticator: { authenticate: (request) => request.headers.has("authorization") ? nobody : undefined },
    authorizer: { authorize: ({ verb }) => ({ isAllowed: verb === "list", reason: "because" }) },
  });
  assertEquals((await rig.send("GET", "/healthz")).code, 200);
  const unknown = await rig.send("GET", configMaps);
  assertEquals([unknown.code, unknown.body.reason, unknown.body.message], [401, "Unauthorized", "Unauthorized"]);
  const extra = { headers: { authorization: "Bearer x" } };
  assertEquals((await rig.send("GET", configMaps, undefined, extra)).code, 200);
  const refused = await rig.send("DELETE", `${configMaps}/a`, undefined, extra);
  assertEquals([refused.code, refused.body.reason, refused.body.details], [403, "Forbidden", {
    name: "a",
    kind: "configmaps",
  }]);
  assertEquals(
    refused.body.message,
    'configmaps "a" is forbidden: User "bob" cannot delete resource "configmaps" in API group "" ' +
      'in the namespace "default": because',
  );
  const path = await rig.send("GET", "/metrics", undefined, extra);
  assertEquals(path.body.message, 'forbidden: User "bob" cannot get path "/metrics": because');
});

test("an update that would create asks for that permission too", async () => {
  using rig = new Rig({ authorizer: { authorize: ({ verb }) => ({ isAllowed: verb === "patch", reason: "" }) } });
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  const { code, body } = await rig.send("PATCH", `${configMaps}/a?fieldManager=m`, object, {
    headers: { "content-type": "application/apply-patch+yaml" },
  });
  assertEquals(code, 403);
  assertMatch(body.message, /cannot create resource "configmaps"/);
});

test("actions and reviews are done by who is registered for them, with a decoded body", async () => {
  using rig = new Rig({
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
  const family = rig.server.kinds.family("configmaps");
  if (family === undefined) throw new Error("no ConfigMaps");
  const poke = { name: "poke", verbs: ["create" as const], body: { group: "", version: "v1", kind: "Poke" } };
  const kind = { ...family.storage, subresources: new Map([["poke", poke]]) };
  rig.server.kinds.set({ ...family, served: [kind], storage: kind });
  const { code, body } = await rig.send("POST", `${configMaps}/a/poke`, { hard: true });
  assertEquals([code, body.verb, body.metadata.name], [201, "create", "a"]);
  assertEquals(body.body, { hard: true, apiVersion: "v1", kind: "Poke", metadata: {} });
  assertEquals((await rig.send("GET", `${configMaps}/a/poke`)).code, 405);
  const review = await rig.createFoo("f", { replicas: 1 });
  assertEquals([review.code, review.body.status], [201, { allowed: true }]);
  assertEquals(rig.server.storage.size("foos.example.com"), 0);
});

test("bodies of other formats are read by their decoders, for built-in kinds", async () => {
  const contentType = "application/vnd.example";
  const decode = (bytes: Uint8Array) => ({ metadata: { name: new TextDecoder().decode(bytes) } });
  using rig = new Rig({ decoders: [{ contentType, decode }] });
  const extra = { headers: { "content-type": contentType } };
  const created = await rig.send("POST", configMaps, "a", extra);
  assertEquals([created.code, created.body.metadata.name], [201, "a"]);
  assertEquals((await rig.send("POST", foos, "a", extra)).code, 415);
  const refused = await rig.send("POST", configMaps, "a", { headers: { "content-type": "text/plain" } });
  assertMatch(refused.body.message, /application\/json, application\/yaml, .*application\/vnd.example$/);
});
