/**
 * JSON values of a CRD: validated on input, written in one canonical order of keys, so that the same definition always
 * gives the same text.
 */
import { printExactJson } from "../api/mod.ts";
import { cannotDefine, type Place } from "./_place.ts";
import type { Json } from "./structural_schema.ts";

/** `value` as JSON. @throws TypeError when JSON would lose a part of it. */
export function toJson(value: unknown, place: Place): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "bigint") {
    return value;
  }
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item) => toJson(item, place));
  if (typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return Object.fromEntries(entries.map(([key, item]) => [key, toJson(item, place)]));
  }
  throw cannotDefine(place, `has the value ${String(value)}, which is not JSON`);
}

/** A deeply frozen copy of `value` with its keys in alphabetical order, as the API server returns them. */
export function canonical<T>(value: T): T {
  return copied(value) as T;
}

function copied(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(copied));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([left], [right]) => left < right ? -1 : 1);
  // fromEntries() defines properties, so that a property named __proto__ stays a property.
  return Object.freeze(Object.fromEntries(entries.map(([key, item]) => [key, copied(item)])));
}

/** True when both are the same JSON, regardless of the order of keys. */
export function sameJson(left: unknown, right: unknown): boolean {
  return printExactJson(canonical(left)) === printExactJson(canonical(right));
}
