/** The check of a value's type, with the formats that count for it. */
import { formatCheck } from "../cel/mod.ts";
import { isJsonArray, type Json } from "../model/mod.ts";
import type { SchemaProps } from "./schema_props.ts";
import type { Check } from "./schema_validator.ts";

/** The types a schema lets through; none for any. */
export function typesOf(schema: SchemaProps): readonly string[] {
  if (schema.isIntOrString) return ["integer", "string"];
  return schema.type === "" ? [] : [schema.type];
}

/** The format where it is one that is checked for the type; else "". */
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

/** True for what Go decodes as an integer of 64 bits. */
export function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

/** The type of a value, and the format that numbers have by themselves. */
function kindOf(value: Json): readonly [type: string, format: string] {
  switch (typeof value) {
    case "boolean":
      return ["boolean", ""];
    case "string":
      return ["string", ""];
    case "number":
      return isInt64(value) ? ["integer", "int64"] : ["number", "float64"];
    default:
      return isJsonArray(value) ? ["array", ""] : ["object", ""];
  }
}

/** Compiles the check. */
export function compileTypeCheck(schema: SchemaProps): Check {
  const types = typesOf(schema);
  const format = usedFormat(schema);
  const { nullable } = schema;
  const expected = types.join(",");
  const isNumeric = types.includes("integer") || types.includes("number");
  return (value, path, result) => {
    const wrong = (wanted: string, found: string): void => {
      const message = `${path} in body must be of type ${wanted}: "${found}"`;
      result.add({ code: "type", path, value: found, message });
    };
    if (value === null) {
      if (types.length > 0 && !nullable) return wrong(expected, "null");
      result.matches++;
      return;
    }
    const [type, ownFormat] = kindOf(value);
    const isMet = types.includes(type) || (type === "integer" && types.includes("number")) ||
      (type === "number" && types.includes("integer") && Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 53);
    const isTextual = type === "string" || type === "array";
    if (!isTextual && format !== "" && !isMet && ownFormat !== format) return wrong(format, ownFormat);
    if (!isMet && types.length > 0 && (isNumeric || format === "" || !isTextual)) return wrong(expected, type);
    result.matches++;
  };
}
