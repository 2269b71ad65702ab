/**
 * VirtualClock: a Clock that stands still until told to advance. Public, because operators test with it too.
 *
 * Guarantees: timers fire in the order of their due times (ties in the order they were made); `advance` lets the code
 * that a timer woke run until it waits again before the next timer fires; wall and monotonic time can be moved apart
 * to play clock jumps. Draining hops through the runtime's macrotask queue a bounded number of times: code that
 * waits for real sockets is out of its reach.
 */
import { setImmediate } from "node:timers";
import { BinaryHeap, type HeapItem } from "./binary_heap.ts";
import { checkedDelay, type Clock, sleepOn } from "./clock.ts";

interface PendingTimer extends HeapItem {
  readonly dueAt: number;
  /** Timers that are due at the same time fire in the order of their creation. */
  readonly sequence: number;
  readonly fire: () => void;
}

/** Options of a {@link VirtualClock}. */
export interface VirtualClockOptions {
  /** Wall time at the start, in milliseconds since the epoch. @default 2026-01-01T00:00:00Z */
  readonly startAt?: number;
  /**
   * Hops through the macrotask queue before and after each timer. One is enough where nothing but promises leads from a
   * timer to what it causes: no socket, and no code that is still to be loaded. @default 4
   */
  readonly drainHops?: number;
}

/**
 * Time that moves only when a test says so.
 *
 * @example
 * ```ts
 * import { VirtualClock } from "@pintle/controller";
 *
 * const clock = new VirtualClock();
 * let woke = false;
 * clock.sleep(60_000, new AbortController().signal).then(() => woke = true);
 * await clock.advance(60_000);
 * console.assert(woke);
 * ```
 */
export class VirtualClock implements Clock {
  #elapsedMs = 0;
  #wallAtZero: number;
  readonly #drainHops: number;
  readonly #timers = new BinaryHeap<PendingTimer>(firesBefore);
  #sequence = 0;

  constructor(options: VirtualClockOptions = {}) {
    this.#wallAtZero = options.startAt ?? Date.UTC(2026, 0, 1);
    this.#drainHops = options.drainHops ?? drainHops;
  }

  now(): number {
    return this.#wallAtZero + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    const dueAt = this.#elapsedMs + checkedDelay(ms);
    const timer: PendingTimer = { dueAt, sequence: this.#sequence++, fire, heapIndex: -1 };
    this.#timers.push(timer);
    return { [Symbol.dispose]: () => void this.#timers.remove(timer) };
  }

  /** How many timers are armed; a test that ends with some has leaked them. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer is due, or undefined when none is armed. */
  get nextTimerInMs(): number | undefined {
    const next = this.#timers.first;
    return next === undefined ? undefined : next.dueAt - this.#elapsedMs;
  }

  /**
   * Moves time forward by `ms`, firing what becomes due in order and draining after each.
   *
   * @throws {RangeError} when `ms` is not a number from 0 up: monotonic time does not run backwards
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity)) throw new RangeError(`Cannot advance VirtualClock: by ${ms} ms`);
    const until = this.#elapsedMs + ms;
    await hop(this.#drainHops);
    for (let next = this.#timers.first; next !== undefined && next.dueAt <= until; next = this.#timers.first) {
      this.#timers.pop();
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueAt);
      next.fire();
      await hop(this.#drainHops);
    }
    // Another advance may have gone further meanwhile.
    this.#elapsedMs = Math.max(this.#elapsedMs, until);
  }

  /** Moves the wall clock alone by `ms` (negative: backwards), as an administrator or NTP would. */
  jump(ms: number): void {
    this.#wallAtZero += ms;
  }
}

function firesBefore(one: PendingTimer, other: PendingTimer): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.sequence < other.sequence);
}

/** Macrotask hops per drain: in-memory bodies and streams resolve through a few of them on either runtime. */
const drainHops = 4;

/**
 * Lets everything that is ready to run do so, until it waits for a timer or for the outside.
 *
 * @param times How often; each is a few turns of the event loop.
 */
export async function drain(times = 1): Promise<void> {
  await hop(drainHops * times);
}

/**
 * Goes once round the event loop: every promise that can be settled is, and whatever follows from it alone.
 *
 * @param times How often.
 */
export async function hop(times = 1): Promise<void> {
  for (let count = 0; count < times; count++) await new Promise<void>((resolve) => void setImmediate(resolve));
}
