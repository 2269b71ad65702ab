/**
 * What the generated types alone can say of an object: required fields and enums. For the kinds, and the parts of kinds,
 * that nobody wrote rules for.
 */
import type { Json, JsonObject } from "../model/mod.ts";
import { isJsonArray, isJsonObject, read } from "../model/mod.ts";
import { FieldPath, type Problems } from "./problems.ts";
import { wireStruct } from "./wire_types.ts";
import type { WireField, WireStruct, WireType } from "./wire_type.ts";

/**
 * Collects what is wrong with an object by its schema alone. Its metadata is the server's to check; a status is written by
 * controllers, and Kubernetes takes what they say.
 */
export function checkBySchema(struct: WireStruct, object: JsonObject, problems: Problems): void {
  checkStruct(struct, object, FieldPath.root, problems);
}

function checkStruct(struct: WireStruct, object: JsonObject, path: FieldPath, problems: Problems): void {
  for (const field of struct.fields.values()) {
    if (path === FieldPath.root && field.name === "status") continue;
    if (field.type.kind === "struct" && field.type.name === "meta/v1.ObjectMeta") continue;
    const value = read(object, field.name) ?? null;
    const place = path.child(field.name);
    if (field.isRequired && isMissing(value, field)) problems.required(place);
    else if (value !== null) {
      if (field.allowed.length > 0 && typeof value === "string" && value !== "" && !field.allowed.includes(value)) {
        problems.notSupported(place, value, field.allowed);
      }
      checkValue(field.type, value, place, problems);
    }
  }
}

function checkValue(type: WireType, value: Json, path: FieldPath, problems: Problems): void {
  if (type.kind === "struct" && isJsonObject(value)) checkStruct(wireStruct(type.name), value, path, problems);
  else if (type.kind === "list" && isJsonArray(value)) {
    value.forEach((item, index) => checkValue(type.items, item, path.index(index), problems));
  } else if (type.kind === "map" && isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) checkValue(type.values, item, path.key(key), problems);
  }
}

/** Numbers and booleans are never missing: zero is a value. */
function isMissing(value: Json, field: WireField): boolean {
  if (value === null) return true;
  return field.type.kind === "scalar" && field.type.scalar === "string" && value === "";
}
