/**
 * Waiters: the takes that found nothing, first come first served.
 *
 * Guarantees: a take that ends, however it ends, leaves no listener on its signal and no place in line.
 */

interface Waiter<T> {
  readonly signal: AbortSignal;
  readonly resolve: (value: T | undefined) => void;
  readonly aborted: () => void;
}

/** Pending takes of one queue. */
export class Waiters<T> {
  readonly #waiters = new Set<Waiter<T>>();

  get size(): number {
    return this.#waiters.size;
  }

  /** Resolves with what is handed out, or with undefined on abort or release. `signal` is not aborted yet. */
  wait(signal: AbortSignal): Promise<T | undefined> {
    return new Promise((resolve) => {
      const aborted = () => {
        this.#waiters.delete(waiter);
        resolve(undefined);
      };
      const waiter: Waiter<T> = { signal, resolve, aborted };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", aborted, { once: true });
    });
  }

  /** Gives `value` to the one that has waited longest. There must be one. */
  hand(value: T): void {
    for (const waiter of this.#waiters) {
      this.#dismiss(waiter, value);
      return;
    }
  }

  /** Sends all of them home with nothing. */
  release(): void {
    for (const waiter of this.#waiters) this.#dismiss(waiter, undefined);
  }

  #dismiss(waiter: Waiter<T>, value: T | undefined): void {
    this.#waiters.delete(waiter);
    waiter.signal.removeEventListener("abort", waiter.aborted);
    waiter.resolve(value);
  }
}
