/** The order of fields: an object whose structs have their fields in the order of the Go types, as kube-apiserver writes them. */
import { isJsonArray, isJsonObject, type Json, type JsonObject, put, read } from "../../model/mod.ts";
import type { WireStruct, WireType } from "./wire_type.ts";
import { wireStruct } from "./wire_types.ts";

/** A copy with all fields, in order. Fields that the type does not have come last. */
export function inFieldOrder(struct: WireStruct, object: JsonObject): JsonObject {
  const ordered: Record<string, Json> = {};
  for (const [name, field] of struct.fields) {
    const value = read(object, name);
    if (value !== undefined) put(ordered, name, inOrder(field.type, value));
  }
  for (const [name, value] of Object.entries(object)) if (!struct.fields.has(name)) put(ordered, name, value);
  return ordered;
}

function inOrder(type: WireType, value: Json): Json {
  if (type.kind === "list" && isJsonArray(value)) return value.map((item) => inOrder(type.items, item));
  if (!isJsonObject(value)) return value;
  switch (type.kind) {
    case "struct": {
      const struct = wireStruct(type.name);
      return struct.fields.size === 0 ? value : inFieldOrder(struct, value);
    }
    case "map": {
      const ordered: Record<string, Json> = {};
      for (const key of Object.keys(value).sort()) put(ordered, key, inOrder(type.values, value[key] ?? null));
      return ordered;
    }
    case "list":
    case "scalar":
      return value;
    default:
      return type satisfies never;
  }
}
