/**
 * JSON as the API server handles it. A Draft belongs to one request, which may change it. A JsonObject is shared by all
 * requests and watches, and never changes: the storage holds these.
 *
 * `__proto__` is a legal key of a ConfigMap and `constructor` a legal name. Code that reads or writes a key that a client
 * has chosen uses `read` and `put`.
 */

/** A JSON value that never changes. An integer that a number cannot represent exactly is a bigint. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

/** A JSON object that never changes, such as a stored object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A JSON value that its owner may change. */
export type DraftValue = null | boolean | number | bigint | string | DraftValue[] | Draft;

/** A JSON object that its owner may change: an object that is not stored yet. */
export interface Draft {
  [key: string]: DraftValue;
}

/** True for an object, false for an array and null. */
export function isDraft(value: DraftValue | undefined): value is Draft {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for an object, false for an array and null. What is inside is not looked at. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for a number, also for an integer that only a bigint can represent. */
export function isJsonNumber(value: Json | undefined): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** True for an array. */
export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The value of an own key. */
export function read<Value extends Json | DraftValue>(
  object: Readonly<Record<string, Value>>,
  key: string,
): Value | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an own key, including `__proto__`. */
export function put<Value>(object: Record<string, Value>, key: string, value: Value): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

/** A deep copy that may be changed. */
export function draftOf(value: JsonObject): Draft;
export function draftOf(value: Json): DraftValue;
export function draftOf(value: Json): DraftValue {
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) return value.map((item) => draftOf(item));
  const copy: Draft = {};
  for (const key of Object.keys(value)) put(copy, key, draftOf(value[key] ?? null));
  return copy;
}

/** True when both are the same JSON. The order of keys does not matter, the order of items does. */
export function isSameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (isArray(left)) {
    return isArray(right) && left.length === right.length &&
      left.every((item, index) => isSameJson(item, right[index]));
  }
  if (isArray(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSameJson(left[key], right[key]));
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
