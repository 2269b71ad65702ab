/** The string functions: version 2 of cel-go's `ext.Strings`, including `format`, and Kubernetes' `find` and `findAll`. */
import {
  attempt,
  binary,
  type FunctionDecl,
  isAny,
  isInt,
  isList,
  isText,
  method,
  overload,
  ternary,
  unary,
} from "./functions.ts";
import { bytesToText, patternOf, textOf } from "./_standard_conversions.ts";
import { dynType, intType, listOf, stringType } from "./types.ts";
import {
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  codePointLength,
  itemsOf,
  noSuchOverload,
  typeNameOf,
  type Value,
  ValueList,
} from "./values.ts";
import { goQuote } from "../model/mod.ts";

const texts = listOf(stringType);

/** The string functions. */
export const stringFunctions: readonly FunctionDecl[] = [
  one("charAt", method("string_char_at_int", [stringType, intType], stringType, binary(isText, isInt, charAt))),
  {
    name: "indexOf",
    overloads: [
      method("string_index_of_string", [stringType, stringType], intType, binary(isText, isText, indexOf)),
      method(
        "string_index_of_string_int",
        [stringType, stringType, intType],
        intType,
        ternary([isText, isText, isInt], indexOfFrom),
      ),
    ],
  },
  {
    name: "lastIndexOf",
    overloads: [
      method("string_last_index_of_string", [stringType, stringType], intType, binary(isText, isText, lastIndexOf)),
      method(
        "string_last_index_of_string_int",
        [stringType, stringType, intType],
        intType,
        ternary([isText, isText, isInt], lastIndexOfFrom),
      ),
    ],
  },
  one("lowerAscii", method("string_lower_ascii", [stringType], stringType, unary(isText, lowerAscii))),
  one("upperAscii", method("string_upper_ascii", [stringType], stringType, unary(isText, upperAscii))),
  one("trim", method("string_trim", [stringType], stringType, unary(isText, (text) => trimmed(text)))),
  {
    name: "replace",
    overloads: [
      method(
        "string_replace_string_string",
        [stringType, stringType, stringType],
        stringType,
        ternary([isText, isText, isText], (text, old, by) => replaced(text, old, by, -1)),
      ),
      method(
        "string_replace_string_string_int",
        [stringType, stringType, stringType, intType],
        stringType,
        replaceSome,
      ),
    ],
  },
  {
    name: "split",
    overloads: [
      method(
        "string_split_string",
        [stringType, stringType],
        texts,
        binary(isText, isText, (text, by) => split(text, by, -1)),
      ),
      method(
        "string_split_string_int",
        [stringType, stringType, intType],
        texts,
        ternary([isText, isText, isInt], (text, by, count) => split(text, by, Number(count))),
      ),
    ],
  },
  {
    name: "substring",
    overloads: [
      method("string_substring_int", [stringType, intType], stringType, binary(isText, isInt, substring)),
      method(
        "string_substring_int_int",
        [stringType, intType, intType],
        stringType,
        ternary([isText, isInt, isInt], substring),
      ),
    ],
  },
  {
    name: "join",
    overloads: [
      method("list_join", [texts], stringType, unary(isList, (list) => join(list, ""))),
      method("list_join_string", [texts, stringType], stringType, binary(isList, isText, join)),
    ],
  },
  one(
    "format",
    method("string_format", [stringType, listOf(dynType)], stringType, binary(isText, isList, formatText)),
  ),
  one("strings.quote", overload("strings_quote", [stringType], stringType, unary(isText, quote))),
  one("find", method("string_find_string", [stringType, stringType], stringType, binary(isText, isText, find))),
  {
    name: "findAll",
    overloads: [
      method(
        "string_find_all_string",
        [stringType, stringType],
        texts,
        binary(isText, isText, (text, pattern) => findAll(text, pattern, -1n)),
      ),
      method(
        "string_find_all_string_int",
        [stringType, stringType, intType],
        texts,
        ternary([isText, isText, isInt], findAll),
      ),
    ],
  },
];

function one(name: string, only: FunctionDecl["overloads"][number]): FunctionDecl {
  return { name, overloads: [only] };
}

function outOfRange(index: bigint | number): CelError {
  return new CelError(`index out of range: ${index}`);
}

function charAt(text: string, index: bigint): Value {
  const characters = [...text];
  if (index < 0n || index > BigInt(characters.length)) return outOfRange(index);
  return characters[Number(index)] ?? "";
}

function indexOf(text: string, part: string): Value {
  return indexOfFrom(text, part, 0n);
}

function indexOfFrom(text: string, part: string, from: bigint): Value {
  if (part === "") return from;
  if (from < 0n) return outOfRange(from);
  const start = offsetOf(text, Number(from));
  if (start >= text.length) return -1n;
  const found = text.indexOf(part, start);
  return found < 0 ? -1n : BigInt(codePointLength(text.slice(0, found)));
}

function lastIndexOf(text: string, part: string): Value {
  const length = codePointLength(text);
  if (part === "") return BigInt(length);
  return length === 0 ? -1n : lastIndexOfFrom(text, part, BigInt(length - 1));
}

function lastIndexOfFrom(text: string, part: string, from: bigint): Value {
  if (part === "") return from;
  if (from < 0n) return outOfRange(from);
  const start = offsetOf(text, Number(from));
  if (start >= text.length) return -1n;
  const found = text.lastIndexOf(part, start);
  return found < 0 ? -1n : BigInt(codePointLength(text.slice(0, found)));
}

/** The UTF-16 index of a code point. */
function offsetOf(text: string, index: number): number {
  let offset = 0;
  for (let count = 0; count < index && offset < text.length; count++) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}

function lowerAscii(text: string): Value {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upperAscii(text: string): Value {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

const blanks = new Set("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000");
for (let point = 0x2000; point <= 0x200a; point++) blanks.add(String.fromCharCode(point));

/** Without Unicode white space at both ends. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && blanks.has(text[start] ?? "")) start++;
  while (end > start && blanks.has(text[end - 1] ?? "")) end--;
  return text.slice(start, end);
}

function replaceSome(text: Value = null, old: Value = null, by: Value = null, count: Value = null): Value {
  if (!isText(text) || !isText(old) || !isText(by) || !isInt(count)) return noSuchOverload(text, old, by, count);
  return replaced(text, old, by, Number(count));
}

/**
 * Largest result in UTF-16 units. The cost of a call depends only on its arguments, and `format` may repeat a long one, so
 * results need a limit.
 */
const maxLength = 2 ** 24;

/** @param limit negative means no limit */
function replaced(text: string, old: string, by: string, limit: number): Value {
  if (limit === 0) return text;
  const parts = old === "" ? ["", ...text] : text.split(old);
  if (old === "") parts.push("");
  const count = limit < 0 ? parts.length - 1 : Math.min(limit, parts.length - 1);
  if (text.length + count * by.length > maxLength) return new CelError("replaced string is too long");
  const tail = parts.slice(count).join(old);
  return [...parts.slice(0, count), tail].join(by);
}

/** @param limit the maximum number of pieces; negative means no limit */
function split(text: string, by: string, limit: number): Value {
  if (limit === 0) return new ValueList([]);
  const parts = by === "" ? [...text] : text.split(by);
  if (limit < 0 || parts.length <= limit) return new ValueList(parts);
  return new ValueList([...parts.slice(0, limit - 1), parts.slice(limit - 1).join(by)]);
}

function substring(text: string, start: bigint, end?: bigint): Value {
  const characters = [...text];
  const length = BigInt(characters.length);
  if (end !== undefined && start > end) {
    return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0n || start > length) return outOfRange(start);
  if (end !== undefined && (end < 0n || end > length)) return outOfRange(end);
  return characters.slice(Number(start), end === undefined ? undefined : Number(end)).join("");
}

function join(list: CelList, by: string): Value {
  const parts: string[] = [];
  let length = list.size * by.length;
  for (const item of itemsOf(list)) {
    if (item instanceof CelError) return item;
    if (!isText(item)) return new CelError(`join: invalid input: ${isAny(item) ? typeNameOf(item) : ""}`);
    length += item.length;
    if (length > maxLength) return new CelError("joined string is too long");
    parts.push(item);
  }
  return parts.join(by);
}

const quoted: ReadonlyMap<string, string> = new Map([
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

function quote(text: string): Value {
  // deno-lint-ignore no-control-regex
  return `"${text.replace(/[\x07-\r\\"]/g, (character) => quoted.get(character) ?? character)}"`;
}

function find(text: string, pattern: string): Value {
  const regex = patternOf(pattern);
  if (regex instanceof CelError) return new CelError(`Illegal regex: ${regex.message}`);
  const match = regex.find(text);
  return match === undefined ? "" : text.slice(match.start, match.end);
}

function findAll(text: string, pattern: string, limit: bigint): Value {
  const regex = patternOf(pattern);
  if (regex instanceof CelError) return new CelError(`Illegal regex: ${regex.message}`);
  return attempt(() => {
    const found = regex.findAll(text, limit < 0n ? Infinity : Number(limit));
    return new ValueList(Array.from(found, (match) => text.slice(match.start, match.end)));
  });
}

const defaultPrecision = 6;

/** `"%s and %d".format([a, b])`, as in version 2 of cel-go's string library. */
function formatText(text: string, args: CelList): Value {
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

/** A value inside a list or map, in CEL syntax. */
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
  // cel-go takes the precision for the width of the text.
  const [digits = "", exponent = ""] = number.toExponential(6).split("e");
  const power = Number(exponent);
  const superscript = String(Math.abs(power)).padStart(2, "0");
  return `${digits}×10${raised(power < 0 ? `-${superscript}` : superscript)}`.padStart(precision);
}

/** The real server formats exponents with a locale-aware printer. */
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
