/**
 * readStream(): opens one watch, hands on its batches and watches over time. It knows how a connection ends, not what
 * its events mean.
 *
 * Guarantees: returns when the server closes, when the connection breaks, when the reader has enough, when a watch is
 * not closed in time, when it falls silent, and on abort; the request is aborted and no timer left in each case.
 */
import type { ListWatch, WatchEvent, WatchOptions } from "../api/mod.ts";
import { type Clock, scope } from "../async/mod.ts";
import type { Failure } from "./_classify.ts";

/** How long a watch may take, be silent, and so on; all in milliseconds. */
export interface StreamLimits {
  readonly clock: Clock;
  /** When the server should have closed the stream. */
  readonly closesInMs: number;
  /** Silence that means a dead connection; Infinity while silence means nothing. */
  readonly silenceMs: () => number;
  /** How often the silence is looked at. */
  readonly checkEveryMs: number;
  /** How long the initial events may take, and whether they are still incomplete. */
  readonly initial: { readonly withinMs: number; readonly pending: () => boolean };
  /** When a stream that has not failed counts as open, should no batch say so. */
  readonly opensInMs: number;
  /** Called once, when the stream is open. */
  readonly onOpen: () => void;
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
  /** Nothing came for too long. */
  | { readonly kind: "silent" }
  /** The closing bookmark of the initial events did not come in time. */
  | { readonly kind: "unfinished" }
  /** The reader had enough. */
  | { readonly kind: "given up"; readonly failure: Failure }
  /** The connection was refused or broke. */
  | { readonly kind: "broken"; readonly error: unknown };

/** Reads one watch to its end. */
export async function readStream<T>(request: StreamRequest<T>, signal: AbortSignal): Promise<StreamEnd> {
  const { listWatch, options, onBatch } = request;
  using attempt = scope(signal);
  using watchdog = new Watchdog(request, () => attempt.abort());
  try {
    for await (const batch of listWatch.watch(options, attempt.signal)) {
      if (attempt.signal.aborted) break;
      watchdog.heard();
      const failure = onBatch(batch);
      if (failure !== undefined) return { kind: "given up", failure };
    }
    return watchdog.verdict ?? { kind: "closed" };
  } catch (error) {
    return watchdog.verdict ?? { kind: "broken", error };
  } finally {
    attempt.abort();
  }
}

/** Ends a stream that takes too long, in one of three ways. */
class Watchdog implements Disposable {
  readonly #limits: StreamLimits;
  readonly #bite: () => void;
  readonly #timers: Disposable[];
  #silence: Disposable;
  #heardAt: number;
  #open = false;
  #verdict: StreamEnd | undefined;

  constructor(limits: StreamLimits, bite: () => void) {
    const { clock, closesInMs, initial, opensInMs, checkEveryMs } = limits;
    this.#limits = limits;
    this.#bite = bite;
    this.#heardAt = clock.monotonic();
    this.#timers = [
      clock.timer(opensInMs, () => this.#opened()),
      clock.timer(closesInMs, () => this.#end({ kind: "overdue" })),
    ];
    if (initial.pending()) this.#timers.push(clock.timer(initial.withinMs, () => this.#initialOver()));
    this.#silence = clock.timer(checkEveryMs, () => this.#checkSilence());
  }

  /** Why the stream was ended, if it was ended here. */
  get verdict(): StreamEnd | undefined {
    return this.#verdict;
  }

  /** Something came. */
  heard(): void {
    this.#heardAt = this.#limits.clock.monotonic();
    if (!this.#open) this.#opened();
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#silence[Symbol.dispose]();
  }

  #opened(): void {
    if (this.#open) return;
    this.#open = true;
    this.#limits.onOpen();
  }

  #initialOver(): void {
    if (this.#limits.initial.pending()) this.#end({ kind: "unfinished" });
  }

  /** One timer that is set anew when it fires, so that a batch costs no timer. */
  #checkSilence(): void {
    const { clock, silenceMs, checkEveryMs } = this.#limits;
    const quietMs = clock.monotonic() - this.#heardAt;
    if (quietMs >= silenceMs()) return this.#end({ kind: "silent" });
    const againInMs = quietMs < checkEveryMs ? checkEveryMs - quietMs : checkEveryMs;
    this.#silence = clock.timer(againInMs, () => this.#checkSilence());
  }

  #end(verdict: StreamEnd): void {
    this.#verdict ??= verdict;
    this.#bite();
  }
}
