/**
 * Reflector: keeps a target (the cache) equal to the server's state, from a ListWatch, for as long as it runs.
 *
 *   streaming (WatchList) or listing (pages) -> watching -> waiting -> ...
 *
 * A state machine: `streaming` and `listing` read a full state, `watching` follows the changes from its version, `waiting`
 * is between attempts. Each phase has one method that does its work and returns the next phase; `reflector_state.ts`
 * decides what follows from a failure, `watch_stream.ts` reads a watch.
 *
 * Guarantees: versions are requested as behaviours 1-6 say; what a watch can resume is never listed again; a failure
 * ends nothing, it makes the reflector wait and show the reason in `status`; after an abort no request and no timer
 * remains.
 */
import type { KubeObject, ListWatch, ObjectKey, ResourceVersion } from "../api/mod.ts";
import { Backoff, type Clock, type Random, type Scope, scope, systemClock, systemRandom } from "../async/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import type { ReflectorTarget } from "./cache_writer.ts";
import { findInconsistency, type SyncedState } from "./consistency_check.ts";
import { type CacheMetrics, noCacheMetrics } from "./metrics.ts";
import { Quarantine } from "./quarantine.ts";
import { readList } from "./read_list.ts";
import {
  classify,
  defaultTiming,
  type Failure,
  type Phase,
  ReflectorState,
  type ReflectorTiming,
  type ServerRecovery,
} from "./reflector_state.ts";
import type { QuarantinedLine, ReflectorStatus, WaitReason } from "./status.ts";
import { EventReader, readStream, type StreamEnd } from "./watch_stream.ts";

/** Items per page of a list, as client-go's pager. */
export const defaultPageSize = 500;

/** Options of a {@link Reflector}. */
export interface ReflectorOptions<T extends KubeObject> {
  /** For logs, metrics and errors, e.g. `foos.samplecontroller.k8s.io in namespace x`. */
  readonly name: string;
  readonly listWatch: ListWatch<T>;
  readonly target: ReflectorTarget<T>;
  /** Request a stream of the full state before falling back to lists. @default true */
  readonly watchList?: boolean;
  /** The first list is not older than this. @default "0", any version that the server has in memory */
  readonly notOlderThan?: ResourceVersion;
  /** Items per page of a list. @default 500, as client-go's pager */
  readonly pageSize?: number;
  /** Compare with an exact LIST after each sync; for tests. @default false */
  readonly checkConsistency?: boolean;
  /** Knows when the server responds again after an outage. @default the reflector waits for its own backoff */
  readonly recovery?: ServerRecovery;
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
  /** The generation of the part that `listWatch` reads: a higher one makes earlier reads incomplete. @default always 0 */
  readonly generation?: () => number;
  /** Called when a full state is in the target, with the generation that it began with. @default not called */
  readonly onFilled?: (generation: number) => void;
  /** Called with each status that may be news. @default not called */
  readonly onStatus?: (status: ReflectorStatus) => number | undefined;
  /** Called with the inconsistencies that `checkConsistency` finds. @default they are logged */
  readonly onInconsistency?: (error: Error) => void;
}

/** How long a server that has returned may refuse requests because it is still starting. */
const settlingMs = 30_000;

/** Keeps one target equal to one ListWatch. */
export class Reflector<T extends KubeObject> {
  readonly #options: Required<
    Omit<ReflectorOptions<T>, "timing" | "watchList" | "notOlderThan" | "onStatus" | "onFilled">
  >;
  readonly #onStatus: ReflectorOptions<T>["onStatus"];
  readonly #onFilled: ReflectorOptions<T>["onFilled"];
  readonly #timing: ReflectorTiming;
  readonly #backoff: Backoff;
  readonly #settlingBackoff: Backoff;
  readonly #state: ReflectorState;
  readonly #quarantine = new Quarantine();
  readonly #labels: { readonly name: string };
  #status: ReflectorStatus = { kind: "starting" };
  /** The generation of the last full state that was begun. */
  #generation = -1;
  #isRefillDue = false;
  /** What it does now. */
  #current: Scope | undefined;
  #attempts = 0;
  #recoveredAt = -Infinity;
  #expectsBookmarks = false;
  #consistencyCheck: Promise<void> = Promise.resolve();

  constructor(options: ReflectorOptions<T>) {
    const { name, watchList = true, pageSize = defaultPageSize, clock = systemClock, random = systemRandom } = options;
    if (!(Number.isInteger(pageSize) && pageSize > 0)) {
      throw new RangeError(`Cannot create Reflector ${name}: pageSize ${pageSize} is not a positive integer`);
    }
    const log = (options.log ?? logger("cache")).with({ reflector: name });
    this.#timing = { ...defaultTiming, ...options.timing };
    const { backoffInitialMs, backoffMaxMs, backoffResetMs, internalErrorRetryMs } = this.#timing;
    const settlingMaxMs = Math.min(backoffMaxMs, this.#timing.settlingMaxMs);
    const backoff = { resetAfterMs: backoffResetMs, jitter: 1, clock, random };
    this.#backoff = new Backoff({ ...backoff, initialMs: backoffInitialMs, maxMs: backoffMaxMs });
    this.#settlingBackoff = new Backoff({
      ...backoff,
      initialMs: Math.min(backoffInitialMs, settlingMaxMs),
      maxMs: settlingMaxMs,
    });
    const { notOlderThan } = options;
    this.#state = new ReflectorState({ watchList, pageSize, notOlderThan, internalErrorRetryMs, clock });
    this.#labels = { name };
    this.#onStatus = options.onStatus;
    this.#onFilled = options.onFilled;
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
      generation: options.generation ?? (() => 0),
      recovery: options.recovery ?? noRecovery(clock),
      onInconsistency: options.onInconsistency ?? ((error) => log.error("cache differs from server", { error })),
    };
  }

  /** What it is doing. */
  get status(): ReflectorStatus {
    return this.#status;
  }

  /** When the server last proved that the cache is current, by the monotonic clock; undefined before the first sync. */
  get confirmedAt(): number | undefined {
    return this.#state.confirmedAt;
  }

  /** Lines that could not be read and are skipped. */
  get quarantined(): readonly QuarantinedLine[] {
    return this.#quarantine.lines;
  }

  /** The server sent a readable state of `key`: its lines are not quarantined any more. */
  release(key: ObjectKey): void {
    if (this.#quarantine.size > 0) this.#quarantine.release(key);
  }

  /** Reads the newest full state, unless one of this generation was read or is being read. */
  refill(generation: number): void {
    // The first full state will have it.
    if (this.#current === undefined) return;
    if (this.#generation >= generation || this.#isRefillDue) return;
    this.#isRefillDue = true;
    this.#current?.abort();
  }

  /** Works until aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    // A part that another process had before must be read as it left it.
    let phase = this.#options.generation() > 0 ? this.#state.refill() : this.#state.syncPhase();
    this.#options.metrics.set("informer_following", this.#labels, 0);
    while (!signal.aborted) {
      using current = scope(signal);
      this.#current = current;
      const next = await this.#step(phase, current.signal);
      phase = this.#isRefillDue ? this.#state.refill() : next;
      this.#isRefillDue = false;
    }
    this.#status = { kind: "stopped" };
    await this.#consistencyCheck;
  }

  async #step(phase: Phase, signal: AbortSignal): Promise<Phase> {
    switch (phase.kind) {
      case "streaming":
        return await this.#watch({ hasInitialEvents: true }, signal);
      case "listing":
        return await this.#list(signal);
      case "watching":
        return await this.#watch({ hasInitialEvents: false }, signal);
      case "waiting":
        return await this.#wait(phase, signal);
      default:
        return phase satisfies never;
    }
  }

  async #list(signal: AbortSignal): Promise<Phase> {
    const { clock, listWatch, target, metrics } = this.#options;
    this.#working({ kind: "listing" });
    const version = this.#state.listVersion;
    const generation = this.#begin();
    const startedAt = clock.monotonic();
    metrics.count("reflector_lists_total", this.#labels);
    try {
      const request = { listWatch, target, version, pageSize: this.#state.pageSize, clock };
      const list = await readList({ ...request, timeoutMs: this.#timing.listTimeoutMs }, signal);
      if (signal.aborted) return { kind: "listing" };
      metrics.observe("reflector_list_duration_seconds", this.#labels, (clock.monotonic() - startedAt) / 1000);
      metrics.observe("reflector_items_per_list", this.#labels, list.replacement.size);
      this.#quarantine.beginSync();
      this.#quarantine.endSync();
      list.replacement.commit(list.version);
      this.#state.listed(list.version, { version, isPaged: list.isPaged });
      this.#synced(list.version, generation, signal);
      return { kind: "watching" };
    } catch (error) {
      return this.#state.afterFailedSync(classify(error), "listing");
    }
  }

  /** Reads one watch, with or without the full state at its beginning. */
  async #watch(how: { readonly hasInitialEvents: boolean }, signal: AbortSignal): Promise<Phase> {
    const { clock, random, listWatch, metrics } = this.#options;
    const { hasInitialEvents } = how;
    if (hasInitialEvents) this.#working({ kind: "streaming" });
    const timeoutSeconds = Math.floor(this.#timing.watchTimeoutMs * (1 + random.next()) / 1000);
    const reader = this.#reader(hasInitialEvents, signal);
    const startedAt = clock.monotonic();
    metrics.count("reflector_watches_total", this.#labels);
    const end = await readStream({
      listWatch,
      options: {
        resourceVersion: reader.version,
        timeoutSeconds,
        allowWatchBookmarks: true,
        ...(hasInitialEvents ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } as const : {}),
      },
      clock,
      closesInMs: timeoutSeconds * 1000 + this.#timing.watchGraceMs,
      silenceMs: () => this.#expectsBookmarks && !reader.isReadingInitialEvents ? this.#timing.silenceMs : Infinity,
      checkEveryMs: this.#timing.silenceMs,
      initial: { withinMs: this.#timing.initialEventsMs, isPending: () => reader.isReadingInitialEvents },
      opensInMs: listWatch.announcesOpen === true ? Infinity : this.#timing.openAfterMs,
      onOpen: () => this.#opened(reader),
      recovery: this.#options.recovery,
      onBatch: (batch) => {
        const failure = reader.read(batch);
        if (reader.hasSeenPeriodicBookmark) this.#expectsBookmarks = true;
        if (failure === undefined && !reader.isReadingInitialEvents) this.#state.confirmed();
        return failure;
      },
    }, signal);
    const durationMs = clock.monotonic() - startedAt;
    metrics.observe("reflector_watch_duration_seconds", this.#labels, durationMs / 1000);
    metrics.observe("reflector_items_per_watch", this.#labels, reader.events);
    return signal.aborted ? { kind: "watching" } : this.#afterStream(end, reader, durationMs);
  }

  #reader(hasInitialEvents: boolean, signal: AbortSignal): EventReader<T> {
    const { clock, target, metrics, log } = this.#options;
    const generation = hasInitialEvents ? this.#begin() : this.#generation;
    return new EventReader({
      target,
      quarantine: this.#quarantine,
      from: hasInitialEvents ? this.#state.streamVersion : this.#state.version,
      hasInitialEvents,
      clock,
      log,
      count: (counter) => metrics.count(counter, this.#labels),
      onSynced: (version) => {
        this.#state.synced(version);
        this.#synced(version, generation, signal);
        this.#watching();
      },
    });
  }

  #afterStream(end: StreamEnd, reader: EventReader<T>, durationMs: number): Phase {
    const { log, metrics } = this.#options;
    if (!reader.isReadingInitialEvents) this.#state.watched(reader.version, reader.hasProgressed);
    switch (end.kind) {
      case "closed":
      case "overdue": {
        if (reader.isReadingInitialEvents) {
          return this.#state.afterInterruptedStream(interrupted("it ended before the closing bookmark"));
        }
        if (reader.hasProgressed || durationMs >= this.#timing.shortWatchMs) return { kind: "watching" };
        metrics.count("reflector_short_watches_total", this.#labels);
        return this.#state.afterFailedWatch(interrupted("it ended at once without any event"));
      }
      case "silent":
        metrics.count("reflector_stalled_watches_total", this.#labels);
        // The next server may send no bookmarks: wait for the first one again.
        this.#expectsBookmarks = false;
        return this.#state.afterFailedWatch({
          reason: "stalled",
          error: new Error("Cannot continue watching: the stream is silent"),
        });
      case "outdated":
        return this.#afterFailedStream(interrupted("the server was away, and the stream is silent since then"), reader);
      case "unfinished":
        log.warn("falling back to lists", { reason: "the server does not close the initial events of a watch" });
        return this.#state.fallBackToLists();
      case "failed":
        return this.#afterFailedStream(end.failure, reader);
      case "broken":
        return this.#afterFailedStream(classify(end.error), reader);
      default:
        return end satisfies never;
    }
  }

  #afterFailedStream(failure: Failure, reader: EventReader<T>): Phase {
    if (!reader.isReadingInitialEvents) return this.#state.afterFailedWatch(failure);
    const isInterrupted = failure.reason === "interrupted" || (reader.events > 0 && failure.reason === "unreachable");
    if (isInterrupted) return this.#state.afterInterruptedStream(failure);
    return this.#state.afterFailedSync(failure, "streaming");
  }

  async #wait(phase: Extract<Phase, { kind: "waiting" }>, signal: AbortSignal): Promise<Phase> {
    const { clock, log, target, recovery, metrics } = this.#options;
    const { failure } = phase;
    if (this.#state.isMissing) target.clear();
    const requestedMs = Math.min(failure.retryAfterMs ?? 0, this.#timing.retryAfterMaxMs);
    const isServerFailure = requestedMs === 0 && serverFailures.has(failure.reason);
    const delayMs = Math.ceil(Math.max(this.#nextBackoffMs(isServerFailure), requestedMs));
    this.#attempts++;
    this.#status = {
      kind: "waiting",
      reason: failure.reason,
      error: failure.error,
      attempts: this.#attempts,
      nextAttemptAt: clock.now() + delayMs,
    };
    metrics.set("informer_following", this.#labels, 0);
    const entry = this.#onStatus?.(this.#status);
    log.info("retrying", { ...failure, attempts: this.#attempts, delayMs, entry });
    await (isServerFailure ? recovery : clock).sleep(delayMs, signal).catch(() => {});
    return phase.then === "sync" ? this.#state.syncPhase() : { kind: "watching" };
  }

  /** A failure during an outage says nothing about the time after it, so that the backoff starts over then. */
  #nextBackoffMs(isServerFailure: boolean): number {
    const { clock, recovery: { recoveredAt } } = this.#options;
    if (recoveredAt !== this.#recoveredAt) this.#backoff.reset();
    this.#recoveredAt = recoveredAt;
    // A server that responds, but is starting, is asked often. One that is away is waited for by the probes of `recovery`.
    const isSettling = !isServerFailure && clock.monotonic() - recoveredAt < settlingMs;
    return (isSettling ? this.#settlingBackoff : this.#backoff).next();
  }

  /** An attempt has begun. After a failure, the status shows the failure until an attempt succeeds. */
  #working(status: ReflectorStatus): void {
    if (this.#status.kind !== "waiting") this.#status = status;
  }

  /** The server has accepted a watch. */
  #opened(reader: EventReader<T>): void {
    if (!reader.isReadingInitialEvents) this.#watching();
  }

  #watching(): void {
    this.#attempts = 0;
    if (this.#status.kind === "watching") return;
    this.#status = { kind: "watching", sinceAt: this.#options.clock.now() };
    this.#options.metrics.set("informer_following", this.#labels, 1);
    this.#onStatus?.(this.#status);
  }

  /** A full state is being read from now on. @returns its generation */
  #begin(): number {
    return this.#generation = this.#options.generation();
  }

  #synced(version: ResourceVersion, generation: number, signal: AbortSignal): void {
    const { log, target, checkConsistency } = this.#options;
    log.debug("synced", { version });
    this.#onFilled?.(generation);
    if (!checkConsistency) return;
    const unconfirmed = target.unconfirmedKeys();
    const entries = new Map(target.entries());
    this.#consistencyCheck = this.#consistencyCheck.then(() =>
      this.#compare({ version, entries, unconfirmed }, signal)
    );
  }

  async #compare(state: SyncedState<T>, signal: AbortSignal): Promise<void> {
    const { listWatch, name, onInconsistency, log } = this.#options;
    const { version } = state;
    try {
      const difference = await findInconsistency(listWatch, state, signal);
      if (difference !== undefined) {
        onInconsistency(new Error(`Cannot trust cache ${name} at version ${version}: ${difference}`));
      }
    } catch (error) {
      // Versions are compacted after minutes, so a missing response proves nothing.
      if (!signal.aborted) log.warn("consistency check failed", { error });
    }
  }
}

/** Without a Recovery, a reflector learns of the server's return by its own requests. */
function noRecovery(clock: Clock): ServerRecovery {
  return {
    recoveredAt: -Infinity,
    failedAt: -Infinity,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    listen: () => ({ [Symbol.dispose]: () => {} }),
  };
}

/** The failures that end when the server responds again. */
const serverFailures: ReadonlySet<WaitReason> = new Set(["unreachable", "unavailable", "interrupted", "stalled"]);

function interrupted(state: string): Failure {
  return { reason: "interrupted", error: new Error(`Cannot continue watching: ${state}`) };
}
