/**
 * Unions: the types of a schema in a CustomResourceDefinition that JSON writes as one of several types, such as a schema or a
 * boolean. Their Go types have one field for each; OpenAPI publishes no fields.
 */
import type { WireScalarName, WireType } from "./wire_type.ts";

const schema: WireType = { kind: "struct", name: "apiextensions/v1.JSONSchemaProps", goName: "v1.JSONSchemaProps" };

function scalar(name: WireScalarName, goName: string): WireType {
  return { kind: "scalar", scalar: name, goName };
}

function listOf(items: WireType): WireType {
  return { kind: "list", items, goName: `[]${items.goName}` };
}

const unions: ReadonlyMap<string, ReadonlyMap<string, WireType>> = new Map([
  ["apiextensions/v1.JSONSchemaPropsOrArray", new Map([["schema", schema], ["jSONSchemas", listOf(schema)]])],
  ["apiextensions/v1.JSONSchemaPropsOrBool", new Map([["allows", scalar("boolean", "bool")], ["schema", schema]])],
  [
    "apiextensions/v1.JSONSchemaPropsOrStringArray",
    new Map([["schema", schema], ["property", listOf(scalar("string", "string"))]]),
  ],
]);

/** The fields of a union by their names in protobuf; undefined for other types. JSON is the value of the field that is set. */
export function unionFields(name: string): ReadonlyMap<string, WireType> | undefined {
  return unions.get(name);
}

/** The field that a JSON value stands for; undefined if the union has none for it. */
export function unionFieldOf(
  union: ReadonlyMap<string, WireType>,
  value: unknown,
): readonly [name: string, type: WireType] | undefined {
  const kind = Array.isArray(value) ? "list" : typeof value === "boolean" ? "scalar" : "struct";
  if (kind === "struct" && (typeof value !== "object" || value === null)) return undefined;
  return [...union].find(([, type]) => type.kind === kind);
}
