/** Conversions between types, `matches` and the basic string functions, and the calendar of timestamps and durations. */
import { goFloat, Pattern } from "../model/mod.ts";
import { duration, int, timestamp, uint } from "./_operators.ts";
import { binary, type FunctionDecl, type Guard, isText, method, type Overload, overload, unary } from "./functions.ts";
import {
  calendarOf,
  type CalendarPart,
  floorDivide,
  formatDuration,
  formatTimestamp,
  parseGoDuration,
  parseRfc3339,
} from "./_time.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  stringType,
  timestampType,
  uintType,
} from "./types.ts";
import { CelDuration, CelError, CelTimestamp, CelUint, type Value } from "./values.ts";

const isUint: Guard<CelUint> = (value) => value instanceof CelUint;
const isDouble: Guard<number> = (value) => typeof value === "number";
const isInt: Guard<bigint> = (value) => typeof value === "bigint";
const isBool: Guard<boolean> = (value) => typeof value === "boolean";
const isBytes: Guard<Uint8Array> = (value) => value instanceof Uint8Array;
const isDuration: Guard<CelDuration> = (value) => value instanceof CelDuration;
const isTimestamp: Guard<CelTimestamp> = (value) => value instanceof CelTimestamp;

const truths: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false] as const),
]);

/** The functions. */
export const conversionFunctions: readonly FunctionDecl[] = [
  to("bool", boolType, [
    overload("bool_to_bool", [boolType], boolType, unary(isBool, (value) => value)),
    overload("string_to_bool", [stringType], boolType, unary(isText, (text) => truths.get(text) ?? wrong("bool"))),
  ]),
  to("bytes", bytesType, [
    overload("bytes_to_bytes", [bytesType], bytesType, unary(isBytes, (value) => value)),
    overload("string_to_bytes", [stringType], bytesType, unary(isText, (text) => new TextEncoder().encode(text))),
  ]),
  to("double", doubleType, [
    overload("double_to_double", [doubleType], doubleType, unary(isDouble, (value) => value)),
    overload("int64_to_double", [intType], doubleType, unary(isInt, (value) => Number(value))),
    overload(
      "string_to_double",
      [stringType],
      doubleType,
      unary(isText, (text) => parseFloat64(text) ?? wrong("double")),
    ),
    overload("uint64_to_double", [uintType], doubleType, unary(isUint, (value) => Number(value.value))),
  ]),
  to("duration", durationType, [
    overload("duration_to_duration", [durationType], durationType, unary(isDuration, (value) => value)),
    overload("int64_to_duration", [intType], durationType, unary(isInt, (value) => duration(value))),
    overload("string_to_duration", [stringType], durationType, unary(isText, toDuration)),
  ]),
  to("int", intType, [
    overload("int64_to_int64", [intType], intType, unary(isInt, (value) => value)),
    overload("double_to_int64", [doubleType], intType, unary(isDouble, doubleToInt)),
    overload("duration_to_int64", [durationType], intType, unary(isDuration, (value) => value.ns)),
    overload(
      "string_to_int64",
      [stringType],
      intType,
      unary(isText, (text) => parseInteger(text, int) ?? wrong("int")),
    ),
    overload("timestamp_to_int64", [timestampType], intType, unary(isTimestamp, secondsOf)),
    overload("uint64_to_int64", [uintType], intType, unary(isUint, (value) => int(value.value))),
  ]),
  to("uint", uintType, [
    overload("uint64_to_uint64", [uintType], uintType, unary(isUint, (value) => value)),
    overload("double_to_uint64", [doubleType], uintType, unary(isDouble, doubleToUint)),
    overload("int64_to_uint64", [intType], uintType, unary(isInt, (value) => uint(value))),
    overload(
      "string_to_uint64",
      [stringType],
      uintType,
      unary(isText, (text) => parseInteger(text, uint) ?? wrong("uint")),
    ),
  ]),
  to("string", stringType, [
    overload("string_to_string", [stringType], stringType, unary(isText, (value) => value)),
    overload("bool_to_string", [boolType], stringType, unary(isBool, textOf)),
    overload("bytes_to_string", [bytesType], stringType, unary(isBytes, bytesToText)),
    overload("double_to_string", [doubleType], stringType, unary(isDouble, textOf)),
    overload("duration_to_string", [durationType], stringType, unary(isDuration, textOf)),
    overload("int64_to_string", [intType], stringType, unary(isInt, textOf)),
    overload("timestamp_to_string", [timestampType], stringType, unary(isTimestamp, textOf)),
    overload("uint64_to_string", [uintType], stringType, unary(isUint, textOf)),
  ]),
  to("timestamp", timestampType, [
    overload("timestamp_to_timestamp", [timestampType], timestampType, unary(isTimestamp, (value) => value)),
    overload(
      "int64_to_timestamp",
      [intType],
      timestampType,
      unary(isInt, (value) => timestamp(value * 1_000_000_000n)),
    ),
    overload("string_to_timestamp", [stringType], timestampType, unary(isText, toTimestamp)),
  ]),
  texts("contains", (text, part) => text.includes(part)),
  texts("endsWith", (text, part) => text.endsWith(part)),
  texts("startsWith", (text, part) => text.startsWith(part)),
  {
    name: "matches",
    overloads: [
      overload("matches", [stringType, stringType], boolType, binary(isText, isText, matchesPattern)),
      method("matches_string", [stringType, stringType], boolType, binary(isText, isText, matchesPattern)),
    ],
  },
  calendar("getFullYear", "year", (local) => local.getUTCFullYear()),
  calendar("getMonth", "month", (local) => local.getUTCMonth()),
  calendar("getDayOfYear", "day_of_year", dayOfYear),
  calendar("getDayOfMonth", "day_of_month", (local) => local.getUTCDate() - 1),
  calendar("getDate", "day_of_month_1_based", (local) => local.getUTCDate()),
  calendar("getDayOfWeek", "day_of_week", (local) => local.getUTCDay()),
  calendar("getHours", "hours", (local) => local.getUTCHours(), 3_600_000_000_000n),
  calendar("getMinutes", "minutes", (local) => local.getUTCMinutes(), 60_000_000_000n),
  calendar("getSeconds", "seconds", (local) => local.getUTCSeconds(), 1_000_000_000n),
  calendar("getMilliseconds", "milliseconds", (local) => local.getUTCMilliseconds(), 1_000_000n),
];

function to(name: string, _result: CelType, overloads: readonly Overload[]): FunctionDecl {
  return { name, overloads };
}

function texts(name: string, run: (text: string, part: string) => boolean): FunctionDecl {
  const id = name === "contains" ? "contains_string" : name === "endsWith" ? "ends_with_string" : "starts_with_string";
  return { name, overloads: [method(id, [stringType, stringType], boolType, binary(isText, isText, run))] };
}

/** @param unitNs for methods that durations also have */
function calendar(name: string, id: string, part: CalendarPart, unitNs?: bigint): FunctionDecl {
  const at = (value: CelTimestamp, zone: string): Value => {
    const local = calendarOf(value, zone);
    return local instanceof CelError ? local : BigInt(part(local));
  };
  const plain = unary(isTimestamp, (value) => at(value, zoneOf(value)));
  const overloads = [
    method(`timestamp_to_${id}`, [timestampType], intType, plain),
    method(`timestamp_to_${id}_with_tz`, [timestampType, stringType], intType, binary(isTimestamp, isText, at)),
  ];
  if (unitNs !== undefined) {
    const span = unary(isDuration, (value) => value.ns / unitNs);
    overloads.push(method(`duration_to_${id}`, [durationType], intType, span));
  }
  return { name, overloads };
}

/** The real server reads the parts of a timestamp in UTC, regardless of its zone. */
function zoneOf(_value: CelTimestamp): string {
  return "UTC";
}

function dayOfYear(local: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(local.getUTCFullYear(), 0, 1);
  return Math.floor((local.getTime() - start.getTime()) / 86_400_000);
}

/** The result of `string(value)`; undefined for lists, maps and values of libraries. */
export function textOf(value: Value): string {
  if (typeof value === "number") return goFloat(value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  return String(value);
}

/** The string of UTF-8 bytes. */
export function bytesToText(value: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    return new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

function wrong(type: string): CelError {
  return new CelError(`type conversion error from 'string' to '${type}'`);
}

function parseFloat64(text: string): number | undefined {
  const infinite = /^([+-]?)inf(inity)?$/i.exec(text);
  if (infinite !== null) return infinite[1] === "-" ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return NaN;
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
}

function parseInteger(text: string, make: (value: bigint) => Value): Value | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = make(BigInt(text.replace(/^\+/, "")));
  return value instanceof CelError ? undefined : value;
}

function doubleToInt(value: number): Value {
  if (Number.isNaN(value) || value <= -(2 ** 63) || value >= 2 ** 63) return new CelError("integer overflow");
  return BigInt(Math.trunc(value));
}

function doubleToUint(value: number): Value {
  if (Number.isNaN(value) || value < 0 || value >= 2 ** 64) return new CelError("unsigned integer overflow");
  return new CelUint(BigInt(Math.trunc(value)));
}

function secondsOf(value: CelTimestamp): Value {
  return floorDivide(value.ns, 1_000_000_000n);
}

function toDuration(text: string): Value {
  const ns = parseGoDuration(text);
  return ns === undefined ? wrong("google.protobuf.Duration") : new CelDuration(ns);
}

function toTimestamp(text: string): Value {
  return parseRfc3339(text) ?? wrong("google.protobuf.Timestamp");
}

const maxCached = 200;
const cache = new Map<string, Pattern | CelError>();

/** The compiled pattern, or its error. The last patterns are cached, because rules run again and again. */
export function patternOf(source: string): Pattern | CelError {
  let found = cache.get(source);
  if (found === undefined) {
    if (cache.size >= maxCached) cache.clear();
    cache.set(source, found = compiled(source));
  }
  return found;
}

function compiled(source: string): Pattern | CelError {
  try {
    return new Pattern(source);
  } catch (error) {
    if (error instanceof SyntaxError) return new CelError(error.message);
    throw error;
  }
}

/** `text.matches(pattern)`. */
function matchesPattern(text: string, pattern: string): Value {
  const regex = patternOf(pattern);
  return regex instanceof CelError ? regex : regex.test(text);
}
