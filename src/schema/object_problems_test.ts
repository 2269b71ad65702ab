import { assertEquals, test } from "../../tests/testing.ts";
import { defineResource, embeddedResource, int64, intOrString, objectProblems, structuralSchema, z } from "./mod.ts";

/** The problems of `value` in the field x. */
function problems(field: z.ZodType, value: unknown): readonly string[] {
  const object = value === undefined ? {} : { x: value };
  return objectProblems(structuralSchema(z.object({ x: field }), "Foo"), object).map((one) =>
    `${one.kind}: ${one.message}`
  );
}

const item = z.object({ a: z.string(), b: z.string().optional() });
const mapList = z.array(item).meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] });

const cases: readonly (readonly [title: string, field: z.ZodType, value: unknown, expected: readonly string[]])[] = [
  ["another type", z.string(), 1, ["invalid: x is 1, the type is string"]],
  ["a fraction", z.int(), 1.5, ["invalid: x is 1.5, the type is integer"]],
  ["a null", z.string().optional(), null, ["invalid: x is null, which is not allowed"]],
  ["an integer that is too large for 32 bits", z.int32(), 2 ** 31, [
    "invalid: x is 2147483648, which is not a valid int32",
  ]],
  ["a maximum", z.int32().max(10), 12, ["invalid: x is 12, the maximum is 10"]],
  ["an exclusive minimum", z.number().gt(0), 0, ["invalid: x is 0, it must be above 0"]],
  ["a step", z.number().multipleOf(5), 7, ["invalid: x is 7, which is not a multiple of 5"]],
  ["a step with a fraction", z.number().meta({ openapi: { multipleOf: 0.5 } }), 0.7, [
    "invalid: x is 0.7, which is not a multiple of 0.5",
  ]],
  ["an enum", z.enum(["a", "b"]), "c", ['invalid: x is "c", which is none of "a", "b"']],
  ["a length", z.string().max(2), "abc", ["invalid: x has 3 characters, the maximum is 2"]],
  ["a pattern", z.string().regex(/^a+$/i), "b", ['invalid: x is "b", which does not match (?i)^a+$']],
  ["a second pattern", z.string().startsWith("a").endsWith("b"), "ac", [
    'invalid: x is "ac", which does not match .*b$',
  ]],
  ["a format", z.iso.datetime(), "soon", [
    'invalid: x is "soon", which is not a valid date-time',
  ]],
  ["a missing required field", z.string(), undefined, ["invalid: x is required but missing"]],
  ["too few items", z.array(z.string()).min(1), [], ["invalid: x has 0 items, the minimum is 1"]],
  ["an item", z.array(z.object({ a: z.int32().max(3) })), [{ a: 1 }, { a: 4 }], [
    "invalid: x[1].a is 4, the maximum is 3",
  ]],
  ["two items with one key", mapList, [{ a: "k" }, { a: "k" }], ['invalid: x has two items ["k"]']],
  ["a value of a map", z.record(z.string(), z.int32()), { k: "v" }, ['invalid: x.k is "v", the type is integer']],
  ["too many keys", z.record(z.string(), z.int32()).meta({ maxProperties: 1 }), { a: 1, b: 2 }, [
    "invalid: x has 2 keys, the maximum is 1",
  ]],
  ["an unknown field", z.object({ a: z.string() }), { a: "v", b: [1] }, [
    "lost: x.b is [1] and would be lost",
  ]],
  ["int or string", intOrString(), true, ["invalid: x is true, neither an integer nor a string"]],
  ["an integer above 2^53 over its maximum", int64({ max: 10 }), 9007199254740993n, [
    "invalid: x is 9007199254740993, the maximum is 10",
  ]],
  ["an integer that is too large for 64 bits", int64(), 9223372036854775808n, [
    "invalid: x is 9223372036854775808, which is not a valid int64",
  ]],
  ["a number that is too large for a float", z.float32(), 3.5e38, [
    "invalid: x is 3.5e+38, which is not a valid float",
  ]],
  ["a URL that the API server cannot read", z.url(), "http://a/%zz", [
    'invalid: x is "http://a/%zz", which is not a valid uri',
  ]],
];

for (const [title, field, value, expected] of cases) {
  test(`objectProblems() reports ${title}`, () => {
    const found = problems(field, value);
    assertEquals(
      found.map((text, index) => text.startsWith(expected[index] ?? "?")),
      expected.map(() => true),
      `${found}`,
    );
  });
}

const fitting: readonly (readonly [title: string, field: z.ZodType, value: unknown])[] = [
  ["a valid value", z.string().min(1).regex(/^é\p{Lu}$/u), "éA"],
  ["an allowed null", z.string().nullable(), null],
  ["a missing field with a default", z.int32().default(1), undefined],
  ["an integer that a number cannot represent", int64({ min: 0 }), 9007199254740993n],
  ["a number that a number cannot represent", z.number(), 9007199254740993n],
  [
    "a relative URL, which the API server accepts",
    z.unknown().meta({ openapi: { type: "string", format: "uri" } }),
    "/a",
  ],
  ["a field without a type", z.unknown(), { a: null, b: [1] }],
  ["preserved unknown fields", z.looseObject({}), { a: 1 }],
  ["int or string", intOrString(), "http"],
  ["an embedded object", embeddedResource(), { apiVersion: "v1", kind: "A", metadata: { name: "a" }, spec: {} }],
  ["characters that take two units", z.string().max(1), "😀"],
  [
    "a field named like a property of Object.prototype",
    z.record(z.string(), z.string()),
    JSON.parse('{"__proto__":"a"}'),
  ],
];

for (const [title, field, value] of fitting) {
  test(`objectProblems() reports nothing for ${title}`, () => assertEquals(problems(field, value), []));
}

test("objectProblems() ignores apiVersion, kind and metadata, and reports lost fields", () => {
  const Foo = defineResource({
    group: "example.dev",
    version: "v1",
    kind: "Foo",
    scope: "Cluster",
    spec: z.object({ size: z.int32() }),
  });
  const [version] = Foo.crd.spec.versions;
  const object = { apiVersion: "example.dev/v1", kind: "Foo", metadata: { name: "a" }, spec: { size: 1 }, status: {} };
  assertEquals(objectProblems(version?.schema.openAPIV3Schema ?? {}, object), [
    { kind: "lost", path: "status", message: "status is {} and would be lost" },
  ]);
});
