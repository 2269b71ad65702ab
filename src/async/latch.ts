/**
 * Latch: an event that happens once and that many callers may wait for, such as the first synchronization of a cache.
 *
 * Guarantees: a wait that ends early leaves neither a listener on its signal nor a place in the latch.
 */
import { onAbort } from "./abort.ts";

type Outcome = { readonly kind: "open" } | { readonly kind: "broken"; readonly error: Error };

/**
 * Starts closed. It is opened or broken once; later calls change nothing.
 *
 * @example
 * ```ts
 * import { Latch } from "./mod.ts";
 *
 * const ready = new Latch();
 * const waiting = ready.wait(new AbortController().signal);
 * ready.open();
 * await waiting;
 * console.assert(ready.isOpen);
 * ```
 */
export class Latch {
  #outcome: Outcome | undefined;
  readonly #waiters = new Set<(outcome: Outcome) => void>();

  /** True once the event has happened. */
  get isOpen(): boolean {
    return this.#outcome?.kind === "open";
  }

  /** The event has happened: all waits resolve. */
  open(): void {
    this.#settle({ kind: "open" });
  }

  /** The event cannot happen any more: all waits reject with `error`. */
  break(error: Error): void {
    this.#settle({ kind: "broken", error });
  }

  /**
   * Resolves when the latch is open.
   *
   * @throws `signal.reason` when aborted first, the error of {@link break} when the latch is broken.
   */
  wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) => outcome.kind === "open" ? resolve() : reject(outcome.error);
      if (this.#outcome !== undefined) return settle(this.#outcome);
      const end = (outcome: Outcome) => {
        listening[Symbol.dispose]();
        settle(outcome);
      };
      this.#waiters.add(end);
      const listening = onAbort(signal, () => {
        this.#waiters.delete(end);
        reject(signal.reason);
      });
    });
  }

  #settle(outcome: Outcome): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    for (const end of this.#waiters) end(outcome);
    this.#waiters.clear();
  }
}
