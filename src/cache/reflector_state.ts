/**
 * ReflectorState: what a reflector knows about its server, and which phase follows from what happened. It makes no
 * requests and does not wait, so every rule can be read and tested in one place.
 *
 * The rules: after a watch was rejected or interrupted, the next watch begins at the same version. A full state is
 * requested only after 410, after a version that the server does not have, after errors that make the stream
 * unreliable, and after the resource was missing. It is requested at the last version seen; at "" only if that fails
 * as well, and only once.
 */
import type { ApiStatus, ResourceVersion } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { WaitReason } from "./status.ts";

/** The phases of a reflector. */
export type Phase =
  /** Reads a full state as a stream, then continues to watch on the same stream. */
  | { readonly kind: "streaming" }
  /** Reads a full state in pages. */
  | { readonly kind: "listing" }
  /** Follows the changes from the last version. */
  | { readonly kind: "watching" }
  /** Waits before the next attempt. */
  | { readonly kind: "waiting"; readonly failure: Failure; readonly then: "sync" | "watch" };

/** Options of a {@link ReflectorState}. */
export interface ReflectorStateOptions {
  readonly watchList: boolean;
  readonly pageSize: number;
  /** The version of the first list, if any version will not do. */
  readonly notOlderThan?: ResourceVersion;
  /** Milliseconds during which a watch that gets 500s is retried. */
  readonly internalErrorRetryMs: number;
  readonly clock: Clock;
}

/** Interrupted streams of the full state after which lists are used, which make progress page by page. */
const maxInterruptedStreams = 3;

/** 404s in a row that prove that the resource does not exist: a starting server may not have loaded its CRDs yet. */
const missingConfirmations = 2;

/** Internal errors that are further apart are separate incidents, as in client-go's RetryWithDeadline. */
const internalErrorGapMs = 60_000;

/** Decides what a reflector does next. */
export class ReflectorState {
  readonly #options: ReflectorStateOptions;
  #version: ResourceVersion | "" | "0" = "";
  #isVersionUnavailable = false;
  /** The next full state must be the newest one. */
  #needsNewest = false;
  #usesStreams: boolean;
  #isAlwaysPaged = false;
  #interruptedStreams = 0;
  #missing = 0;
  #confirmedAt: number | undefined;
  /** The current run of internal errors, by the monotonic clock. */
  #internal: { readonly since: number; readonly last: number } | undefined;

  constructor(options: ReflectorStateOptions) {
    this.#options = options;
    this.#usesStreams = options.watchList;
  }

  /** The version at which the next watch begins. */
  get version(): ResourceVersion | "" | "0" {
    return this.#version;
  }

  /** The version for a list. At first "0", which the server serves from memory, or the option `notOlderThan`. */
  get listVersion(): ResourceVersion | "" | "0" {
    if (this.#isVersionUnavailable || this.#needsNewest) return "";
    return this.#version === "" ? this.#options.notOlderThan ?? "0" : this.#version;
  }

  /** The version for a stream of the full state: "" at first, for a consistent read. */
  get streamVersion(): ResourceVersion | "" | "0" {
    return this.#isVersionUnavailable || this.#needsNewest ? "" : this.#version;
  }

  /** Items per page; undefined where paging would make the server bypass its cache (behaviour 4). */
  get pageSize(): number | undefined {
    const version = this.listVersion;
    return version === "" || version === "0" || this.#isAlwaysPaged ? this.#options.pageSize : undefined;
  }

  /** True when it is certain that the resource does not exist. */
  get isMissing(): boolean {
    return this.#missing >= missingConfirmations;
  }

  /** When the server last proved that the cache is current, by the monotonic clock; undefined before the first sync. */
  get confirmedAt(): number | undefined {
    return this.#confirmedAt;
  }

  /** The phase that reads a full state. */
  syncPhase(): Phase {
    return { kind: this.#usesStreams ? "streaming" : "listing" };
  }

  /** The cache must contain more than before: reads the newest full state, whatever was read so far. */
  refill(): Phase {
    this.#needsNewest = true;
    return this.syncPhase();
  }

  /** A full state was read. */
  synced(version: ResourceVersion | ""): void {
    this.#version = version;
    this.#isVersionUnavailable = false;
    this.#needsNewest = false;
    this.#interruptedStreams = 0;
    this.#missing = 0;
    this.confirmed();
  }

  /** The server has shown that nothing but what was read has happened: by a full state, an event or a bookmark. */
  confirmed(): void {
    this.#confirmedAt = this.#options.clock.monotonic();
  }

  /** A full state was read as a list. */
  listed(version: ResourceVersion | "", request: { readonly version: string; readonly isPaged: boolean }): void {
    // Pages at "0" mean that the server has no watch cache; then it needs paging at every version.
    if (request.version === "0" && request.isPaged) this.#isAlwaysPaged = true;
    this.synced(version);
  }

  /** A watch ended at `version`. */
  watched(version: ResourceVersion | "" | "0", hasProgressed: boolean): void {
    this.#version = version;
    if (!hasProgressed) return;
    this.#internal = undefined;
    this.#missing = 0;
  }

  /** Uses lists from now on: the server has no initial events, or does not close them. */
  fallBackToLists(): Phase {
    this.#usesStreams = false;
    return { kind: "listing" };
  }

  /** A stream of the full state ended after some initial events and before the closing bookmark. */
  afterInterruptedStream(failure: Failure): Phase {
    if (++this.#interruptedStreams >= maxInterruptedStreams) this.#usesStreams = false;
    return { kind: "waiting", failure, then: "sync" };
  }

  /** A full state could not be read. */
  afterFailedSync(failure: Failure, how: "streaming" | "listing"): Phase {
    const { reason } = failure;
    const wait: Phase = { kind: "waiting", failure, then: "sync" };
    this.#countMissing(failure);
    if (reason === "expired" || reason === "versionTooLarge") {
      if (this.#isVersionUnavailable) return wait;
      this.#isVersionUnavailable = true;
      return { kind: how };
    }
    if (reason === "rejected") {
      if (how === "streaming") return this.fallBackToLists();
      // The server may have rejected the version.
      if (this.#version !== "") this.#isVersionUnavailable = true;
    }
    return wait;
  }

  /** A watch was rejected or ended with an error. */
  afterFailedWatch(failure: Failure): Phase {
    this.#countMissing(failure);
    return { kind: "waiting", failure, then: this.#canResume(failure) ? "watch" : "sync" };
  }

  #canResume(failure: Failure): boolean {
    switch (failure.reason) {
      case "throttled":
      case "unreachable":
      case "forbidden":
      case "unauthorized":
      case "stalled":
      case "interrupted":
      case "malformed":
        return true;
      case "unavailable":
        // As a response, 503 means that the server was not ready. Inside of a stream, events may be lost.
        return !(failure.error instanceof WatchError);
      case "internal":
        return this.#isInsideRetryWindow();
      case "expired":
      case "versionTooLarge":
      case "unreadable":
      case "rejected":
      case "missing":
        return false;
      default:
        return failure.reason satisfies never;
    }
  }

  #isInsideRetryWindow(): boolean {
    const { clock, internalErrorRetryMs } = this.#options;
    const now = clock.monotonic();
    const isSameRun = this.#internal !== undefined && now - this.#internal.last < internalErrorGapMs;
    const since = isSameRun && this.#internal !== undefined ? this.#internal.since : now;
    const isInside = now - since < internalErrorRetryMs;
    this.#internal = isInside ? { since, last: now } : undefined;
    return isInside;
  }

  #countMissing(failure: Failure): void {
    this.#missing = failure.reason === "missing" ? this.#missing + 1 : 0;
    if (!this.isMissing) return;
    // If the resource is created again, it has another history of versions.
    this.#version = "";
    this.#isVersionUnavailable = false;
  }
}

/** Why a request or a stream failed. */
export interface Failure {
  readonly reason: WaitReason;
  readonly error: unknown;
  /** The delay that the server requested, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** An ERROR event as an error. */
export class WatchError extends Error {
  override readonly name = "WatchError";
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly status: ApiStatus;

  constructor(status: ApiStatus) {
    super(status.message ?? `Cannot continue watching: ${status.reason ?? "the server sent an ERROR event"}`);
    this.code = status.code;
    this.reason = status.reason;
    this.status = status;
  }
}

/**
 * Decides what the failure of a LIST or WATCH means. Errors are distinguished by their shape (numeric `code`, string
 * `reason`, `details`), not by class, because this folder does not depend on the client. The same function reads the
 * ApiStatus of an ERROR event.
 */
export function classify(error: unknown): Failure {
  const status = statusOf(error);
  const retryAfterMs = status.retryAfterMs;
  return { reason: reasonOf(status), error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

interface StatusView {
  readonly code: number | undefined;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly { readonly reason: string; readonly message: string }[];
  readonly retryAfterMs: number | undefined;
}

function reasonOf(status: StatusView): WaitReason {
  const { code, reason } = status;
  if (isVersionTooLarge(status)) return "versionTooLarge";
  if (code === 410 || reason === "Expired" || reason === "Gone") return "expired";
  if (code === 429 || reason === "TooManyRequests") return "throttled";
  if (code === 401 || reason === "Unauthorized") return "unauthorized";
  if (code === 403 || reason === "Forbidden") return "forbidden";
  if (code === 404 || reason === "NotFound") return "missing";
  // An object in etcd that cannot be decoded; sent when it is force-deleted (KEP-3926).
  if (reason === "StorageReadError") return "unreadable";
  if (code === 500 || reason === "InternalError") return "internal";
  if (code === undefined) return reason === "" ? "unreachable" : "unavailable";
  if (code === 408 || code >= 500) return "unavailable";
  return code >= 400 ? "rejected" : "unreachable";
}

/** The three forms in which servers report a resourceVersion that they do not have yet (client-go reflector.go). */
function isVersionTooLarge(status: StatusView): boolean {
  const { causes, message } = status;
  if (causes.some((cause) => cause.reason === "ResourceVersionTooLarge")) return true;
  if (status.reason !== "Timeout" && status.code !== 504) return false;
  return message.includes(tooLarge) || causes.some((cause) => cause.message === tooLarge);
}

const tooLarge = "Too large resource version";

function statusOf(error: unknown): StatusView {
  const inner = field(error, "status");
  const code = field(error, "code") ?? field(inner, "code");
  const details = field(error, "details") ?? field(inner, "details");
  const causes = field(details, "causes");
  const seconds = field(details, "retryAfterSeconds");
  const retryAfterMs = field(error, "retryAfterMs") ?? (typeof seconds === "number" ? seconds * 1000 : undefined);
  return {
    // An error of the transport may have a code as well: a string such as ECONNREFUSED.
    code: typeof code === "number" && code > 0 ? code : undefined,
    reason: typeof code === "string" ? "" : text(field(error, "reason") ?? field(inner, "reason")),
    message: text(field(inner, "message") ?? field(error, "message")),
    causes: Array.isArray(causes)
      ? causes.map((cause) => ({ reason: text(field(cause, "reason")), message: text(field(cause, "message")) }))
      : [],
    retryAfterMs: typeof retryAfterMs === "number" && retryAfterMs > 0 ? retryAfterMs : undefined,
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What the users of one server have in common: when it responds again after an outage. A Manager has one. */
export interface ServerRecovery {
  /** The monotonic time at which the server responded again after its last outage; -Infinity before the first one. */
  readonly recoveredAt: number;
  /** The monotonic time of the first failure of its last outage; -Infinity before the first one. */
  readonly failedAt: number;
  /** Waits `ms` milliseconds after a failed request; less when the server responds again. @throws `signal.reason` when aborted */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `listener` each time the server responds again. Dispose the result to end that. */
  listen(listener: () => void): Disposable;
}

/**
 * All durations of a reflector, in milliseconds. Production uses the defaults; black-box tests and tiny clusters shorten
 * them with flags.
 */
export interface ReflectorTiming {
  /** First wait after a failure. @default 800, as in client-go reflector.go: about 1 request a second at first */
  readonly backoffInitialMs: number;
  /**
   * Longest wait before jitter, which up to doubles it, during the first 30 s after an outage of the server. While it
   * starts, it may refuse requests for any reason. @default 1_000
   */
  readonly settlingMaxMs: number;
  /** Longest wait before jitter, which up to doubles it. @default 30_000, as in client-go: 0.22 requests a second */
  readonly backoffMaxMs: number;
  /** Healthy time after which the backoff starts over. @default 120_000, as in client-go */
  readonly backoffResetMs: number;
  /** A watch is requested to end after a random time in [this, 2 x this). @default 300_000, as in client-go */
  readonly watchTimeoutMs: number;
  /** How much longer than requested a server may leave a watch open. @default 5_000, as in kube-rs */
  readonly watchGraceMs: number;
  /**
   * Silence after which a watch counts as stalled, once its server has sent bookmarks.
   *
   * @default 150_000: a server sends one each minute (cacher.go), so two were missed
   */
  readonly silenceMs: number;
  /** A watch that ends sooner without any progress counts as a failure. @default 1_000, as in client-go */
  readonly shortWatchMs: number;
  /** When a watch counts as open if its ListWatch has not yielded a first, perhaps empty, batch. @default 5_000 */
  readonly openAfterMs: number;
  /** How long a WatchList may take to send its closing bookmark. @default 60_000: a million objects take half */
  readonly initialEventsMs: number;
  /** How long a page of a list may take. @default 90_000: the server's own limit is 60 s (--request-timeout) */
  readonly listTimeoutMs: number;
  /** How long a watch that gets internal errors (500) is retried before a relist. @default 30_000 */
  readonly internalErrorRetryMs: number;
  /** Longest Retry-After that is respected. @default 300_000, so that no server can stop a cache */
  readonly retryAfterMaxMs: number;
}

/** The durations for production. */
export const defaultTiming: ReflectorTiming = {
  backoffInitialMs: 800,
  settlingMaxMs: 1_000,
  backoffMaxMs: 30_000,
  backoffResetMs: 120_000,
  watchTimeoutMs: 300_000,
  watchGraceMs: 5_000,
  silenceMs: 150_000,
  shortWatchMs: 1_000,
  openAfterMs: 5_000,
  initialEventsMs: 60_000,
  listTimeoutMs: 90_000,
  internalErrorRetryMs: 30_000,
  retryAfterMaxMs: 300_000,
};
