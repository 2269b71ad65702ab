/**
 * How Go writes values, as the real server's messages show them: `%q` of a text, `%v` of a float, and encoding/json.
 */
import { isJsonArray, isJsonObject, type Json } from "./json.ts";

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

/** A text as `%q` writes it: in double quotes, what does not print as an escape. */
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

/** A value as encoding/json writes it: keys sorted, the characters that HTML minds escaped. */
export function goJson(value: Json): string {
  if (isJsonArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (isJsonObject(value)) {
    const fields = Object.keys(value).sort().map((key) => `${goJson(key)}:${goJson(value[key] ?? null)}`);
    return `{${fields.join(",")}}`;
  }
  const json = JSON.stringify(value);
  if (typeof value !== "string" || !/[<>&\u2028\u2029]/.test(json)) return json;
  return json.replace(/[<>&\u2028\u2029]/g, (character) => htmlEscapes.get(character) ?? character);
}
