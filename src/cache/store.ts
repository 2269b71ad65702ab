/**
 * Store: the objects of one kind in one scope, by key, with indices and the version up to which they are complete.
 *
 * Guarantees: a replace is one step, so no reader ever sees half of one; an iteration that began before a replace
 * ends over the old state. The version only grows while the server's own history does: it starts anew when a full
 * and consistent list answers an older one, which is what a server restored from a backup does.
 * Caveats: only the reflector's side writes; everybody else gets a {@link StoreReader}.
 */
import { compareResourceVersions, type KubeObject, type ObjectKey, type ResourceVersion } from "../api/mod.ts";
import { Indexer, type IndexErrorHandler, type Indexers } from "./indexer.ts";

/** The readers' half of a store. */
export interface StoreReader<T extends KubeObject> {
  /** Number of objects. */
  readonly size: number;
  /** The version up to which the store is complete; undefined before the first full state. */
  readonly lastSyncResourceVersion: ResourceVersion | undefined;
  get(key: ObjectKey): T | undefined;
  values(): Iterable<T>;
  /** The objects of one namespace, found without looking at the others. */
  byNamespace(namespace: string): readonly T[];
  /**
   * The objects that an index function names `value`.
   *
   * @throws RangeError when there is no index of that name.
   */
  byIndex(index: string, value: string): readonly T[];
  /**
   * The values under which an index finds anything.
   *
   * @throws RangeError when there is no index of that name.
   */
  indexValues(index: string): readonly string[];
}

/** Options of a {@link Store}. */
export interface StoreOptions<T extends KubeObject> {
  /** @default none */
  readonly indexers?: Indexers<T>;
  /** Hears of index functions that threw. @default nobody does */
  readonly onIndexError?: IndexErrorHandler;
}

/** Objects by key. */
export class Store<T extends KubeObject> implements StoreReader<T> {
  readonly #indices = new Map<string, Indexer<T>>();
  readonly #onIndexError: IndexErrorHandler;
  readonly #namespaces: Indexer<T>;
  #objects = new Map<ObjectKey, T>();
  #version: ResourceVersion | undefined;

  constructor(options: StoreOptions<T> = {}) {
    const { indexers = {}, onIndexError = () => {} } = options;
    this.#onIndexError = onIndexError;
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
      const present = this.#indices.get(name);
      if (present === undefined) this.#indices.set(name, new Indexer(name, valuesOf, this.#onIndexError));
      else if (present.valuesOf !== valuesOf) {
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

  values(): Iterable<T> {
    return this.#objects.values();
  }

  /** Keys and objects as they are now; a later replace does not change what this iterates over. */
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

  /** Puts an object in; returns what it replaces. */
  set(key: ObjectKey, object: T): T | undefined {
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#reindex(key, old, object);
    return old;
  }

  /** Takes an object out; returns it. */
  delete(key: ObjectKey): T | undefined {
    const old = this.#objects.get(key);
    if (old === undefined) return undefined;
    this.#objects.delete(key);
    this.#reindex(key, old, undefined);
    return old;
  }

  /** Swaps everything for `next`, which the store owns from here on; returns what was there. */
  replace(next: Map<ObjectKey, T>, version: ResourceVersion): ReadonlyMap<ObjectKey, T> {
    const previous = this.#objects;
    this.#objects = next;
    this.#version = version;
    this.#namespaces.reset();
    for (const index of this.#indices.values()) index.reset();
    return previous;
  }

  /** Takes note that the store is complete up to `version`; one that is not newer changes nothing. */
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

/**
 * About how many bytes of JSON the objects are, judged by some of them: for metrics, not for billing.
 *
 * @param samples how many objects are looked at.
 */
export function approximateBytes<T extends KubeObject>(store: StoreReader<T>, samples = 100): number {
  const stride = Math.max(1, Math.floor(store.size / samples));
  let position = 0, measured = 0, bytes = 0;
  for (const object of store.values()) {
    if (position++ % stride !== 0) continue;
    measured++;
    bytes += JSON.stringify(object).length;
  }
  return measured === 0 ? 0 : Math.round(bytes / measured * store.size);
}
