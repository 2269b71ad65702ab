/**
 * The types that expressions of a MutatingAdmissionPolicy create: `Object` with the type names of its fields
 * (`Object.spec.template`), and `JSONPatch`; and the JSON of their values. As apiserver `cel/mutation` of Kubernetes 1.36.
 */
import { pointerStep } from "../../api/mod.ts";
import {
  CelDuration,
  CelError,
  type CelExtension,
  CelList,
  CelMap,
  CelOptional,
  CelStruct,
  CelTimestamp,
  CelUint,
  dynType,
  formatDuration,
  formatTimestamp,
  itemsOf,
  overload,
  stringType,
  type StructType,
  type Value,
} from "../../cel/mod.ts";
import { type Json, type JsonObject, put } from "../model/mod.ts";

/** The result types of the expressions of mutations. */
export const [objectTypeName, patchListTypeName] = ["Object", "list(JSONPatch)"] as const;

const patchType: StructType = {
  type: {
    kind: "object",
    name: "JSONPatch",
    fields: new Map([["op", stringType], ["path", stringType], ["from", stringType], ["value", dynType]]),
  },
  create: (fields) => new CelStruct("JSONPatch", fields),
};

function objectType(name: string): StructType {
  return {
    type: { kind: "object", name, fields: new Map(), otherFields: dynType },
    create: (fields) => new CelStruct(name, fields),
  };
}

/** What the expressions of mutations can use besides the expressions of validations. */
export const patchTypes: CelExtension = {
  findStruct(name) {
    if (name === patchType.type.name) return patchType;
    return name === objectTypeName || name.startsWith(`${objectTypeName}.`) ? objectType(name) : undefined;
  },
  functions: [{
    name: "jsonpatch.escapeKey",
    overloads: [overload("string_jsonpatch_escapeKey_string", [stringType], stringType, escapeKey)],
  }],
};

function escapeKey(key: Value = null): Value {
  return typeof key === "string" ? pointerStep(key) : new CelError("no such overload");
}

/**
 * The names of types that do not stand where the fields of the root have them: `Object{spec: Object.status{}}`. Lists and maps
 * between them have no names.
 */
export function* misplacedTypes(value: Value, path: string): Generator<string, void, void> {
  if (value instanceof CelStruct) {
    if (value.typeName !== path) {
      const found = `unexpected type name ${JSON.stringify(value.typeName)}, expected ${JSON.stringify(path)}`;
      yield `${found}, which matches field name path from root Object type`;
    }
    for (const [name, field] of value.fields) yield* misplacedTypes(field, `${path}.${name}`);
  } else if (value instanceof CelList) {
    for (const item of itemsOf(value)) yield* misplacedTypes(item, path);
  } else if (value instanceof CelMap) {
    for (const key of value.keys()) yield* misplacedTypes(value.find(key) ?? null, path);
  }
}

/** A value that has no JSON. */
export class NoJsonError extends Error {
  override readonly name = "NoJsonError";
}

/** The JSON of a struct. @throws NoJsonError */
export function structJson(value: CelStruct): JsonObject {
  const json: Record<string, Json> = {};
  for (const [name, field] of value.fields) put(json, name, valueJson(field));
  return json;
}

/** The JSON of a value. @throws NoJsonError */
export function valueJson(value: Value): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "number":
      return value;
    case "bigint":
      return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
        ? Number(value)
        : value;
    default:
      return objectJson(value);
  }
}

function objectJson(value: Exclude<Value, string | boolean | number | bigint>): Json {
  if (value === null) return null;
  if (value instanceof CelStruct) return structJson(value);
  if (value instanceof CelList) return Array.from(itemsOf(value), valueJson);
  if (value instanceof CelMap) return mapJson(value);
  if (value instanceof CelOptional && value.value !== undefined) return valueJson(value.value);
  if (value instanceof CelUint) return valueJson(value.value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  throw new NoJsonError("unsupported type");
}

function mapJson(map: CelMap): JsonObject {
  const json: Record<string, Json> = {};
  for (const key of map.keys()) {
    if (typeof key !== "string") throw new NoJsonError("map keys must be strings");
    put(json, key, valueJson(map.find(key) ?? null));
  }
  return json;
}
