/**
 * Reading stored objects for cells: what is not there, or is not what it should be, reads as Go's zero value, since the
 * table of the real server is made from structs that have one.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";

/** Finds a value in an object. */
export type Path = (object: JsonObject) => Json | undefined;

const nothing: JsonObject = {};

/** A path of fields, and of positions in lists: `status.podIPs.0.ip`. */
export function at(path: string): Path {
  const keys = path.split(".");
  return (object) => keys.reduce<Json | undefined>(step, object);
}

function step(value: Json | undefined, key: string): Json | undefined {
  if (isJsonArray(value)) return value[Number(key)];
  return isJsonObject(value) ? read(value, key) : undefined;
}

/** A struct, if it is there. */
export function findObject(object: JsonObject, key: string): JsonObject | undefined {
  const value = read(object, key);
  return isJsonObject(value) ? value : undefined;
}

/** A struct; an empty one where there is none. */
export function objectOf(object: JsonObject, key: string): JsonObject {
  return findObject(object, key) ?? nothing;
}

/** A list of structs. */
export function objectsOf(object: JsonObject, key: string): readonly JsonObject[] {
  return objectsIn(read(object, key));
}

/** A list of structs, from a value. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** A list of texts. */
export function textsIn(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** A text, or "". */
export function textOf(object: JsonObject, key: string): string {
  return textIn(read(object, key));
}

/** A text, or "", from a value. */
export function textIn(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** A number, or 0. */
export function numberOf(object: JsonObject, key: string): number {
  return numberIn(read(object, key));
}

/** A number, or 0, from a value. */
export function numberIn(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** True for true. */
export function isTrue(object: JsonObject, key: string): boolean {
  return read(object, key) === true;
}

/** The name of an object. */
export function nameOf(object: JsonObject): string {
  return textOf(objectOf(object, "metadata"), "name");
}

/** An annotation of an object. */
export function annotationOf(object: JsonObject, key: string): string | undefined {
  const value = read(objectOf(objectOf(object, "metadata"), "annotations"), key);
  return typeof value === "string" ? value : undefined;
}

/** True for an object that is on its way out. */
export function isDeleted(object: JsonObject): boolean {
  return textOf(objectOf(object, "metadata"), "deletionTimestamp") !== "";
}

/** The condition of a type. */
export function conditionOf(status: JsonObject, type: string): JsonObject | undefined {
  return objectsOf(status, "conditions").find((condition) => textOf(condition, "type") === type);
}

/** True where the first condition of a type says so. */
export function isConditionTrue(status: JsonObject, type: string): boolean {
  const condition = conditionOf(status, type);
  return condition !== undefined && textOf(condition, "status") === "True";
}
