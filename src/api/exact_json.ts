/**
 * JSON with exact integers. JavaScript reads 9007199254740993 as 9007199254740992; Kubernetes stores 64-bit integers.
 *
 * Guarantees: an integer outside of ±(2^53 − 1) that fits in an int64 is read as a bigint, and a bigint is written as the
 * same digits; every other number is an ordinary number, as before. Text without 16 digits in a row costs a look at every
 * 16th character; a value without a bigint costs nothing.
 *
 * Assumptions: as in Go, an integer beyond int64, and every number with a fraction or an exponent, is a double.
 */

/** 2^53 has 16 digits. */
const minDigits = 16;
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
  const first = nextLongNumber(text, 0);
  if (first === undefined) return JSON.parse(text);
  const marked = withMarkedIntegers(text, first);
  const value: unknown = JSON.parse(marked);
  return marked === text ? value : withIntegers(value);
}

/**
 * Matches each text with a number of at least 10^99, and some others. It looks behind the characters before a number only,
 * because every second UID has an e before three digits.
 */
const largeNumber = /(?:^|[[,]|"\s*:)\s*-?(?:\d[\d.]*[eE]\+?\d{3}|\d{100})/;

/**
 * Parses JSON of others as {@link parseExactJson}, and refuses a number outside of the range of a float64: it would become
 * Infinity, which is printed as null.
 *
 * @throws SyntaxError when it is malformed, or has such a number.
 */
export function parseFiniteJson(text: string): unknown {
  const value = parseExactJson(text);
  if (largeNumber.test(text) && !isFiniteValue(value)) {
    throw new SyntaxError("a number is outside of the range of a float64");
  }
  return value;
}

/** A loop, because the text may nest deeper than the stack. */
function isFiniteValue(root: unknown): boolean {
  const values = [root];
  while (values.length > 0) {
    const value = values.pop();
    if (typeof value === "number" && !Number.isFinite(value)) return false;
    if (typeof value === "object" && value !== null) { for (const inner of Object.values(value)) values.push(inner); }
  }
  return true;
}

/** Where a number is in a text. */
interface NumberPlace {
  readonly start: number;
  readonly end: number;
}

/**
 * The first number of 16 digits or more after `from`, or text in a string that looks like one. It looks at every 16th
 * character only, because one of them is in such a number; a regular expression took as long as JSON.parse (measured on V8).
 */
function nextLongNumber(text: string, from: number): NumberPlace | undefined {
  const { length } = text;
  for (let at = from + minDigits - 1; at < length; at += minDigits) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at, end = at + 1;
    while (start > from && isDigit(text.charCodeAt(start - 1))) start--;
    while (end < length && isDigit(text.charCodeAt(end))) end++;
    if (end - start >= minDigits && isNumberStart(text, start)) {
      return { start: text.charAt(start - 1) === "-" ? start - 1 : start, end };
    }
    // Each digit is looked at once: a text of a million digits would need hours otherwise.
    at = end;
  }
  return undefined;
}

/**
 * Stands before the digits of an integer that became a string. JSON.parse with a reviver needs ten times the memory of the
 * text. It is random, so no text can contain it.
 */
let mark: string | undefined;

function newMark(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 24);
}

/** After so many, the parts become one string: a short string needs more memory than its characters. */
const maxParts = 1024;

/** `text`, with a string in place of each integer that a number cannot represent. Malformed text stays malformed. */
function withMarkedIntegers(text: string, first: NumberPlace): string {
  mark ??= newMark();
  const begin = `"${mark}`;
  let done = "", parts: string[] = [];
  /** The text before `copied` is in `done` and `parts`. The first string that ends behind the last place begins at `quote`. */
  let copied = 0, quote = quoteAfter(text, 0);
  for (let place: NumberPlace | undefined = first; place !== undefined; place = nextLongNumber(text, place.end)) {
    const { start, end } = place;
    let close = -1;
    while (quote < start) {
      close = endOfString(text, quote);
      if (close > start) break;
      quote = quoteAfter(text, close + 1);
    }
    const digits = text.slice(start, end);
    if (close > start || !isExactInteger(digits) || continuesNumber(text, end)) continue;
    parts.push(text.slice(copied, start), begin, digits, '"');
    copied = end;
    if (parts.length < maxParts) continue;
    done += parts.join("");
    parts = [];
  }
  return copied === 0 ? text : done + parts.join("") + text.slice(copied);
}

/** True for an integer that a number cannot represent and an int64 can. */
function isExactInteger(digits: string): boolean {
  if (digits.length > 20 || Number.isSafeInteger(Number(digits)) || /^-?0/.test(digits)) return false;
  // An int64 has 19 digits at most; a bigint only for the comparison is garbage.
  if (digits.length < 19) return true;
  const exact = BigInt(digits);
  return exact >= minInt64 && exact <= maxInt64;
}

/** True if the digits before `at` are a part of a fraction, of a number with an exponent, or of a malformed name. */
function continuesNumber(text: string, at: number): boolean {
  let next = at;
  while (" \n\r\t".includes(text.charAt(next)) && next < text.length) next++;
  return ".eE:".includes(text.charAt(next)) && next < text.length;
}

function quoteAfter(text: string, from: number): number {
  const at = text.indexOf('"', from);
  return at < 0 ? text.length : at;
}

/** The index of the quote that ends the string which begins at `start`; the length of the text when it does not end. */
export function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/** Puts the integers back, in place. */
function withIntegers(root: unknown): unknown {
  const waiting: unknown[] = [];
  const visit = (value: unknown): unknown => {
    if (typeof value === "string") return integerOf(value);
    if (typeof value === "object" && value !== null) waiting.push(value);
    return value;
  };
  const result = visit(root);
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (Array.isArray(part)) {
      for (let at = 0; at < part.length; at++) {
        const item: unknown = part[at], exact = visit(item);
        if (exact !== item) part[at] = exact;
      }
    } else if (typeof part === "object" && part !== null) {
      for (const [name, item] of Object.entries(part)) {
        const exact = visit(item);
        if (exact !== item) setOwn(part, name, exact);
      }
    }
  }
  return result;
}

/**
 * Replaces an own field or item. Object.defineProperty makes a hash table of an object with numbers as names, and of a list: 80
 * MB for a million items.
 */
function setOwn(target: object, key: string | number, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(target, key, { value });
  else Reflect.set(target, key, value);
}

function integerOf(text: string): string | bigint {
  return mark !== undefined && text.startsWith(mark) ? BigInt(text.slice(mark.length)) : text;
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

/** Prints JSON. A bigint is printed as a number. @param indent as the third argument of JSON.stringify */
export function printExactJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    // JSON.stringify throws a TypeError for a bigint, and for a cycle, for which it throws again.
    if (!(error instanceof TypeError)) throw error;
    mark ??= newMark();
    const marked = JSON.stringify(withMarkedBigints(value, mark, new Set()), undefined, indent);
    return marked.replaceAll(new RegExp(`"${mark}(-?[0-9]+)"`, "g"), "$1");
  }
}

/**
 * As {@link printExactJson}, for a value that another program stores. JSON has no NaN, no Map and no bytes; JSON.stringify
 * writes null or `{}` in their place, so the field would be lost or get its default without an error.
 *
 * @param action What fails then, for the message: `apply Deployment "default/a"`.
 * @throws TypeError that names the field with such a value.
 */
export function printLosslessJson(value: unknown, action: string): string {
  const text = printExactJson(value);
  if (!lossHints.some((hint) => text.includes(hint))) return text;
  const found = findLost(value, "");
  if (found === undefined) return text;
  const [path, lost] = found;
  throw new TypeError(`Cannot ${action}: ${path === "" ? "the value" : path} is ${lost}, which JSON does not have`);
}

/** What JSON.stringify writes in place of a number or an item that it cannot write, of a Map and the like, and of bytes. */
const lossHints = ["null", "{}", '{"0":'];

/** What has content, of which JSON.stringify writes nothing. Empty instances of other classes are empty objects. */
const lostTags = new Set(["Map", "Set", "WeakMap", "WeakSet", "Promise", "RegExp", "Error", "ArrayBuffer"]);

/** The path of the first value that is lost, and what it is. There are no cycles, since the value was printed. */
function findLost(value: unknown, path: string): readonly [string, string] | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : [path, String(value)];
  if (typeof value !== "object" || value === null) return undefined;
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (lostTags.has(tag) || ArrayBuffer.isView(value)) return [path, `of the type ${tag}`];
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? [path, "an invalid Date"] : undefined;
  if ("toJSON" in value && typeof value.toJSON === "function") return findLost(value.toJSON(), path);
  if (Array.isArray(value)) return firstOf(value.keys(), (at) => findLostItem(value[at], `${path}[${at}]`));
  return firstOf(Object.entries(value), ([key, child]) => findLost(child, path === "" ? key : `${path}.${key}`));
}

/** A list has null in place of an item that a map leaves out. */
function findLostItem(item: unknown, path: string): readonly [string, string] | undefined {
  const isLost = item === undefined || typeof item === "function" || typeof item === "symbol";
  return isLost ? [path, item === undefined ? "undefined" : `of the type ${typeof item}`] : findLost(item, path);
}

function firstOf<Item, Found>(items: Iterable<Item>, find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * `value` with a marked text in place of each bigint; what contains none is not copied. A replacer of JSON.stringify would get
 * the index of each item as a text, and JSON.rawJSON takes its slow path: each is 50 MB more for a list of a million. A cycle
 * stays, for JSON.stringify to refuse.
 */
function withMarkedBigints(value: unknown, mark: string, parents: Set<unknown>): unknown {
  if (typeof value === "bigint") return `${mark}${value}`;
  if (typeof value !== "object" || value === null || parents.has(value)) return value;
  parents.add(value);
  // No closure: the engine would allocate its scope for every number of a list.
  const names = Array.isArray(value) ? undefined : Object.keys(value);
  const count = names?.length ?? (Array.isArray(value) ? value.length : 0);
  let copy: object | undefined;
  for (let at = 0; at < count; at++) {
    const name = names === undefined ? at : names[at] ?? "";
    const item: unknown = Reflect.get(value, name), marked = withMarkedBigints(item, mark, parents);
    if (marked === item) continue;
    copy ??= Array.isArray(value) ? value.slice() : { ...value };
    setOwn(copy, name, marked);
  }
  parents.delete(value);
  return copy ?? value;
}

/** True when two JSON scalars are equal. A bigint equals the number with the same value; -0 is printed as 0, and equals it. */
export function isSameScalar(one: unknown, other: unknown): boolean {
  if (one === other || Object.is(one, other)) return true;
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
