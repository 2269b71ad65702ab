/**
 * Course: what a reflector remembers of its server, and which state follows from what happened. No time passes and
 * nothing is requested here, so every rule can be read, and tested, in one place.
 *
 * The rules: a broken or refused watch is taken up again at the same version. A full state is asked for only after
 * 410, after a version the server does not know, after errors that say the stream cannot be trusted, and after the
 * resource was gone. It is asked for at the last version seen, and at "" once only if that fails as well.
 */
import type { ResourceVersion } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import { type Failure, WatchError } from "./_classify.ts";

/** The states of a reflector. */
export type State =
  /** Reads a full state as a stream, then goes on watching on it. */
  | { readonly kind: "streaming" }
  /** Reads a full state in pages. */
  | { readonly kind: "listing" }
  /** Follows changes from the last version. */
  | { readonly kind: "watching" }
  /** Lets time pass, then goes on. */
  | { readonly kind: "waiting"; readonly failure: Failure; readonly then: "sync" | "watch" };

/** Options of a {@link Course}. */
export interface CourseOptions {
  readonly watchList: boolean;
  readonly pageSize: number;
  /** Milliseconds during which a watch that gets 500s is retried. */
  readonly internalErrorRetryMs: number;
  readonly clock: Clock;
}

/** Streams cut off before their closing bookmark after which lists are tried, which can make progress page by page. */
const cutStreamsAllowed = 3;

/** A 404 is believed when it is said twice in a row: a server that has just started may not know its CRDs yet. */
const missingConfirmations = 2;

/** Internal errors further apart than a minute are separate incidents, as client-go's RetryWithDeadline. */
const internalRunEndsAfterMs = 60_000;

/** Decides what a reflector does next. */
export class Course {
  readonly #options: CourseOptions;
  #version: ResourceVersion | "" | "0" = "";
  #versionUnavailable = false;
  #streaming: boolean;
  #alwaysPaged = false;
  #cutStreams = 0;
  #missing = 0;
  /** The present run of internal errors, by the monotonic clock. */
  #internal: { readonly since: number; readonly last: number } | undefined;

  constructor(options: CourseOptions) {
    this.#options = options;
    this.#streaming = options.watchList;
  }

  /** Where the next watch starts. */
  get version(): ResourceVersion | "" | "0" {
    return this.#version;
  }

  /** The version for a list: "0" at first, which a server answers from memory. */
  get listVersion(): ResourceVersion | "" | "0" {
    if (this.#versionUnavailable) return "";
    return this.#version === "" ? "0" : this.#version;
  }

  /** The version for a stream of the full state: "" at first, which is answered consistently. */
  get streamVersion(): ResourceVersion | "" | "0" {
    return this.#versionUnavailable ? "" : this.#version;
  }

  /** Items per page; undefined where paging would make the server bypass its cache (behaviours.md 4). */
  get pageSize(): number | undefined {
    const version = this.listVersion;
    return version === "" || version === "0" || this.#alwaysPaged ? this.#options.pageSize : undefined;
  }

  /** The resource is gone for certain. */
  get isMissing(): boolean {
    return this.#missing >= missingConfirmations;
  }

  /** How to get a full state. */
  sync(): State {
    return { kind: this.#streaming ? "streaming" : "listing" };
  }

  /** A full state has come. */
  synced(version: ResourceVersion | ""): void {
    this.#version = version;
    this.#versionUnavailable = false;
    this.#cutStreams = 0;
    this.#missing = 0;
  }

  /** A list has come, in several pages or not, as an answer to `asked`. */
  listed(version: ResourceVersion | "", asked: { readonly version: string; readonly paged: boolean }): void {
    // Pages at "0" mean that the server has no watch cache; it will want paging at every version.
    if (asked.version === "0" && asked.paged) this.#alwaysPaged = true;
    this.synced(version);
  }

  /** A watch got as far as `version`. */
  watched(version: ResourceVersion | "" | "0", progressed: boolean): void {
    this.#version = version;
    if (!progressed) return;
    this.#internal = undefined;
    this.#missing = 0;
  }

  /** The server does not close its initial events, or does not have them. */
  giveUpStreaming(): State {
    this.#streaming = false;
    return { kind: "listing" };
  }

  /** A stream ended after some initial events and before the closing bookmark. */
  afterCutStream(failure: Failure): State {
    if (++this.#cutStreams >= cutStreamsAllowed) this.#streaming = false;
    return { kind: "waiting", failure, then: "sync" };
  }

  /** A full state could not be had. */
  afterFailedSync(failure: Failure, how: "streaming" | "listing"): State {
    const { reason } = failure;
    const wait: State = { kind: "waiting", failure, then: "sync" };
    this.#countMissing(failure);
    if (reason === "expired" || reason === "future") {
      if (this.#versionUnavailable) return wait;
      this.#versionUnavailable = true;
      return { kind: how };
    }
    if (reason === "refused") {
      if (how === "streaming") return this.giveUpStreaming();
      // Maybe it is the version that the server does not like.
      if (this.#version !== "") this.#versionUnavailable = true;
    }
    return wait;
  }

  /** A watch was refused or ended with an error. */
  afterFailedWatch(failure: Failure): State {
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
      case "cut":
      case "malformed":
        return true;
      case "unavailable":
        // Refused with 503: the server was not there. Sent inside of a stream: events may be lost.
        return !(failure.error instanceof WatchError);
      case "internal":
        return this.#insideRetryWindow();
      case "expired":
      case "future":
      case "unreadable":
      case "refused":
      case "missing":
        return false;
      default:
        return failure.reason satisfies never;
    }
  }

  #insideRetryWindow(): boolean {
    const { clock, internalErrorRetryMs } = this.#options;
    const now = clock.monotonic();
    const goesOn = this.#internal !== undefined && now - this.#internal.last < internalRunEndsAfterMs;
    const since = goesOn && this.#internal !== undefined ? this.#internal.since : now;
    const inside = now - since < internalErrorRetryMs;
    this.#internal = inside ? { since, last: now } : undefined;
    return inside;
  }

  #countMissing(failure: Failure): void {
    this.#missing = failure.reason === "missing" ? this.#missing + 1 : 0;
    if (!this.isMissing) return;
    // What comes back is another resource of the same name.
    this.#version = "";
    this.#versionUnavailable = false;
  }
}
