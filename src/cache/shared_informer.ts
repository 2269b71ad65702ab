/**
 * SharedInformer: what a controller sees of a cache, be it of one scope (`Informer`) or of several namespaces
 * (`MultiNamespaceInformer`). Handlers in, cached reads out, and the two questions "in step yet?" and "at least at
 * this version?".
 */
import type { KubeObject, ResourceVersion } from "../api/mod.ts";
import type { HandlerOptions, HandlerRegistration, InformerHandler } from "./handler.ts";
import type { Indexers } from "./indexer.ts";
import type { Lister } from "./lister.ts";
import type { InformerStatus } from "./status.ts";

/** Options of {@link SharedInformer.waitFor}. */
export interface WaitForOptions {
  /** @default Infinity */
  readonly timeoutMs?: number;
  /** Namespace of the object that was written; a cache of several namespaces needs it. */
  readonly namespace?: string;
}

/** A cache of one kind that tells its handlers what changes. */
export interface SharedInformer<T extends KubeObject> {
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
   * Adds a handler. It gets all present objects first (`initial: true`), then what changes; none is lost, none
   * comes twice. Never calls the handler before it has returned.
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
   * True when the cache holds everything up to `version`; also when that cannot be told, because versions are not
   * comparable or the namespace is outside of the cache's scope.
   */
  isAtLeast(version: ResourceVersion, namespace?: string): boolean;
  /**
   * Waits until {@link isAtLeast} is true. Cheap with thousands of waiters.
   *
   * @returns false when `timeoutMs` passed first, or the informer stopped.
   * @throws `signal.reason` when aborted first.
   */
  waitFor(version: ResourceVersion, signal: AbortSignal, options?: WaitForOptions): Promise<boolean>;
  /** One entry per reflector: for readiness, logs and the debug endpoint. */
  statuses(): readonly InformerStatus[];
  /**
   * Keeps the cache in step until aborted.
   *
   * @throws Error when called twice.
   */
  run(signal: AbortSignal): Promise<void>;
}
