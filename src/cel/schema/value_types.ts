/** The types of values and schemas, as kube-openapi and Go name them. */
import { isJsonArray, isJsonNumber, isJsonObject, type Json } from "../model/mod.ts";
import { formatCheck } from "../language/mod.ts";
import type { SchemaProps } from "./schema_props.ts";

/** The types that a schema allows; empty for any type. */
export function typesOf(schema: SchemaProps): readonly string[] {
  if (schema.isIntOrString) return ["integer", "string"];
  return schema.type === "" ? [] : [schema.type];
}

/** The format, when it is validated for the type of the schema; otherwise "". */
export function usedFormat(schema: SchemaProps): string {
  const { format } = schema;
  if (format === "") return "";
  const types = typesOf(schema);
  switch (types.length === 1 ? types[0] : "") {
    case "":
    case "string":
      return formatCheck(format) === undefined ? "" : format;
    case "integer":
      return format === "int32" || format === "int64" ? format : "";
    case "number":
      return format === "float" || format === "double" ? format : "";
    default:
      return "";
  }
}

/** True for a number that Go decodes as int64. A bigint always is one. */
export function isInt64(value: number | bigint): boolean {
  return typeof value === "bigint" || Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

/** The Go type of a decoded value, for messages. */
export function goTypeOf(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  if (isJsonNumber(value)) return isInt64(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}

/** The type of a value, and the default format of a number. */
export function kindOf(value: Json): readonly [type: string, format: string] {
  switch (typeof value) {
    case "boolean":
      return ["boolean", ""];
    case "string":
      return ["string", ""];
    case "number":
    case "bigint":
      return isInt64(value) ? ["integer", "int64"] : ["number", "float64"];
    default:
      return isJsonArray(value) ? ["array", ""] : ["object", ""];
  }
}
