/** Whatever is sent, the answer is a 4xx of the real server's, and the server is as it was. */
import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { seededRandom } from "../async/mod.ts";
import { configMaps, foos, jsonPatch, mergePatch, Rig } from "./_server_rig.ts";

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
  test(`the body ${JSON.stringify(text)} is refused with ${code} in the words of the real server`, async () => {
    using rig = new Rig();
    const answer = await rig.send("POST", configMaps, text);
    assertEquals([answer.code, answer.body.message], [code, message]);
    assertEquals(rig.errors, []);
  });
}

test("[95] a nesting bomb is a 400, in JSON, YAML and patches", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a");
  for (
    const bomb of ["[".repeat(100_000), `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, '{"a":'.repeat(20_000)]
  ) {
    assertEquals((await rig.send("POST", configMaps, bomb)).code, 400);
    assertEquals((await rig.send("PATCH", `${configMaps}/a`, bomb, mergePatch)).code, 400);
    assertEquals((await rig.send("PATCH", `${configMaps}/a`, bomb, jsonPatch)).code, 400);
  }
  const yaml = { headers: { "content-type": "application/yaml" } };
  assertEquals((await rig.send("POST", configMaps, "a: &a [x]\nb: [*a, *a".repeat(3), yaml)).code, 400);
  const laughs = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${
    Array.from({ length: 8 }, (_, at) => `${"bcdefghi"[at]}: &${"bcdefghi"[at]} [${`*${"abcdefgh"[at]},`.repeat(10)}]`)
      .join("\n")
  }\n`;
  assertEquals((await rig.send("POST", configMaps, laughs, yaml)).code, 400);
  assertEquals(rig.errors, []);
});

test("a body of more than 3 MiB is a 413, whether it says so or not", async () => {
  using rig = new Rig();
  const large = JSON.stringify({ metadata: { name: "a" }, data: { x: "x".repeat(3 * 1024 * 1024) } });
  const { code, body } = await rig.send("POST", configMaps, large);
  assertEquals([code, body.reason], [413, "RequestEntityTooLarge"]);
  assertEquals(body.message, "Request entity too large: limit is 3145728");
  const wide = JSON.stringify({ metadata: { name: "a" }, data: { x: "€".repeat(1024 * 1024) } });
  assertEquals((await rig.send("POST", configMaps, wide)).code, 413);
});

test("[94] names and keys of JavaScript's own are names and keys like any others", async () => {
  using rig = new Rig();
  for (const name of ["constructor", "prototype", "tostring", "hasownproperty", "valueof"]) {
    const created = await rig.createConfigMap(name, {}, { labels: { constructor: "x", "toString": "y" } });
    assertEquals([created.code, created.body.metadata.labels], [201, { constructor: "x", toString: "y" }]);
  }
  const text =
    '{"metadata":{"name":"a","labels":{"__proto__":"x"}},"data":{"__proto__":"x","constructor":"y"},"__proto__":{"z":1}}';
  const bad = await rig.send("POST", configMaps, text);
  // "__proto__" is no label key: it must begin with a letter or digit.
  assertEquals(bad.code, 422);
  const good = await rig.send("POST", configMaps, text.replace(',"labels":{"__proto__":"x"}', ""));
  assertEquals(good.code, 201);
  assert(good.text.includes('"data":{"__proto__":"x","constructor":"y"}'), good.text);
  const patched = await rig.send("PATCH", `${configMaps}/a`, '{"data":{"__proto__":"w"}}', mergePatch);
  assert(patched.text.includes('"data":{"__proto__":"w","constructor":"y"}'), patched.text);
  assertEquals(Object.keys(Object.prototype), []);
  for (const path of ["/apis/__proto__/v1/x", "/api/v1/namespaces/__proto__/configmaps", "/api/v1/constructor"]) {
    assert((await rig.send("GET", path)).code < 500);
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
  test(`${method} ${path} is answered with ${code}`, async () => {
    using rig = new Rig();
    const body = method === "POST" || method === "PUT" || method === "PATCH" ? { metadata: { name: "a" } } : undefined;
    assertEquals((await rig.send(method, path, body)).code, code);
    assertEquals(rig.errors, []);
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
  test(`a list with ?${query} is refused with ${code}`, async () => {
    using rig = new Rig();
    await rig.send("GET", configMaps);
    const answer = await rig.send("GET", `${configMaps}?${query}`);
    assertEquals(answer.code, code);
    assertMatch(answer.body.message, message);
  });
}

test("unsupported bodies and patches are 415, unacceptable answers 406", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a");
  await rig.createFoo("f");
  const as = (type: string) => ({ headers: { "content-type": type } });
  assertEquals((await rig.send("POST", configMaps, "{}", as("text/plain"))).code, 415);
  assertEquals((await rig.send("POST", configMaps, "{}", as("application/vnd.kubernetes.protobuf"))).code, 415);
  assertEquals((await rig.send("PATCH", `${configMaps}/a`, "{}", as("application/apply-patch+cbor"))).code, 415);
  assertEquals((await rig.send("PATCH", `${foos}/f`, "{}", as("application/strategic-merge-patch+json"))).code, 415);
  const accept = { headers: { accept: "application/vnd.kubernetes.protobuf" } };
  assertEquals((await rig.send("GET", configMaps, undefined, accept)).code, 406);
});

/** Invariant: no answer is a 5xx that is not the real server's, nothing is lost, nothing is thrown. */
test("damaged requests never break the server", async () => {
  using rig = new Rig();
  await rig.createConfigMap("a", { data: { k: "v" } });
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
    const { code, body } = await rig.send(method, `${path}${path.includes("?") ? "&" : "?"}dryRun=All`, damaged, {
      headers: { "content-type": pick(types) },
    });
    // Of an apply with fields that nobody knows the real server says 500 too.
    const isReal = code < 500 || body.message.startsWith("failed to create typed patch object");
    assert(isReal, `${method} ${path} ${damaged}: ${code} ${body?.message}`);
  }
  assertEquals(rig.errors, []);
  assertEquals((await rig.send("GET", `${configMaps}/a`)).body.data, { k: "v" });
});
