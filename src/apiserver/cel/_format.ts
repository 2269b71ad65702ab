/** `"%s and %d".format([a, b])`, as cel-go's string library of version 2 does it. */
import { goQuote } from "../model/mod.ts";
import { bytesToText, textOf } from "./_standard_conversions.ts";
import {
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  itemsOf,
  typeNameOf,
  type Value,
} from "./values.ts";

const defaultPrecision = 6;
/** UTF-16 units a text may grow to: a format may name one long argument many times. */
const maxLength = 2 ** 24;

/** The text with its clauses filled in. */
export function formatText(text: string, args: CelList): Value {
  try {
    return filled(text, args);
  } catch (error) {
    if (error instanceof FormatError) return new CelError(error.message);
    throw error;
  }
}

class FormatError extends Error {}

function filled(text: string, args: CelList): string {
  let out = "";
  let used = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] !== "%") {
      out += text[index];
      continue;
    }
    if (index + 1 >= text.length) throw new FormatError("unexpected end of string");
    if (text[index + 1] === "%") {
      out += "%";
      index++;
      continue;
    }
    if (used >= args.size) throw new FormatError(`index ${used} out of range`);
    const clause = /^%(?:\.(\d+))?(.)/s.exec(text.slice(index, index + 24));
    if (clause === null) throw new FormatError("could not parse formatting clause: error while parsing precision");
    const argument = args.at(used++);
    if (argument instanceof CelError) throw new FormatError(argument.message);
    out += clauseText(clause[2] ?? "", clause[1] === undefined ? defaultPrecision : Number(clause[1]), argument);
    if (out.length > maxLength) throw new FormatError("formatted string is too long");
    index += clause[0].length - 1;
  }
  return out;
}

function clauseText(verb: string, precision: number, value: Value): string {
  switch (verb) {
    case "s":
      return plainText(value);
    case "d":
      return decimal(value);
    case "f":
      return fixed(value, precision);
    case "e":
      return scientific(value, precision);
    case "b":
      if (typeof value === "boolean") return value ? "1" : "0";
      return inBase(value, 2, "only integers and bools can be formatted as binary");
    case "o":
      return inBase(value, 8, "octal clause can only be used on integers");
    case "x":
      return hex(value);
    case "X":
      return hex(value).toUpperCase();
    default:
      throw new FormatError(`could not parse formatting clause: unrecognized formatting clause ${goQuote(verb)}`);
  }
}

/** `%s`. */
function plainText(value: Value): string {
  if (value === null) return "null";
  if (value instanceof CelList) return listText(value);
  if (value instanceof CelMap) return mapText(value);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof Uint8Array) {
    const text = bytesToText(value);
    if (typeof text === "string") return text;
    throw new FormatError(`could not convert argument to string`);
  }
  const isPlain = typeof value !== "object" || value instanceof CelUint || value instanceof CelDuration ||
    value instanceof CelTimestamp;
  if (isPlain) return textOf(value);
  throw new FormatError(
    "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, " +
      `types, durations, and timestamps, was given ${typeNameOf(value)}`,
  );
}

function listText(list: CelList): string {
  return `[${Array.from(itemsOf(list), memberText).join(", ")}]`;
}

function mapText(map: CelMap): string {
  const pairs: (readonly [string, string])[] = [];
  for (const key of map.keys()) pairs.push([memberText(key), memberText(map.find(key) ?? null)]);
  pairs.sort(([left], [right]) => left < right ? -1 : left > right ? 1 : 0);
  return `{${pairs.map(([key, value]) => `${key}:${value}`).join(", ")}}`;
}

/** A value inside a list or a map: as it would be written in an expression. */
function memberText(value: Value): string {
  if (value instanceof CelError) throw new FormatError(value.message);
  if (typeof value === "string") return goQuote(value);
  if (value instanceof Uint8Array) return `b${goQuote(plainText(value))}`;
  if (typeof value === "number") {
    return Number.isFinite(value) ? value.toFixed(defaultPrecision) : goQuote(textOf(value));
  }
  if (value instanceof CelTimestamp) return `timestamp(${goQuote(textOf(value))})`;
  if (value instanceof CelDuration) return `duration(${goQuote(textOf(value))})`;
  if (value instanceof CelTypeValue) return `type(${value.name})`;
  return plainText(value);
}

function decimal(value: Value): string {
  if (typeof value === "bigint") return String(value);
  if (value instanceof CelUint) return String(value.value);
  throw wrongClause("decimal clause can only be used on integers", value);
}

function fixed(value: Value, precision: number): string {
  const number = numberOf(value, "fixed-point clause can only be used on doubles");
  if (!Number.isFinite(number)) return special(number);
  const [whole = "", fraction] = toFixed(number, precision).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function scientific(value: Value, precision: number): string {
  const number = numberOf(value, "scientific clause can only be used on doubles");
  if (!Number.isFinite(number)) return special(number);
  const [digits = "", exponent = ""] = number.toExponential(Math.min(precision, 100)).split("e");
  const power = Number(exponent);
  const superscript = String(Math.abs(power)).padStart(2, "0");
  return `${digits}\u202f×\u202f10${raised(power < 0 ? `-${superscript}` : superscript)}`;
}

/** The real server writes exponents as its locale's printer does. */
function raised(text: string): string {
  return text.replace(/[0-9-]/g, (character) => character === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(character)] ?? "");
}

function toFixed(value: number, precision: number): string {
  const text = value.toFixed(Math.min(precision, 100));
  return text.includes("e") ? BigInt(value).toString() + (precision > 0 ? `.${"0".repeat(precision)}` : "") : text;
}

function special(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
}

function numberOf(value: Value, why: string): number {
  if (typeof value === "number") return value;
  if (value === "NaN") return NaN;
  if (value === "Infinity") return Infinity;
  if (value === "-Infinity") return -Infinity;
  throw wrongClause(why, value);
}

function hex(value: Value): string {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  if (bytes instanceof Uint8Array) {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  return inBase(bytes, 16, "only integers, byte buffers, and strings can be formatted as hex");
}

function inBase(value: Value, base: number, why: string): string {
  if (typeof value === "bigint") return value.toString(base);
  if (value instanceof CelUint) return value.value.toString(base);
  throw wrongClause(why, value);
}

function wrongClause(why: string, value: Value): FormatError {
  return new FormatError(`error during formatting: ${why}, was given ${typeNameOf(value)}`);
}
