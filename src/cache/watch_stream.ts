/**
 * One watch connection. readStream() opens it, passes on its batches and enforces its time limits: it decides how a
 * connection ends, not what events mean. EventReader takes the events: it decides what they mean.
 *
 *   ListWatch.watch -> readStream -> EventReader -> ReflectorTarget (the cache)
 *
 * Guarantees: readStream returns when the server closes the stream, when the connection breaks, when the reader
 * fails, when the server does not close in time, when the stream is silent, and on abort; in each case the request
 * is aborted and no timer remains. The version advances only past events that the target has taken, and the initial
 * events of a WatchList become visible together, at their closing bookmark.
 */
import {
  type Bookmark,
  compareResourceVersions,
  initialEventsEnd,
  type KubeObject,
  type ListWatch,
  type ResourceVersion,
  type WatchEvent,
  type WatchOptions,
} from "../api/mod.ts";
import { type Clock, scope } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { ChangeSink, ReflectorTarget, Replacement } from "./cache_writer.ts";
import type { CacheCounter } from "./metrics.ts";
import type { Quarantine } from "./quarantine.ts";
import { classify, type Failure, type ServerRecovery, WatchError } from "./reflector_state.ts";

/** Time limits of a watch, in milliseconds. */
export interface StreamLimits {
  readonly clock: Clock;
  /** When the server should have closed the stream. */
  readonly closesInMs: number;
  /** Silence that means a dead connection; Infinity while silence means nothing. */
  readonly silenceMs: () => number;
  /** How often the silence is checked. */
  readonly checkEveryMs: number;
  /** How long the initial events may take, and whether they are still incomplete. */
  readonly initial: { readonly withinMs: number; readonly isPending: () => boolean };
  /** When a stream that has neither failed nor yielded a batch counts as open; Infinity: never. */
  readonly opensInMs: number;
  /** Called once, when the stream is open. */
  readonly onOpen: () => void;
  /** Knows when the server responds again: a stream that is silent since an outage began may be a dead connection. */
  readonly recovery: ServerRecovery;
}

/** One watch to read. */
export interface StreamRequest<T> extends StreamLimits {
  readonly listWatch: ListWatch<T>;
  readonly options: WatchOptions;
  /** Takes a batch; a failure ends the stream. */
  readonly onBatch: (batch: readonly WatchEvent<T>[]) => Failure | undefined;
}

/** How a watch ended. */
export type StreamEnd =
  /** The server closed it. */
  | { readonly kind: "closed" }
  /** The server did not close it in time, so we did. */
  | { readonly kind: "overdue" }
  /** It was silent for too long. */
  | { readonly kind: "silent" }
  /** The server was away for a while, and the stream has been silent since before that. */
  | { readonly kind: "outdated" }
  /** The closing bookmark of the initial events did not come in time. */
  | { readonly kind: "unfinished" }
  /** `onBatch` returned a failure. */
  | { readonly kind: "failed"; readonly failure: Failure }
  /** The request was rejected, or the connection broke. */
  | { readonly kind: "broken"; readonly error: unknown };

/** Reads one watch to its end. */
export async function readStream<T>(request: StreamRequest<T>, signal: AbortSignal): Promise<StreamEnd> {
  const { listWatch, options, onBatch } = request;
  using attempt = scope(signal);
  using watchdog = new Watchdog(request, () => attempt.abort());
  try {
    for await (const batch of listWatch.watch(options, attempt.signal)) {
      if (attempt.signal.aborted) break;
      watchdog.received();
      const failure = batch.length === 0 ? undefined : onBatch(batch);
      if (failure !== undefined) return { kind: "failed", failure };
    }
    return watchdog.end ?? { kind: "closed" };
  } catch (error) {
    return watchdog.end ?? { kind: "broken", error };
  } finally {
    attempt.abort();
  }
}

/** Ends a stream that exceeds one of its time limits. */
class Watchdog implements Disposable {
  readonly #limits: StreamLimits;
  readonly #abort: () => void;
  readonly #timers: Disposable[];
  #silence: Disposable;
  #receivedAt: number;
  #isOpen = false;
  #end: StreamEnd | undefined;
  readonly #recovering: Disposable;

  constructor(limits: StreamLimits, abort: () => void) {
    const { clock, closesInMs, initial, opensInMs, checkEveryMs, recovery } = limits;
    this.#limits = limits;
    this.#abort = abort;
    this.#receivedAt = clock.monotonic();
    this.#timers = [
      clock.timer(closesInMs, () => this.#endWith({ kind: "overdue" })),
    ];
    if (opensInMs !== Infinity) this.#timers.push(clock.timer(opensInMs, () => this.#opened()));
    if (initial.isPending()) this.#timers.push(clock.timer(initial.withinMs, () => this.#checkInitial()));
    this.#silence = clock.timer(checkEveryMs, () => this.#checkSilence());
    this.#recovering = recovery.listen(() => this.#checkRecovered());
  }

  /** How the stream ended, if the watchdog ended it. */
  get end(): StreamEnd | undefined {
    return this.#end;
  }

  /** A batch was received. */
  received(): void {
    this.#receivedAt = this.#limits.clock.monotonic();
    if (!this.#isOpen) this.#opened();
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#silence[Symbol.dispose]();
    this.#recovering[Symbol.dispose]();
  }

  #opened(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#limits.onOpen();
  }

  #checkInitial(): void {
    if (this.#limits.initial.isPending()) this.#endWith({ kind: "unfinished" });
  }

  /**
   * The server responds again. A stream that is not open yet is left to the transport, which ends requests without a
   * response.
   */
  #checkRecovered(): void {
    if (this.#isOpen && this.#receivedAt < this.#limits.recovery.failedAt) this.#endWith({ kind: "outdated" });
  }

  /** One timer that is set again when it fires, so that a batch sets no timer. */
  #checkSilence(): void {
    const { clock, silenceMs, checkEveryMs } = this.#limits;
    const quietMs = clock.monotonic() - this.#receivedAt;
    if (quietMs >= silenceMs()) return this.#endWith({ kind: "silent" });
    const againInMs = quietMs < checkEveryMs ? checkEveryMs - quietMs : checkEveryMs;
    this.#silence = clock.timer(againInMs, () => this.#checkSilence());
  }

  #endWith(end: StreamEnd): void {
    this.#end ??= end;
    this.#abort();
  }
}

/** Options of an {@link EventReader}. */
export interface EventReaderOptions<T extends KubeObject> {
  readonly target: ReflectorTarget<T>;
  readonly quarantine: Quarantine;
  /** Where the watch begins; "" and "0" make the server begin with unordered ADDED events. */
  readonly from: ResourceVersion | "" | "0";
  /** The stream begins with a full state, closed by a bookmark. */
  readonly hasInitialEvents: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly count: (counter: CacheCounter) => void;
  /** Called when the closing bookmark was read and its state is in the target. */
  readonly onSynced: (version: ResourceVersion) => void;
}

/** Reads the events of one watch. This is the hot path: one switch and one call per event, without allocations. */
export class EventReader<T extends KubeObject> {
  readonly #options: EventReaderOptions<T>;
  #replacement: Replacement<T> | undefined;
  #sink: ChangeSink<T>;
  #version: ResourceVersion | "" | "0";
  /** False while ADDED events may come in any order of versions (behaviour 6). */
  #isOrdered: boolean;
  #events = 0;
  #hasProgressed = false;
  #hasSeenPeriodicBookmark = false;

  constructor(options: EventReaderOptions<T>) {
    this.#options = options;
    this.#version = options.from;
    this.#isOrdered = options.from !== "" && options.from !== "0";
    this.#replacement = options.hasInitialEvents ? options.target.beginReplace() : undefined;
    this.#sink = this.#replacement ?? options.target;
    if (options.hasInitialEvents) options.quarantine.beginSync();
  }

  /** The version up to which everything was taken; the next watch begins there. */
  get version(): ResourceVersion | "" | "0" {
    return this.#version;
  }

  /** Number of events that were read. */
  get events(): number {
    return this.#events;
  }

  /** True when the reader has taken something that the next watch will not send again. */
  get hasProgressed(): boolean {
    return this.#hasProgressed;
  }

  /** True while the full state is incomplete. */
  get isReadingInitialEvents(): boolean {
    return this.#replacement !== undefined;
  }

  /** True when the server has sent a bookmark that does not close initial events. */
  get hasSeenPeriodicBookmark(): boolean {
    return this.#hasSeenPeriodicBookmark;
  }

  /** Takes a batch. @returns why the connection must be closed, if it must */
  read(batch: readonly WatchEvent<T>[]): Failure | undefined {
    let reached: ResourceVersion | undefined;
    let failure: Failure | undefined;
    for (const event of batch) {
      this.#events++;
      let version: ResourceVersion | undefined;
      switch (event.type) {
        case "ADDED":
          version = this.#sink.upsert(event.object, event.managers);
          if (!this.#isOrdered || this.#replacement !== undefined) version = undefined;
          break;
        case "MODIFIED":
          version = this.#taken(this.#sink.upsert(event.object, event.managers));
          break;
        case "DELETED":
          version = this.#taken(this.#sink.remove(event.object, event.managers));
          break;
        case "BOOKMARK":
          version = this.#bookmark(event.object);
          break;
        case "ERROR":
          failure = classify(new WatchError(event.object));
          break;
        case "MALFORMED":
          failure = this.#malformed(event.line, event.cause, reached ?? this.#version);
          break;
        default:
          this.#unknown(event satisfies never);
          continue;
      }
      if (failure !== undefined) break;
      if (version !== undefined) reached = version;
      if (event.type !== "BOOKMARK" && event.type !== "MALFORMED") this.#hasProgressed = true;
    }
    if (reached !== undefined) this.#advance(reached);
    return failure;
  }

  #taken(version: ResourceVersion | undefined): ResourceVersion | undefined {
    this.#isOrdered = true;
    return this.#replacement === undefined ? version : undefined;
  }

  #advance(version: ResourceVersion): void {
    // A server may repeat an older version; a watch from that version could have expired.
    if ((compareResourceVersions(version, this.#version) ?? 1) <= 0) return;
    this.#version = version;
    this.#hasProgressed = true;
    this.#options.target.advance(version);
  }

  #bookmark(bookmark: Bookmark): ResourceVersion | undefined {
    const version = bookmark?.metadata?.resourceVersion;
    if (version === undefined) {
      this.#unknown(bookmark);
      return undefined;
    }
    this.#isOrdered = true;
    if (this.#replacement === undefined) {
      this.#hasSeenPeriodicBookmark = true;
      return version;
    }
    // Not the closing bookmark: the state is incomplete, so its version must not be used.
    if (bookmark.metadata.annotations?.[initialEventsEnd] !== "true") return undefined;
    const replacement = this.#replacement;
    this.#replacement = undefined;
    this.#sink = this.#options.target;
    this.#version = version;
    this.#hasProgressed = true;
    this.#options.quarantine.endSync();
    replacement.commit(version);
    this.#options.onSynced(version);
    return undefined;
  }

  #malformed(line: string, cause: unknown, reached: ResourceVersion | "" | "0"): Failure | undefined {
    const { quarantine, clock, log, count } = this.#options;
    // Initial events have no order, so among them the line alone identifies the position.
    const after = this.#replacement !== undefined || reached === "0" ? "" : reached;
    count("reflector_malformed_lines_total");
    const verdict = quarantine.inspect(line, { after, at: clock.now(), cause });
    if (verdict.kind === "suspect") {
      const error = new Error(`Cannot read a line of the watch after version "${after}": it is not an event`, {
        cause,
      });
      return { reason: "malformed", error };
    }
    if (verdict.line.key !== undefined) this.#replacement?.retain(verdict.line.key);
    if (verdict.kind === "quarantined") {
      count("reflector_quarantined_lines_total");
      log.error("skipping unreadable watch line, its object stays unchanged", { key: verdict.line.key, after, cause });
    }
    return undefined;
  }

  #unknown(event: unknown): void {
    this.#options.count("reflector_skipped_events_total");
    this.#options.log.warn("skipping watch event of unknown type", { event: JSON.stringify(event)?.slice(0, 256) });
  }
}
