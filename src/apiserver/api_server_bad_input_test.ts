/** Any malformed request gets the 4xx of kube-apiserver, and changes nothing. */
import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { seededRandom } from "../async/mod.ts";
import { configMaps, foos, jsonPatch, mergePatch, TestServer } from "./testing/test_server.ts";

const unrecognized = "the object provided is unrecognized (must be of type ConfigMap): ";

/** The messages were recorded from kube-apiserver 1.36.3. */
const bodies: readonly (readonly [string, number, string])[] = [
  ["", 400, `${unrecognized}couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)`],
  ["{", 400, `${unrecognized}couldn't get version/kind; json parse error: unexpected end of JSON input ({)`],
  [
    '{"a":1,}',
    400,
    `${unrecognized}couldn't get version/kind; json parse error: invalid character '}' looking for beginning of object ` +
    `key string ({"a":1,})`,
  ],
  [
    "nonsense",
    400,
    `${unrecognized}couldn't get version/kind; json parse error: invalid character 'o' in literal null ` +
    "(expecting 'u') (6e6f6e73656e7365)",
  ],
  [
    "5",
    400,
    `${unrecognized}couldn't get version/kind; json parse error: json: cannot unmarshal number into Go value of type ` +
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (35)',
  ],
  ["null", 422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'],
  [
    '{"kind":5}',
    400,
    `${unrecognized}couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field ` +
    '.kind of type string ({"kind":5})',
  ],
  [
    '{"kind":"Bogus","apiVersion":"v1"}',
    400,
    'Bogus in version "v1" cannot be handled as a ConfigMap: no kind "Bogus" is registered for version "v1" in scheme ' +
    '"pkg/runtime/scheme.go:111"',
  ],
  [
    '{"kind":"Namespace","apiVersion":"v1"}',
    400,
    'Namespace in version "v1" cannot be handled as a ConfigMap: converting (v1.Namespace) to (core.ConfigMap): ' +
    "unknown conversion",
  ],
  [
    '{"metadata":"x"}',
    400,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ' +
    "ConfigMap.metadata of type v1.ObjectMeta",
  ],
  [
    '{"metadata":{"labels":{"a":1}}}',
    400,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ' +
    "ObjectMeta.metadata.labels of type string",
  ],
];

for (const [text, code, message] of bodies) {
  test(`the body ${JSON.stringify(text)} is rejected with ${code} and the message of kube-apiserver`, async () => {
    using server = new TestServer();
    const response = await server.send("POST", configMaps, text);
    assertEquals([response.code, response.body.message], [code, message]);
    assertEquals(server.errors, []);
  });
}

test("[95] a body that is nested too deeply is rejected with 400, in JSON, YAML and patches", async () => {
  using server = new TestServer();
  await server.createConfigMap("a");
  for (
    const bomb of ["[".repeat(100_000), `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, '{"a":'.repeat(20_000)]
  ) {
    assertEquals((await server.send("POST", configMaps, bomb)).code, 400);
    assertEquals((await server.send("PATCH", `${configMaps}/a`, bomb, mergePatch)).code, 400);
    assertEquals((await server.send("PATCH", `${configMaps}/a`, bomb, jsonPatch)).code, 400);
  }
  const yaml = { headers: { "content-type": "application/yaml" } };
  assertEquals((await server.send("POST", configMaps, "a: &a [x]\nb: [*a, *a".repeat(3), yaml)).code, 400);
  const laughs = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${
    Array.from({ length: 8 }, (_, at) => `${"bcdefghi"[at]}: &${"bcdefghi"[at]} [${`*${"abcdefgh"[at]},`.repeat(10)}]`)
      .join("\n")
  }\n`;
  assertEquals((await server.send("POST", configMaps, laughs, yaml)).code, 400);
  assertEquals(server.errors, []);
});

test("a body of more than 3 MiB is rejected with 413, with and without Content-Length", async () => {
  using server = new TestServer();
  const large = JSON.stringify({ metadata: { name: "a" }, data: { x: "x".repeat(3 * 1024 * 1024) } });
  const { code, body } = await server.send("POST", configMaps, large);
  assertEquals([code, body.reason], [413, "RequestEntityTooLarge"]);
  assertEquals(body.message, "Request entity too large: limit is 3145728");
  const wide = JSON.stringify({ metadata: { name: "a" }, data: { x: "€".repeat(1024 * 1024) } });
  assertEquals((await server.send("POST", configMaps, wide)).code, 413);
});

test("[94] names and keys of JavaScript built-ins work like any others", async () => {
  using server = new TestServer();
  for (const name of ["constructor", "prototype", "tostring", "hasownproperty", "valueof"]) {
    const created = await server.createConfigMap(name, {}, { labels: { constructor: "x", "toString": "y" } });
    assertEquals([created.code, created.body.metadata.labels], [201, { constructor: "x", toString: "y" }]);
  }
  const text =
    '{"metadata":{"name":"a","labels":{"__proto__":"x"}},"data":{"__proto__":"x","constructor":"y"},"__proto__":{"z":1}}';
  const bad = await server.send("POST", configMaps, text);
  // "__proto__" is not a label key: it must begin with a letter or digit.
  assertEquals(bad.code, 422);
  const good = await server.send("POST", configMaps, text.replace(',"labels":{"__proto__":"x"}', ""));
  assertEquals(good.code, 201);
  assert(good.text.includes('"data":{"__proto__":"x","constructor":"y"}'), good.text);
  const patched = await server.send("PATCH", `${configMaps}/a`, '{"data":{"__proto__":"w"}}', mergePatch);
  assert(patched.text.includes('"data":{"__proto__":"w","constructor":"y"}'), patched.text);
  assertEquals(Object.keys(Object.prototype), []);
  for (const path of ["/apis/__proto__/v1/x", "/api/v1/namespaces/__proto__/configmaps", "/api/v1/constructor"]) {
    assert((await server.send("GET", path)).code < 500);
  }
});

const paths: readonly (readonly [string, string, number])[] = [
  ["GET", "/api/v1/namespaces/default/configmaps/%2e%2e", 200],
  ["GET", "/api/v1/namespaces/default/configmaps/a%25b", 400],
  ["GET", "/api/v1/namespaces/default/configmaps/..%2f..%2fsecrets", 404],
  ["GET", "/api/v1/namespaces/default/configmaps/%zz", 400],
  ["GET", "/api/v1/namespaces/default/configmaps/a/bogus", 404],
  ["GET", "/apis/example.com/v2/foos", 404],
  ["GET", "/nope", 404],
  ["PUT", configMaps, 405],
  ["POST", `${configMaps}/a`, 405],
  ["POST", "/api/v1/configmaps", 405],
  ["OPTIONS", configMaps, 405],
  ["PATCH", configMaps, 405],
];

for (const [method, path, code] of paths) {
  test(`${method} ${path} gets ${code}`, async () => {
    using server = new TestServer();
    const body = method === "POST" || method === "PUT" || method === "PATCH" ? { metadata: { name: "a" } } : undefined;
    assertEquals((await server.send(method, path, body)).code, code);
    assertEquals(server.errors, []);
  });
}

const queries: readonly (readonly [string, number, RegExp])[] = [
  ["limit=x", 400, /strconv.ParseInt: parsing "x": invalid syntax/],
  ["continue=x", 400, /invalid continue token/],
  ["resourceVersion=x", 400, /invalid resource version/],
  ["resourceVersion=99", 504, /Too large resource version: 99, current: 4/],
  ["resourceVersionMatch=Exact", 422, /resourceVersionMatch is forbidden unless resourceVersion is provided/],
  ["resourceVersion=0&resourceVersionMatch=Exact", 422, /is forbidden for resourceVersion "0"/],
  ["resourceVersion=1&resourceVersionMatch=x", 422, /supported values: "Exact", "NotOlderThan", ""/],
  ["sendInitialEvents=true", 422, /sendInitialEvents is forbidden for list/],
  ["watch=1&sendInitialEvents=true", 422, /requires setting resourceVersionMatch to NotOlderThan/],
  ["watch=1&resourceVersion=x", 500, /resourceVersion: Invalid value: "x"/],
  ["labelSelector=%3D", 400, /found '=', expected: !, identifier, or 'end of string'/],
  ["fieldSelector=spec.x%3D1", 400, /"spec.x" is not a known field selector/],
];

for (const [query, code, message] of queries) {
  test(`a list with ?${query} is rejected with ${code}`, async () => {
    using server = new TestServer();
    await server.send("GET", configMaps);
    const response = await server.send("GET", `${configMaps}?${query}`);
    assertEquals(response.code, code);
    assertMatch(response.body.message, message);
  });
}

test("unsupported bodies and patches are rejected with 415, unacceptable responses with 406", async () => {
  using server = new TestServer();
  await server.createConfigMap("a");
  await server.createFoo("f");
  const as = (type: string) => ({ headers: { "content-type": type } });
  assertEquals((await server.send("POST", configMaps, "{}", as("text/plain"))).code, 415);
  assertEquals((await server.send("POST", configMaps, "{}", as("application/vnd.kubernetes.protobuf"))).code, 415);
  assertEquals((await server.send("PATCH", `${configMaps}/a`, "{}", as("application/apply-patch+cbor"))).code, 415);
  assertEquals((await server.send("PATCH", `${foos}/f`, "{}", as("application/strategic-merge-patch+json"))).code, 415);
  const accept = { headers: { accept: "application/vnd.kubernetes.protobuf" } };
  assertEquals((await server.send("GET", foos, undefined, accept)).code, 406);
});

/** Invariants: the only 5xx are those of kube-apiserver, objects do not change, no error is thrown. */
test("damaged requests change nothing and cause no unexpected error", async () => {
  using server = new TestServer();
  await server.createConfigMap("a", { data: { k: "v" } });
  const random = seededRandom(11);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random.next() * items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
  const text = JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", labels: { x: "y" } },
    data: { k: "v" },
  });
  const types = [
    "application/json",
    "application/yaml",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "x",
  ];
  for (let count = 0; count < 1500; count++) {
    const at = Math.floor(random.next() * text.length);
    const damaged = text.slice(0, at) + pick(["", "{", "]", '"', ",", "\\", "null", "\u0000", "[[[", ":", "&a", "*a"]) +
      text.slice(at + Math.floor(random.next() * 5));
    const method = pick(["POST", "PUT", "PATCH"]);
    const path = pick([configMaps, `${configMaps}/a`, `${configMaps}/a?fieldManager=m&force=true`, `${foos}/f`, foos]);
    const { code, body } = await server.send(method, `${path}${path.includes("?") ? "&" : "?"}dryRun=All`, damaged, {
      headers: { "content-type": pick(types) },
    });
    // kube-apiserver also responds with 500 to an apply with unknown fields.
    const isReal = code < 500 || body.message.startsWith("failed to create typed patch object");
    assert(isReal, `${method} ${path} ${damaged}: ${code} ${body?.message}`);
  }
  assertEquals(server.errors, []);
  assertEquals((await server.send("GET", `${configMaps}/a`)).body.data, { k: "v" });
});
