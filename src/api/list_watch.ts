/**
 * ListWatch: the interface between a cache and an API server. `client/` creates them, `cache/` uses them, tests replace
 * them by a fake.
 *
 * Resource, namespace and selectors are fixed when a ListWatch is created; a caller chooses only versions and pages.
 */
import type { ApiStatus, KubeObject } from "./object.ts";
import type { ResourceVersion } from "./resource_version.ts";

/** How the server must interpret `resourceVersion`. */
export type ResourceVersionMatch = "Exact" | "NotOlderThan";

/** One LIST request. */
export interface ListOptions {
  /** "" or absent: the most recent one; "0": any that the server has in memory; else see `resourceVersionMatch`. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** Maximum number of items in the page; absent: all. */
  readonly limit?: number;
  /** Token of the previous page. */
  readonly continue?: string;
}

/** One WATCH request. */
export interface WatchOptions {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** The server ends the watch after so many seconds. */
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  /** Requests the current objects first, closed by a bookmark annotated `k8s.io/initial-events-end` (WatchList). */
  readonly sendInitialEvents?: boolean;
}

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: ResourceVersion;
  /** Token of the next page; absent on the last. */
  readonly continue?: string;
}

/** The object of a BOOKMARK event: only the version that the stream has reached. */
export interface Bookmark {
  readonly metadata: {
    readonly resourceVersion: ResourceVersion;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/**
 * One line of a watch stream. `MALFORMED` is not part of Kubernetes: it is a line that is not JSON or not an event. The
 * reader of the stream decides what to do with it, so that nothing is dropped without notice.
 */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: Bookmark }
  | { readonly type: "ERROR"; readonly object: ApiStatus }
  | { readonly type: "MALFORMED"; readonly line: string; readonly cause: unknown };

/** Lists and watches one kind in one scope. */
export interface ListWatch<T = KubeObject> {
  /** @throws ApiError when the server rejects the request, the error of the transport when it is unreachable. */
  list(options: ListOptions, signal: AbortSignal): Promise<ListPage<T>>;
  /**
   * Streams events, in batches of as many as one read of the connection returned. Ends when the server closes the
   * stream; throws ApiError when the server rejects the watch, the error of the transport when the connection breaks.
   */
  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<readonly WatchEvent<T>[]>;
}

/** The annotation of the bookmark that closes the initial events of a WatchList. */
export const initialEventsEnd = "k8s.io/initial-events-end";
