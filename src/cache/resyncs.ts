/**
 * Resyncs: delivers every cached object to one handler again, once in each period.
 *
 *   Clock -> Resyncs -> Listener -> InformerHandler.onUpdate(object, object)
 *
 * A round delivers the objects of a large cache in slices that are spread over the period: a controller that gets 50,000 keys
 * at once needs twice its memory and a processor for seconds, every period (ADR 0035). Each object comes
 * once in a period in both cases.
 *
 * Guarantees: a slice delivers what the cache has at its moment, in one synchronous step, so never a state that is older than
 * an update before it. An object that has gone since the round began is not delivered. A handler that still processes a
 * slice gets no further one.
 */
import type { ObjectKey } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import { type Listener, type ListenerSource, observedChange } from "./listener.ts";

/** Objects that are delivered in one step. */
const usualSliceSize = 500;
/** Slices of a short period are larger, instead of closer to each other. */
const minSliceMs = 100;

/** Options of {@link Resyncs}. */
export interface ResyncsOptions<T> {
  readonly listener: Listener<T>;
  /** The caches whose objects the handler gets. It may change at any time. */
  readonly sources: Pick<ReadonlyMap<ListenerSource<T>, unknown>, "has" | "keys">;
  /** No round begins before it is true. */
  readonly hasSynced: () => boolean;
  /** Milliseconds, above 0. */
  readonly periodMs: number;
  readonly clock: Pick<Clock, "timer">;
}

/** A round in progress. */
interface Round<T> {
  /** What is left of it. */
  readonly objects: Iterator<T>;
  readonly sliceSize: number;
  readonly everyMs: number;
  slicesLeft: number;
}

/** The rounds of one handler; dispose it to end them. */
export class Resyncs<T> implements Disposable {
  readonly #options: ResyncsOptions<T>;
  #period: Disposable;
  #slice: Disposable | undefined;
  #round: Round<T> | undefined;
  #isHandlerBusy = false;

  constructor(options: ResyncsOptions<T>) {
    this.#options = options;
    this.#period = this.#armed();
  }

  [Symbol.dispose](): void {
    this.#period[Symbol.dispose]();
    this.#slice?.[Symbol.dispose]();
    this.#round = undefined;
  }

  #armed(): Disposable {
    const { clock, periodMs } = this.#options;
    return clock.timer(periodMs, () => {
      this.#period = this.#armed();
      this.#begin();
    });
  }

  #begin(): void {
    const { sources, hasSynced, periodMs } = this.#options;
    if (!hasSynced() || this.#round !== undefined || !this.#mayDeliver()) return;
    const keys = new Map(Iterator.from(sources.keys()).map((source) => [source, [...source.keys()]]));
    const count = keys.values().reduce((sum, own) => sum + own.length, 0);
    const slices = Math.max(1, Math.min(Math.ceil(count / usualSliceSize), Math.floor(periodMs / minSliceMs)));
    this.#round = {
      objects: this.#currentOf(keys),
      sliceSize: Math.ceil(count / slices),
      everyMs: periodMs / slices,
      slicesLeft: slices,
    };
    this.#proceed(this.#round);
  }

  /** Delivers a slice, unless it has to wait, and plans the next one. */
  #proceed(round: Round<T>): void {
    if (this.#mayDeliver()) this.#deliver(round);
    if (round.slicesLeft === 0) this.#round = undefined;
    else this.#slice = this.#options.clock.timer(round.everyMs, () => this.#proceed(round));
  }

  #deliver(round: Round<T>): void {
    const { listener } = this.#options;
    round.slicesLeft--;
    this.#isHandlerBusy = true;
    for (let delivered = 0; delivered < round.sliceSize; delivered++) {
      const next = round.objects.next();
      if (next.done === true) break;
      listener.updated(next.value, next.value, observedChange);
    }
    listener.mark(() => this.#isHandlerBusy = false);
  }

  /**
   * A handler that still processes a slice gets no further one: its backlog would only grow. The lists of what a cache lacks
   * are more urgent, and its objects are delivered as changes.
   */
  #mayDeliver(): boolean {
    return !this.#isHandlerBusy && !Iterator.from(this.#options.sources.keys()).some((source) => source.isFilling());
  }

  /** The states of what the caches still have, at the moment when they are asked for. */
  *#currentOf(keys: ReadonlyMap<ListenerSource<T>, readonly ObjectKey[]>): Generator<T, void> {
    const { sources } = this.#options;
    for (const [source, own] of keys) {
      for (const key of own) {
        const object = sources.has(source) ? source.get(key) : undefined;
        if (object !== undefined) yield object;
      }
    }
  }
}
