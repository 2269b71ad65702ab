/**
 * JSON with exact integers. JavaScript reads 9007199254740993 as 9007199254740992; Kubernetes stores 64-bit integers.
 *
 * Guarantees: an integer outside of ±(2^53 − 1) that fits in an int64 is read as a bigint, and a bigint is written as the
 * same digits; every other number is an ordinary number, as before. Text without 16 digits in a row costs a look at every
 * 16th character; a value without a bigint costs nothing.
 *
 * Assumptions: as in Go, an integer beyond int64, and every number with a fraction or an exponent, is a double.
 */

/** `JSON` with source text access (ECMAScript 2026), which V8 and JavaScriptCore have, and TypeScript does not know yet. */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
}

const json: JsonWithSource = JSON as unknown as JsonWithSource;

/** 2^53 has 16 digits. */
const minDigits = 16;
const integer = /^-?\d+$/;
const [minInt64, maxInt64] = [-(2n ** 63n), 2n ** 63n - 1n];

/**
 * Parses JSON. Integers that a number cannot represent exactly are bigints.
 *
 * @throws SyntaxError when it is malformed.
 * @example
 * ```ts
 * import { parseExactJson, printExactJson } from "./mod.ts";
 *
 * const value = parseExactJson('{"id":9007199254740993,"size":3}');
 * console.assert(printExactJson(value) === '{"id":9007199254740993,"size":3}');
 * ```
 */
export function parseExactJson(text: string): unknown {
  if (!hasLongNumber(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) => exactNumber(value, source));
}

/**
 * True for text with a number of 16 digits or more, or with text in a string that looks like one. It looks at every 16th
 * character only, because one of them is in such a number; a regular expression took as long as JSON.parse (measured on V8).
 */
function hasLongNumber(text: string): boolean {
  const { length } = text;
  for (let at = minDigits - 1; at < length; at += minDigits) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at, end = at + 1;
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--;
    while (end < length && isDigit(text.charCodeAt(end))) end++;
    if (end - start >= minDigits && isNumberStart(text, start)) return true;
  }
  return false;
}

/** One comparison: "0" to "9" are 48 to 57, which is 48 with 0 to 9 in the lower bits. */
function isDigit(code: number): boolean {
  return (code ^ 48) <= 9;
}

/** True if a JSON number can begin at `start`, and not a part of a word or of a fraction. */
function isNumberStart(text: string, start: number): boolean {
  const before = text.charAt(start - 1) === "-" ? start - 1 : start;
  return before === 0 || " \n\r\t:,[".includes(text.charAt(before - 1));
}

function exactNumber(value: unknown, source: string | undefined): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value) || source === undefined) return value;
  if (!integer.test(source)) return value;
  const exact = BigInt(source);
  return exact >= minInt64 && exact <= maxInt64 ? exact : value;
}

/** Prints JSON. A bigint is printed as a number. @param indent as the third argument of JSON.stringify */
export function printExactJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    // JSON.stringify throws a TypeError for a bigint, and for a cycle, for which it throws again.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, one) => typeof one === "bigint" ? json.rawJSON(String(one)) : one, indent);
  }
}

/** True when two JSON scalars are equal. A bigint equals the number with the same value. */
export function isSameScalar(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one === "bigint") return typeof other === "number" && Number.isInteger(other) && BigInt(other) === one;
  return typeof other === "bigint" && isSameScalar(other, one);
}

/** True when two JSON values are equal. The order of the keys of an object does not matter. */
export function isDeepEqual(left: unknown, right: unknown): boolean {
  if (isSameScalar(left, right)) return true;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length &&
      left.every((item, at) => isDeepEqual(item, right[at]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isDeepEqual(left[key], right[key]));
}

/** True for an object, and not for a list or null. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
