/**
 * zeroOf: an object of a type that nobody has set anything in, as the real server has it. A Go struct cannot leave out a
 * struct or a list without omitempty, so an empty Deployment already holds `spec.strategy: {}` and `status: {}`. It matters
 * to field ownership (what was there before nobody set) and to what a GET shows. Custom resources have none.
 */
import { isJsonObject, type Json, type JsonObject, put } from "./json.ts";
import type { TypeSchema } from "./type_schema.ts";

const zeros = new WeakMap<TypeSchema, JsonObject>();

/** The empty object of a type; the same one for each call. */
export function zeroOf(type: TypeSchema): JsonObject {
  const made = zeros.get(type);
  if (made !== undefined) return made;
  const zero: Record<string, Json> = {};
  zeros.set(type, zero);
  if (type.kind !== "struct") return zero;
  for (const [name, value] of type.zero ?? []) {
    const field = type.fields.get(name);
    put(zero, name, isJsonObject(value) && field !== undefined ? zeroOf(field) : value);
  }
  return zero;
}
