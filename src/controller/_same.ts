/**
 * Decides whether a write would change anything: the wanted part against the live object.
 *
 * Two questions. Does the live object hold every value that is wanted? And does our field manager own anything that
 * is no longer wanted, which an apply would take away? Only when both answers are no-difference is the write left
 * out. Values the server defaulted in fields we never named do not count: they are not ours.
 */
import type { KubeObject } from "../api/mod.ts";

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

/** True when every field that `manager` owns by Apply in `live` is still named in `wanted`. */
export function ownsNothingElse(live: KubeObject, wanted: unknown, manager: string, subresource?: string): boolean {
  const entries = live.metadata.managedFields ?? [];
  const own = entries.filter((entry) =>
    entry.manager === manager && entry.operation === "Apply" && (entry.subresource ?? undefined) === subresource
  );
  return own.every((entry) => entry.fieldsV1 === undefined || covers(wanted, entry.fieldsV1));
}

/** True when every leaf of a fieldsV1 tree exists in `wanted`. Format: structured-merge-diff, `fieldpath/serialize`. */
function covers(wanted: unknown, fields: Json): boolean {
  return Object.entries(fields).every(([path, below]) => {
    if (path === ".") return true;
    const child = step(wanted, path);
    return child !== undefined && (!isObject(below) || covers(child, below));
  });
}

function step(value: unknown, path: string): unknown {
  const selector = path.slice(2);
  switch (path.slice(0, 2)) {
    case "f:":
      return isObject(value) && Object.hasOwn(value, selector) ? value[selector] : undefined;
    case "k:": {
      const keys: unknown = JSON.parse(selector);
      return Array.isArray(value) ? value.find((item) => hasKeys(item, keys)) : undefined;
    }
    case "v:": {
      const wanted: unknown = JSON.parse(selector);
      return Array.isArray(value) && value.some((item) => holds(item, wanted)) ? wanted : undefined;
    }
    case "i:":
      return Array.isArray(value) ? value[Number(selector)] : undefined;
    default:
      return undefined;
  }
}

/** Keys that the server defaults (a port's protocol) may be missing in what we wrote: then they do not decide. */
function hasKeys(item: unknown, keys: unknown): boolean {
  if (!isObject(item) || !isObject(keys)) return false;
  return Object.entries(keys).every(([key, value]) => item[key] === undefined || holds(item[key], value));
}
