/**
 * Clock: time as a parameter. All code of Pintle that waits or reads the time takes a Clock, so that a whole operator
 * can run on a VirtualClock, in tests and in `controller simulate`.
 *
 * Guarantees: a timer never fires early, also when its delay exceeds the maximum of the runtime's timers; a disposed
 * timer never fires. Only this folder and `runtime/` may use `Date.now`, `performance.now` or `setTimeout`; a test
 * checks that.
 */
import { onAbort } from "./abort.ts";

/**
 * A source of time: `systemClock` in production, `VirtualClock` in tests. All code of Pintle that waits takes one.
 *
 * @example
 * ```ts
 * import type { Clock } from "@pintle/controller";
 * import { VirtualClock } from "@pintle/controller/testing";
 *
 * async function untilTrue(check: () => boolean, clock: Clock, signal: AbortSignal): Promise<void> {
 *   while (!check()) await clock.sleep(1_000, signal);
 * }
 * const clock = new VirtualClock();
 * const startedAt = clock.now();
 * const waiting = untilTrue(() => clock.now() >= startedAt + 3_000, clock, new AbortController().signal);
 * await clock.advance(3_000); // takes no real time
 * await waiting;
 * console.assert(clock.now() === startedAt + 3_000);
 * ```
 */
export interface Clock {
  /** Returns the wall time in milliseconds since the Unix epoch. It may jump; use it for timestamps. */
  now(): number;
  /** Returns the monotonic time in milliseconds since an arbitrary start. Use it to measure durations. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds; rejects with `signal.reason` when aborted first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Calls `fire` once after `ms` milliseconds, unless the returned timer is disposed first.
   *
   * @throws {RangeError} when `ms` is NaN
   */
  timer(ms: number, fire: () => void): Disposable;
}

/** Runtimes store timer delays in a signed 32-bit integer, and fire at once above it (behaviours 44 and 86). */
export const maxTimerMs = 2 ** 31 - 1;

/**
 * The time of the machine. Delays above 2^31 ms are allowed, and a timer never fires early.
 *
 * @example
 * ```ts
 * import { systemClock } from "@pintle/controller/cache";
 *
 * const startedAt = systemClock.monotonic();
 * await systemClock.sleep(5, new AbortController().signal);
 * console.assert(systemClock.monotonic() - startedAt >= 5);
 * ```
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    return sleepOn(systemClock, ms, signal);
  },
  timer(ms, fire) {
    return new SystemTimer(ms, fire);
  },
};

/**
 * The delay for a timer of a Clock. NaN would cause an endless loop of 1 ms timers.
 *
 * @throws {RangeError} when `ms` is NaN
 */
export function checkedDelay(ms: number): number {
  if (Number.isNaN(ms)) throw new RangeError("Cannot set a timer: the delay is not a number");
  return Math.max(0, ms);
}

/** Implements `sleep` of a Clock with its timer. Leaves no listener on the signal. */
export function sleepOn(clock: Pick<Clock, "timer">, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = clock.timer(ms, () => {
      listening[Symbol.dispose]();
      resolve();
    });
    const listening = onAbort(signal, () => {
      timer[Symbol.dispose]();
      reject(signal.reason);
    });
  });
}

let pendingTimers = 0;

/** The number of timers of `systemClock` that have neither fired nor been disposed. When it only grows, some are leaked. */
export function pendingSystemTimers(): number {
  return pendingTimers;
}

/** Sets one runtime timer after another until the whole delay has passed. */
class SystemTimer implements Disposable {
  #handle: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, fire: () => void) {
    const delayMs = checkedDelay(ms);
    const dueAt = performance.now() + delayMs;
    const arm = () => {
      const leftMs = dueAt - performance.now();
      if (leftMs <= 0) {
        this[Symbol.dispose]();
        return fire();
      }
      // Rounded up: runtimes truncate fractions, and a timer must not fire early.
      this.#handle = setTimeout(arm, Math.min(Math.ceil(leftMs), maxTimerMs));
    };
    this.#handle = setTimeout(arm, Math.min(Math.ceil(delayMs), maxTimerMs));
    pendingTimers++;
  }

  [Symbol.dispose](): void {
    if (this.#handle === undefined) return;
    clearTimeout(this.#handle);
    this.#handle = undefined;
    pendingTimers--;
  }
}
