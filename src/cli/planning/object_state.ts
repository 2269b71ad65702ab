/**
 * States of one object: their comparison without what every write changes, and the difference of two states as a merge patch,
 * which the Journal uses to keep the changes of controllers apart from those of the cluster.
 *
 * Guarantees: a key that a user has chosen, such as `__proto__`, is a key like any other.
 */
import { isDeepEqual, isJsonObject, printExactJson } from "../../api/mod.ts";

/** An object as JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The fields of metadata that the server writes with each change. */
const bookkeeping: ReadonlySet<string> = new Set(["managedFields", "resourceVersion", "generation"]);

/** True when two states differ at most in a top-level field and in what every write changes. */
export function isSameApartFrom(one: JsonObject | undefined, other: JsonObject | undefined, field?: string): boolean {
  if (one === undefined || other === undefined) return one === other;
  const fields = new Set(field === undefined ? [] : [field]);
  return isDeepEqual(withoutFields(content(one), fields), withoutFields(content(other), fields));
}

/** The object without what every write changes. */
export function content(object: JsonObject): JsonObject {
  const { metadata } = object;
  return isJsonObject(metadata) ? { ...object, metadata: withoutFields(metadata, bookkeeping) } : object;
}

/** The object without some of its fields. */
export function withoutFields(object: JsonObject, fields: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !fields.has(key)));
}

/** The metadata of an object; empty if it has none. */
export function metadataOf(object: JsonObject | undefined): JsonObject {
  return isJsonObject(object?.metadata) ? object.metadata : {};
}

/** A text field of the metadata. */
export function metadataText(object: JsonObject | undefined, field: string): string | undefined {
  const value = metadataOf(object)[field];
  return typeof value === "string" ? value : undefined;
}

/** The UIDs of the owners of an object. */
export function ownerUids(object: JsonObject | undefined): readonly string[] {
  const { ownerReferences } = metadataOf(object);
  if (!Array.isArray(ownerReferences)) return [];
  return ownerReferences.flatMap((one) => isJsonObject(one) && typeof one.uid === "string" ? [one.uid] : []);
}

/** A field that is removed. JSON null is a value of its own. */
const removed = Symbol("removed");

/** Fields and their new values, {@link removed}, or differences of maps. All other values, lists too, are replaced. */
type Difference = ReadonlyMap<string, unknown>;

/** What must change in `before` so that it becomes `after`. */
export function differenceOf(before: JsonObject, after: JsonObject): Difference {
  const fields = new Map<string, unknown>();
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) fields.set(key, removed);
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (isJsonObject(old) && isJsonObject(value)) {
      const inner = differenceOf(old, value);
      if (inner.size > 0) fields.set(key, inner);
    } else if (!isDeepEqual(old, value)) fields.set(key, value);
  }
  return fields;
}

/** `object` with the changes of `difference`. An absent object counts as an empty one. */
export function withDifference(object: JsonObject | undefined, difference: Difference): JsonObject {
  const fields = new Map(Object.entries(object ?? {}));
  for (const [key, value] of difference) {
    const old = fields.get(key);
    if (value === removed) fields.delete(key);
    else fields.set(key, value instanceof Map ? withDifference(isJsonObject(old) ? old : undefined, value) : value);
  }
  return Object.fromEntries(fields);
}

/** A time as Kubernetes writes it: with seconds or, as a MicroTime, with a fraction. */
export const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z/g;

/** A number for the content of an object: the same for two states that differ only in times. */
export function stateHash(object: JsonObject | undefined): number {
  const text = object === undefined ? "" : printExactJson(content(object)).replace(timePattern, "");
  let [low, high] = [0x811c9dc5, 0x1000193];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
