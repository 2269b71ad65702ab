/**
 * What `SharedValues` compares: values as a JSON parser makes them. Both functions are on the way of every object into a cache,
 * so they make no text of a value and no list of its fields. isDeepEqual() would also take a bigint for an equal number.
 */

/** An object or a list, as a parser makes it. */
export type Content = Record<string, unknown> | unknown[];

/** What is known of a value. */
export interface Fingerprint {
  /** Equal values have the same one. */
  readonly hash: number;
  /** Fields and items in it, at all depths. */
  readonly fields: number;
}

/** UTF-16 code units of the texts in a value, and fields in it, above which it has no fingerprint. */
const maxLength = 4_096;
const maxFields = 256;
/** UTF-16 code units at the start and at the end of a text that count for its hash. */
const hashedLength = 8;

/** Every object inherits a value of this name, so that it cannot be told whether an object has a field of its own. */
const inherited = "__proto__";

/** True for what a parser makes. Instances of classes, which a transform may put in, are none. */
export function isContent(value: unknown): value is Content {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype;
}

/** Fields and items that the function in progress has visited, and code units of texts. */
let fields = 0, length = 0;

/** Undefined for a value that is too large, or has other parts than JSON. @param seed Values are equal only under one seed */
export function fingerprintOf(value: Content, seed: number): Fingerprint | undefined {
  fields = length = 0;
  const hash = hashOf(value, seed);
  return hash === undefined ? undefined : { hash, fields };
}

/**
 * The number of fields and items of `right`, at all depths, if `left` has all of them with the same values. If it is also that
 * of `left`, the two are equal.
 *
 * @returns -1 if something differs
 */
export function equalFields(left: Content, right: Content): number {
  fields = 0;
  return isWithin(left, right) ? fields : -1;
}

function hashOf(value: unknown, start: number): number | undefined {
  switch (typeof value) {
    case "string":
      length += value.length;
      return length > maxLength ? undefined : hashOfText(value, start);
    case "number":
      return Math.imul(start, 31) + (value | 0) | 0;
    case "boolean":
      return Math.imul(start, 31) + (value ? 2 : 1) | 0;
    case "bigint":
      return hashOfText(String(value), start);
    case "object":
      return value === null ? Math.imul(start, 31) : isContent(value) ? hashOfContent(value, start) : undefined;
    default:
      return undefined;
  }
}

function hashOfContent(value: Content, start: number): number | undefined {
  let hash: number | undefined = Math.imul(start, 31) + 7 | 0;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && hash !== undefined; index++) {
      hash = ++fields > maxFields ? undefined : hashOf(value[index], hash);
    }
    return hash;
  }
  // deno-lint-ignore guard-for-in -- what a parser made inherits nothing, and a check costs as much as the hash
  for (const name in value) {
    if (++fields > maxFields || name === inherited) return undefined;
    hash = hashOf(value[name], Math.imul(hash, 31) + name.length | 0);
    if (hash === undefined) return undefined;
  }
  return hash;
}

function hashOfText(text: string, start: number): number {
  const { length } = text;
  let hash = Math.imul(start, 31) + length | 0;
  const end = length > 2 * hashedLength ? hashedLength : length;
  for (let index = 0; index < end; index++) hash = Math.imul(hash, 31) + text.charCodeAt(index) | 0;
  if (end === length) return hash;
  for (let index = length - hashedLength; index < length; index++) {
    hash = Math.imul(hash, 31) + text.charCodeAt(index) | 0;
  }
  return hash;
}

/** True if `left` has everything that is in `right`. Items of lists have the same order and number. */
function isWithin(left: unknown, right: unknown): boolean {
  if (typeof right !== "object" || right === null) return Object.is(left, right);
  if (typeof left !== "object" || left === null) return false;
  if (Array.isArray(right)) {
    if (!Array.isArray(left) || left.length !== right.length) return false;
    fields += right.length;
    for (let index = 0; index < right.length; index++) {
      if (!isWithin(left[index], right[index])) return false;
    }
    return true;
  }
  if (Array.isArray(left)) return false;
  return hasAll(left as Record<string, unknown>, right as Record<string, unknown>);
}

function hasAll(left: Record<string, unknown>, right: Record<string, unknown>): boolean {
  // deno-lint-ignore guard-for-in -- as above
  for (const name in right) {
    fields++;
    if (name === inherited || !isWithin(left[name], right[name])) return false;
  }
  return true;
}
