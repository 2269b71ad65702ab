import { assertEquals, test } from "../../tests/testing.ts";
import { defineResource, embeddedResource, intOrString, objectProblems, structuralSchema, z } from "./mod.ts";

/** What is wrong with `value` as the field x. */
function problems(field: z.ZodType, value: unknown): readonly string[] {
  const object = value === undefined ? {} : { x: value };
  return objectProblems(structuralSchema(z.object({ x: field }), "Foo"), object).map((one) =>
    `${one.kind}: ${one.message}`
  );
}

const item = z.object({ a: z.string(), b: z.string().optional() });
const mapList = z.array(item).meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] });

const cases: readonly (readonly [title: string, field: z.ZodType, value: unknown, expected: readonly string[]])[] = [
  ["another type", z.string(), 1, ["invalid: x is 1, which is no string"]],
  ["a fraction", z.int(), 1.5, ["invalid: x is 1.5, which is no integer"]],
  ["a null", z.string().optional(), null, ["invalid: x is null, which is not admitted"]],
  ["an integer that is too large for 32 bits", z.int32(), 2 ** 31, ["invalid: x is 2147483648, which is no int32"]],
  ["a maximum", z.int32().max(10), 12, ["invalid: x is 12, the maximum is 10"]],
  ["an exclusive minimum", z.number().gt(0), 0, ["invalid: x is 0, it must be above 0"]],
  ["a step", z.number().multipleOf(0.5), 0.7, ["invalid: x is 0.7, which is no multiple of 0.5"]],
  ["an enum", z.enum(["a", "b"]), "c", ['invalid: x is "c", which is none of "a", "b"']],
  ["a length", z.string().max(2), "abc", ["invalid: x has 3 characters, at most 2 are admitted"]],
  ["a pattern", z.string().regex(/^a+$/i), "b", ['invalid: x is "b", which does not match (?i)^a+$']],
  ["a second pattern", z.string().startsWith("a").endsWith("b"), "ac", [
    'invalid: x is "ac", which does not match .*b$',
  ]],
  ["a format", z.iso.datetime(), "soon", [
    'invalid: x is "soon", which is no date-time',
  ]],
  ["what is required", z.string(), undefined, ["invalid: x is missing and required"]],
  ["too few items", z.array(z.string()).min(1), [], ["invalid: x has 0 items, at least 1 are wanted"]],
  ["an item", z.array(z.object({ a: z.int32().max(3) })), [{ a: 1 }, { a: 4 }], [
    "invalid: x[1].a is 4, the maximum is 3",
  ]],
  ["two items of one key", mapList, [{ a: "k" }, { a: "k" }], ['invalid: x has two items ["k"]']],
  ["a value of a map", z.record(z.string(), z.int32()), { k: "v" }, ['invalid: x.k is "v", which is no integer']],
  ["too many keys", z.record(z.string(), z.int32()).meta({ maxProperties: 1 }), { a: 1, b: 2 }, [
    "invalid: x has 2 keys, at most 1 are admitted",
  ]],
  ["a field that is not known", z.object({ a: z.string() }), { a: "v", b: [1] }, [
    "lost: x.b is [1] and would be lost",
  ]],
  ["int or string", intOrString(), true, ["invalid: x is true, neither an integer nor a string"]],
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
  ["a value that fits", z.string().min(1).regex(/^é\p{Lu}$/u), "éA"],
  ["a null that is admitted", z.string().nullable(), null],
  ["what has a default and is left out", z.int32().default(1), undefined],
  ["a field nobody looks into", z.unknown(), { a: null, b: [1] }],
  ["unknown fields that are kept", z.looseObject({}), { a: 1 }],
  ["int or string", intOrString(), "http"],
  ["an embedded object", embeddedResource(), { apiVersion: "v1", kind: "A", metadata: { name: "a" }, spec: {} }],
  ["characters that take two units", z.string().max(1), "😀"],
  ["a field with a name that objects have", z.record(z.string(), z.string()), JSON.parse('{"__proto__":"a"}')],
];

for (const [title, field, value] of fitting) {
  test(`objectProblems() has nothing against ${title}`, () => assertEquals(problems(field, value), []));
}

test("objectProblems() leaves apiVersion, kind and metadata to the server, and names what is lost", () => {
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
