/**
 * SharedValues: equal labels, annotations and owner references of cached objects become one value, as do their apiVersion,
 * kind and namespace. A parser makes new ones for each object, and most objects of a kind have the same few.
 *
 * Guarantees: a shared map or list is frozen, and equal to what the server sent. The table is bounded
 * and keeps nothing large; the oldest value leaves it first.
 * Caveats: of two values with one hash only the latest is shared.
 */
import type { KubeObject, ObjectMeta } from "../api/mod.ts";

/** Most values in the table. */
const maxValues = 16_384;

/** UTF-16 code units of the texts in a value, above which it is not shared: large values are rarely equal. */
const maxLength = 1_024;

/** UTF-16 code units at the start and at the end of a text that count for its hash. */
const hashedLength = 24;

/** A map of labels or annotations, or an owner reference. */
type FlatMap = Readonly<Record<string, unknown>>;

/** The parts of metadata that are shared. */
type SharedPart = "labels" | "annotations" | "ownerReferences";

const sharedParts: readonly SharedPart[] = ["labels", "annotations", "ownerReferences"];

/** The values that the objects of one cache share. */
export class SharedValues {
  readonly #table = new Map<number, object>();
  #namespace: string | undefined;

  /**
   * Replaces the parts of an object by equal ones of earlier objects. The object itself is changed, because a copy would
   * need the memory that this saves; an object that is frozen stays as it is.
   *
   * @param types The apiVersion and kind of all objects. @default those of the object
   */
  share<T extends KubeObject>(object: T, types?: Pick<KubeObject, "apiVersion" | "kind">): T {
    if (Object.isFrozen(object) || Object.isFrozen(object.metadata)) return object;
    const writable: { apiVersion: string; kind: string; readonly metadata: Writable<ObjectMeta> } = object;
    const { metadata } = writable;
    if (types !== undefined && object.kind === types.kind && object.apiVersion === types.apiVersion) {
      writable.apiVersion = types.apiVersion;
      writable.kind = types.kind;
    }
    if (metadata.namespace !== undefined) {
      if (metadata.namespace === this.#namespace) metadata.namespace = this.#namespace;
      else this.#namespace = metadata.namespace;
    }
    for (const part of sharedParts) {
      const value = metadata[part];
      if (value !== undefined && value !== null) set(metadata, part, this.#shared(value));
    }
    return object;
  }

  #shared<V extends object>(value: V): V {
    const hash = Array.isArray(value) ? hashOfList(value) : hashOfMap(value as FlatMap);
    if (hash === undefined) return value;
    const known = this.#table.get(hash);
    if (known !== undefined && isEqual(known, value)) return known as V;
    if (Array.isArray(value)) { for (const item of value) Object.freeze(item); }
    this.#table.set(hash, Object.freeze(value));
    if (this.#table.size > maxValues) this.#dropOldest();
    return value;
  }

  #dropOldest(): void {
    for (const hash of this.#table.keys()) return void this.#table.delete(hash);
  }
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

function set<Part extends SharedPart>(metadata: Writable<ObjectMeta>, part: Part, value: ObjectMeta[Part]): void {
  metadata[part] = value;
}

/** Undefined for a list that is too large, or has other items than flat maps. */
function hashOfList(list: readonly unknown[]): number | undefined {
  let hash = list.length;
  for (const item of list) {
    const next = typeof item === "object" && item !== null ? hashOfMap(item as FlatMap) : undefined;
    if (next === undefined) return undefined;
    hash = Math.imul(hash, 31) + next | 0;
  }
  return hash;
}

/** Undefined for a map that is too large, or has other values than texts and booleans. */
function hashOfMap(map: FlatMap): number | undefined {
  let hash = 0, length = 0;
  // deno-lint-ignore guard-for-in -- what a parser made inherits nothing, and a check costs as much as the hash
  for (const name in map) {
    const value = map[name];
    if (typeof value === "string") {
      length += value.length + name.length;
      if (length > maxLength) return undefined;
      hash = hashOfText(value, Math.imul(hash, 31) + name.length | 0);
    } else if (typeof value === "boolean") hash = Math.imul(hash, 31) + Number(value) | 0;
    else return undefined;
  }
  return hash;
}

function hashOfText(text: string, start: number): number {
  const { length } = text;
  let hash = start + length | 0;
  const end = length > 2 * hashedLength ? hashedLength : length;
  for (let index = 0; index < end; index++) hash = Math.imul(hash, 31) + text.charCodeAt(index) | 0;
  if (end === length) return hash;
  for (let index = length - hashedLength; index < length; index++) {
    hash = Math.imul(hash, 31) + text.charCodeAt(index) | 0;
  }
  return hash;
}

function isEqual(left: object, right: object): boolean {
  if (!Array.isArray(left)) return !Array.isArray(right) && isSameMap(left as FlatMap, right as FlatMap);
  if (!Array.isArray(right) || left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) {
    if (!isSameMap(left[index], right[index])) return false;
  }
  return true;
}

/** True for the same names and values. No value is undefined in what a parser made. */
function isSameMap(left: FlatMap, right: FlatMap): boolean {
  let count = 0;
  // deno-lint-ignore guard-for-in -- as above
  for (const name in right) {
    if (left[name] !== right[name]) return false;
    count++;
  }
  // deno-lint-ignore guard-for-in -- as above
  for (const _name in left) count--;
  return count === 0;
}
