/**
 * Latch: a thing that happens once, and that many may wait for. Leaves no listener on their signals.
 */

type Outcome = { readonly kind: "open" } | { readonly kind: "broken"; readonly error: Error };

/** Something to wait for. */
export class Latch {
  #outcome: Outcome | undefined;
  readonly #waiters = new Set<(outcome: Outcome) => void>();

  get isOpen(): boolean {
    return this.#outcome?.kind === "open";
  }

  /** It has happened. */
  open(): void {
    this.#settle({ kind: "open" });
  }

  /** It will not happen any more. Does nothing once it has. */
  break(error: Error): void {
    this.#settle({ kind: "broken", error });
  }

  /** @throws `signal.reason` when aborted first, the error of {@link break} when broken. */
  wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (outcome: Outcome) => {
        signal.removeEventListener("abort", aborted);
        if (outcome.kind === "open") resolve();
        else reject(outcome.error);
      };
      const aborted = () => {
        this.#waiters.delete(end);
        reject(signal.reason);
      };
      if (this.#outcome !== undefined) return end(this.#outcome);
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", aborted, { once: true });
      this.#waiters.add(end);
    });
  }

  #settle(outcome: Outcome): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    for (const end of this.#waiters) end(outcome);
    this.#waiters.clear();
  }
}
