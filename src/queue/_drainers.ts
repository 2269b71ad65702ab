/**
 * Drainers: those who wait for a queue to run empty. However such a wait ends, it leaves no listener on its signal.
 */

/** Pending `shutDownWithDrain` calls of one queue. */
export class Drainers {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next release; rejects with the signal's reason when that is aborted first. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const done = () => {
        signal?.removeEventListener("abort", aborted);
        resolve();
      };
      const aborted = () => {
        this.#waiting.delete(done);
        reject(signal?.reason);
      };
      this.#waiting.add(done);
      signal?.addEventListener("abort", aborted, { once: true });
    });
  }

  /** Ends all waits. */
  release(): void {
    for (const done of this.#waiting) done();
    this.#waiting.clear();
  }
}
