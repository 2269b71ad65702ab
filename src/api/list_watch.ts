/**
 * ListWatch: the interface between a cache and an API server. `client/` creates them, `cache/` uses them, tests replace
 * them by a fake.
 *
 * Resource, namespace and selectors are fixed when a ListWatch is created; a caller chooses only versions and pages.
 */
import type { ApiStatus, KubeObject, ManagedFieldsEntry } from "./object.ts";
import type { ResourceVersion } from "./resource_version.ts";

/** How the server must interpret `resourceVersion`: exactly this version, or this one or a newer one. */
export type ResourceVersionMatch = "Exact" | "NotOlderThan";

/** Versions and pages of a LIST request. */
export interface ListOptions {
  /** "" or absent: the most recent one; "0": any that the server has in memory; else see `resourceVersionMatch`. */
  readonly resourceVersion?: string;
  /** How to interpret `resourceVersion`. @default the rules of the server */
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** The most items of the page. @default all */
  readonly limit?: number;
  /** The token of the previous page. @default the first page */
  readonly continue?: string;
  /** Only objects whose hash is in these ranges (KEP-5866); a server that does not know it sends all. @default all */
  readonly shardSelector?: string;
}

/** Versions and limits of a WATCH request. */
export interface WatchOptions {
  /** The version after which the changes begin. @default the most recent one, after all current objects */
  readonly resourceVersion?: string;
  /** How to interpret `resourceVersion`. @default NotOlderThan with `sendInitialEvents`, otherwise none */
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** The server ends the watch after so many seconds. @default 30 to 60 minutes, as the server chooses */
  readonly timeoutSeconds?: number;
  /** Allows BOOKMARK events, which say how far the stream has come. @default false */
  readonly allowWatchBookmarks?: boolean;
  /**
   * Requests the current objects first, closed by a bookmark annotated `k8s.io/initial-events-end` (WatchList).
   * @default false
   */
  readonly sendInitialEvents?: boolean;
  /** Only objects whose hash is in these ranges (KEP-5866); a server that does not know it sends all. @default all */
  readonly shardSelector?: string;
}

/** One page of a list. */
export interface ListPage<T> {
  /** The objects of the page. */
  readonly items: readonly T[];
  /** The version of the whole list; a watch can start from it. */
  readonly resourceVersion: ResourceVersion;
  /** The token of the next page; absent on the last. */
  readonly continue?: string;
  /** The shard selector that the server has applied. Absent without its gate, and from lists of custom resources. */
  readonly shardSelector?: string;
}

/** The object of a BOOKMARK event: only the version that the stream has reached. */
export interface Bookmark {
  /** The version, and the annotation at the end of the initial events. */
  readonly metadata: {
    readonly resourceVersion: ResourceVersion;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/**
 * One event of a watch. `MALFORMED` is not part of Kubernetes: it is a line that is not JSON or not an event. The
 * reader of the stream decides what to do with it, so that nothing is dropped without notice.
 *
 * @example
 * ```ts
 * import type { Pod } from "@pintle/controller";
 * import type { WatchEvent } from "@pintle/controller/client";
 *
 * function describe(event: WatchEvent<Pod>): string {
 *   switch (event.type) {
 *     case "ADDED":
 *     case "MODIFIED":
 *     case "DELETED":
 *       return `${event.type} ${event.object.metadata.name}`;
 *     case "ERROR":
 *       return `the server ended the watch: ${event.object.message}`;
 *     case "BOOKMARK":
 *     case "MALFORMED":
 *       return event.type;
 *   }
 * }
 * console.assert(describe({ type: "ERROR", object: { message: "too old" } }).endsWith("too old"));
 * ```
 */
export type WatchEvent<T> =
  | {
    readonly type: "ADDED" | "MODIFIED" | "DELETED";
    readonly object: T;
    /** Who wrote the newest state; see `reportManagers` of the client. Absent if it was not asked for. */
    readonly managers?: readonly FieldManager[];
  }
  | { readonly type: "BOOKMARK"; readonly object: Bookmark }
  | { readonly type: "ERROR"; readonly object: ApiStatus }
  | { readonly type: "MALFORMED"; readonly line: string; readonly cause: unknown };

/**
 * Lists and watches one kind in one scope: what an informer needs. `Client.listWatch` returns one; a test can write its
 * own.
 *
 * @example
 * ```ts
 * import { type ConfigMap } from "@pintle/controller";
 * import { type ListWatch, type ResourceVersion } from "@pintle/controller/client";
 *
 * const empty: ListWatch<ConfigMap> = {
 *   list: () => Promise.resolve({ items: [], resourceVersion: "1" as ResourceVersion }),
 *   async *watch() {},
 * };
 * console.assert((await empty.list({}, new AbortController().signal)).items.length === 0);
 * ```
 */
export interface ListWatch<T = KubeObject> {
  /** Reads one page. @throws ApiError when the server rejects the request, the error of the transport when it is unreachable. */
  list(options: ListOptions, signal: AbortSignal): Promise<ListPage<T>>;
  /**
   * True when each watch yields a batch without events as soon as the server has accepted it. A cache then knows at once
   * that it follows the server. @default false, a watch counts as accepted when it has not failed for 5 s
   */
  readonly announcesOpen?: boolean;
  /**
   * Streams events, in batches of as many as one read of the connection returned. Ends when the server closes the
   * stream; throws ApiError when the server rejects the watch, the error of the transport when the connection breaks.
   */
  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<readonly WatchEvent<T>[]>;
}

/** An element of `metadata.managedFields` without its fields: who wrote, how, and when. */
export type FieldManager = Pick<ManagedFieldsEntry, "manager" | "operation" | "subresource" | "time">;

/** The annotation of the bookmark that closes the initial events of a WatchList. */
export const initialEventsEnd = "k8s.io/initial-events-end";
