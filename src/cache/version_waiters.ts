/**
 * VersionWaiters: the callers that wait until a cache has reached a version, so that a controller reads its own writes.
 *
 * They are in a heap by version: when the cache advances, it compares its version with the first waiter only. So
 * thousands of waiters cost one comparison per event, and no waiters cost nothing.
 */
import { compareResourceVersions, isComparable, type ResourceVersion } from "../api/mod.ts";
import { BinaryHeap, type Clock, type HeapItem, onAbort } from "../async/mod.ts";

interface Waiter extends HeapItem {
  readonly version: ResourceVersion;
  readonly end: (hasReached: boolean) => void;
}

/** Waits for versions of one cache. */
export class VersionWaiters {
  readonly #clock: Clock;
  readonly #heap = new BinaryHeap<Waiter>(isOlder);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many callers wait. */
  get size(): number {
    return this.#heap.size;
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
      const release = () => {
        listening[Symbol.dispose]();
        timer?.[Symbol.dispose]();
      };
      const waiter: Waiter = {
        version,
        heapIndex: -1,
        end: (hasReached) => {
          release();
          resolve(hasReached);
        },
      };
      const timer = timeoutMs === Infinity ? undefined : this.#clock.timer(timeoutMs, () => {
        this.#heap.remove(waiter);
        waiter.end(false);
      });
      const listening = onAbort(signal, () => {
        this.#heap.remove(waiter);
        release();
        reject(signal.reason);
      });
      this.#heap.push(waiter);
    });
  }

  /** The cache has reached `version`. */
  reached(version: ResourceVersion): void {
    if (this.#heap.size === 0) return;
    // Versions without an order cannot be waited for.
    if (!isComparable(version)) return this.#endAll(true);
    for (let first = this.#heap.first; first !== undefined; first = this.#heap.first) {
      if ((compareResourceVersions(first.version, version) ?? 0) > 0) return;
      this.#heap.pop();
      first.end(true);
    }
  }

  /** The cache has stopped. */
  stop(): void {
    this.#endAll(false);
  }

  #endAll(hasReached: boolean): void {
    const waiters = [...this.#heap];
    this.#heap.clear();
    for (const waiter of waiters) waiter.end(hasReached);
  }
}

function isOlder(one: Waiter, other: Waiter): boolean {
  return (compareResourceVersions(one.version, other.version) ?? 0) < 0;
}
