/**
 * How Go writes JSON values: as JSON with sorted keys (managedFields, the last-applied annotation) and with the verbs %v and
 * %#v, which the real server's messages are made of.
 */
import { isJsonArray, isJsonObject, type Json } from "../model/mod.ts";

const escapes: ReadonlyMap<string, string> = new Map([
  ["<", "\\u003c"],
  [">", "\\u003e"],
  ["&", "\\u0026"],
  ["\u2028", "\\u2028"],
  ["\u2029", "\\u2029"],
]);

/** A string as encoding/json writes it, with the characters that HTML minds escaped. */
export function goJsonString(text: string): string {
  const json = JSON.stringify(text);
  return /[<>&\u2028\u2029]/.test(json)
    ? json.replace(/[<>&\u2028\u2029]/g, (character) => escapes.get(character) ?? character)
    : json;
}

/** A value as encoding/json writes it: no white space, keys sorted. */
export function goJson(value: Json): string {
  if (typeof value === "string") return goJsonString(value);
  if (isJsonArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = Object.keys(value).sort().map((key) => `${goJsonString(key)}:${goJson(value[key] ?? null)}`);
  return `{${fields.join(",")}}`;
}

/** A value as `%v` writes it: `map[a:1 b:[x y]]`. */
export function goPlain(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return `[${value.map(goPlain).join(" ")}]`;
  if (!isJsonObject(value)) return String(value);
  return `map[${Object.keys(value).sort().map((key) => `${key}:${goPlain(value[key] ?? null)}`).join(" ")}]`;
}

/** A value as `%#v` writes it: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: Json): string {
  if (value === null) return "interface {}(nil)";
  if (isJsonArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${goSyntax(value[key] ?? null)}`);
  return `map[string]interface {}{${fields.join(", ")}}`;
}

/** The name of a value's type, as `%T` writes it. */
export function goType(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}

/** The name that encoding/json has for what it found: `cannot unmarshal array into ...`. */
export function jsonTypeName(value: Json): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value;
}
