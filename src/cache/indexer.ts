/**
 * Indexer: finds objects by what a function says about them, as client-go's Indexers do.
 *
 * Guarantees: an index costs nothing before its first read, which builds it, and is kept in step from then on; a set
 * that becomes empty is dropped; a function that throws leaves that one object out of that one index and is
 * reported, and nothing else changes.
 * Assumptions: an index function is pure, so what it said about an object it says again when the object goes.
 */
import type { KubeObject, ObjectKey } from "../api/mod.ts";

/** Names the values under which an object is found; none, one or many. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Index functions by the name of their index. */
export type Indexers<T> = Readonly<Record<string, IndexFunction<T>>>;

/** Hears of an index function that threw. */
export type IndexErrorHandler = (index: string, key: ObjectKey, error: unknown) => void;

/** One index: from value to keys. */
export class Indexer<T extends KubeObject> {
  readonly name: string;
  readonly valuesOf: IndexFunction<T>;
  readonly #onError: IndexErrorHandler;
  #sets: Map<string, Set<ObjectKey>> | undefined;

  constructor(name: string, valuesOf: IndexFunction<T>, onError: IndexErrorHandler) {
    this.name = name;
    this.valuesOf = valuesOf;
    this.#onError = onError;
  }

  /** Takes note that `key` went from `old` to `current`, either of which may be absent. */
  update(key: ObjectKey, old: T | undefined, current: T | undefined): void {
    if (this.#sets === undefined) return;
    const before = old === undefined ? none : this.#values(key, old);
    const after = current === undefined ? none : this.#values(key, current);
    if (before === undefined) this.#sweep(key);
    else if (after !== undefined && sameValues(before, after)) return;
    else for (const value of before) this.#remove(value, key);
    if (after !== undefined) { for (const value of after) this.#add(value, key); }
  }

  /** Forgets everything; the next read builds the index again. */
  reset(): void {
    this.#sets = undefined;
  }

  /** The keys found under `value`. `source` is read when the index has to be built. */
  lookup(value: string, source: ReadonlyMap<ObjectKey, T>): ReadonlySet<ObjectKey> {
    return this.#built(source).get(value) ?? emptySet;
  }

  /** The values under which anything is found. */
  values(source: ReadonlyMap<ObjectKey, T>): readonly string[] {
    return [...this.#built(source).keys()];
  }

  #built(source: ReadonlyMap<ObjectKey, T>): Map<string, Set<ObjectKey>> {
    if (this.#sets !== undefined) return this.#sets;
    this.#sets = new Map();
    for (const [key, object] of source) {
      for (const value of this.#values(key, object) ?? none) this.#add(value, key);
    }
    return this.#sets;
  }

  /** What the function says; undefined when it threw. */
  #values(key: ObjectKey, object: T): readonly string[] | undefined {
    try {
      return this.valuesOf(object);
    } catch (error) {
      this.#onError(this.name, key, error);
      return undefined;
    }
  }

  #add(value: string, key: ObjectKey): void {
    const set = this.#sets?.get(value);
    if (set !== undefined) set.add(key);
    else this.#sets?.set(value, new Set([key]));
  }

  #remove(value: string, key: ObjectKey): void {
    const set = this.#sets?.get(value);
    if (set === undefined) return;
    set.delete(key);
    if (set.size === 0) this.#sets?.delete(value);
  }

  /** Removes a key wherever it may stand: the function no longer says where that was. */
  #sweep(key: ObjectKey): void {
    for (const value of [...(this.#sets?.keys() ?? [])]) this.#remove(value, key);
  }
}

const none: readonly string[] = [];
const emptySet: ReadonlySet<ObjectKey> = new Set();

function sameValues(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) {
    if (left[index] !== right[index]) return false;
  }
  return true;
}
