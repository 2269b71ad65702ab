/**
 * VersionWaiters: those who wait for a cache to reach a version, so that a controller sees its own writes.
 *
 * A binary heap by version: a cache that moves on looks at the first waiter only, so thousands of them cost an event
 * one comparison, and nothing when there is none.
 */
import { compareResourceVersions, isComparable, type ResourceVersion } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";

interface Waiter {
  readonly version: ResourceVersion;
  /** Cleared when the waiter has given up; it then leaves the heap when it comes to the top, or at a clean-up. */
  wake: ((reached: boolean) => void) | undefined;
}

/** Waits for versions of one cache. */
export class VersionWaiters {
  readonly #clock: Clock;
  #heap: Waiter[] = [];
  #gaveUp = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many wait. */
  get size(): number {
    return this.#heap.length - this.#gaveUp;
  }

  /**
   * Waits for `version`, which must be comparable.
   *
   * @returns false when `timeoutMs` passed or the cache stopped first.
   * @throws `signal.reason` when aborted first.
   */
  wait(version: ResourceVersion, signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        signal.removeEventListener("abort", aborted);
        timer?.[Symbol.dispose]();
      };
      const giveUp = () => {
        leave();
        waiter.wake = undefined;
        this.#gaveUp++;
        this.#cleanUp();
      };
      const aborted = () => {
        giveUp();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        version,
        wake: (reached) => {
          leave();
          resolve(reached);
        },
      };
      const timer = timeoutMs === Infinity ? undefined : this.#clock.timer(timeoutMs, () => {
        giveUp();
        resolve(false);
      });
      signal.addEventListener("abort", aborted, { once: true });
      this.#push(waiter);
    });
  }

  /** The cache has reached `version`. */
  reached(version: ResourceVersion): void {
    if (this.#heap.length === 0) return;
    // Nothing can be told of versions without an order, so nobody is kept waiting.
    if (!isComparable(version)) return this.#release(true);
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if ((compareResourceVersions(first.version, version) ?? 0) > 0) return;
      this.#pop();
      if (first.wake === undefined) this.#gaveUp--;
      else first.wake(true);
    }
  }

  /** The cache will not move on. */
  stop(): void {
    this.#release(false);
  }

  #release(reached: boolean): void {
    const waiters = this.#heap;
    this.#heap = [];
    this.#gaveUp = 0;
    for (const waiter of waiters) waiter.wake?.(reached);
  }

  #push(waiter: Waiter): void {
    const heap = this.#heap;
    let index = heap.push(waiter) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      if (!this.#isBefore(index, above)) return;
      this.#swap(index, above);
      index = above;
    }
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #sink(from: number): void {
    let index = from;
    while (true) {
      const left = 2 * index + 1, right = left + 1;
      let first = index;
      if (left < this.#heap.length && this.#isBefore(left, first)) first = left;
      if (right < this.#heap.length && this.#isBefore(right, first)) first = right;
      if (first === index) return;
      this.#swap(index, first);
      index = first;
    }
  }

  /** Those who gave up must not fill the memory while the version they waited for never comes. */
  #cleanUp(): void {
    if (this.#gaveUp < 64 || this.#gaveUp * 2 < this.#heap.length) return;
    const left = this.#heap.filter((waiter) => waiter.wake !== undefined);
    this.#heap = [];
    this.#gaveUp = 0;
    for (const waiter of left) this.#push(waiter);
  }

  #isBefore(left: number, right: number): boolean {
    const one = this.#heap[left], other = this.#heap[right];
    if (one === undefined || other === undefined) return false;
    return (compareResourceVersions(one.version, other.version) ?? 0) < 0;
  }

  #swap(left: number, right: number): void {
    const one = this.#heap[left], other = this.#heap[right];
    if (one === undefined || other === undefined) return;
    this.#heap[left] = other;
    this.#heap[right] = one;
  }
}
