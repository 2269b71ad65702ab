/**
 * Store: the objects of one kind in one scope, by key, with indices and the version up to which they are complete.
 *
 * Guarantees: a replace is atomic, so a reader never sees half of it, and an iteration that began before a replace
 * continues over the old state. The version does not decrease, except when a full and consistent list has an older
 * one, as after the server was restored from a backup.
 * Caveats: only the CacheWriter writes; all other code gets a {@link StoreReader}.
 */
import { compareResourceVersions, type KubeObject, type ObjectKey, type ResourceVersion } from "../api/mod.ts";
import type { BoundedBodies } from "./bounded_bodies.ts";
import { keptIndexValues, withoutBody } from "./evicted_body.ts";

/** The read-only half of a store. */
export interface StoreReader<T extends KubeObject> {
  /** Number of objects. */
  readonly size: number;
  /** The version up to which the store is complete; undefined before the first full state. */
  readonly lastSyncResourceVersion: ResourceVersion | undefined;
  /** The object with this key; undefined if there is none. */
  get(key: ObjectKey): T | undefined;
  /** All objects, in no particular order. */
  values(): Iterable<T>;
  /** The objects of one namespace. Does not visit the others. */
  byNamespace(namespace: string): readonly T[];
  /**
   * The objects for which an index function returns `value`.
   *
   * @throws RangeError when there is no index of that name.
   */
  byIndex(index: string, value: string): readonly T[];
  /**
   * The values for which an index contains objects.
   *
   * @throws RangeError when there is no index of that name.
   */
  indexValues(index: string): readonly string[];
}

/** Options of a {@link Store}. */
export interface StoreOptions<T extends KubeObject> {
  /** @default none */
  readonly indexers?: Indexers<T>;
  /** Called when an index function threw. @default errors are ignored */
  readonly onIndexError?: IndexErrorHandler;
  /** Which objects have their bodies, in a bounded cache. @default all of them */
  readonly bodies?: BoundedBodies;
}

/** Objects by key. */
export class Store<T extends KubeObject> implements StoreReader<T> {
  readonly #indices = new Map<string, Indexer<T>>();
  readonly #onIndexError: IndexErrorHandler;
  readonly #namespaces: Indexer<T>;
  readonly #bodies: BoundedBodies | undefined;
  #objects = new Map<ObjectKey, T>();
  #version: ResourceVersion | undefined;

  constructor(options: StoreOptions<T> = {}) {
    const { indexers = {}, onIndexError = () => {}, bodies } = options;
    this.#onIndexError = onIndexError;
    this.#bodies = bodies;
    this.addIndexers(indexers);
    this.#namespaces = new Indexer("namespace", (object) => [object.metadata.namespace ?? ""], onIndexError);
  }

  /**
   * Declares more indices, at any time; each is built at its first read.
   *
   * @throws RangeError when another function has one of the names.
   */
  addIndexers(indexers: Indexers<T>): void {
    for (const [name, valuesOf] of Object.entries(indexers)) {
      const existing = this.#indices.get(name);
      if (existing === undefined) this.#indices.set(name, new Indexer(name, valuesOf, this.#onIndexError));
      else if (existing.valuesOf !== valuesOf) {
        throw new RangeError(`Cannot declare index "${name}": another function has that name`);
      }
    }
  }

  get size(): number {
    return this.#objects.size;
  }

  get lastSyncResourceVersion(): ResourceVersion | undefined {
    return this.#version;
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key);
  }

  /** The keys of all objects, in the order of {@link values}. */
  keys(): Iterable<ObjectKey> {
    return this.#objects.keys();
  }

  values(): Iterable<T> {
    return this.#objects.values();
  }

  /** The current keys and objects; a later replace does not change this map. */
  entries(): ReadonlyMap<ObjectKey, T> {
    return this.#objects;
  }

  byNamespace(namespace: string): readonly T[] {
    return this.#collect(this.#namespaces.lookup(namespace, this.#objects));
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#collect(this.#index(index).lookup(value, this.#objects));
  }

  indexValues(index: string): readonly string[] {
    return this.#index(index).values(this.#objects);
  }

  /** Stores an object. @returns the object that it replaces */
  set(key: ObjectKey, object: T): T | undefined {
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#bodies?.put(key, object);
    this.#reindex(key, old, object);
    return old;
  }

  /** Deletes an object. @returns the object */
  delete(key: ObjectKey): T | undefined {
    const old = this.#objects.get(key);
    if (old === undefined) return undefined;
    this.#objects.delete(key);
    this.#bodies?.drop(key);
    this.#reindex(key, old, undefined);
    return old;
  }

  /** Replaces all objects by `next`, which the store owns from then on. @returns the previous objects */
  replace(next: Map<ObjectKey, T>, version: ResourceVersion): ReadonlyMap<ObjectKey, T> {
    const previous = this.#objects;
    this.#objects = next;
    this.#version = version;
    this.#bodies?.reset(next);
    this.#namespaces.reset();
    for (const index of this.#indices.values()) index.reset();
    return previous;
  }

  /** Drops the bodies that are above the limit of a bounded cache. @returns how many */
  evict(): number {
    const excess = this.#bodies?.takeExcess() ?? [];
    for (const key of excess) {
      const object = this.#objects.get(key);
      if (object === undefined) continue;
      const values = [...this.#indices.values()].map((index) => [index.name, index.valuesFor(key, object)] as const);
      this.#objects.set(key, withoutBody(object, new Map(values)));
    }
    return excess.length;
  }

  /** Records that the store is complete up to `version`; a version that is not newer changes nothing. */
  advance(version: ResourceVersion): void {
    if (this.#version === undefined) return;
    const order = compareResourceVersions(version, this.#version);
    if (order === undefined || order > 0) this.#version = version;
  }

  #index(name: string): Indexer<T> {
    const index = this.#indices.get(name);
    if (index !== undefined) return index;
    throw new RangeError(
      `Cannot read index "${name}": it was not declared, only ${[...this.#indices.keys()].join(", ")}`,
    );
  }

  #reindex(key: ObjectKey, old: T | undefined, current: T | undefined): void {
    this.#namespaces.update(key, old, current);
    for (const index of this.#indices.values()) index.update(key, old, current);
  }

  #collect(keys: ReadonlySet<ObjectKey>): readonly T[] {
    const found: T[] = [];
    for (const key of keys) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }
}

/** Returns the values under which an object is found; none, one or many. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Index functions by the name of their index. */
export type Indexers<T> = Readonly<Record<string, IndexFunction<T>>>;

/** Called when an index function threw. */
export type IndexErrorHandler = (index: string, key: ObjectKey, error: unknown) => void;

/**
 * One index, from value to keys.
 *
 * Guarantees: an index costs nothing before its first read, which builds it, and is updated from then on; a set that
 * becomes empty is deleted; a function that throws removes that one object from that one index and is reported.
 * Assumptions: an index function is pure: it returns the same values for an object when the object is deleted.
 */
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

  /** Records that `key` changed from `old` to `current`, either of which may be absent. */
  update(key: ObjectKey, old: T | undefined, current: T | undefined): void {
    if (this.#sets === undefined) return;
    const before = old === undefined ? none : this.#valuesOf(key, old);
    const after = current === undefined ? none : this.#valuesOf(key, current);
    if (before === undefined) this.#removeEverywhere(key);
    else if (after !== undefined && areSameValues(before, after)) return;
    else for (const value of before) this.#remove(value, key);
    if (after !== undefined) { for (const value of after) this.#add(value, key); }
  }

  /** Deletes the index; the next read builds it again. */
  reset(): void {
    this.#sets = undefined;
  }

  /** The keys found under `value`. `source` is read when the index has to be built. */
  lookup(value: string, source: ReadonlyMap<ObjectKey, T>): ReadonlySet<ObjectKey> {
    return this.#built(source).get(value) ?? emptySet;
  }

  /** The values under which any key is found. */
  values(source: ReadonlyMap<ObjectKey, T>): readonly string[] {
    return [...this.#built(source).keys()];
  }

  /** The result of the index function for an object, also if its body was evicted; empty when it threw. */
  valuesFor(key: ObjectKey, object: T): readonly string[] {
    return this.#valuesOf(key, object) ?? none;
  }

  #built(source: ReadonlyMap<ObjectKey, T>): Map<string, Set<ObjectKey>> {
    if (this.#sets !== undefined) return this.#sets;
    this.#sets = new Map();
    for (const [key, object] of source) {
      for (const value of this.valuesFor(key, object)) this.#add(value, key);
    }
    return this.#sets;
  }

  /** The result of the index function; undefined when it threw. */
  #valuesOf(key: ObjectKey, object: T): readonly string[] | undefined {
    try {
      return keptIndexValues(object, this.name) ?? this.valuesOf(object);
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

  /** For an object whose old values are unknown, because the function threw. */
  #removeEverywhere(key: ObjectKey): void {
    for (const value of [...(this.#sets?.keys() ?? [])]) this.#remove(value, key);
  }
}

const none: readonly string[] = [];
const emptySet: ReadonlySet<ObjectKey> = new Set();

function areSameValues(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) {
    if (left[index] !== right[index]) return false;
  }
  return true;
}
