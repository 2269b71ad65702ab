/**
 * Decides whether a write would change anything: does the live object hold every value that is wanted? Whether it also
 * holds something of ours that is not wanted any more is the other half of the question (`_ownership.ts`).
 */

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True when every value in `wanted` is found in `live`; lists must have the same length. */
export function holds(live: unknown, wanted: unknown): boolean {
  return difference(live, wanted) === undefined;
}

/**
 * The path of the first value in `wanted` that `live` does not hold, e.g. `spec.replicas`; undefined when it holds all.
 * A null wants the field not to be there, as in a merge patch.
 */
export function difference(live: unknown, wanted: unknown): string | undefined {
  if (wanted === undefined) return undefined;
  if (Array.isArray(wanted)) return listDifference(live, wanted);
  if (isObject(wanted)) return objectDifference(live, wanted);
  return Object.is(live, wanted) ? undefined : "";
}

/** A field that is not as it is wanted. */
export interface Deviation {
  /** `spec.replicas`; "" for the whole. */
  readonly field: string;
  readonly live: unknown;
  readonly wanted: unknown;
}

/** All that is wanted and that `live` does not hold. */
export function gapsOf(live: unknown, wanted: unknown, field = ""): readonly Deviation[] {
  const first = difference(live, wanted);
  if (first === undefined) return [];
  if (!isObject(wanted) || !isObject(live) || first === "") return [{ field, live, wanted }];
  return Object.entries(wanted).flatMap(([key, below]) => {
    const isHeld = Object.hasOwn(live, key);
    if (!isHeld && (isEmptyList(below) || below === null)) return [];
    return gapsOf(isHeld ? live[key] : undefined, below, field === "" ? key : `${field}.${key}`);
  });
}

/** True when two values of JSON are the same, however the keys of their objects are ordered. */
export function sameValue(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, at) => sameValue(item, right[at]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameValue(left[key], right[key]));
}

function listDifference(live: unknown, wanted: readonly unknown[]): string | undefined {
  if (!Array.isArray(live) || live.length !== wanted.length) return "";
  for (const [at, item] of wanted.entries()) {
    const below = difference(live[at], item);
    if (below !== undefined) return `[${at}]${joined(below)}`;
  }
  return undefined;
}

function objectDifference(live: unknown, wanted: Json): string | undefined {
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    if (!isObject(live) || !Object.hasOwn(live, key)) {
      if (isEmptyList(value) || value === null) continue;
      return key;
    }
    const below = difference(live[key], value);
    if (below !== undefined) return `${key}${joined(below)}`;
  }
  return undefined;
}

function joined(below: string): string {
  return below === "" || below.startsWith("[") ? below : `.${below}`;
}

/** The server leaves empty lists out of its answers. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
