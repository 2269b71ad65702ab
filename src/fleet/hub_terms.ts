/**
 * HubTerms: the terms of leadership of the hub, as the members of a Fleet see them. There is one Lease, in the hub: a process
 * reconciles in all members, or in none.
 *
 * Guarantees: the Lease is released only when the controllers of all members have ended; a term that was lost ends them at
 * once, as it does with the controllers of the hub.
 */
import { aborted, isAbortOf } from "../async/mod.ts";
import { isFenced, type LeaderElector, type Leadership, type Terms, type WriteAuthority } from "../manager/mod.ts";

export class HubTerms implements Terms {
  readonly #elector: LeaderElector;
  /** The work of the members in this term. */
  readonly #works = new Set<Promise<void>>();
  /** The members that wait for a term. */
  readonly #waiting = new Set<() => void>();
  #term: Leadership | undefined;

  constructor(elector: LeaderElector) {
    this.#elector = elector;
  }

  get lease(): string {
    return this.#elector.lease;
  }

  get leadership(): WriteAuthority | undefined {
    return this.#elector.leadership;
  }

  /** Lets the members work until the term ends, and waits for the end of their work. */
  async lead(stop: AbortSignal): Promise<void> {
    this.#term = this.#elector.leadership;
    for (const begin of this.#waiting) begin();
    this.#waiting.clear();
    using ended = aborted(stop);
    await ended;
    this.#term = undefined;
    await Promise.allSettled(this.#works);
  }

  async run(work: (leadership: Leadership) => Promise<void>, stop: AbortSignal): Promise<void> {
    while (true) {
      const term = await this.#next(stop);
      if (term === undefined) return;
      const running = work(term);
      this.#works.add(running);
      try {
        await running;
      } catch (error) {
        if (term.lost === undefined || !(isAbortOf(term.signal, error) || isFenced(error))) throw error;
      } finally {
        this.#works.delete(running);
      }
      if (term.lost === undefined) return;
    }
  }

  /** The next term; undefined when `stop` aborts before it begins. */
  async #next(stop: AbortSignal): Promise<Leadership | undefined> {
    using stopped = aborted(stop);
    while (!stop.aborted) {
      if (this.#term !== undefined) return this.#term;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await Promise.race([promise, stopped]);
      this.#waiting.delete(resolve);
    }
    return undefined;
  }
}
