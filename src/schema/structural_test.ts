import { assert, assertEquals, assertMatch, assertThrows, test } from "../../tests/testing.ts";
import {
  embeddedResource,
  immutable,
  int64,
  intOrString,
  quantity,
  type StructuralSchema,
  structuralSchema,
  z,
} from "./mod.ts";

/** The translation of `schema` as the kind Foo. */
function translated(schema: z.ZodType): StructuralSchema {
  return structuralSchema(schema, "Foo");
}

const safe = Number.MAX_SAFE_INTEGER;

const table: readonly (readonly [title: string, schema: z.ZodType, expected: StructuralSchema])[] = [
  ["a string", z.string(), { type: "string" }],
  ["string lengths", z.string().min(1).max(3), { type: "string", minLength: 1, maxLength: 3 }],
  ["the stricter of two lengths", z.string().min(1).min(4), { type: "string", minLength: 4 }],
  ["an exact length", z.string().length(4), { type: "string", minLength: 4, maxLength: 4 }],
  ["a pattern", z.string().regex(/^a+$/), { type: "string", pattern: "^a+$" }],
  ["two patterns", z.string().startsWith("a").endsWith("b"), {
    type: "string",
    allOf: [{ pattern: "^a.*" }, { pattern: ".*b$" }],
  }],
  ["a URL", z.url(), { type: "string", format: "uri", pattern: "^[a-zA-Z][a-zA-Z0-9+.-]*:" }],
  ["a boolean", z.boolean(), { type: "boolean" }],
  ["an int32, bounded by its format", z.int32(), { type: "integer", format: "int32" }],
  ["int32 bounds", z.int32().min(0).max(10), { type: "integer", format: "int32", minimum: 0, maximum: 10 }],
  ["an int, within the safe integers of JavaScript", z.int(), {
    type: "integer",
    format: "int64",
    minimum: -safe,
    maximum: safe,
  }],
  ["an integer of 64 bits", int64(), { type: "integer", format: "int64" }],
  ["a number", z.number().gt(0).lt(1), {
    type: "number",
    minimum: 0,
    exclusiveMinimum: true,
    maximum: 1,
    exclusiveMaximum: true,
  }],
  ["a bound that is raised twice", z.number().gt(1).min(1), { type: "number", minimum: 1, exclusiveMinimum: true }],
  ["a step", z.int32().multipleOf(5), { type: "integer", format: "int32", multipleOf: 5 }],
  ["floats", z.float32(), { type: "number", format: "float" }],
  ["an enum", z.enum(["a", "b"]), { type: "string", enum: ["a", "b"] }],
  ["a literal", z.literal("a"), { type: "string", enum: ["a"] }],
  ["whole literals", z.literal([1, 2]), { type: "integer", enum: [1, 2] }],
  ["mixed numbers", z.literal([1, 2.5]), { type: "number", enum: [1, 2.5] }],
  ["a template literal", z.templateLiteral(["v", z.enum(["1", "2"])]), { type: "string", pattern: "^v(1|2)$" }],
  ["an array", z.array(z.string()).min(1).max(2), {
    type: "array",
    items: { type: "string" },
    minItems: 1,
    maxItems: 2,
  }],
  ["a record", z.record(z.string(), z.boolean()), { type: "object", additionalProperties: { type: "boolean" } }],
  ["a record of known keys", z.record(z.enum(["a", "b"]), z.boolean()), {
    type: "object",
    properties: { a: { type: "boolean" }, b: { type: "boolean" } },
    required: ["a", "b"],
  }],
  ["a partial record", z.partialRecord(z.enum(["a"]), z.boolean()), {
    type: "object",
    properties: { a: { type: "boolean" } },
  }],
  ["a record with a size", z.record(z.string(), z.string()).meta({ maxProperties: 3 }), {
    type: "object",
    additionalProperties: { type: "string" },
    maxProperties: 3,
  }],
  ["an empty object", z.object({}), { type: "object" }],
  ["a strict object like any other", z.strictObject({ a: z.string() }), {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
  }],
  ["a loose object", z.looseObject({}), { type: "object", "x-kubernetes-preserve-unknown-fields": true }],
  ["optional fields", z.object({ a: z.string().optional(), b: z.string() }), {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" } },
    required: ["b"],
  }],
  ["defaults", z.object({ a: z.int32().default(1), b: z.object({ c: z.string().default("x") }).prefault({}) }), {
    type: "object",
    properties: {
      a: { type: "integer", format: "int32", default: 1 },
      b: { type: "object", default: {}, properties: { c: { type: "string", default: "x" } } },
    },
  }],
  ["null", z.string().max(3).nullable(), { type: "string", maxLength: 3, nullable: true }],
  ["a union with null", z.union([z.string(), z.null()]), { type: "string", nullable: true }],
  ["an enum or null, which becomes a rule", z.enum(["a", "it's"]).nullable(), {
    type: "string",
    nullable: true,
    "x-kubernetes-validations": [{ rule: "self in ['a', 'it\\'s']", message: 'must be one of "a", "it\'s"' }],
  }],
  ["a union of literals", z.union([z.literal("a"), z.enum(["b", "c"])]), { type: "string", enum: ["a", "b", "c"] }],
  ["unknown", z.unknown(), { "x-kubernetes-preserve-unknown-fields": true }],
  ["a lazy schema with an end", z.lazy(() => z.string()), { type: "string" }],
  ["wrappers without an effect on the schema", z.string().brand("Id").readonly(), { type: "string" }],
  ["title and description", z.string().describe("A name.").meta({ title: "Name", description: "A name." }), {
    type: "string",
    title: "Name",
    description: "A name.",
  }],
  ["rules", z.int32().meta({ cel: [{ rule: "self != 3", message: "no three" }] }), {
    type: "integer",
    format: "int32",
    "x-kubernetes-validations": [{ rule: "self != 3", message: "no three" }],
  }],
  [
    "a refine() with a rule of the same meaning",
    z.int32().refine((n) => n !== 3).meta({ cel: [{ rule: "self != 3" }] }),
    {
      type: "integer",
      format: "int32",
      "x-kubernetes-validations": [{ rule: "self != 3" }],
    },
  ],
  ["an integer or a string", intOrString(), {
    anyOf: [{ type: "integer" }, { type: "string" }],
    minimum: -(2 ** 31),
    maximum: 2 ** 31 - 1,
    "x-kubernetes-int-or-string": true,
  }],
  [
    "a list that is a map",
    z.array(z.object({ name: z.string() })).meta({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    }),
    {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
  ],
];

for (const [title, schema, expected] of table) {
  test(`structuralSchema() translates ${title}`, () => {
    assertEquals(translated(schema), expected);
  });
}

const numbersOrText = z.union([z.number(), z.string()]);

interface Tree {
  readonly children: readonly Tree[];
}
const tree: z.ZodType<Tree> = z.object({ children: z.lazy(() => z.array(tree)) });

/** Getters are zod's way to write a recursive type. */
const treeOfGetters = z.object({
  get children() {
    return z.array(treeOfGetters);
  },
});

/** A recursion that passes only through a union. */
const ruleOrNot: z.ZodType = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("rule") }),
  z.object({ kind: z.literal("not"), rule: z.lazy(() => ruleOrNot) }),
]);

const refused: readonly (readonly [title: string, schema: z.ZodType, message: RegExp])[] = [
  [
    "a transform",
    z.string().transform((text) => text.length),
    /^Cannot define Foo: x is a transform, .*; transform in/,
  ],
  ["a codec", z.stringbool(), /x is a transform, preprocess or codec/],
  ["a coercion", z.coerce.number(), /x coerces its input/],
  ["a refine()", z.string().refine(() => true), /x has a refine\(\) check, .*cel/],
  ["a refine() on an object", z.object({}).refine(() => true), /x has a refine\(\) check/],
  ["a refine() on an optional", z.string().optional().refine(() => true), /x has a refine\(\) check/],
  ["a trim()", z.string().trim(), /x changes its value/],
  ["a Date", z.date(), /x is a date, .*; use z\.iso\.datetime\(\)/],
  ["a bigint", z.bigint(), /; use int64\(\), or z\.int\(\)/],
  ["a Map", z.map(z.string(), z.string()), /; use z\.record\(\)/],
  ["a Set", z.set(z.string()), /x-kubernetes-list-type/],
  ["a tuple", z.tuple([z.string()]), /x is a tuple/],
  ["an intersection", z.object({}).and(z.object({})), /x is an intersection, .*extend/],
  ["null alone", z.null(), /; use \.nullable\(\)/],
  ["a catch()", z.string().catch("a"), /x is a catch/],
  ["a recursion", tree, /x\.children\[\] contains itself/],
  ["a recursion of getters", treeOfGetters, /x\.children\[\] contains itself, .*; use z\.unknown\(\)/],
  ["a recursion of a union", ruleOrNot, /x\.rule contains itself/],
  ["a union of objects", z.union([z.object({}), z.object({})]), /x is a union .*discriminatedUnion/],
  ["a union of a float and a string", numbersOrText, /x is a union/],
  ["an exclusive union", z.xor([z.int32(), z.string()]), /x is a union/],
  [
    "rules on one side of a union",
    z.union([z.int32().meta({ cel: [{ rule: "true" }] }), z.string()]),
    /put it on the union/,
  ],
  [
    "properties with a catchall",
    z.object({ a: z.string() }).catchall(z.string()),
    /x has both properties and a catchall/,
  ],
  ["limits on keys", z.record(z.string().min(3), z.string()), /x limits the keys/],
  ["a default it refuses", z.int32().max(3).default(4), /x has a default that it refuses/],
  ["a default that changes", z.object({ n: z.number() }).default(() => ({ n: counter++ })), /differs each time/],
  ["the default null", z.string().nullable().default(null), /x has the default null/],
  ["a default that is not JSON", z.number().default(Infinity), /is not JSON/],
  ["an empty enum", z.enum([]), /several types \(or none/],
  ["an enum of several types", z.literal(["a", 1]), /several types/],
  ["a step with a fraction", z.number().multipleOf(0.01), /x has multipleOf\(0\.01\), .* an integer of a smaller unit/],
  ["lookahead", z.string().regex(/^(?!a)/), /x has the pattern .* with lookaround/],
  ["a format with a checksum", z.iban(), /x has the format iban/],
  ["a URL limited to a host", z.url({ hostname: /a/ }), /x limits the host/],
  ["an unknown extension", z.array(z.string()).meta({ "x-kubernetes-listtype": "set" }), /unknown extension/],
  ["a list type on a string", z.string().meta({ "x-kubernetes-list-type": "set" }), /is not an array/],
  [
    "a list map without keys",
    z.array(z.object({})).meta({ "x-kubernetes-list-type": "map" }),
    /without x-kubernetes-list-map/,
  ],
  ["a list map key that may be absent", listMap(z.object({ name: z.string().optional() })), /must be required/],
  ["a list map key that the items do not have", listMap(z.object({ id: z.string() })), /which its items do not have/],
  ["a set of objects", z.array(z.object({})).meta({ "x-kubernetes-list-type": "set" }), /lack x-kubernetes-map-type/],
  ["an immutable field in a list without identity", z.array(z.object({ a: immutable(z.string()) })), /no identity/],
  ["an empty rule", z.string().meta({ cel: [{ rule: " " }] }), /an empty CEL rule/],
  ["optional list items", z.array(z.string().optional()), /x\[\] is an optional list item/],
  ["optional map values", z.record(z.string(), z.string().optional()), /x\{\} is an optional map value/],
];

let counter = 0;

function listMap(item: z.ZodType): z.ZodType {
  return z.array(item).meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] });
}

for (const [title, schema, message] of refused) {
  test(`structuralSchema() refuses ${title}`, () => {
    const error = assertThrows(() => translated(z.object({ x: schema })), message);
    assert(error instanceof TypeError);
    assertMatch(error.message, /^Cannot define Foo: /);
  });
}

test("immutable() also adds a rule to the parent of an optional field", () => {
  const schema = translated(z.object({ "a-b": immutable(z.string()).optional(), c: immutable(z.string()) }));
  assertEquals(schema["x-kubernetes-validations"]?.map(({ rule }) => rule), [
    "has(self.a__dash__b) == has(oldSelf.a__dash__b)",
  ]);
  assertEquals(schema.properties?.["a-b"]?.["x-kubernetes-validations"]?.[0]?.rule, "self == oldSelf");
  assertEquals(schema.properties?.c?.["x-kubernetes-validations"]?.[0]?.rule, "self == oldSelf");
});

test("immutable() keeps the metadata of the schema", () => {
  const schema = translated(immutable(z.string().meta({ description: "d", cel: [{ rule: "self != ''" }] })));
  assertEquals(schema.description, "d");
  assertEquals(schema["x-kubernetes-validations"]?.map(({ rule }) => rule), ["self != ''", "self == oldSelf"]);
});

test("quantity() accepts the same texts as Kubernetes", () => {
  for (const value of [2, "500m", "1.5Gi", "2e3", "-1"]) assert(quantity().safeParse(value).success, String(value));
  for (const value of ["1.5Xi", "", "Gi", true]) assert(!quantity().safeParse(value).success, String(value));
});

test("embeddedResource() preserves unknown fields", () => {
  const schema = translated(embeddedResource());
  assertEquals(schema["x-kubernetes-embedded-resource"], true);
  assertEquals(schema["x-kubernetes-preserve-unknown-fields"], true);
  assertEquals(schema.type, "object");
});

test("a property may be named constructor if it is never absent; __proto__ only if zod does not check it", () => {
  const shape = (proto: z.ZodType) => Object.fromEntries([["__proto__", proto], ["constructor", z.string()]]);
  const unchecked = z.unknown().meta({ openapi: { type: "string" } });
  const schema = translated(z.object(shape(unchecked.optional())));
  assertEquals(Object.keys(schema.properties ?? {}).sort(), ["__proto__", "constructor"]);
  assertEquals(Object.getPrototypeOf(schema.properties), Object.prototype);
  assertThrows(() => translated(z.object(shape(z.string()))), /__proto__ would be dropped by zod, .* rename it$/);
  const optional = z.object({ a: z.object({ toString: z.string().optional() }) });
  assertThrows(() => translated(optional), /a\.toString is optional and has the name of a member .* or rename it$/);
});

test("the result is frozen, and its text does not depend on the order of definition", () => {
  const one = translated(z.object({ a: z.string().optional(), b: z.int32().optional() }));
  const other = translated(z.object({ b: z.int32().optional(), a: z.string().optional() }));
  assertEquals(JSON.stringify(one), JSON.stringify(other));
  assert(Object.isFrozen(one) && Object.isFrozen(one.properties?.a));
});
