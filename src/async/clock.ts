/**
 * Clock: time as a parameter. Everything in Pintle that waits or reads the time takes one of these.
 *
 * Guarantees: a timer never fires early, not even when its delay exceeds what the runtime's own timers can hold; a
 * disposed timer never fires. Together with `virtual_clock.ts` this is what lets a whole operator run under test, or
 * under `controller simulate`, without sleeping. This file and its neighbours are the only ones in `src/` that may
 * name `Date.now`, `performance.now` or `setTimeout` (a test holds that).
 */
import { onAbort } from "./abort.ts";

/** Where the time comes from. `systemClock` in production, `VirtualClock` in tests. */
export interface Clock {
  /** Wall time in milliseconds since the Unix epoch. May jump; use it for timestamps that others read. */
  now(): number;
  /** Monotonic time in milliseconds since an arbitrary start. Use it to measure how long something took. */
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

/** Runtimes hold timer delays in a signed 32-bit integer and fire at once above it (behaviours.md 44 and 86). */
export const longestTimerMs = 2 ** 31 - 1;

/** The machine's own time. */
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

/** The delay a Clock's timer really waits; a delay that is no number would be an endless loop of 1 ms timers. */
export function checkedDelay(ms: number): number {
  if (Number.isNaN(ms)) throw new RangeError("Cannot set a timer: the delay is not a number");
  return Math.max(0, ms);
}

/** The sleep that every Clock shares: a timer, raced with the signal, that leaves no listener behind. */
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

/** One runtime timer after another until the whole delay has passed. */
class SystemTimer implements Disposable {
  #handle: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, fire: () => void) {
    const delayMs = checkedDelay(ms);
    const dueAt = performance.now() + delayMs;
    const arm = () => {
      const leftMs = dueAt - performance.now();
      if (leftMs <= 0) {
        this.#handle = undefined;
        return fire();
      }
      // Rounded up: runtimes truncate fractions, and a timer must not fire early.
      this.#handle = setTimeout(arm, Math.min(Math.ceil(leftMs), longestTimerMs));
    };
    this.#handle = setTimeout(arm, Math.min(Math.ceil(delayMs), longestTimerMs));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#handle);
  }
}
