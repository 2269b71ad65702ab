/**
 * ReflectorStatus: what a reflector is doing, and why it waits if it does. Readiness checks use it, so each state has a
 * sentence that names the resource, e.g. "foos.samplecontroller.k8s.io: forbidden to list or watch".
 */
import type { ObjectKey, ResourceVersion } from "../api/mod.ts";

/** Why a reflector waits before its next request. */
export type WaitReason =
  | "forbidden" // 403: RBAC does not allow it
  | "unauthorized" // 401: the credentials are not accepted
  | "missing" // 404: the server does not have the resource, most often because its CRD is not installed
  | "throttled" // 429: the server requested fewer requests
  | "unreachable" // no response at all: connection refused, reset, DNS, TLS
  | "unavailable" // 5xx
  | "internal" // 500
  | "unreadable" // 500, because of an object that the server cannot decode: a relist follows
  | "rejected" // any other 4xx
  | "expired" // 410: the server no longer has the resourceVersion, a relist follows
  | "versionTooLarge" // the server does not have the resourceVersion yet, e.g. after a restore: a relist follows
  | "stalled" // the stream was silent for too long
  | "interrupted" // the stream broke, or ended without any event
  | "malformed"; // a line of the stream was not an event

/** What a reflector is doing. */
export type ReflectorStatus =
  | { readonly kind: "starting" }
  /** Reading pages of a list. */
  | { readonly kind: "listing" }
  /** Reading the initial events of a WatchList. */
  | { readonly kind: "streaming" }
  /** The cache follows the server. */
  | { readonly kind: "watching"; readonly sinceAt: number }
  | {
    readonly kind: "waiting";
    readonly reason: WaitReason;
    readonly error: unknown;
    /** Failures in a row. */
    readonly attempts: number;
    /** Wall time in milliseconds since the epoch. */
    readonly nextAttemptAt: number;
  }
  | { readonly kind: "stopped" };

/** A line of a watch that could not be read and is skipped, so that the stream continues. */
export interface QuarantinedLine {
  /** The object of the line, if that could be found out. Its cached state is outdated. */
  readonly key: ObjectKey | undefined;
  /** The version that the stream had reached before the line. */
  readonly after: ResourceVersion | "";
  /** Wall time in milliseconds since the epoch. */
  readonly at: number;
  /** Why the line could not be read. */
  readonly cause: unknown;
}

/** How far a cache has followed its server. */
export interface CacheProgress {
  /** The version up to which the cache is complete. */
  readonly version: ResourceVersion;
  /**
   * The latest version that this process knows: that of the cache, or a later one from the response to a write or to a
   * read. As long as it is later than `version`, the cache is behind.
   */
  readonly latestVersion: ResourceVersion;
  /**
   * Milliseconds since the server last proved that the cache is current, by a full state, an event or a bookmark. A server
   * sends a bookmark each minute, so a quiet cache that follows it shows up to 60,000.
   */
  readonly unconfirmedMs: number;
}

/** The status of one informer. */
export interface InformerStatus {
  /** Resource, and namespace or selector where there is one. */
  readonly name: string;
  /** True once the first full state is in the cache; stays true. */
  readonly hasSynced: boolean;
  /** What its reflector is doing. */
  readonly reflector: ReflectorStatus;
  /** The lines of the watch that are skipped. */
  readonly quarantined: readonly QuarantinedLine[];
  /** Objects in the cache. */
  readonly objects: number;
  /** How current the cache is. Absent before the first full state. */
  readonly progress?: CacheProgress;
}

/** One sentence about the reason why the cache is not up to date, or undefined when it is. */
export function problemOf(status: InformerStatus): string | undefined {
  const { reflector, name } = status;
  if (reflector.kind === "waiting") {
    return `${name}: ${sentenceOf(reflector.reason)}${messageOf(reflector.error)}`;
  }
  return status.hasSynced ? undefined : `${name}: not synced yet (${reflector.kind})`;
}

function sentenceOf(reason: WaitReason): string {
  switch (reason) {
    case "forbidden":
      return "forbidden to list or watch";
    case "unauthorized":
      return "credentials not accepted";
    case "missing":
      return "CRD missing: run install-crds";
    case "throttled":
      return "throttled by the server";
    case "unreachable":
      return "server unreachable";
    case "unavailable":
      return "server unavailable";
    case "internal":
      return "internal error of the server";
    case "unreadable":
      return "the server cannot read an object";
    case "rejected":
      return "request rejected";
    case "expired":
      return "resourceVersion expired";
    case "versionTooLarge":
      return "resourceVersion too large";
    case "stalled":
      return "stream is silent";
    case "interrupted":
      return "stream was interrupted";
    case "malformed":
      return "stream contained a line that is not an event";
    default:
      return reason satisfies never;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? ` (${error.message})` : "";
}
