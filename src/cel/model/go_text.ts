/**
 * How Go writes values, as the messages and tables of kube-apiserver show them: `%q` of a text, `%v` of a float,
 * `%v`, `%#v` and `%T` of JSON values, encoding/json, and the durations of apimachinery `util/duration`.
 */
import { isJsonArray, isJsonObject, type Json } from "./json.ts";
import { numberLiteral } from "./number_literal.ts";

const quoteEscapes: ReadonlyMap<string, string> = new Map([
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"'],
]);

/** A text as `%q` writes it: in double quotes, with escapes for characters that do not print. */
export function goQuote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) quoted += quoteEscapes.get(character) ?? printable(character);
  return `${quoted}"`;
}

function printable(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point >= 0x20 && point < 0x7f) return character;
  if (point >= 0x80 && /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character)) return character;
  if (point < 0x80) return `\\x${point.toString(16).padStart(2, "0")}`;
  return point < 0x10000 ? `\\u${point.toString(16).padStart(4, "0")}` : `\\U${point.toString(16).padStart(8, "0")}`;
}

/** A float as `%v` and `%g` write it: `0.5`, `1e+06`. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  const size = Math.abs(power);
  return `${digits}e${power < 0 ? "-" : "+"}${size < 10 ? "0" : ""}${size}`;
}

const htmlEscapes: ReadonlyMap<string, string> = new Map([
  ["<", "\\u003c"],
  [">", "\\u003e"],
  ["&", "\\u0026"],
  ["\u2028", "\\u2028"],
  ["\u2029", "\\u2029"],
]);

/** A value as encoding/json writes it: with sorted keys, and with escapes for the special characters of HTML. */
export function goJson(value: Json): string {
  if (isJsonArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (isJsonObject(value)) {
    const fields = Object.keys(value).sort().map((key) => `${goJson(key)}:${goJson(value[key] ?? null)}`);
    return `{${fields.join(",")}}`;
  }
  if (typeof value === "bigint") return String(value);
  const json = JSON.stringify(value);
  if (typeof value !== "string" || !/[<>&\u2028\u2029]/.test(json)) return json;
  return json.replace(/[<>&\u2028\u2029]/g, (character) => htmlEscapes.get(character) ?? character);
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A value as `%v` writes it: `map[a:1 b:[x y]]`. */
export function goPlain(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return `[${value.map(goPlain).join(" ")}]`;
  if (typeof value === "number" && (!Number.isInteger(value) || Math.abs(value) >= 2 ** 63)) return goFloat(value);
  if (!isJsonObject(value)) return String(value);
  return `map[${Object.keys(value).sort().map((key) => `${key}:${goPlain(value[key] ?? null)}`).join(" ")}]`;
}

/** A value as `%#v` writes it: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: Json): string {
  if (value === null) return "interface {}(nil)";
  if (isJsonArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isJsonObject(value)) return typeof value === "bigint" ? String(value) : JSON.stringify(value);
  const fields = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${goSyntax(value[key] ?? null)}`);
  return `map[string]interface {}{${fields.join(", ")}}`;
}

/** The type of a value as `%T` writes it. */
export function goType(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  if (typeof value === "bigint") return "int64";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}

/** The type of a value in errors of encoding/json: `cannot unmarshal array into ...`. */
export function jsonTypeName(value: Json): string {
  if (value === null) return "null";
  if (isJsonArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string" && numberLiteral(value) !== undefined) return "number";
  return typeof value === "bigint" ? "number" : typeof value;
}

/**
 * A duration as `kubectl get` shows ages, in one unit or two: `5m`, `3h10m`, `2d`.
 *
 * @param ms milliseconds; -1 s is shown as "0s", because clocks differ a little
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return twoUnits(seconds, [minute, "m"], [1, "s"]);
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return twoUnits(seconds, [hour, "h"], [minute, "m"]);
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return twoUnits(seconds, [day, "d"], [hour, "h"]);
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return twoUnits(seconds, [year, "y"], [day, "d"]);
  return `${Math.floor(seconds / year)}y`;
}

type Unit = readonly [seconds: number, letter: string];

function twoUnits(seconds: number, large: Unit, small: Unit): string {
  const count = Math.floor(seconds / large[0]);
  const rest = Math.floor((seconds % large[0]) / small[0]);
  return rest === 0 ? `${count}${large[1]}` : `${count}${large[1]}${rest}${small[1]}`;
}

/** Errors as Go's aggregate prints them. */
export function goAggregate(errors: readonly string[]): string {
  const [first = "", ...more] = new Set(errors);
  return more.length === 0 ? first : `[${[first, ...more].join(", ")}]`;
}
