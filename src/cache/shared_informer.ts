/**
 * SharedInformer: the contract between a cache and the code that uses it, for a cache of one scope (`Informer`) and of
 * several namespaces (`MultiNamespaceInformer`).
 *
 * Guarantees for a handler: it is notified of every object in the order of the server's events, once per change, and for
 * one key always in the order added, updated, deleted; it gets one call at a time, the next one when the promise of the
 * previous call has settled; a slow or failing handler does not affect the others.
 * Caveats: a synchronous handler runs while the watch is being read, so it must be fast: enqueue a key, no more. Objects
 * are shared by all readers: never change one.
 */
import type { KubeObject, ObjectKey, ResourceVersion } from "../api/mod.ts";
import type { LoadedBodies } from "./body_loader.ts";
import type { Lister } from "./lister.ts";
import type { InformerStatus } from "./status.ts";
import type { Indexers } from "./store.ts";
import type { InterveningChange, OwnWrite, Writer, WriteThroughResult } from "./written_objects.ts";

/** A cache of one kind that notifies its handlers of changes. */
export interface SharedInformer<T extends KubeObject> {
  /** For logs, metrics and errors. */
  readonly name: string;
  /** Cached, synchronous reads. */
  readonly lister: Lister<T>;
  /**
   * True once the first full state is in the cache, of each namespace if there are several. Handlers may still be
   * processing it.
   */
  readonly hasSynced: boolean;
  /**
   * Resolves when {@link hasSynced} becomes true.
   *
   * @throws `signal.reason` when aborted first, an Error when the informer stops first.
   */
  synced(signal: AbortSignal): Promise<void>;
  /**
   * Adds a handler. It is notified of all cached objects first (`isInInitialList: true`), then of changes; nothing is
   * lost or delivered twice. The handler is not called before this method has returned.
   *
   * @throws Error when the informer has stopped, TypeError when the handler has no function at all.
   */
  addHandler(handler: InformerHandler<T>, options?: HandlerOptions): HandlerRegistration;
  /**
   * Declares indices for {@link Lister.byIndex}, at any time; each is built at its first read.
   *
   * @throws RangeError when another function has one of the names.
   */
  addIndexers(indexers: Indexers<T>): void;
  /**
   * True when the cache contains everything up to `version`. Also true when this cannot be decided, because versions
   * are not comparable or the namespace is outside of the cache's scope.
   */
  isAtLeast(version: ResourceVersion, namespace?: string): boolean;
  /**
   * Waits until {@link isAtLeast} is true. Suitable for thousands of concurrent waits.
   *
   * @returns false when `timeoutMs` passed first, or the informer stopped.
   * @throws `signal.reason` when aborted first.
   */
  waitFor(version: ResourceVersion, signal: AbortSignal, options?: WaitForOptions): Promise<boolean>;
  /**
   * Waits until the cache has all of its part as it is now, in a state that the server had after the part became so. Only
   * caches of a part that grows need it; see `CachePart`.
   *
   * @throws `signal.reason` when aborted first, an Error when the informer stops first.
   */
  followPart(signal: AbortSignal): Promise<void>;
  /** Drops the objects that are no longer in the part of the cache. Handlers are not notified, because the objects exist. */
  forgetOthers(): void;
  /**
   * Puts a state of an object into the cache that did not come from the watch: the response to a write, or a live read.
   * It counts if it is newer than the cached state. Handlers are notified once, now; the watch event of that version is
   * then known and dropped.
   *
   * @param write Who wrote it, and which fields. @default it was read
   */
  writeThrough(object: T, write?: OwnWrite): WriteThroughResult;
  /**
   * Removes an object from the cache that the server has deleted, and ignores its older states from then on.
   */
  deleteThrough(key: ObjectKey, uid: string, writer?: Writer): void;
  /** The namespaces of the cache, if it is one of several namespaces. Undefined: it is of one scope, which does not change. */
  readonly cachedNamespaces: CachedNamespaces | undefined;
  /** Whether the kind is watched, if that depends on a condition. Undefined: it is always watched. */
  readonly activation: Activation | undefined;
  /**
   * Loads bodies that a bounded cache has evicted, from the API server, and keeps those of all `keys` until the result is
   * disposed. Does nothing in a cache that keeps all bodies.
   *
   * @throws ApiError when the server rejects a request, `signal.reason` when aborted first.
   */
  loadBodies(keys: Iterable<ObjectKey>, signal: AbortSignal): Promise<LoadedBodies>;
  /** Number of objects whose last own write the watch has not shown yet. */
  readonly unconfirmedWrites: number;
  /** One entry per reflector: for readiness, logs and the debug endpoint. */
  statuses(): readonly InformerStatus[];
  /**
   * Keeps the cache up to date until aborted.
   *
   * @throws Error when called twice.
   */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The namespaces of a cache of several namespaces.
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { type CachedNamespaces, informersOf } from "@pintle/controller/cache";
 * import { Client } from "@pintle/controller/client";
 *
 * const client = new Client(() => Promise.reject(new Error("there is no server in an example")));
 * const informers = informersOf(client, { namespaces: ["shop"] });
 * const namespaces: CachedNamespaces | undefined = informers.informer(ConfigMap).cachedNamespaces;
 * console.assert(namespaces?.stateOf("shop") === "syncing" && namespaces.stateOf("bank") === "absent");
 * ```
 */
export interface CachedNamespaces {
  /** "absent": it is outside of the cache. "syncing": the cache does not have its first full state yet. */
  stateOf(namespace: string): "absent" | "syncing" | "synced";
}

/** Whether the cache of a kind that is watched under a condition has its objects; see `ConditionalInformer`. */
export interface Activation {
  /** The state at this moment. */
  readonly state: ActivationState;
  /** How often the condition has begun to hold. */
  readonly beginnings: number;
  /** Calls `onChange` after the cache has become active, and after its objects were forgotten. Dispose the result to end that. */
  listen(onChange: () => void): Disposable;
}

/** The states of an {@link Activation}. Only an active cache has objects. */
export type ActivationState =
  /** The condition holds, and the cache has had its first full state since then. */
  | { readonly kind: "active" }
  /** The condition holds; the cache is being filled. */
  | { readonly kind: "syncing" }
  /** The condition does not hold. The reason says what is missing: "routes.example.dev is not installed". */
  | { readonly kind: "inactive"; readonly reason: string }
  /** What the condition depends on was not read yet. */
  | { readonly kind: "unknown" };

/** Options of {@link SharedInformer.waitFor}. */
export interface WaitForOptions {
  /** Milliseconds to wait. @default Infinity */
  readonly timeoutMs?: number;
  /** Namespace of the object that was written; a cache of several namespaces needs it. */
  readonly namespace?: string;
}

/**
 * Functions that are notified of changes. Each may be async, and each may be absent. The next call follows when the promise
 * of the previous one has settled. A synchronous function must be fast, because it runs while the watch is being read.
 *
 * @example Fill a queue
 * ```ts
 * import { type ConfigMap, keyOf } from "@pintle/controller";
 * import { type InformerHandler, WorkQueue } from "@pintle/controller/cache";
 *
 * const queue = new WorkQueue<string>({ name: "configmaps" });
 * const handler: InformerHandler<ConfigMap> = {
 *   onAdd: (map) => queue.add(keyOf(map)),
 *   onUpdate: (_old, current) => queue.add(keyOf(current)),
 *   onDelete: ({ key }) => queue.add(key),
 * };
 * handler.onAdd?.({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }, { isInInitialList: true });
 * console.assert(queue.size === 1);
 * ```
 */
export interface InformerHandler<T> {
  /** An object is new in the cache. */
  onAdd?(object: T, info: AddedInfo): unknown;
  /** An object has changed. At a resync, `old` and `current` are the same object. */
  onUpdate?(old: T, current: T, info: ChangeInfo): unknown;
  /** An object is no longer in the cache. */
  onDelete?(tombstone: Tombstone<T>): unknown;
  /**
   * Between what a writer of this process had read and what it wrote lay the write of another client. The cache already
   * has both; only the writer has to look again, if it ignores its own writes.
   */
  onIntervening?(change: InterveningChange<T>): unknown;
  /** A cache of several namespaces has one more, and the handler was notified of all its objects. */
  onNamespaceAdded?(namespace: string): unknown;
  /**
   * A cache of several namespaces no longer contains one. Its objects are not deleted, they are only outside of the cache;
   * `onDelete` is not called for them.
   */
  onNamespaceRemoved?(namespace: string): unknown;
}

/** Where a change came from. */
export interface ChangeInfo {
  /** Who wrote it, if this process did. Absent when the watch was faster than the response to the write. */
  readonly writtenBy?: Writer;
  /** The id of the change in the recording of the process. Absent if nothing is recorded. */
  readonly entry?: number;
}

/** How an object was added. */
export interface AddedInfo extends ChangeInfo {
  /** True for objects that existed before the handler's first full state, false for objects created since. */
  readonly isInInitialList: boolean;
}

/** What remains of a deleted object; the argument of `onDelete`. */
export interface Tombstone<T> {
  /** The key of the object. */
  readonly key: ObjectKey;
  /** The final state if the deletion was observed; otherwise the last cached state, which may be older. */
  readonly lastKnown: T;
  /**
   * False when no deletion was observed: a relist did not contain the object, or its name has another UID. client-go
   * calls this DeletedFinalStateUnknown.
   */
  readonly isFinalStateKnown: boolean;
  /** Who deleted it, if this process did. Absent when the watch was faster than the response. */
  readonly writtenBy?: Writer;
  /** The id of the deletion in the recording of the process. Absent if nothing is recorded. */
  readonly entry?: number;
}

/** Options of one handler. */
export interface HandlerOptions {
  /** For logs and metrics. @default "handler-<number>" */
  readonly name?: string;
  /**
   * Milliseconds between two resyncs, which call `onUpdate(object, object)` for all objects; 0: none. More than 500 objects are
   * spread over the period, each with its state of that moment. @default 0
   */
  readonly resyncMs?: number;
}

/** A handler that has been added: its progress, and its removal. */
export interface HandlerRegistration {
  /** For logs and metrics. */
  readonly name: string;
  /** True once this handler has processed every object of the first full state. */
  readonly hasSynced: boolean;
  /** Calls that wait for this handler. Always zero for a synchronous handler. */
  readonly backlog: number;
  /**
   * Resolves when {@link hasSynced} becomes true.
   *
   * @throws `signal.reason` when aborted first, an Error when the informer stops or the handler is removed first.
   */
  synced(signal: AbortSignal): Promise<void>;
  /**
   * Removes the handler. No call begins after this one, and none is running when the promise resolves; a second removal
   * does nothing. A handler must not await its own removal.
   */
  remove(): Promise<void>;
}
