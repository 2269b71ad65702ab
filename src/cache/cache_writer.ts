/**
 * CacheWriter: the writing half of a cache. It takes what the reflector reads, updates the store and notifies the
 * listeners, in one synchronous step per change.
 *
 *   reflector -> ReflectorTarget (CacheWriter) -> ObjectFilter -> Store
 *   response  -> writeThrough   -'             `-> FanOut -> listeners
 *
 * A write of this process enters the store with its response, before the watch shows it (`written_objects.ts`).
 *
 * There is no delta queue between the store and the handlers. client-go needs one because its reflector and its
 * handlers are separate goroutines. Here a change is stored and delivered before the next one is read, so the server's
 * order is preserved; what a slow handler has not processed yet waits in the backlog of that handler (`listener.ts`), in
 * the same order. A replace changes the store first and notifies afterwards, so a handler that reads the store sees
 * the whole new state.
 */
import {
  compareResourceVersions,
  type FieldManager,
  isComparable,
  type KubeObject,
  type ObjectKey,
  type ResourceVersion,
} from "../api/mod.ts";
import type { CachePart } from "./cache_part.ts";
import { isEvicted } from "./evicted_body.ts";
import { type FanOut, initialAdd, liveAdd, observedChange } from "./listener.ts";
import type { ObjectFilter } from "./object_filter.ts";
import type { Origin, RecordedChanges } from "./recorded_changes.ts";
import type { AddedInfo, ChangeInfo, Tombstone } from "./shared_informer.ts";
import type { Store } from "./store.ts";
import { type OwnWrite, type Writer, type WriteThroughResult, WrittenObjects } from "./written_objects.ts";

/** Takes single changes, in the server's order. */
export interface ChangeSink<T> {
  /**
   * Takes an object that was added or modified.
   *
   * @param managers Who wrote it, if that is known.
   * @returns its version; undefined when the object does not belong to this cache and was skipped.
   */
  upsert(object: T, managers?: readonly FieldManager[]): ResourceVersion | undefined;
  /** Takes the final state of an object that was deleted. Returns as {@link upsert}. */
  remove(object: T, managers?: readonly FieldManager[]): ResourceVersion | undefined;
}

/** A full state that is being collected. It is not visible before the commit; without a commit it is dropped. */
export interface Replacement<T> extends ChangeSink<T> {
  /** Objects collected so far. */
  readonly size: number;
  /** Keeps the cached object of `key`: the server sent its current state, but it could not be read. */
  retain(key: ObjectKey): void;
  /** Replaces all objects by the collected state, in one step. */
  commit(version: ResourceVersion): void;
}

/** What a reflector writes to. The cache implements it; tests implement it too. */
export interface ReflectorTarget<T> extends ChangeSink<T> {
  beginReplace(): Replacement<T>;
  /** Everything up to `version` has been taken. */
  advance(version: ResourceVersion): void;
  /** Deletes all objects: the resource does not exist any more. */
  clear(): void;
  /** For the consistency check in tests: the current keys and objects. */
  entries(): ReadonlyMap<ObjectKey, T>;
  /** The keys whose objects may be newer than the version of the cache, because this process wrote them. */
  unconfirmedKeys(): ReadonlySet<ObjectKey>;
}

/** Options of a {@link CacheWriter}. */
export interface CacheWriterOptions<T extends KubeObject> {
  readonly store: Store<T>;
  readonly filter: ObjectFilter<T>;
  readonly fanOut: FanOut<T>;
  /** Called when an object was older than the cached one and was skipped. */
  readonly onStale: (key: ObjectKey) => void;
  /** Called when the server sent a readable state of an object. */
  readonly onRead: (key: ObjectKey) => void;
  /** Called when a full state is in the store, and all listeners were notified. */
  readonly onReplaced: () => void;
  /** Called when the store's version may have changed. */
  readonly onAdvanced: () => void;
  /** The part that is cached, as it is now. @default all objects */
  readonly part?: Pick<CachePart, "includes"> | undefined;
  /** Records what changes. @default nothing is recorded */
  readonly changes?: RecordedChanges | undefined;
}

/** Writes one cache. */
export class CacheWriter<T extends KubeObject> implements ReflectorTarget<T> {
  readonly #options: CacheWriterOptions<T>;
  readonly #written: WrittenObjects<T>;
  #hasSynced = false;
  #initialInfo = initialAdd;

  constructor(options: CacheWriterOptions<T>) {
    this.#options = options;
    this.#written = new WrittenObjects((change) => options.fanOut.intervening(change));
  }

  /** Number of keys whose own writes the watch has not shown. */
  get unconfirmedWrites(): number {
    return this.#written.unconfirmed;
  }

  /** How the objects of the first full state were added, for listeners that come later. */
  get initialInfo(): AddedInfo {
    return this.#initialInfo;
  }

  upsert(object: T, managers?: readonly FieldManager[]): ResourceVersion | undefined {
    const { store, filter, onStale, onRead, changes } = this.#options;
    const key = filter.keyOf(object);
    if (key === undefined) return undefined;
    const version = object.metadata.resourceVersion;
    if (!this.#written.isEmpty) {
      const writer = changes === undefined ? undefined : this.#written.writerOf(key, version);
      if (this.#isWritten(key, object)) {
        changes?.echoed(key, object, writer, managers);
        onRead(key);
        return version;
      }
    }
    const old = store.get(key);
    const order = old === undefined ? 1 : orderOf(old, object);
    if (order <= 0) {
      if (order < 0) onStale(key);
      return undefined;
    }
    const current = filter.transform(key, object);
    if (current === undefined) return version;
    this.#put(key, old, current, { via: "watch", managers, sent: object });
    onRead(key);
    return version;
  }

  /** Takes the response to a write, or a live read. See `SharedInformer.writeThrough`. */
  writeThrough(written: T, write: OwnWrite | undefined): WriteThroughResult {
    const { store, filter } = this.#options;
    const object = filter.project(written);
    const key = filter.keyOf(object);
    const { resourceVersion: version, uid } = object.metadata;
    if (key === undefined || version === undefined || !isComparable(version)) return "outside";
    if (this.#written.isDeleted(uid)) return "known";
    const pending = this.#written.find(key);
    const latest = pending?.version ?? store.get(key)?.metadata.resourceVersion;
    if (latest !== undefined && (compareResourceVersions(version, latest) ?? 1) <= 0) {
      if (write !== undefined) {
        this.#written.recordLate(key, version, write.writer);
        this.#options.changes?.confirmed(key, object, write.writer);
      }
      return "known";
    }
    const old = store.get(key);
    const complete = store.lastSyncResourceVersion;
    const isSelected = filter.selects(object);
    const isCached = old !== undefined && isSameObject(old, object);
    if (complete !== undefined && (compareResourceVersions(version, complete) ?? 1) <= 0) {
      return isCached ? "known" : isSelected ? "missing" : "outside";
    }
    if (!isSelected && !isCached) return "outside";
    const current = filter.transform(key, object);
    if (current === undefined) return "outside";
    const notify = this.#written.record(key, { version, state: isSelected ? current : undefined, base: old }, write);
    // Before the first full state nothing is readable; that state will contain the write.
    if (complete === undefined) return "stored";
    const origin: Origin = { via: write === undefined ? "read" : "response", writer: write?.writer };
    if (isSelected) this.#put(key, old, current, origin);
    else this.#drop(key, { lastKnown: current, isFinalStateKnown: true }, origin);
    notify?.();
    return "stored";
  }

  /** Puts the body of an object back that was evicted. @returns false when the cache has another version of it */
  restore(read: T): boolean {
    const { store, filter } = this.#options;
    const object = filter.project(read);
    const key = filter.keyOf(object);
    const cached = key === undefined ? undefined : store.get(key);
    if (key === undefined || cached === undefined || !isEvicted(cached) || !isUnchanged(cached, object)) return false;
    const current = filter.transform(key, object);
    if (current !== undefined) store.set(key, current);
    return current !== undefined;
  }

  /** Takes a deletion that the server has done. See `SharedInformer.deleteThrough`. */
  deleteThrough(key: ObjectKey, uid: string, writer: Writer | undefined): void {
    const old = this.#options.store.get(key);
    this.#written.recordDeletion(key, uid, old?.metadata.uid === uid ? old.metadata.resourceVersion : undefined);
    if (old === undefined || old.metadata.uid !== uid) return;
    this.#drop(key, { lastKnown: old, isFinalStateKnown: false }, { via: "response", writer });
  }

  /** Stores a newer state and notifies the listeners. */
  #put(key: ObjectKey, old: T | undefined, current: T, origin: Origin): void {
    const { store, fanOut } = this.#options;
    if (old !== undefined && !isSameObject(old, current)) {
      // Another client deleted it, even if this process has written the new one.
      this.#drop(key, { lastKnown: old, isFinalStateKnown: false }, { via: origin.via });
      store.set(key, current);
      fanOut.added(current, this.#addedInfo(key, undefined, current, origin));
    } else {
      store.set(key, current);
      if (old === undefined) fanOut.added(current, this.#addedInfo(key, undefined, current, origin));
      else fanOut.updated(old, current, this.#infoOf(key, old, current, origin));
    }
  }

  #drop(key: ObjectKey, last: Omit<Tombstone<T>, "key">, origin: Origin): void {
    const { store, fanOut } = this.#options;
    store.delete(key);
    fanOut.deleted(key, { ...last, ...this.#infoOf(key, last.lastKnown, undefined, origin) });
  }

  /** What listeners are told about the origin of a change, and the id of its entry in the recording. */
  #infoOf(key: ObjectKey, old: T | undefined, current: T | undefined, origin: Origin): ChangeInfo {
    const { writer } = origin;
    const entry = this.#options.changes?.changed(key, old, current, origin);
    if (entry !== undefined) return writer === undefined ? { entry } : { writtenBy: writer, entry };
    return writer === undefined ? observedChange : { writtenBy: writer };
  }

  #addedInfo(key: ObjectKey, old: T | undefined, current: T, origin: Origin): AddedInfo {
    const info = this.#infoOf(key, old, current, origin);
    return info === observedChange ? liveAdd : { isInInitialList: false, ...info };
  }

  /** True for a state that is part of, or older than, what this process wrote: the cache has a newer one. */
  #isWritten(key: ObjectKey, object: T): boolean {
    if (this.#written.isDeleted(object.metadata.uid)) return true;
    const order = this.#written.judge(key, object.metadata.resourceVersion);
    return order === "older" || order === "same";
  }

  /** As {@link #isWritten}, for the deletion that an event shows. */
  #isDeletionKnown(key: ObjectKey, object: T): boolean {
    const { uid, resourceVersion: version } = object.metadata;
    if (uid !== undefined && this.#written.isDeleted(uid)) {
      this.#written.forgetDeletion(uid);
      return true;
    }
    return this.#written.judge(key, version) === "older";
  }

  remove(object: T, managers?: readonly FieldManager[]): ResourceVersion | undefined {
    const { store, filter, onStale, onRead, changes } = this.#options;
    const key = filter.keyOf(object);
    if (key === undefined) return undefined;
    const version = object.metadata.resourceVersion;
    if (!this.#written.isEmpty && this.#isDeletionKnown(key, object)) {
      changes?.echoedDeletion(key, object);
      onRead(key);
      return version;
    }
    const old = store.get(key);
    // The deletion was delivered before, or the object was never in the cache.
    if (old === undefined) return version;
    const { resourceVersion: cached } = old.metadata;
    if (cached !== undefined && version !== undefined && (compareResourceVersions(version, cached) ?? 0) < 0) {
      onStale(key);
      return undefined;
    }
    const isFinalStateKnown = isSameObject(old, object);
    const lastKnown = isFinalStateKnown ? filter.transform(key, object) ?? old : old;
    this.#drop(key, { lastKnown, isFinalStateKnown }, { via: "watch", managers, sent: object });
    onRead(key);
    return version;
  }

  beginReplace(): Replacement<T> {
    return new CollectedState(this.#options, (next, version) => this.#replace(next, version));
  }

  advance(version: ResourceVersion): void {
    this.#written.advance(version, (key) => {
      const lastKnown = this.#options.store.get(key);
      if (lastKnown !== undefined) this.#drop(key, { lastKnown, isFinalStateKnown: false }, { via: "watch" });
    });
    this.#options.store.advance(version);
    this.#options.onAdvanced();
  }

  clear(): void {
    const { store } = this.#options;
    this.#written.clear();
    const version = store.lastSyncResourceVersion;
    if (version !== undefined && store.size > 0) this.#replace(new Map(), version);
  }

  /** Drops objects that do not belong to the cache any more. They exist, so nobody is notified of a deletion. */
  forget(isForgotten: (object: T) => boolean): void {
    const { store } = this.#options;
    for (const [key, object] of [...store.entries()]) {
      if (!isForgotten(object)) continue;
      store.delete(key);
      this.#written.forget(key);
    }
    this.#options.onAdvanced();
  }

  entries(): ReadonlyMap<ObjectKey, T> {
    return this.#options.store.entries();
  }

  unconfirmedKeys(): ReadonlySet<ObjectKey> {
    return new Set(this.#written.keys());
  }

  #replace(next: Map<ObjectKey, T>, version: ResourceVersion): void {
    const { store, fanOut, onReplaced, changes, part } = this.#options;
    // What the part has lost while the state was read is dropped as well.
    if (part !== undefined) { for (const [key, object] of next) if (!part.includes(object)) next.delete(key); }
    // A server that was restored from a backup has lost later writes.
    if (isOlder(version, store.lastSyncResourceVersion)) this.#written.clear();
    const overtaken = this.#written.isEmpty ? [] : this.#written.reconcileWith(version, next, (key, state) => {
      if (state === undefined) next.delete(key);
      else next.set(key, state);
    });
    const previous = store.replace(next, version);
    // A listener that is added meanwhile gets the new state from the store.
    const listeners = fanOut.listeners;
    const list = changes?.listed(version, next, !this.#hasSynced);
    const initial: AddedInfo | undefined = this.#hasSynced ? undefined : list === undefined ? initialAdd : {
      isInInitialList: true,
      entry: list,
    };
    if (initial !== undefined) this.#initialInfo = initial;
    this.#hasSynced = true;
    const origin: Origin = { via: "list", list };
    const deleted = (key: ObjectKey, lastKnown: T) =>
      fanOut.deleted(
        key,
        { lastKnown, isFinalStateKnown: false, ...this.#infoOf(key, lastKnown, undefined, origin) },
        listeners,
      );
    for (const [key, lastKnown] of previous) {
      if (!next.has(key)) deleted(key, lastKnown);
    }
    for (const [key, object] of next) {
      const old = previous.get(key);
      if (old === object) continue;
      if (old !== undefined && isSameObject(old, object)) {
        fanOut.updated(old, object, this.#infoOf(key, old, object, origin), listeners);
        continue;
      }
      if (old !== undefined) deleted(key, old);
      fanOut.added(object, initial ?? this.#addedInfo(key, undefined, object, origin), listeners);
    }
    for (const notify of overtaken) notify();
    onReplaced();
  }
}

/** A full state that is being collected. It reuses cached objects that have not changed, which also avoids updates. */
class CollectedState<T extends KubeObject> implements Replacement<T> {
  readonly #options: CacheWriterOptions<T>;
  readonly #replace: (next: Map<ObjectKey, T>, version: ResourceVersion) => void;
  readonly #next = new Map<ObjectKey, T>();

  constructor(options: CacheWriterOptions<T>, replace: (next: Map<ObjectKey, T>, version: ResourceVersion) => void) {
    this.#options = options;
    this.#replace = replace;
  }

  get size(): number {
    return this.#next.size;
  }

  upsert(object: T): ResourceVersion | undefined {
    const { store, filter } = this.#options;
    const key = filter.keyOf(object);
    if (key === undefined) return undefined;
    const cached = store.get(key);
    const next = cached !== undefined && isUnchanged(cached, object)
      ? cached
      // An object whose transform fails is not deleted: its cached state stays.
      : filter.transform(key, object) ?? cached;
    if (next !== undefined) this.#next.set(key, next);
    return object.metadata.resourceVersion;
  }

  remove(object: T): ResourceVersion | undefined {
    const key = this.#options.filter.keyOf(object);
    if (key !== undefined) this.#next.delete(key);
    return object?.metadata?.resourceVersion;
  }

  retain(key: ObjectKey): void {
    const cached = this.#options.store.get(key);
    if (cached !== undefined && !this.#next.has(key)) this.#next.set(key, cached);
  }

  commit(version: ResourceVersion): void {
    this.#replace(this.#next, version);
  }
}

function isOlder(version: ResourceVersion, than: ResourceVersion | undefined): boolean {
  return than !== undefined && (compareResourceVersions(version, than) ?? 0) < 0;
}

/** The same object in another state, and not another object with the same name. */
function isSameObject(left: KubeObject, right: KubeObject): boolean {
  return left.metadata.uid === right.metadata.uid;
}

function isUnchanged(cached: KubeObject, object: KubeObject): boolean {
  const version = object.metadata.resourceVersion;
  return version !== undefined && version === cached.metadata.resourceVersion && isSameObject(cached, object);
}

/** Above 0: `object` is newer than `cached`, or they cannot be compared. */
function orderOf(cached: KubeObject, object: KubeObject): number {
  const left = object.metadata.resourceVersion, right = cached.metadata.resourceVersion;
  if (left === undefined || right === undefined) return 1;
  if (left === right) return isSameObject(cached, object) ? 0 : 1;
  return compareResourceVersions(left, right) ?? 1;
}
