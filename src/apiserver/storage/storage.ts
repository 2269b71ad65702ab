/**
 * ObjectStorage: the etcd and the watch cache of this API server, in memory. One revision counts the writes to all
 * collections. Each collection is an immutable sorted map, so each stored revision can be listed as it was. The objects are
 * bounded in size, and the history that watches read in number and size.
 *
 * Guarantees: a write is one synchronous step, and readers see all of it or nothing. Revisions only grow. The cost of an
 * operation on one object grows only logarithmically with the number of objects. The storage neither changes nor copies the
 * objects that it gets.
 *
 * Caveats: it has no kinds, no validation and no HTTP.
 */
import { isJsonObject, type JsonObject, type ObjectReader, read, StatusError } from "../model/mod.ts";
import { type Change, Cursor, type CursorOptions, type Snapshot } from "./change_log.ts";
import { namespaceOf, RecentObjects, storageKey, StoredObject } from "./stored_object.ts";
import { ChangeLog } from "./change_log.ts";
import { OrderedMap } from "./ordered_map.ts";

/** Options of {@link ObjectStorage}. */
export interface StorageOptions {
  /** Changes in the history, over all collections. @default 20000 */
  readonly maxHistoryChanges?: number;
  /** Characters of JSON in the states after each change of the history. @default 25165824 (24 MiB) */
  readonly maxHistoryBytes?: number;
  /** The revision to start from. @default 0 */
  readonly firstRevision?: number;
  /** Number of states, the newest ones, that keep the object besides its JSON. @default 1024 */
  readonly maxRecentObjects?: number;
  /** Characters of JSON in all objects together. @default 268435456 (256 MiB; etcd has a quota of 2 GiB) */
  readonly maxBytes?: number;
  /** Characters of JSON in one object. @default 1572864 (1.5 MiB, the limit of a request to etcd) */
  readonly maxObjectBytes?: number;
  /** Called with each change in the same step as the write, before anything reads it. @default not called */
  readonly onChange?: (change: StorageChange) => void;
}

/** A state of an object, as a database keeps it. */
export interface StoredState {
  /** The key in its collection. */
  readonly key: string;
  readonly revision: number;
  readonly json: string;
}

/** A change and its collection. */
export interface StorageChange {
  readonly collection: string;
  readonly change: Change;
}

/** The object is larger than `maxObjectBytes`. Its Status is that of kube-apiserver when etcd rejects the request. */
export class ObjectTooLargeError extends StatusError {
  constructor() {
    super(500, "", "etcdserver: request is too large");
  }
}

/** The storage has no space for a larger object, until others are deleted. Its Status is that of a full etcd. */
export class StorageFullError extends StatusError {
  constructor() {
    super(500, "", "etcdserver: mvcc: database space exceeded");
  }
}

/** What updates may use above `maxBytes`, so that a full storage can be emptied: deletions write timestamps first. */
const updateReserve = 1 / 16;

/**
 * The objects of all kinds.
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
  readonly #maxHistoryChanges: number;
  readonly #maxHistoryBytes: number;
  readonly #maxObjectBytes: number;
  readonly #maxBytes: number;
  readonly #recent: RecentObjects;
  readonly #options: StorageOptions;
  /** The collections of the stored changes, oldest change first, from index `#oldest` on. */
  #order: Collection[] = [];
  #oldest = 0;
  #historyBytes = 0;
  /** Characters of JSON in all objects. */
  #bytes = 0;
  #revision: number;

  constructor(options: StorageOptions = {}) {
    const { maxHistoryChanges = 20_000, maxHistoryBytes = 24 * 1024 * 1024, firstRevision = 0 } = options;
    this.#options = options;
    this.#maxObjectBytes = options.maxObjectBytes ?? 1.5 * 1024 * 1024;
    this.#maxBytes = options.maxBytes ?? 256 * 1024 * 1024;
    this.#recent = new RecentObjects(options.maxRecentObjects ?? 1024);
    if (!(maxHistoryChanges >= 0)) {
      throw new RangeError(`Cannot create a storage: maxHistoryChanges is ${maxHistoryChanges}`);
    }
    if (!(maxHistoryBytes >= 0)) throw new RangeError(`Cannot create a storage: maxHistoryBytes is ${maxHistoryBytes}`);
    this.#maxHistoryChanges = maxHistoryChanges;
    this.#maxHistoryBytes = maxHistoryBytes;
    this.#revision = firstRevision;
  }

  /** Another storage with the same objects and history, at no cost per object; the two are independent from now on. */
  copy(): ObjectStorage {
    const copy = new ObjectStorage(this.#options);
    for (const [name, store] of this.#collections) copy.#collections.set(name, new Collection(name, store));
    copy.#order = this.#order.slice(this.#oldest).map(({ name }) => copy.#open(name));
    copy.#historyBytes = this.#historyBytes;
    copy.#bytes = this.#bytes;
    copy.#revision = this.#revision;
    return copy;
  }

  /** The revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** The live state of an object. */
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
   * Stores a new object with its new resourceVersion. The caller must not change the object afterwards.
   *
   * @returns undefined when an object of this name exists
   */
  create(collection: string, namespace: string, name: string, object: JsonObject): StoredObject | undefined {
    const store = this.#open(collection);
    const key = storageKey(namespace, name);
    if (store.items.get(key) !== undefined) return undefined;
    const current = this.#stamped(key, namespace, object);
    this.#checkSpace(current);
    this.#revision = current.revision;
    this.#apply(store, { kind: "added", revision: current.revision, current, previous: undefined });
    return current;
  }

  /**
   * Stores an object of another server as it is there, with its resourceVersion if that is newer than all before. Restore
   * objects in the order of their versions, then `compact`: watches cannot start before the last one.
   *
   * @returns undefined when an object of this name exists
   */
  restore(collection: string, namespace: string, name: string, object: JsonObject): StoredObject | undefined {
    const metadata = read(object, "metadata");
    const version = Number(isJsonObject(metadata) ? metadata["resourceVersion"] : undefined);
    const revision = this.#revision;
    if (Number.isSafeInteger(version) && version > revision) this.#revision = version - 1;
    const stored = this.create(collection, namespace, name, object);
    if (stored === undefined) this.#revision = revision;
    return stored;
  }

  /**
   * Fills a collection that no write has touched with the states of an earlier server. Watches cannot start before `revision`.
   *
   * @param states in the order of their keys, with the JSON that `create` and `update` stored
   * @param revision of the last change of the collection, which may have been a deletion
   * @throws {RangeError} when the collection exists
   */
  load(collection: string, states: readonly StoredState[], revision: number): void {
    if (this.#collections.has(collection)) throw new RangeError(`Cannot load ${collection}: the collection exists`);
    const items = states.map((state) => {
      this.#bytes += state.json.length;
      return new StoredObject(state.key, namespaceOf(state.key), state.revision, state.json, this.#recent);
    });
    this.#collections.set(collection, new Collection(collection, { items: OrderedMap.of(items), revision }));
    this.#revision = Math.max(this.#revision, revision);
  }

  /**
   * Replaces a state by an object with its new resourceVersion. The caller must not change the object afterwards.
   *
   * @returns undefined when `previous` is not the live state any more
   */
  update(collection: string, previous: StoredObject, object: JsonObject): StoredObject | undefined {
    const store = this.#open(collection);
    if (store.items.get(previous.key) !== previous) return undefined;
    const current = this.#stamped(previous.key, previous.namespace, object);
    this.#checkSpace(current, previous);
    this.#revision = current.revision;
    this.#apply(store, { kind: "modified", revision: current.revision, current, previous });
    return current;
  }

  /**
   * Deletes an object.
   *
   * @returns its last state with the revision of the deletion; undefined when `previous` is not the live state any more
   */
  delete(collection: string, previous: StoredObject): StoredObject | undefined {
    const store = this.#open(collection);
    if (store.items.get(previous.key) !== previous) return undefined;
    const current = this.#stamped(previous.key, previous.namespace, previous.object);
    this.#revision = current.revision;
    this.#apply(store, { kind: "deleted", revision: current.revision, current, previous });
    return current;
  }

  /** The changes of all collections after a revision, oldest first, as far as the history goes back. */
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
   * Applies a change of another storage with the same history; both share the objects.
   *
   * @throws {RangeError} when the change is not the next one
   */
  replay({ collection, change }: StorageChange): void {
    if (change.revision !== this.#revision + 1) {
      throw new RangeError(
        `Cannot replay a change of ${collection}: its revision ${change.revision} is not the next one`,
      );
    }
    this.#revision = change.revision;
    this.#apply(this.#open(collection), change);
  }

  /** The state of a collection at `revision`, or now. Undefined when the history starts later. */
  snapshot(collection: string, revision?: number): Snapshot | undefined {
    const store = this.#open(collection);
    return revision === undefined || revision >= this.#revision ? store.items : store.log.stateAt(revision);
  }

  /** Starts to read the changes of a collection; the first read returns "expired" when some were dropped. */
  watch(collection: string, options: CursorOptions): Cursor {
    return this.#open(collection).open(options);
  }

  /** Revision of the newest dropped change of a collection. */
  droppedRevision(collection: string): number {
    return this.#collections.get(collection)?.log.droppedRevision ?? 0;
  }

  /** Drops the changes up to and including `revision`, like a compaction in etcd. */
  compact(revision: number): void {
    while (this.#oldest < this.#order.length && this.#oldestRevision() <= revision) this.#dropOldest();
  }

  /** Number of open cursors on a collection. */
  cursors(collection: string): number {
    return this.#collections.get(collection)?.cursors ?? 0;
  }

  /** Characters of JSON in all objects. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Characters of JSON that the history keeps. */
  get historyBytes(): number {
    return this.#historyBytes;
  }

  /** The collections that ever had an object, with the number of objects now. */
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
    if (stored.json.length > this.#maxObjectBytes) throw new ObjectTooLargeError();
    return stored;
  }

  /** @throws StorageFullError */
  #checkSpace(current: StoredObject, previous?: StoredObject): void {
    const growth = current.json.length - (previous?.json.length ?? 0);
    const limit = this.#maxBytes * (previous === undefined ? 1 : 1 + updateReserve);
    if (growth > 0 && this.#bytes + growth > limit) throw new StorageFullError();
  }

  #apply(store: Collection, change: Change): void {
    this.#order.push(store);
    const { kind, current, previous } = change;
    this.#bytes += (kind === "deleted" ? 0 : current.json.length) - (previous?.json.length ?? 0);
    this.#historyBytes += sizeOf(change);
    this.#options.onChange?.({ collection: store.name, change });
    store.apply(change);
    while (this.#order.length - this.#oldest > this.#maxHistoryChanges || this.#historyBytes > this.#maxHistoryBytes) {
      if (!this.#dropOldest()) break;
    }
  }

  #oldestRevision(): number {
    return this.#order[this.#oldest]?.log.oldestRevision ?? Infinity;
  }

  #dropOldest(): boolean {
    const change = this.#order[this.#oldest]?.log.dropOldest();
    if (change === undefined) return false;
    this.#historyBytes -= sizeOf(change);
    this.#oldest++;
    if (this.#oldest >= 1024 && this.#oldest * 2 >= this.#order.length) {
      this.#order = this.#order.slice(this.#oldest);
      this.#oldest = 0;
    }
    return true;
  }
}

/** The state before a change is the state after an earlier one, or was live until now: it is counted there. */
function sizeOf({ current }: Change): number {
  return current.json.length;
}

/** The object with another resourceVersion: a copy of the two outer levels, with apiVersion, kind and metadata first. */
export function atRevision(object: JsonObject, revision: number): JsonObject {
  const metadata = read(object, "metadata");
  if (!isJsonObject(metadata)) throw new TypeError("Cannot store an object: it has no metadata");
  const versioned = { ...metadata, resourceVersion: String(revision) };
  const head = { apiVersion: "", kind: "", metadata: versioned };
  return { ...head, ...object, metadata: versioned };
}

/** The objects of one collection, their history, and the cursors that read it. */
class Collection {
  /** `deployments.apps`. */
  readonly name: string;
  readonly log: ChangeLog;
  #items: OrderedMap<StoredObject>;
  /** By namespace; "" for cursors that read all namespaces. */
  readonly #cursors = new Map<string, Set<Cursor>>();

  /** @param from the collection whose state and history are copied, or a state without history @default empty */
  constructor(
    name: string,
    from?: Collection | { readonly items: OrderedMap<StoredObject>; readonly revision: number },
  ) {
    this.name = name;
    this.#items = from?.items ?? OrderedMap.empty();
    this.log = from instanceof Collection ? from.log.copy() : new ChangeLog(this.#items, from?.revision);
  }

  get items(): OrderedMap<StoredObject> {
    return this.#items;
  }

  get cursors(): number {
    let count = 0;
    for (const cursors of this.#cursors.values()) count += cursors.size;
    return count;
  }

  /** Applies the change and wakes the cursors. */
  apply(change: Change): void {
    const { current } = change;
    this.#items = change.kind === "deleted" ? this.#items.remove(current.key) : this.#items.put(current);
    const index = this.log.end;
    this.log.append(change, this.#items);
    wakeAll(this.#cursors.get(""), index);
    if (current.namespace !== "") wakeAll(this.#cursors.get(current.namespace), index);
  }

  open(options: CursorOptions): Cursor {
    const cursor = new Cursor(this.log, options, (closed) => this.#close(closed));
    const cursors = this.#cursors.get(cursor.namespace);
    if (cursors === undefined) this.#cursors.set(cursor.namespace, new Set([cursor]));
    else cursors.add(cursor);
    return cursor;
  }

  #close(cursor: Cursor): void {
    const cursors = this.#cursors.get(cursor.namespace);
    cursors?.delete(cursor);
    if (cursors?.size === 0) this.#cursors.delete(cursor.namespace);
  }
}

function wakeAll(cursors: Set<Cursor> | undefined, index: number): void {
  if (cursors === undefined) return;
  for (const cursor of cursors) cursor.wake(index);
}
