import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import type { JsonObject } from "../../cel/mod.ts";
import { objectMetaName, TypeLibrary, type TypeSchema, typeSchemaOf } from "./type_schema.ts";

/** A type in short form: `{a:string b?:[set integer]}`. */
function textOf(type: TypeSchema): string {
  switch (type.kind) {
    case "any":
      return "any";
    case "scalar":
      return type.type + (type.format === undefined ? "" : `/${type.format}`);
    case "list": {
      const keys = type.keys.map((key) => `${key}${type.keyDefaults.has(key) ? `=${type.keyDefaults.get(key)}` : ""}`);
      return `[${[type.listType, ...keys].join(" ")} ${textOf(type.items)}]`;
    }
    case "map":
      return `${type.isAtomic ? "atomic " : ""}map<${textOf(type.values)}>`;
    case "struct": {
      const fields = [...type.fields].map(([name, field]) => `${name}:${textOf(field)}`);
      return `${type.isAtomic ? "atomic " : ""}{${fields.join(" ")}${type.keepsUnknown ? " ..." : ""}}`;
    }
    default:
      return type satisfies never;
  }
}

const named = { type: "object", properties: { name: { type: "string", default: "x" } } };
const components: JsonObject = {
  Named: named,
  [objectMetaName]: { type: "object", properties: { name: { type: "string" } } },
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { oneOf: [{ type: "string" }, { type: "number" }] },
  "io.k8s.apimachinery.pkg.runtime.RawExtension": { type: "object" },
};
const library = new TypeLibrary(components);
const toNamed = { $ref: "#/components/schemas/Named" };

const table: readonly (readonly [schema: JsonObject, text: string])[] = [
  [{ type: "string" }, "string"],
  [{ type: "string", format: "date-time" }, "string/date-time"],
  [{ type: "integer", format: "int32" }, "integer/int32"],
  [{ type: "string", format: "int-or-string" }, "intOrString"],
  [{ "x-kubernetes-int-or-string": true }, "intOrString"],
  [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity" }, "quantity"],
  [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.runtime.RawExtension" }, "atomic map<any>"],
  [{}, "any"],
  [{ "x-kubernetes-preserve-unknown-fields": true }, "any"],
  [{ type: "object" }, "map<any>"],
  [{ type: "object", additionalProperties: true }, "map<any>"],
  [{ type: "object", additionalProperties: { type: "string" } }, "map<string>"],
  [
    { type: "object", additionalProperties: { type: "string" }, "x-kubernetes-map-type": "atomic" },
    "atomic map<string>",
  ],
  [named, "{name:string}"],
  [{ ...named, "x-kubernetes-map-type": "atomic" }, "atomic {name:string}"],
  [{ ...named, "x-kubernetes-preserve-unknown-fields": true }, "{name:string ...}"],
  [{ ...named, additionalProperties: false }, "{name:string}"],
  [
    { properties: { a: toNamed }, type: "object", "x-kubernetes-preserve-unknown-fields": true },
    "{a:{name:string} ...}",
  ],
  [
    { properties: { a: named }, type: "object", "x-kubernetes-preserve-unknown-fields": true },
    "{a:{name:string ...} ...}",
  ],
  [{ allOf: [toNamed], default: {} }, "{name:string}"],
  [{ allOf: [toNamed], "x-kubernetes-map-type": "atomic" }, "atomic {name:string}"],
  [{ type: "array", items: { type: "string" } }, "[atomic string]"],
  [{ type: "array" }, "[atomic any]"],
  [{ type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" }, "[set string]"],
  [{
    type: "array",
    items: { allOf: [toNamed] },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name", "other"],
  }, "[map name=x other {name:string}]"],
  [
    { type: "array", items: toNamed, "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name" },
    "[map name=x {name:string}]",
  ],
  [{ type: "array", items: { type: "string" }, "x-kubernetes-patch-strategy": "merge" }, "[set string]"],
  [
    { type: "array", items: toNamed, "x-kubernetes-list-type": "atomic", "x-kubernetes-patch-strategy": "merge" },
    "[atomic {name:string}]",
  ],
  [
    { type: "object", "x-kubernetes-embedded-resource": true },
    "{apiVersion:string kind:string metadata:{name:string}}",
  ],
  [
    {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      properties: { metadata: { type: "object" }, spec: { type: "object" } },
    },
    "{metadata:{name:string} spec:map<any> apiVersion:string kind:string}",
  ],
];

for (const [schema, text] of table) {
  test(`the type of ${JSON.stringify(schema)} is ${text}`, () =>
    assertEquals(textOf(typeSchemaOf(schema, library)), text));
}

test("a struct keeps the patch strategies of its fields", () => {
  const type = typeSchemaOf({
    type: "object",
    properties: {
      list: {
        type: "array",
        items: toNamed,
        "x-kubernetes-patch-strategy": "merge,retainKeys",
        "x-kubernetes-patch-merge-key": "name",
      },
      plain: { type: "string" },
    },
  }, library);
  assert(type.kind === "struct");
  assertEquals([...type.patch], [["list", { strategy: "merge,retainKeys", mergeKey: "name" }]]);
});

test("a type may contain itself in a field, and is compiled once", () => {
  const types = new TypeLibrary({
    Tree: {
      type: "object",
      properties: { left: { $ref: "#/x/Tree" }, all: { type: "array", items: { $ref: "#/x/Tree" } } },
    },
  });
  const tree = types.named("Tree");
  assert(tree.kind === "struct" && tree.fields.get("left") === tree);
  const all = tree.fields.get("all");
  assert(all?.kind === "list" && all.items === tree && types.named("Tree") === tree);
});

test("a reference to a missing component, or only to itself, cannot be compiled", () => {
  assertThrows(() => library.named("Nothing"), /no such component/);
  assertThrows(() => typeSchemaOf({ $ref: "#/x/Nothing" }), /no such component/);
  assertThrows(() => library.named("toString"), /no such component/);
  assertThrows(() => new TypeLibrary({ A: { type: "array", items: { $ref: "A" } } }).named("A"), /contains itself/);
  assertThrows(() => typeSchemaOf({ type: "null" }), /not a type/);
  assertThrows(() => typeSchemaOf({ type: "array", "x-kubernetes-list-type": "bag" }), /list type/);
  assertThrows(() => typeSchemaOf({ type: "object", "x-kubernetes-map-type": "bag" }), /map type/);
});
