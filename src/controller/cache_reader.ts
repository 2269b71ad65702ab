/** CacheReader: the caches as a reconciler sees them, whichever informers stand behind. */
import type { Infer, LabelSelector, ObjectKey, Resource } from "../api/mod.ts";

/** Which of the cached objects are wanted. */
export interface ListFilter {
  /** Absent: all namespaces that the cache covers. */
  readonly namespace?: string;
  readonly labelSelector?: LabelSelector;
  /** Those that an index of the watched kind finds under a value. */
  readonly index?: { readonly name: string; readonly value: string };
}

/** Synchronous reads of cached objects. */
export interface CacheReader {
  /** @throws TypeError when the kind is not watched: a read that would always find nothing. */
  find<R extends Resource>(resource: R, key: ObjectKey): Infer<R> | undefined;
  /** @throws TypeError when the kind is not watched. */
  list<R extends Resource>(resource: R, filter: ListFilter): readonly Infer<R>[];
}
