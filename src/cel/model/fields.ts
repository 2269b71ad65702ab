/**
 * Reads the fields of JSON objects of known types, such as decoded objects of built-in kinds and schemas.
 *
 * An absent value, and one of another type, reads as the zero value of Go, since the rules of Kubernetes are written for
 * that.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "./json.ts";

const emptyObject: JsonObject = Object.freeze({});
const emptyList: readonly never[] = Object.freeze([]);

/** A string, or "". */
export function textAt(object: JsonObject, key: string): string {
  const value = read(object, key);
  return typeof value === "string" ? value : "";
}

/** A number, or undefined. */
export function findNumber(object: JsonObject, key: string): number | undefined {
  const value = read(object, key);
  // The checks of built-in kinds compare with small numbers; the stored value stays exact.
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" ? value : undefined;
}

/** A number, or 0. */
export function numberAt(object: JsonObject, key: string): number {
  return findNumber(object, key) ?? 0;
}

/** A boolean, or false. */
export function booleanAt(object: JsonObject, key: string): boolean {
  return read(object, key) === true;
}

/** True when the field has a value other than null. */
export function has(object: JsonObject, key: string): boolean {
  return (read(object, key) ?? null) !== null;
}

/** An object, or undefined. */
export function findObject(object: JsonObject, key: string): JsonObject | undefined {
  const value = read(object, key);
  return isJsonObject(value) ? value : undefined;
}

/** An object, or an empty one. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  return findObject(object, key) ?? emptyObject;
}

/** A list of any values, or an empty one. */
export function valuesAt(object: JsonObject, key: string): readonly Json[] {
  const value = read(object, key);
  return isJsonArray(value) ? value : emptyList;
}

/** A list of objects, or an empty one. */
export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const value = read(object, key);
  return isJsonArray(value) ? value.filter(isJsonObject) : emptyList;
}

/** A list of strings, or an empty one. */
export function textsAt(object: JsonObject, key: string): readonly string[] {
  const value = read(object, key);
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : emptyList;
}
