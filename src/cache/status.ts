/**
 * ReflectorStatus: what a reflector is doing, and when it is stuck, on what. Readiness is read off it, so each state
 * can be put into one sentence that names the resource, as "foos.samplecontroller.k8s.io: forbidden to list".
 */
import type { ObjectKey, ResourceVersion } from "../api/mod.ts";

/** Why a reflector waits before it asks the server again. */
export type WaitReason =
  | "forbidden" // 403: RBAC does not allow it (yet)
  | "unauthorized" // 401: the credentials are not accepted (now)
  | "missing" // 404: the server does not know the resource, most often a CRD that is not installed
  | "throttled" // 429: the server asked us to slow down
  | "unreachable" // no answer at all: refused, reset, DNS, TLS
  | "unavailable" // 5xx
  | "internal" // 500
  | "unreadable" // 500, and the reason is an object the server cannot decode: a relist follows
  | "refused" // any other 4xx
  | "expired" // 410: the server no longer has the resourceVersion, a relist follows
  | "future" // the server does not have the resourceVersion yet, as one restored from a backup: a relist follows
  | "stalled" // the stream fell silent
  | "cut" // the stream broke, or ended before it brought anything
  | "malformed"; // a line of the stream was not an event

/** What a reflector is doing. */
export type ReflectorStatus =
  | { readonly kind: "starting" }
  /** Reading pages of a list. */
  | { readonly kind: "listing" }
  /** Reading the initial events of a WatchList. */
  | { readonly kind: "streaming" }
  /** In step: the cache follows the server. */
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

/** A line of the server's that could not be used and is passed over, so that the stream goes on. */
export interface QuarantinedLine {
  /** The object the line is about, when that could be told. Its cached state is stale. */
  readonly key: ObjectKey | undefined;
  /** The version the stream had reached before the line. */
  readonly after: ResourceVersion | "";
  /** Wall time in milliseconds since the epoch. */
  readonly at: number;
  /** Why the line could not be used. */
  readonly cause: unknown;
}

/** What one informer says about itself. */
export interface InformerStatus {
  /** Resource, and namespace or selector where there is one. */
  readonly name: string;
  /** True once the first full state is in the cache; stays true. */
  readonly hasSynced: boolean;
  readonly reflector: ReflectorStatus;
  readonly quarantined: readonly QuarantinedLine[];
  /** Objects in the cache. */
  readonly objects: number;
}

/** One sentence about what keeps the informer from being in step, or undefined when nothing does. */
export function problemOf(status: InformerStatus): string | undefined {
  const { reflector, name } = status;
  if (reflector.kind === "waiting" && (reflector.attempts > 1 || !status.hasSynced)) {
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
    case "refused":
      return "request refused";
    case "expired":
      return "resourceVersion expired";
    case "future":
      return "resourceVersion not known to the server";
    case "stalled":
      return "stream fell silent";
    case "cut":
      return "stream broke off";
    case "malformed":
      return "stream carried a line that is not an event";
    default:
      return reason satisfies never;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? ` (${error.message})` : "";
}
