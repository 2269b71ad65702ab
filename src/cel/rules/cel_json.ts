/**
 * jsonOf(): the JSON of a CEL value, as a field of an object has it. The values of celValueOf() become what they were made of.
 */
import {
  CelDuration,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelUint,
  formatDuration,
  formatTimestamp,
  itemsOf,
  type Value,
} from "../language/mod.ts";
import type { Json } from "../model/mod.ts";
import { JsonList, JsonMap, UnknownValue } from "./cel_values.ts";

/**
 * Returns the JSON of a value; undefined for an absent optional, and for values that JSON does not have: types and errors.
 * Bytes are base64, timestamps and durations texts.
 */
export function jsonOf(value: Value): Json | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string" || typeof value === "number") {
    return value;
  }
  if (typeof value === "bigint") return numberOf(value);
  if (value instanceof Uint8Array) return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(""));
  if (value instanceof JsonMap || value instanceof JsonList || value instanceof UnknownValue) return value.json;
  if (value instanceof CelList) return [...itemsOf(value)].map((item) => jsonOf(item) ?? null);
  if (value instanceof CelMap) return entriesOf(value);
  if (value instanceof CelUint) return numberOf(value.value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelOptional) return value.value === undefined ? undefined : jsonOf(value.value);
  return value instanceof CelOpaque ? value.toText() : undefined;
}

/** An integer that a number cannot represent stays exact. */
function numberOf(value: bigint): Json {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function entriesOf(map: CelMap): Json {
  const entries = [...map.keys()].flatMap((key) => {
    const json = jsonOf(map.find(key) ?? null);
    return json === undefined ? [] : [[String(jsonOf(key)), json] as const];
  });
  return Object.fromEntries(entries);
}
