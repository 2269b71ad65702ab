/**
 * ObjectStorage: what etcd and the watch cache are to kube-apiserver, in memory. One revision counts the writes of all
 * collections; each collection is an immutable sorted map, so that every kept revision can be listed as it was; the
 * history that watchers read is bounded by number and size.
 *
 * Guarantees: a write is one synchronous step, seen by readers as a whole; revisions only grow; no operation on one object
 * costs more the more objects there are (logarithms aside); an object handed in is never changed again, nor copied.
 * It knows nothing of kinds, validation or HTTP.
 */
import { isJsonObject, type JsonObject, type ObjectReader, read } from "../model/mod.ts";
import type { Change, Snapshot } from "./change.ts";
import { Collection } from "./_collection.ts";
import type { Cursor, CursorOptions } from "./cursor.ts";
import { RecentObjects } from "./_recent_objects.ts";
import { storageKey, StoredObject } from "./stored_object.ts";

/** Options of {@link ObjectStorage}. */
export interface StorageOptions {
  /** Changes that are kept, over all collections. @default 20000 */
  readonly historyChanges?: number;
  /** Characters of JSON in the changes that are kept. @default 134217728 */
  readonly historyBytes?: number;
  /** The revision to start from. @default 0 */
  readonly firstRevision?: number;
  /** Objects that are kept besides their JSON, the newest ones. @default 4096 */
  readonly recentObjects?: number;
  /** Characters of JSON in one object. @default 1572864 (1.5 MiB, as etcd's requests) */
  readonly objectBytes?: number;
}

/** A change, and where. */
export interface StorageChange {
  readonly collection: string;
  readonly change: Change;
}

/** An object that is larger than the storage takes. */
export class ObjectTooLargeError extends Error {
  override readonly name = "ObjectTooLargeError";
}

/**
 * All objects of all kinds.
 *
 * @example
 * ```ts
 * import { ObjectStorage } from "./mod.ts";
 *
 * const storage = new ObjectStorage();
 * using cursor = storage.watch("pods", { namespace: "", after: 0, onChange: () => {} });
 * storage.create("pods", "default", "a", { kind: "Pod", metadata: { name: "a", namespace: "default" } });
 * const change = cursor.read();
 * console.assert(typeof change === "object" && change.kind === "added" && change.current.key === "default/a");
 * ```
 */
export class ObjectStorage implements ObjectReader {
  readonly #collections = new Map<string, Collection>();
  readonly #historyChanges: number;
  readonly #historyBytes: number;
  readonly #objectBytes: number;
  readonly #recent: RecentObjects;
  readonly #options: StorageOptions;
  /** The collections of the kept changes, oldest change first, from `#oldest` on. */
  #order: Collection[] = [];
  #oldest = 0;
  #keptBytes = 0;
  #revision: number;

  constructor(options: StorageOptions = {}) {
    const { historyChanges = 20_000, historyBytes = 128 * 1024 * 1024, firstRevision = 0 } = options;
    this.#options = options;
    this.#objectBytes = options.objectBytes ?? 1.5 * 1024 * 1024;
    this.#recent = new RecentObjects(options.recentObjects ?? 4096);
    if (!(historyChanges >= 0)) throw new RangeError(`Cannot create a storage: historyChanges is ${historyChanges}`);
    if (!(historyBytes >= 0)) throw new RangeError(`Cannot create a storage: historyBytes is ${historyBytes}`);
    this.#historyChanges = historyChanges;
    this.#historyBytes = historyBytes;
    this.#revision = firstRevision;
  }

  /** Another storage that holds what this one does, history and all, at no cost per object; the two go on apart. */
  copy(): ObjectStorage {
    const copy = new ObjectStorage(this.#options);
    for (const [name, store] of this.#collections) copy.#collections.set(name, new Collection(name, store));
    copy.#order = this.#order.slice(this.#oldest).map(({ name }) => copy.#open(name));
    copy.#keptBytes = this.#keptBytes;
    copy.#revision = this.#revision;
    return copy;
  }

  /** Of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** The present state of an object. */
  find(collection: string, namespace: string, name: string): StoredObject | undefined {
    return this.#collections.get(collection)?.items.get(storageKey(namespace, name));
  }

  get(collection: string, namespace: string, name: string): JsonObject | undefined {
    return this.find(collection, namespace, name)?.object;
  }

  list(collection: string, namespace = ""): Iterable<JsonObject> {
    const objects: JsonObject[] = [];
    const prefix = namespace === "" ? "" : `${namespace}/`;
    this.#collections.get(collection)?.items.scan(prefix, (item) => {
      if (!item.key.startsWith(prefix)) return false;
      objects.push(item.object);
      return true;
    });
    return objects;
  }

  /** Number of objects in a collection. */
  size(collection: string): number {
    return this.#collections.get(collection)?.items.size ?? 0;
  }

  /**
   * Stores a new object, with its resourceVersion set. What it holds becomes the storage's and is never changed again.
   *
   * @returns undefined when there is an object of that name
   */
  create(collection: string, namespace: string, name: string, object: JsonObject): StoredObject | undefined {
    const store = this.#open(collection);
    const key = storageKey(namespace, name);
    if (store.items.get(key) !== undefined) return undefined;
    const current = this.#stamped(key, namespace, object);
    this.#apply(store, { kind: "added", revision: current.revision, current, previous: undefined });
    return current;
  }

  /**
   * Puts an object in the place of a state, with its resourceVersion set. What it holds becomes the storage's.
   *
   * @returns undefined when `previous` is no longer the present state
   */
  update(collection: string, previous: StoredObject, object: JsonObject): StoredObject | undefined {
    const store = this.#open(collection);
    if (store.items.get(previous.key) !== previous) return undefined;
    const current = this.#stamped(previous.key, previous.namespace, object);
    this.#apply(store, { kind: "modified", revision: current.revision, current, previous });
    return current;
  }

  /**
   * Takes an object away.
   *
   * @returns its last state with the revision of the deletion; undefined when `previous` is no longer the present state
   */
  delete(collection: string, previous: StoredObject): StoredObject | undefined {
    const store = this.#open(collection);
    if (store.items.get(previous.key) !== previous) return undefined;
    const current = this.#stamped(previous.key, previous.namespace, previous.object);
    this.#apply(store, { kind: "deleted", revision: current.revision, current, previous });
    return current;
  }

  /** What was written after a revision, to all collections, oldest first, as far as it is kept. */
  *changesAfter(revision: number): Generator<StorageChange> {
    const indices = new Map<Collection, number>();
    const first = Math.max(this.#oldest, this.#order.length - (this.#revision - revision));
    for (const store of this.#order.slice(first)) {
      const index = indices.get(store) ?? store.log.indexAfter(revision);
      indices.set(store, index + 1);
      const change = store.log.at(index);
      if (change !== undefined) yield { collection: store.name, change };
    }
  }

  /**
   * Writes once more what another storage of the same past wrote, the very same objects.
   *
   * @throws {RangeError} when the change is not the next one
   */
  repeat({ collection, change }: StorageChange): void {
    if (change.revision !== this.#revision + 1) {
      throw new RangeError(`Cannot repeat a change of ${collection}: it made revision ${change.revision}`);
    }
    this.#revision = change.revision;
    this.#apply(this.#open(collection), change);
  }

  /** The state of a collection: at `revision`, or now. Undefined when the history does not go back so far. */
  snapshot(collection: string, revision?: number): Snapshot | undefined {
    const store = this.#open(collection);
    return revision === undefined || revision >= this.#revision ? store.items : store.log.stateAt(revision);
  }

  /** Begins to read the changes of a collection; the first reading says "expired" where they are no longer kept. */
  watch(collection: string, options: CursorOptions): Cursor {
    return this.#open(collection).open(options);
  }

  /** Revision of the last change of a collection that is not kept. */
  droppedRevision(collection: string): number {
    return this.#collections.get(collection)?.log.droppedRevision ?? 0;
  }

  /** Forgets the changes up to and including `revision`, as etcd's compaction does. */
  compact(revision: number): void {
    while (this.#oldest < this.#order.length && this.#oldestRevision() <= revision) this.#dropOldest();
  }

  /** Cursors on a collection. */
  cursors(collection: string): number {
    return this.#collections.get(collection)?.cursors ?? 0;
  }

  /** The collections that have held an object, with the number of those they hold now. */
  *collections(): IterableIterator<{ readonly collection: string; readonly size: number }> {
    for (const [collection, { items }] of this.#collections) yield { collection, size: items.size };
  }

  #open(collection: string): Collection {
    let store = this.#collections.get(collection);
    if (store === undefined) this.#collections.set(collection, store = new Collection(collection));
    return store;
  }

  #stamped(key: string, namespace: string, object: JsonObject): StoredObject {
    const revision = this.#revision + 1;
    const stored = new StoredObject(key, namespace, revision, atRevision(object, revision), this.#recent);
    if (stored.json.length > this.#objectBytes) {
      throw new ObjectTooLargeError(`Cannot store "${key}": it has ${stored.json.length} characters`);
    }
    // Counted only once this can no longer fail.
    this.#revision = revision;
    return stored;
  }

  #apply(store: Collection, change: Change): void {
    this.#order.push(store);
    this.#keptBytes += change.current.json.length;
    store.apply(change);
    while (this.#order.length - this.#oldest > this.#historyChanges || this.#keptBytes > this.#historyBytes) {
      if (!this.#dropOldest()) break;
    }
  }

  #oldestRevision(): number {
    return this.#order[this.#oldest]?.log.oldestRevision ?? Infinity;
  }

  #dropOldest(): boolean {
    const change = this.#order[this.#oldest]?.log.dropOldest();
    if (change === undefined) return false;
    this.#keptBytes -= change.current.json.length;
    this.#oldest++;
    if (this.#oldest >= 1024 && this.#oldest * 2 >= this.#order.length) {
      this.#order = this.#order.slice(this.#oldest);
      this.#oldest = 0;
    }
    return true;
  }
}

/** The object with another resourceVersion: a copy of the two outer levels, its head first. */
export function atRevision(object: JsonObject, revision: number): JsonObject {
  const metadata = read(object, "metadata");
  if (!isJsonObject(metadata)) throw new TypeError("Cannot store an object: it has no metadata");
  const versioned = { ...metadata, resourceVersion: String(revision) };
  const head = { apiVersion: "", kind: "", metadata: versioned };
  return { ...head, ...object, metadata: versioned };
}
