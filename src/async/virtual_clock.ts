/**
 * VirtualClock: a Clock whose time changes only when a test advances it. Public, because operators use it in tests too.
 *
 * Guarantees: timers fire in the order of their due times, and of their creation when these are equal; after each timer,
 * `advance` runs the code that follows from it until that waits again, before the next timer fires; wall time can jump
 * without monotonic time.
 * Caveats: `advance` runs a fixed number of turns of the event loop after each timer, so it does not wait for code that
 * uses real sockets or files.
 */
import { setImmediate } from "node:timers";
import { BinaryHeap, type HeapItem } from "./binary_heap.ts";
import { checkedDelay, type Clock, sleepOn } from "./clock.ts";

/** A class, because it needs less than an object with a closure, and a simulated run sets hundreds of timers. */
class PendingTimer implements HeapItem, Disposable {
  heapIndex = -1;
  readonly dueAt: number;
  /** Timers that are due at the same time fire in the order of their creation. */
  readonly sequence: number;
  readonly fire: () => void;
  readonly #timers: BinaryHeap<PendingTimer>;

  constructor(timers: BinaryHeap<PendingTimer>, due: Pick<PendingTimer, "dueAt" | "sequence" | "fire">) {
    this.#timers = timers;
    this.dueAt = due.dueAt;
    this.sequence = due.sequence;
    this.fire = due.fire;
  }

  [Symbol.dispose](): void {
    this.#timers.remove(this);
  }
}

/** Options of a {@link VirtualClock}. */
export interface VirtualClockOptions {
  /** Wall time at the start, in milliseconds since the epoch. @default 2026-01-01T00:00:00Z */
  readonly startAt?: number;
  /**
   * Turns of the event loop before and after each timer. One is enough for code that waits only for promises: without
   * sockets, and without modules that are still to be loaded. @default 4
   */
  readonly drainTurns?: number;
}

/**
 * A clock whose time changes only when a test advances it. Timers fire in the order of their due times; after each one,
 * `advance` runs the code that follows from it before the next timer fires.
 *
 * Caveats: `advance` does not wait for code that uses real sockets or files.
 *
 * @example
 * ```ts
 * import { VirtualClock } from "@pintle/controller/testing";
 *
 * const clock = new VirtualClock();
 * let isOver = false;
 * clock.sleep(60_000, new AbortController().signal).then(() => isOver = true);
 * await clock.advance(60_000);
 * console.assert(isOver);
 * ```
 */
export class VirtualClock implements Clock {
  #elapsedMs = 0;
  #wallAtZero: number;
  readonly #drainTurns: number;
  readonly #timers = new BinaryHeap<PendingTimer>(firesBefore);
  #sequence = 0;

  /** Creates a clock at `startAt`, without timers. */
  constructor(options: VirtualClockOptions = {}) {
    this.#wallAtZero = options.startAt ?? Date.UTC(2026, 0, 1);
    this.#drainTurns = options.drainTurns ?? drainTurns;
  }

  /** Returns the wall time in whole milliseconds since the Unix epoch, as Date.now() does. */
  now(): number {
    return Math.floor(this.#wallAtZero + this.#elapsedMs);
  }

  /** Returns the milliseconds by which the clock was advanced since its creation. */
  monotonic(): number {
    return this.#elapsedMs;
  }

  /** Resolves when the clock was advanced by `ms` milliseconds; rejects with `signal.reason` when aborted first. */
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /**
   * Calls `fire` once when the clock was advanced by `ms` milliseconds, unless the returned timer is disposed first.
   *
   * @throws {RangeError} when `ms` is NaN
   */
  timer(ms: number, fire: () => void): Disposable {
    const dueAt = this.#elapsedMs + checkedDelay(ms);
    const timer = new PendingTimer(this.#timers, { dueAt, sequence: this.#sequence++, fire });
    this.#timers.push(timer);
    return timer;
  }

  /** How many timers are set; a test that ends with some has leaked them. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer is due, or undefined when none is set. */
  get nextTimerInMs(): number | undefined {
    const next = this.#timers.first;
    return next === undefined ? undefined : next.dueAt - this.#elapsedMs;
  }

  /**
   * Advances the time, and fires the timers that become due in order.
   *
   * @param ms Milliseconds.
   * @throws {RangeError} when `ms` is not a number from 0 up: monotonic time does not run backwards
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity)) throw new RangeError(`Cannot advance VirtualClock: by ${ms} ms`);
    const until = this.#elapsedMs + ms;
    await runTurns(this.#drainTurns);
    for (let next = this.#timers.first; next !== undefined && next.dueAt <= until; next = this.#timers.first) {
      this.#timers.pop();
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueAt);
      next.fire();
      await runTurns(this.#drainTurns);
    }
    // Another call may have advanced further meanwhile.
    this.#elapsedMs = Math.max(this.#elapsedMs, until);
  }

  /**
   * Changes only the wall time, as an administrator or NTP may do.
   *
   * @param ms Milliseconds; negative numbers set the clock back.
   */
  jump(ms: number): void {
    this.#wallAtZero += ms;
  }
}

function firesBefore(one: PendingTimer, other: PendingTimer): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.sequence < other.sequence);
}

/** Turns of the event loop per drain: bodies and streams in memory need a few of them on either runtime. */
const drainTurns = 4;

/**
 * Runs all code that is ready, until it waits for a timer or for the outside world.
 *
 * @param times How often; each time is a few turns of the event loop.
 */
export async function drain(times = 1): Promise<void> {
  await runTurns(drainTurns * times);
}

/**
 * Runs turns of the event loop: each settles all promises that can be settled.
 *
 * @param times How many turns.
 */
export async function runTurns(times = 1): Promise<void> {
  for (let count = 0; count < times; count++) await new Promise<void>((resolve) => void setImmediate(resolve));
}
