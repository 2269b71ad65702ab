import { assertEquals, test } from "../../tests/testing.ts";
import {
  compareCrds,
  compareSchemas,
  type Crd,
  defineResource,
  immutable,
  intOrString,
  type OtherVersionOptions,
  structuralSchema,
  z,
} from "./mod.ts";

interface Variation {
  readonly scope?: "Namespaced" | "Cluster";
  readonly plural?: string;
  readonly size?: z.ZodType;
  readonly status?: z.ZodType;
  readonly versions?: readonly OtherVersionOptions[];
}

function crd(variation: Variation = {}): Crd {
  const { scope = "Cluster", size = z.int32(), ...rest } = variation;
  const spec = z.object({ size });
  return defineResource({ group: "example.dev", version: "v2", kind: "Disk", scope, spec, ...rest }).crd;
}

const v1: OtherVersionOptions = { name: "v1", spec: z.object({}) };

function messages(old: Crd, next: Crd, storedVersions?: readonly string[]): readonly string[] {
  return compareCrds(old, next, { storedVersions }).map(({ kind, message }) => `${kind}: ${message}`);
}

test("compareCrds() reports nothing between a CRD and itself", () => {
  assertEquals(messages(crd({ versions: [v1] }), crd({ versions: [v1] })), []);
});

test("compareCrds() reports a changed scope or plural as an identity change", () => {
  assertEquals(messages(crd(), crd({ scope: "Namespaced", plural: "diskettes" })), [
    "identity: the scope changes from Cluster to Namespaced",
    "identity: the plural changes from disks to diskettes",
  ]);
});

test("compareCrds() reports a removed version, and whether objects may be stored in it", () => {
  const old = crd({ versions: [v1] });
  assertEquals(messages(old, crd()), ["version: version v1 is removed: clients may use it"]);
  assertEquals(messages(old, crd(), ["v1", "v2"]), ["version: version v1 is removed: objects may be stored in it"]);
});

test("compareCrds() reports nothing for a removed version that was neither served nor stored", () => {
  assertEquals(messages(crd({ versions: [{ ...v1, served: false }] }), crd()), []);
  assertEquals(messages(crd({ versions: [{ ...v1, served: false }] }), crd(), ["v1"]), [
    "version: version v1 is removed: objects may be stored in it",
  ]);
});

test("compareCrds() reports a version that is no longer served, and a lost status", () => {
  const old = crd({ versions: [{ ...v1, status: z.object({}) }] });
  assertEquals(messages(old, crd({ versions: [{ ...v1, served: false }] })), [
    "version: version v1 is no longer served: clients may use it",
    "version: version v1 loses its status subresource",
    "removed: v1: status is removed: stored values would be lost",
  ]);
});

test("compareCrds() names the version whose schema breaks", () => {
  assertEquals(messages(crd(), crd({ size: z.int32().max(3) })), ["narrowed: v2: spec.size has the new maximum 3"]);
});

test("compareCrds() reports nothing for a new version", () => {
  assertEquals(messages(crd(), crd({ versions: [v1] })), []);
});

type Field = z.ZodType | undefined;

/** The breaking changes when the schema of the field x changes. */
function broken(before: Field, after: Field): readonly string[] {
  const schema = (field: Field) => structuralSchema(z.object(field === undefined ? {} : { x: field }), "Foo");
  return compareSchemas(schema(before), schema(after), "spec").map(({ kind, message }) => `${kind}: ${message}`);
}

const mapList = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] } as const;
const item = z.object({ a: z.string(), b: z.string() });

const breaking: readonly (readonly [title: string, before: Field, after: Field, expected: readonly string[]])[] = [
  ["a removed field", z.string().optional(), undefined, ["removed: spec.x is removed: stored values would be lost"]],
  ["another type", z.string().optional(), z.boolean().optional(), ["type: spec.x changes from string to boolean"]],
  ["an object that becomes a map", z.object({ a: z.string() }), z.record(z.string(), z.string()), [
    "type: spec.x changes from object to map",
  ]],
  ["a type where there was none", z.unknown(), z.string(), ["type: spec.x changes from anything to string"]],
  ["a narrowed enum", z.enum(["a", "b"]), z.enum(["b", "c"]), ['narrowed: spec.x no longer allows "a"']],
  ["a new enum", z.string(), z.enum(["a"]), ['narrowed: spec.x allows only "a"']],
  ["a lower maximum", z.int32().max(10), z.int32().max(5), ["narrowed: spec.x changes its maximum from 10 to 5"]],
  ["a higher minimum", z.int32().min(0), z.int32().min(1), ["narrowed: spec.x changes its minimum from 0 to 1"]],
  ["an exclusive maximum", z.number().max(1), z.number().lt(1), ["narrowed: spec.x no longer allows its maximum 1"]],
  ["an exclusive minimum", z.number().min(1), z.number().gt(1), ["narrowed: spec.x no longer allows its minimum 1"]],
  ["a new length", z.string(), z.string().max(3), ["narrowed: spec.x has the new maxLength 3"]],
  ["a new pattern", z.string(), z.string().regex(/a/), ["narrowed: spec.x has the new pattern a"]],
  ["a second pattern", z.string().regex(/a/), z.string().regex(/a/).regex(/b/), ["narrowed: spec.x changes its allOf"]],
  ["a range that excludes negative numbers", z.int32(), z.uint32(), [
    "narrowed: spec.x has the new minimum 0",
  ]],
  ["a smaller integer", z.int(), z.int32(), [
    `narrowed: spec.x changes its minimum from ${Number.MIN_SAFE_INTEGER} to -2147483648`,
    `narrowed: spec.x changes its maximum from ${Number.MAX_SAFE_INTEGER} to 2147483647`,
  ]],
  ["a new format", z.string(), z.url(), [
    "narrowed: spec.x has the new pattern ^[a-zA-Z][a-zA-Z0-9+.-]*:",
    "narrowed: spec.x has the new format uri",
  ]],
  ["null no longer allowed", z.string().nullable(), z.string(), ["narrowed: spec.x no longer allows null"]],
  ["a field that is now required", z.string().optional(), z.string(), ["required: spec.x is now required"]],
  ["a new required field", undefined, z.string(), ["required: spec.x is now required"]],
  ["a lost default", z.int32().default(1), z.int32().optional(), ["default: spec.x loses its default 1"]],
  ["another default", z.int32().default(1), z.int32().default(2), [
    "default: spec.x changes its default from 1 to 2",
  ]],
  ["a new rule", z.string(), immutable(z.string()), ["rule: spec.x has the new rule self == oldSelf"]],
  ["unknown fields no longer preserved", z.looseObject({}), z.object({}), [
    "removed: spec.x no longer preserves unknown fields: stored ones would be lost",
  ]],
  ["a list that becomes a set", z.array(z.string()), z.array(z.string()).meta({ "x-kubernetes-list-type": "set" }), [
    "narrowed: spec.x becomes a list of type set: stored duplicates would be rejected",
  ]],
  [
    "other list map keys",
    z.array(item).meta(mapList),
    z.array(item).meta({ ...mapList, "x-kubernetes-list-map-keys": ["a", "b"] }),
    ["narrowed: spec.x changes its list map keys from a to a,b"],
  ],
  ["items", z.array(z.string()), z.array(z.string().min(1)), ["narrowed: spec.x[] has the new minLength 1"]],
  ["map values", z.record(z.string(), z.string()), z.record(z.string(), z.enum(["a"])), [
    'narrowed: spec.x{} allows only "a"',
  ]],
  ["a removed nested field", z.object({ a: z.object({ b: z.string().optional() }) }), z.object({ a: z.object({}) }), [
    "removed: spec.x.a.b is removed: stored values would be lost",
  ]],
];

for (const [title, before, after, expected] of breaking) {
  test(`compareSchemas() reports ${title}`, () => assertEquals(broken(before, after), expected));
}

const harmless: readonly (readonly [title: string, before: Field, after: Field])[] = [
  ["no change", z.string(), z.string()],
  ["a new optional field", undefined, z.string().optional()],
  ["a new field with a default", undefined, z.int32().default(1)],
  ["a field that is now optional", z.string(), z.string().optional()],
  ["a field that gets a default", z.int32(), z.int32().default(1)],
  ["wider bounds", z.int32().min(1).max(5), z.int32().min(0).max(6)],
  ["a larger integer", z.int32(), z.int()],
  ["an integer that becomes a number", z.int32(), z.number()],
  ["removed bounds", z.string().max(3), z.string()],
  ["a wider enum", z.enum(["a"]), z.enum(["a", "b"])],
  ["an enum that becomes any string", z.enum(["a"]), z.string()],
  ["null now allowed", z.string(), z.string().nullable()],
  ["a description", z.string(), z.string().describe("x")],
  ["a removed rule", immutable(z.string()), z.string()],
  [
    "a rule with another message",
    z.string().meta({ cel: [{ rule: "self != ''" }] }),
    z.string().meta({
      cel: [{ rule: "self != ''", message: "m" }],
    }),
  ],
  ["an integer that becomes an integer or a string", z.int32(), intOrString()],
  ["a removed type", z.string(), z.unknown()],
  ["unknown fields now preserved", z.object({ a: z.string().optional() }), z.looseObject({})],
  [
    "a set that becomes a plain list",
    z.array(z.string()).meta({ "x-kubernetes-list-type": "set" }),
    z.array(z.string()),
  ],
];

for (const [title, before, after] of harmless) {
  test(`compareSchemas() reports nothing for ${title}`, () => assertEquals(broken(before, after), []));
}
