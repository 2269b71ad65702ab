/**
 * Reading stored objects for cells: what is not there, or is not what it should be, reads as Go's zero value, since the
 * table of the real server is made from structs that have one.
 */
import { objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";

/** Finds a value in an object. */
export type Path = (object: JsonObject) => Json | undefined;

/** A path of fields, and of positions in lists: `status.podIPs.0.ip`. */
export function at(path: string): Path {
  const keys = path.split(".");
  return (object) => keys.reduce<Json | undefined>(step, object);
}

function step(value: Json | undefined, key: string): Json | undefined {
  if (isJsonArray(value)) return value[Number(key)];
  return isJsonObject(value) ? read(value, key) : undefined;
}

/** A list of structs, from a value. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** A list of texts. */
export function textsIn(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** A text, or "", from a value. */
export function textIn(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** A number, or 0, from a value. */
export function numberIn(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** An annotation of an object. */
export function annotationOf(object: JsonObject, key: string): string | undefined {
  const value = read(objectAt(objectAt(object, "metadata"), "annotations"), key);
  return typeof value === "string" ? value : undefined;
}

/** True for an object that is on its way out. */
export function isDeleted(object: JsonObject): boolean {
  return textAt(objectAt(object, "metadata"), "deletionTimestamp") !== "";
}

/** The condition of a type. */
export function conditionOf(status: JsonObject, type: string): JsonObject | undefined {
  return objectsAt(status, "conditions").find((condition) => textAt(condition, "type") === type);
}

/** True where the first condition of a type says so. */
export function isConditionTrue(status: JsonObject, type: string): boolean {
  const condition = conditionOf(status, type);
  return condition !== undefined && textAt(condition, "status") === "True";
}
