/**
 * internalValue(): an object as messages of the real server show it where it has no external type: with the names of the fields
 * of the Go type, which are all written, in their order.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../../model/mod.ts";
import { plainZeroOf, type WireField, wireStruct, type WireType } from "../types/mod.ts";

/** Names of fields in Go that are not the JSON name with a capital. */
const goNames: ReadonlyMap<string, string> = new Map([
  ["apiGroup", "APIGroup"],
  ["apiGroups", "APIGroups"],
  ["cel", "CEL"],
  ["cidrs", "CIDRs"],
  ["ips", "IPs"],
  ["uid", "UID"],
  ["bool", "BoolValue"],
  ["bools", "BoolValues"],
  ["int", "IntValue"],
  ["ints", "IntValues"],
  ["string", "StringValue"],
  ["strings", "StringValues"],
  ["version", "VersionValue"],
  ["versions", "VersionValues"],
]);

/** Types that have no internal form, and so have JSON names in Go as well. */
const external = /^meta\//;

/** @param typeName e.g. `resource/v1.ResourceClaimSpec` */
export function internalValue(typeName: string, object: JsonObject): JsonObject {
  if (external.test(typeName)) return object;
  const shown: Record<string, Json> = {};
  for (const field of wireStruct(typeName).fields.values()) {
    const value = read(object, field.name);
    // ObjectMeta is embedded: its fields that are set stand among those of the struct.
    if (field.name === "metadata") Object.assign(shown, isJsonObject(value) ? value : {});
    else shown[goNames.get(field.name) ?? capitalized(field.name)] = shownValue(field, value);
  }
  return shown;
}

function shownValue(field: WireField, value: Json | undefined): Json {
  if (value === undefined || value === null) return field.isPointer ? null : zeroOf(field.type);
  return inside(field.type, value);
}

function inside(type: WireType, value: Json): Json {
  if (type.kind === "struct" && isJsonObject(value)) return internalValue(type.name, value);
  if (type.kind === "list" && isJsonArray(value)) return value.map((item) => inside(type.items, item));
  if (type.kind === "map" && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).toSorted(([left], [right]) => left < right ? -1 : 1)
        .map(([key, item]) => [key, inside(type.values, item)]),
    );
  }
  return value;
}

function zeroOf(type: WireType): Json {
  if (type.kind === "struct") return internalValue(type.name, {});
  return type.kind === "scalar" ? plainZeroOf(type.scalar) ?? null : null;
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
