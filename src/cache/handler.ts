/**
 * What a handler of an informer is, and what registering one gives back. The informer contract as prose:
 *
 * Guarantees: each handler hears of every object in the order of the server's events, each change once, a key's
 * added before its updated before its deleted; one call at a time, the next when the promise of the last has
 * settled; a handler that throws or is slow harms no other.
 * Caveats: a synchronous handler runs inside the reading of the watch, so it must be quick, as enqueueing a key is.
 * Objects are everybody's: never change one.
 */
import type { ObjectKey } from "../api/mod.ts";

/** What is left of an object that went. */
export interface Tombstone<T> {
  readonly key: ObjectKey;
  /** The final state when the deletion was seen, else the last one the cache had, which may be older. */
  readonly lastKnown: T;
  /** False when no deletion was seen: a relist found the object gone, or found its name with another UID. */
  readonly seen: boolean;
}

/** How an object was added. */
export interface AddedInfo {
  /** True for what was there before the handler's first full state, false for what was created since. */
  readonly initial: boolean;
}

/** Functions that hear of changes; each may be async, and one that is absent is not interested. */
export interface InformerHandler<T> {
  added?(object: T, info: AddedInfo): unknown;
  /** `old` and `current` are the same object when a resync calls. */
  updated?(old: T, current: T): unknown;
  deleted?(tombstone: Tombstone<T>): unknown;
}

/** Options of one handler. */
export interface HandlerOptions {
  /** For logs and metrics. @default "handler-<number>" */
  readonly name?: string;
  /** Every so many milliseconds `updated(object, object)` is called for all objects; 0: never. @default 0 */
  readonly resyncMs?: number;
}

/** A handler that has been added. */
export interface HandlerRegistration {
  readonly name: string;
  /** True once every object of the first full state was processed by this handler. */
  readonly hasSynced: boolean;
  /** Calls that wait for this handler. Zero for one that is synchronous. */
  readonly backlog: number;
  /**
   * Resolves when {@link hasSynced} becomes true.
   *
   * @throws `signal.reason` when aborted first, an Error when the informer stops or the handler is removed first.
   */
  synced(signal: AbortSignal): Promise<void>;
  /**
   * Takes the handler off. No call begins after this, and none runs when the promise resolves; a second call does
   * nothing. A handler must not await its own removal.
   */
  remove(): Promise<void>;
}
