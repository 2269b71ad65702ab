/**
 * ListWatch: all that a cache needs to know of an API server. `client/` makes them, `cache/` consumes them, tests
 * fake them at this seam or one lower, at the Transport.
 *
 * Resource, namespace and selectors are fixed when one is made; a caller chooses versions and pages only.
 */
import type { KubeObject } from "./object.ts";
import type { ResourceVersion } from "./resource_version.ts";
import type { ApiStatus } from "./status.ts";

/** How the server shall read `resourceVersion`. */
export type ResourceVersionMatch = "Exact" | "NotOlderThan";

/** One LIST request. */
export interface ListOptions {
  /** "" or absent: most recent, "0": whatever the server has at hand, else per `resourceVersionMatch`. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** Largest number of items in the page; absent: all. */
  readonly limit?: number;
  /** Token of the page before. */
  readonly continue?: string;
}

/** One WATCH request. */
export interface WatchOptions {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** The server ends the watch after so many seconds. */
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  /** Asks for the present objects first, closed by a bookmark annotated `k8s.io/initial-events-end` (WatchList). */
  readonly sendInitialEvents?: boolean;
}

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: ResourceVersion;
  /** Token of the next page; absent on the last. */
  readonly continue?: string;
}

/** What a BOOKMARK carries: no object, only how far the stream has come. */
export interface Bookmark {
  readonly metadata: {
    readonly resourceVersion: ResourceVersion;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/**
 * One line of a watch stream. `MALFORMED` is ours: a line that is not JSON or not an event, kept so that whoever
 * consumes the stream decides what it means, and nothing is dropped in silence.
 */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: Bookmark }
  | { readonly type: "ERROR"; readonly object: ApiStatus }
  | { readonly type: "MALFORMED"; readonly line: string; readonly cause: unknown };

/** Lists and watches one kind in one scope. */
export interface ListWatch<T = KubeObject> {
  /** @throws ApiError when the server refuses, the transport's error when it cannot be reached. */
  list(options: ListOptions, signal: AbortSignal): Promise<ListPage<T>>;
  /**
   * Streams events, as many at a time as one read of the connection brought. Ends when the server closes the
   * stream; throws ApiError when it refuses the watch, the transport's error when the connection breaks.
   */
  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<readonly WatchEvent<T>[]>;
}

/** The annotation of the bookmark that closes the initial events of a WatchList. */
export const initialEventsEnd = "k8s.io/initial-events-end";
