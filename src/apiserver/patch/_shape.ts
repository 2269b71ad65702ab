/**
 * The shape of a value for ownership: a leaf with one owner, a list with an owner per item, or an object with an owner per
 * field. All functions that walk an object with its TypeSchema use this file.
 */
import type { Json, JsonObject, TypeSchema } from "../model/mod.ts";
import { isJsonArray, isJsonObject } from "../model/mod.ts";

/** The shape of a value. */
export type Shape = "leaf" | "list" | "fields";

const any: TypeSchema = { kind: "any" };
const none: JsonObject = {};
const noItems: readonly Json[] = [];

/** The shape of a value, which depends on its type; only without a schema does it depend on the value. */
export function shapeOf(type: TypeSchema, value: Json): Shape {
  switch (type.kind) {
    case "scalar":
      return "leaf";
    case "list":
      return type.listType === "atomic" ? "leaf" : "list";
    case "struct":
    case "map":
      return type.isAtomic ? "leaf" : "fields";
    case "any":
      return value === null || isJsonObject(value) ? "fields" : "leaf";
    default:
      return type satisfies never;
  }
}

/** The type of a field of an object. */
export function fieldTypeOf(type: TypeSchema, name: string): TypeSchema {
  if (type.kind === "map") return type.values;
  return type.kind === "struct" ? type.fields.get(name) ?? any : any;
}

/** True for a field that the type names: such a field is owned through the fields in it. */
export function isNamedField(type: TypeSchema, name: string): boolean {
  return type.kind === "struct" && type.fields.has(name);
}

/** The object; an empty one for any other value. */
export function fieldsOf(value: Json): JsonObject {
  return isJsonObject(value) ? value : none;
}

/** The list; an empty one for any other value. */
export function itemsOf(value: Json): readonly Json[] {
  return isJsonArray(value) ? value : noItems;
}

/** True for an empty object or list, and for any other value. */
export function isEmptyContainer(shape: "list" | "fields", value: Json): boolean {
  if (shape === "list") return itemsOf(value).length === 0;
  // deno-lint-ignore guard-for-in
  for (const _ in fieldsOf(value)) return false;
  return true;
}
