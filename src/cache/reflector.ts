/**
 * Reflector: keeps a target (the cache) in step with a ListWatch, for as long as it runs, whatever the server does.
 *
 * A state machine: `streaming` (WatchList) or `listing` (pages) bring a full state, `watching` follows from its
 * version, `waiting` is between attempts. Each state has one method that does its work and answers the next state;
 * `_course.ts` decides where a failure leads.
 *
 * Guarantees: versions are asked for by the rules of behaviours.md 1-6; whatever can be resumed by a watch is never
 * relisted; a failure ends nothing, it only makes the reflector wait and say so in `status`; after abort no request
 * and no timer is left.
 */
import type { KubeObject, ListWatch, ObjectKey, ResourceVersion } from "../api/mod.ts";
import { Backoff, type Clock, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { classify, type Failure } from "./_classify.ts";
import { findInconsistency } from "./_consistency.ts";
import { Course, type State } from "./_course.ts";
import { EventReader } from "./_event_reader.ts";
import { readList } from "./_pages.ts";
import { Quarantine } from "./_quarantine.ts";
import { readStream, type StreamEnd } from "./_stream.ts";
import type { ReflectorTarget } from "./target.ts";
import { type CacheMetrics, noCacheMetrics } from "./metrics.ts";
import type { QuarantinedLine, ReflectorStatus } from "./status.ts";
import { defaultTiming, type ReflectorTiming } from "./timing.ts";

/** Options of a {@link Reflector}. */
export interface ReflectorOptions<T extends KubeObject> {
  /** For logs, metrics and errors, e.g. `foos.samplecontroller.k8s.io in namespace x`. */
  readonly name: string;
  readonly listWatch: ListWatch<T>;
  readonly target: ReflectorTarget<T>;
  /** Ask for a stream of the full state before falling back to lists. @default true */
  readonly watchList?: boolean;
  /** Items per page of a list. @default 500, as client-go's pager */
  readonly pageSize?: number;
  /** Compare with an exact LIST after each sync; for tests. @default false */
  readonly checkConsistency?: boolean;
  /** @default defaultTiming */
  readonly timing?: Partial<ReflectorTiming>;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
  /** @default logger("cache") */
  readonly log?: Logger;
  /** @default noCacheMetrics */
  readonly metrics?: CacheMetrics;
  /** Hears of inconsistencies found in test mode. @default they are logged */
  readonly onInconsistency?: (error: Error) => void;
}

/** Mirrors one ListWatch into one target. */
export class Reflector<T extends KubeObject> {
  readonly #options: Required<Omit<ReflectorOptions<T>, "timing" | "watchList">>;
  readonly #timing: ReflectorTiming;
  readonly #backoff: Backoff;
  readonly #course: Course;
  readonly #quarantine = new Quarantine();
  readonly #labels: { readonly name: string };
  #status: ReflectorStatus = { kind: "starting" };
  #attempts = 0;
  #expectsBookmarks = false;
  #check: Promise<void> = Promise.resolve();

  constructor(options: ReflectorOptions<T>) {
    const { name, watchList = true, pageSize = 500, clock = systemClock, random = systemRandom } = options;
    if (!(Number.isInteger(pageSize) && pageSize > 0)) {
      throw new RangeError(`Cannot create Reflector ${name}: pageSize ${pageSize} is not a positive integer`);
    }
    const log = (options.log ?? logger("cache")).with({ reflector: name });
    this.#timing = { ...defaultTiming, ...options.timing };
    const { backoffInitialMs, backoffMaxMs, backoffResetMs, internalErrorRetryMs } = this.#timing;
    this.#backoff = new Backoff({
      initialMs: backoffInitialMs,
      maxMs: backoffMaxMs,
      resetAfterMs: backoffResetMs,
      jitter: 1,
      clock,
      random,
    });
    this.#course = new Course({ watchList, pageSize, internalErrorRetryMs, clock });
    this.#labels = { name };
    this.#options = {
      name,
      listWatch: options.listWatch,
      target: options.target,
      pageSize,
      clock,
      random,
      log,
      checkConsistency: options.checkConsistency ?? false,
      metrics: options.metrics ?? noCacheMetrics,
      onInconsistency: options.onInconsistency ??
        ((error) => log.error("The cache is not what the server has", { error })),
    };
  }

  /** What it is doing. */
  get status(): ReflectorStatus {
    return this.#status;
  }

  /** Lines that could not be read and are passed over. */
  get quarantined(): readonly QuarantinedLine[] {
    return this.#quarantine.lines;
  }

  /** A good state of `key` has been taken. */
  release(key: ObjectKey): void {
    if (this.#quarantine.size > 0) this.#quarantine.release(key);
  }

  /** Mirrors until aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let state = this.#course.sync();
    while (!signal.aborted) state = await this.#step(state, signal);
    this.#status = { kind: "stopped" };
    await this.#check;
  }

  async #step(state: State, signal: AbortSignal): Promise<State> {
    switch (state.kind) {
      case "streaming":
        return await this.#follow({ initialEvents: true }, signal);
      case "listing":
        return await this.#list(signal);
      case "watching":
        return await this.#follow({ initialEvents: false }, signal);
      case "waiting":
        return await this.#wait(state, signal);
      default:
        return state satisfies never;
    }
  }

  async #list(signal: AbortSignal): Promise<State> {
    const { clock, listWatch, target, metrics } = this.#options;
    this.#working({ kind: "listing" });
    const version = this.#course.listVersion;
    const startedAt = clock.monotonic();
    metrics.count("reflector_lists_total", this.#labels);
    try {
      const request = { listWatch, target, version, pageSize: this.#course.pageSize, clock };
      const list = await readList({ ...request, timeoutMs: this.#timing.listTimeoutMs }, signal);
      if (signal.aborted) return { kind: "listing" };
      metrics.observe("reflector_list_duration_seconds", this.#labels, (clock.monotonic() - startedAt) / 1000);
      metrics.observe("reflector_items_per_list", this.#labels, list.replacement.size);
      this.#quarantine.beginSync();
      this.#quarantine.endSync();
      list.replacement.commit(list.version);
      this.#course.listed(list.version, { version, paged: list.paged });
      this.#synced(list.version, signal);
      return { kind: "watching" };
    } catch (error) {
      return this.#course.afterFailedSync(classify(error), "listing");
    }
  }

  /** Reads one watch, with the full state at its beginning or without. */
  async #follow(how: { readonly initialEvents: boolean }, signal: AbortSignal): Promise<State> {
    const { clock, random, listWatch, metrics } = this.#options;
    const { initialEvents } = how;
    if (initialEvents) this.#working({ kind: "streaming" });
    const timeoutSeconds = Math.floor(this.#timing.watchTimeoutMs * (1 + random.next()) / 1000);
    const reader = this.#reader(initialEvents, signal);
    const startedAt = clock.monotonic();
    metrics.count("reflector_watches_total", this.#labels);
    const end = await readStream({
      listWatch,
      options: {
        resourceVersion: reader.version,
        timeoutSeconds,
        allowWatchBookmarks: true,
        ...(initialEvents ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } as const : {}),
      },
      clock,
      closesInMs: timeoutSeconds * 1000 + this.#timing.watchGraceMs,
      silenceMs: () => this.#expectsBookmarks && !reader.initial ? this.#timing.silenceMs : Infinity,
      checkEveryMs: this.#timing.silenceMs,
      initial: { withinMs: this.#timing.initialEventsMs, pending: () => reader.initial },
      opensInMs: this.#timing.openAfterMs,
      onOpen: () => this.#opened(reader),
      onBatch: (batch) => {
        const failure = reader.read(batch);
        if (reader.sawPeriodicBookmark) this.#expectsBookmarks = true;
        return failure;
      },
    }, signal);
    const tookMs = clock.monotonic() - startedAt;
    metrics.observe("reflector_watch_duration_seconds", this.#labels, tookMs / 1000);
    metrics.observe("reflector_items_per_watch", this.#labels, reader.events);
    return signal.aborted ? { kind: "watching" } : this.#afterStream(end, reader, tookMs);
  }

  #reader(initialEvents: boolean, signal: AbortSignal): EventReader<T> {
    const { clock, target, metrics, log } = this.#options;
    return new EventReader({
      target,
      quarantine: this.#quarantine,
      from: initialEvents ? this.#course.streamVersion : this.#course.version,
      initialEvents,
      clock,
      log,
      count: (counter) => metrics.count(counter, this.#labels),
      onSynced: (version) => {
        this.#course.synced(version);
        this.#synced(version, signal);
        this.#watching();
      },
    });
  }

  #afterStream(end: StreamEnd, reader: EventReader<T>, tookMs: number): State {
    const { log, metrics } = this.#options;
    if (!reader.initial) this.#course.watched(reader.version, reader.progressed);
    switch (end.kind) {
      case "closed":
      case "overdue": {
        if (reader.initial) return this.#course.afterCutStream(cut("it ended before the closing bookmark"));
        if (reader.progressed || tookMs >= this.#timing.shortWatchMs) return { kind: "watching" };
        metrics.count("reflector_short_watches_total", this.#labels);
        return this.#course.afterFailedWatch(cut("it ended at once and brought nothing"));
      }
      case "silent":
        metrics.count("reflector_stalled_watches_total", this.#labels);
        // Maybe this server sends none: learn it anew.
        this.#expectsBookmarks = false;
        return this.#course.afterFailedWatch({
          reason: "stalled",
          error: new Error("Cannot go on watching: it is silent"),
        });
      case "unfinished":
        log.warn("The server does not close the initial events of a watch, so lists are used from here on");
        return this.#course.giveUpStreaming();
      case "given up":
        return this.#afterFailedStream(end.failure, reader);
      case "broken":
        return this.#afterFailedStream(classify(end.error), reader);
      default:
        return end satisfies never;
    }
  }

  #afterFailedStream(failure: Failure, reader: EventReader<T>): State {
    if (!reader.initial) return this.#course.afterFailedWatch(failure);
    const wasCut = reader.events > 0 && failure.reason === "unreachable";
    return wasCut ? this.#course.afterCutStream(failure) : this.#course.afterFailedSync(failure, "streaming");
  }

  async #wait(state: Extract<State, { kind: "waiting" }>, signal: AbortSignal): Promise<State> {
    const { clock, log, target } = this.#options;
    const { failure } = state;
    if (this.#course.isMissing) target.clear();
    const askedMs = Math.min(failure.retryAfterMs ?? 0, this.#timing.retryAfterMaxMs);
    const delayMs = Math.ceil(Math.max(this.#backoff.next(), askedMs));
    this.#attempts++;
    this.#status = {
      kind: "waiting",
      reason: failure.reason,
      error: failure.error,
      attempts: this.#attempts,
      nextAttemptAt: clock.now() + delayMs,
    };
    log.info("Waits before the next attempt", { ...failure, attempts: this.#attempts, delayMs });
    await clock.sleep(delayMs, signal).catch(() => {});
    return state.then === "sync" ? this.#course.sync() : { kind: "watching" };
  }

  /** Work has begun. While attempts fail, the failure is what the status tells. */
  #working(status: ReflectorStatus): void {
    if (this.#status.kind !== "waiting") this.#status = status;
  }

  /** The server has accepted a watch. */
  #opened(reader: EventReader<T>): void {
    if (!reader.initial) this.#watching();
  }

  #watching(): void {
    this.#attempts = 0;
    if (this.#status.kind !== "watching") this.#status = { kind: "watching", sinceAt: this.#options.clock.now() };
  }

  #synced(version: ResourceVersion, signal: AbortSignal): void {
    const { log, target, checkConsistency } = this.#options;
    log.debug("The cache holds a full state", { version });
    if (!checkConsistency) return;
    const entries = new Map(target.entries());
    this.#check = this.#check.then(() => this.#compare(version, entries, signal));
  }

  async #compare(version: ResourceVersion, entries: ReadonlyMap<ObjectKey, T>, signal: AbortSignal): Promise<void> {
    const { listWatch, name, onInconsistency, log } = this.#options;
    try {
      const difference = await findInconsistency(listWatch, { version, entries }, signal);
      if (difference !== undefined) {
        onInconsistency(new Error(`Cannot trust cache ${name} at version ${version}: ${difference}`));
      }
    } catch (error) {
      // Versions are compacted after minutes: an answer that never came proves nothing.
      if (!signal.aborted) log.warn("The cache could not be compared with a list", { error });
    }
  }
}

function cut(what: string): Failure {
  return { reason: "cut", error: new Error(`Cannot go on watching: ${what}`) };
}
