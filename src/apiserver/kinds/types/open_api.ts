/**
 * The OpenAPI v3 schemas of wire types. /openapi/v3 publishes them, and the TypeSchemas for apply and patches are compiled
 * from them. They are those of the real server without descriptions; tasks/api_kinds.ts checks this when it writes the types.
 */
import { isJsonObject, type Json, type JsonObject } from "../../model/mod.ts";
import { plainZeroOf, type WireField, type WireScalarName, type WireStruct, type WireType } from "./wire_type.ts";
import { fullNameOf, wireStruct } from "./wire_types.ts";

/** The prefix of references to components. */
const componentPrefix = "#/components/schemas/";

/** The components of scalars that are named Go types. */
const leafComponents: ReadonlyMap<WireScalarName, string> = new Map([
  ["time", "meta/v1.Time"],
  ["microTime", "meta/v1.MicroTime"],
  ["quantity", "resource/api.Quantity"],
  ["intOrString", "intstr/api.IntOrString"],
  ["raw", "runtime/api.RawExtension"],
  ["fields", "meta/v1.FieldsV1"],
  ["json", "apiextensions/v1.JSON"],
]);

/** The schema of a struct, as a component of OpenAPI v3. */
export function openApiOf(struct: WireStruct): JsonObject {
  const { fields, kinds, extra } = struct;
  const gvk: JsonObject = kinds.length === 0
    ? {}
    : { "x-kubernetes-group-version-kind": kinds.map((kind) => ({ ...kind })) };
  if (fields.size === 0) return { ...extra, ...gvk };
  const properties: Record<string, Json> = {};
  for (const name of [...fields.keys()].sort()) {
    const field = fields.get(name);
    if (field !== undefined) properties[name] = fieldSchema(field);
  }
  const required = [...fields.values()].filter((field) => field.isRequired).map((field) => field.name);
  const listed: JsonObject = required.length === 0 ? {} : { required };
  return { type: "object", properties, ...listed, ...extra, ...gvk };
}

/** The names of the types that a struct refers to, and that have components. */
export function referencesOf(struct: WireStruct): readonly string[] {
  const found = new Set<string>();
  for (const field of struct.fields.values()) {
    let type = field.type;
    while (type.kind === "list" || type.kind === "map") type = type.kind === "list" ? type.items : type.values;
    const name = type.kind === "struct" ? type.name : leafComponents.get(type.scalar);
    if (name !== undefined) found.add(name);
  }
  return [...found];
}

/** A reference to the component of a struct. */
function referenceTo(name: string): JsonObject {
  return { $ref: componentPrefix + fullNameOf(name) };
}

function fieldSchema(field: WireField): JsonObject {
  const { type, extensions } = field;
  const fallback: JsonObject = field.default === undefined ? {} : { default: field.default };
  const component = componentOf(type);
  if (component !== undefined && field.isBareReference) return referenceTo(component);
  const schema = component === undefined ? schemaOf(type) : { allOf: [referenceTo(component)] };
  const allowed: JsonObject = field.allowed.length === 0 ? {} : { enum: field.allowed };
  return { ...withElements(schema, field.allowedElements), ...fallback, ...allowed, ...extensions };
}

function withElements(schema: JsonObject, allowed: readonly string[]): JsonObject {
  if (allowed.length === 0) return schema;
  const key = Object.hasOwn(schema, "items") ? "items" : "additionalProperties";
  const elements = schema[key];
  return isJsonObject(elements) ? { ...schema, [key]: { ...elements, enum: allowed } } : schema;
}

function componentOf(type: WireType): string | undefined {
  if (type.kind === "struct") return type.name;
  return type.kind === "scalar" ? leafComponents.get(type.scalar) : undefined;
}

function schemaOf(type: WireType): JsonObject {
  switch (type.kind) {
    case "list":
      return { type: "array", items: elementSchema(type.items) };
    case "map":
      return { type: "object", additionalProperties: elementSchema(type.values) };
    case "struct":
      return referenceTo(type.name);
    case "scalar":
      return leafSchema(type.scalar);
    default:
      return type satisfies never;
  }
}

/** Items and values have the default of their Go type, so a reference to a struct is wrapped in `allOf`. */
function elementSchema(type: WireType): JsonObject {
  if (type.kind === "struct") {
    const hasFields = wireStruct(type.name).fields.size > 0;
    return hasFields ? { allOf: [referenceTo(type.name)], default: {} } : referenceTo(type.name);
  }
  if (type.kind !== "scalar") return schemaOf(type);
  const component = leafComponents.get(type.scalar);
  if (component !== undefined) return referenceTo(component);
  const zero = plainZeroOf(type.scalar);
  return zero === undefined ? leafSchema(type.scalar) : { ...leafSchema(type.scalar), default: zero };
}

function leafSchema(scalar: WireScalarName): JsonObject {
  switch (scalar) {
    case "string":
      return { type: "string" };
    case "int32":
    case "int64":
      return { type: "integer", format: scalar };
    case "float64":
      return { type: "number", format: "double" };
    case "boolean":
      return { type: "boolean" };
    case "bytes":
      return { type: "string", format: "byte" };
    default: {
      const component = leafComponents.get(scalar);
      return component === undefined ? {} : referenceTo(component);
    }
  }
}
