/**
 * PendingTakes: the takes of a WorkQueue that found no key, first come first served.
 *
 * Guarantees: a take that ends leaves no listener on its signal.
 */
import { onAbort } from "../async/mod.ts";

interface PendingTake<T> {
  readonly resolve: (value: T | undefined) => void;
  listening: Disposable | undefined;
}

export class PendingTakes<T> {
  readonly #takes = new Set<PendingTake<T>>();

  get size(): number {
    return this.#takes.size;
  }

  /** Resolves with a delivered value, or with undefined at an abort or a release. `signal` is not aborted yet. */
  wait(signal: AbortSignal): Promise<T | undefined> {
    return new Promise((resolve) => {
      const take: PendingTake<T> = { resolve, listening: undefined };
      this.#takes.add(take);
      take.listening = onAbort(signal, () => this.#end(take, undefined));
    });
  }

  /** Resolves the take that has waited longest. There must be one. */
  deliver(value: T): void {
    for (const take of this.#takes) {
      this.#end(take, value);
      return;
    }
  }

  /** Resolves all takes with undefined. */
  release(): void {
    for (const take of this.#takes) this.#end(take, undefined);
  }

  #end(take: PendingTake<T>, value: T | undefined): void {
    this.#takes.delete(take);
    take.listening?.[Symbol.dispose]();
    take.resolve(value);
  }
}
