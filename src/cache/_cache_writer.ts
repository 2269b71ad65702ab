/**
 * CacheWriter: the writing half of a cache. It takes what the reflector reads, keeps the store, and tells the
 * listeners, all in one synchronous step per change.
 *
 * There is no delta queue between the store and the handlers. client-go needs one because its reflector and its
 * handlers are goroutines of their own. Here a change is stored and told before the next is looked at, so server
 * order holds by construction; what a slow handler has not yet heard waits in that handler's own backlog
 * (`_listener.ts`), which is in the same order. A replace swaps the store first and is told afterwards, so whoever
 * reads while being told sees the new state as a whole.
 */
import { compareResourceVersions, type KubeObject, type ObjectKey, type ResourceVersion } from "../api/mod.ts";
import type { Admission } from "./_admission.ts";
import { type FanOut, initialAdd, liveAdd } from "./_fan_out.ts";
import type { ReflectorTarget, Replacement } from "./target.ts";
import type { Store } from "./store.ts";

/** Options of a {@link CacheWriter}. */
export interface CacheWriterOptions<T extends KubeObject> {
  readonly store: Store<T>;
  readonly admission: Admission<T>;
  readonly fanOut: FanOut<T>;
  /** An object came that is older than what is there. */
  readonly onStale: (key: ObjectKey) => void;
  /** A good state of an object came. */
  readonly onTaken: (key: ObjectKey) => void;
  /** A full state is in the store, and all listeners were told. */
  readonly onReplaced: () => void;
  /** The store's version may have changed. */
  readonly onReached: () => void;
}

/** Writes one cache. */
export class CacheWriter<T extends KubeObject> implements ReflectorTarget<T> {
  readonly #options: CacheWriterOptions<T>;
  #hasSynced = false;

  constructor(options: CacheWriterOptions<T>) {
    this.#options = options;
  }

  upsert(object: T): ResourceVersion | undefined {
    const { store, admission, fanOut, onStale, onTaken } = this.#options;
    const key = admission.keyOf(object);
    if (key === undefined) return undefined;
    const old = store.get(key);
    const order = old === undefined ? 1 : orderOf(old, object);
    if (order <= 0) {
      if (order < 0) onStale(key);
      return undefined;
    }
    const version = object.metadata.resourceVersion;
    const kept = admission.transformed(key, object);
    if (kept === undefined) return version;
    if (old !== undefined && !isSame(old, kept)) {
      store.delete(key);
      fanOut.deleted(key, { lastKnown: old, seen: false });
      store.set(key, kept);
      fanOut.added(kept, liveAdd);
    } else {
      store.set(key, kept);
      if (old === undefined) fanOut.added(kept, liveAdd);
      else fanOut.updated(old, kept);
    }
    onTaken(key);
    return version;
  }

  remove(object: T): ResourceVersion | undefined {
    const { store, admission, fanOut, onStale, onTaken } = this.#options;
    const key = admission.keyOf(object);
    if (key === undefined) return undefined;
    const version = object.metadata.resourceVersion;
    const old = store.get(key);
    // A deletion that was already told, or of what never came: nothing folds into nothing.
    if (old === undefined) return version;
    const { resourceVersion: present } = old.metadata;
    if (present !== undefined && version !== undefined && (compareResourceVersions(version, present) ?? 0) < 0) {
      onStale(key);
      return undefined;
    }
    const seen = isSame(old, object);
    const lastKnown = seen ? admission.transformed(key, object) ?? old : old;
    store.delete(key);
    fanOut.deleted(key, { lastKnown, seen });
    onTaken(key);
    return version;
  }

  beginReplace(): Replacement<T> {
    return new Collected(this.#options, (next, version) => this.#replace(next, version));
  }

  reached(version: ResourceVersion): void {
    this.#options.store.advance(version);
    this.#options.onReached();
  }

  clear(): void {
    const { store } = this.#options;
    const version = store.lastSyncResourceVersion;
    if (version !== undefined && store.size > 0) this.#replace(new Map(), version);
  }

  entries(): ReadonlyMap<ObjectKey, T> {
    return this.#options.store.entries();
  }

  #replace(next: Map<ObjectKey, T>, version: ResourceVersion): void {
    const { store, fanOut, onReplaced } = this.#options;
    const previous = store.replace(next, version);
    const listeners = fanOut.listeners;
    const info = this.#hasSynced ? liveAdd : initialAdd;
    this.#hasSynced = true;
    for (const [key, lastKnown] of previous) {
      if (!next.has(key)) fanOut.deleted(key, { lastKnown, seen: false }, listeners);
    }
    for (const [key, object] of next) {
      const old = previous.get(key);
      if (old === undefined) fanOut.added(object, info, listeners);
      else if (old === object) continue;
      else if (isSame(old, object)) fanOut.updated(old, object, listeners);
      else {
        fanOut.deleted(key, { lastKnown: old, seen: false }, listeners);
        fanOut.added(object, liveAdd, listeners);
      }
    }
    onReplaced();
  }
}

/** A full state on its way in. What has not changed since is the object that is already there: one copy, no notice. */
class Collected<T extends KubeObject> implements Replacement<T> {
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
    const { store, admission } = this.#options;
    const key = admission.keyOf(object);
    if (key === undefined) return undefined;
    const present = store.get(key);
    const kept = present !== undefined && isUnchanged(present, object)
      ? present
      // An object that cannot be transformed is not an object that is gone.
      : admission.transformed(key, object) ?? present;
    if (kept !== undefined) this.#next.set(key, kept);
    return object.metadata.resourceVersion;
  }

  remove(object: T): ResourceVersion | undefined {
    const key = this.#options.admission.keyOf(object);
    if (key !== undefined) this.#next.delete(key);
    return object?.metadata?.resourceVersion;
  }

  retain(key: ObjectKey): void {
    const present = this.#options.store.get(key);
    if (present !== undefined && !this.#next.has(key)) this.#next.set(key, present);
  }

  commit(version: ResourceVersion): void {
    this.#replace(this.#next, version);
  }
}

/** The same object in another state, rather than another object of the same name. */
function isSame(left: KubeObject, right: KubeObject): boolean {
  return left.metadata.uid === right.metadata.uid;
}

function isUnchanged(present: KubeObject, object: KubeObject): boolean {
  const version = object.metadata.resourceVersion;
  return version !== undefined && version === present.metadata.resourceVersion && isSame(present, object);
}

/** Above 0: `object` is newer than `present`, or they cannot be put in order. */
function orderOf(present: KubeObject, object: KubeObject): number {
  const left = object.metadata.resourceVersion, right = present.metadata.resourceVersion;
  if (left === undefined || right === undefined) return 1;
  if (left === right) return isSame(present, object) ? 0 : 1;
  return compareResourceVersions(left, right) ?? 1;
}
