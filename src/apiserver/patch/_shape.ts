/**
 * What a value is to its type: a leaf that has one owner, a list whose items have their own, or an object whose fields have.
 * Everything here that walks an object with its TypeSchema asks these questions, so that they are answered once.
 */
import type { Json, JsonObject, TypeSchema } from "../model/mod.ts";
import { isJsonArray, isJsonObject } from "../model/mod.ts";

/** How a value is owned. */
export type Shape = "leaf" | "list" | "fields";

const any: TypeSchema = { kind: "any" };
const none: JsonObject = {};
const noItems: readonly Json[] = [];

/** The shape that a type gives to a value; only where there is no schema does the value have a say. */
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

/** True for a field that the type has a name for: such a field is owned through what is in it. */
export function isNamedField(type: TypeSchema, name: string): boolean {
  return type.kind === "struct" && type.fields.has(name);
}

/** The object, or an empty one for whatever is none. */
export function fieldsOf(value: Json): JsonObject {
  return isJsonObject(value) ? value : none;
}

/** The list, or an empty one for whatever is none. */
export function itemsOf(value: Json): readonly Json[] {
  return isJsonArray(value) ? value : noItems;
}

/** True for an object or a list that holds nothing, and for everything that is neither. */
export function isHollow(shape: "list" | "fields", value: Json): boolean {
  if (shape === "list") return itemsOf(value).length === 0;
  // deno-lint-ignore guard-for-in
  for (const _ in fieldsOf(value)) return false;
  return true;
}
