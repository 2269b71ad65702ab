/** Validates x-kubernetes-list-type: no duplicate items in a set, no duplicate keys in a map. */
import { type FieldError, goJson, isJsonArray, isJsonObject, type Json, read } from "../../model/mod.ts";
import { fieldPath, itemPath } from "../../../cel/mod.ts";
import { type SchemaProps, valueSchema } from "../../../cel/mod.ts";

/** Adds the errors of a value and of the values below it. */
type ListCheck = (value: Json, path: string, errors: FieldError[]) => void;

/** Compiles the check of an object; undefined when the schema has no such lists. */
export function compileListTypes(schema: SchemaProps): ((object: Json) => readonly FieldError[]) | undefined {
  const check = compileNode(schema);
  if (check === undefined) return undefined;
  return (object) => {
    const errors: FieldError[] = [];
    check(object, "", errors);
    return errors;
  };
}

function compileNode(schema: SchemaProps): ListCheck | undefined {
  const checkSelf = schema.listType === "set"
    ? checkSet
    : schema.listType === "map"
    ? mapCheck(schema.listMapKeys)
    : undefined;
  const items = schema.items && compileNode(schema.items);
  const additional = valueSchema(schema);
  const values = additional && compileNode(additional);
  const fields = new Map<string, ListCheck>();
  for (const [name, property] of schema.properties) {
    const check = compileNode(property);
    if (check !== undefined) fields.set(name, check);
  }
  if (checkSelf === undefined && items === undefined && values === undefined && fields.size === 0) return undefined;
  return (value, path, errors) => {
    if (isJsonArray(value)) {
      checkSelf?.(value, path, errors);
      if (items !== undefined) value.forEach((item, index) => items(item, itemPath(path, index), errors));
      return;
    }
    if (!isJsonObject(value)) return;
    if (values !== undefined) {
      for (const key of Object.keys(value)) {
        values(value[key] ?? null, itemPath(path, key), errors);
      }
    }
    for (const [name, check] of fields) {
      const found = read(value, name);
      if (found !== undefined) check(found, fieldPath(path, name), errors);
    }
  };
}

function checkSet(value: Json, path: string, errors: FieldError[]): void {
  if (!isJsonArray(value)) return;
  for (const index of duplicatesOf(value)) {
    errors.push({ type: "Duplicate", field: itemPath(path, index), value: value[index] ?? null, detail: "" });
  }
}

function mapCheck(keys: readonly string[]): ListCheck {
  return (value, path, errors) => {
    if (!isJsonArray(value)) return;
    const wrong = value.findIndex((item) => item !== null && !isJsonObject(item));
    if (wrong >= 0) {
      const detail = "must be an object for an array of list-type map";
      errors.push({ type: "Invalid", field: itemPath(path, wrong), value: value[wrong] ?? null, detail });
      return;
    }
    const keyObjects = value.map((item) => keyObjectOf(item, keys));
    for (const index of duplicatesOf(keyObjects)) {
      errors.push({ type: "Duplicate", field: itemPath(path, index), value: keyObjects[index] ?? null, detail: "" });
    }
  };
}

function keyObjectOf(item: Json, keys: readonly string[]): Json {
  if (!isJsonObject(item)) return {};
  const found = keys.map((key) => [key, read(item, key)] as const).filter(([, value]) => value !== undefined);
  return Object.fromEntries(found.map(([key, value]) => [key, value ?? null]));
}

/** The indexes of items that occur for the second time. */
function duplicatesOf(items: readonly Json[]): readonly number[] {
  if (items.length < 2) return [];
  const times = new Map<Json, number>();
  const found: number[] = [];
  items.forEach((item, index) => {
    const key = typeof item === "object" && item !== null
      ? `object ${goJson(item)}`
      : typeof item === "string"
      ? `text ${item}`
      : item;
    const count = times.get(key) ?? 0;
    if (count === 1) found.push(index);
    times.set(key, count + 1);
  });
  return found;
}
