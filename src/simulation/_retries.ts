/**
 * Retries: whether each key that failed was tried again since the last fault. Delays double with each retry, so the next one may
 * be minutes away: what a key would come to when nothing disturbs it is known only then.
 */
import type { Manager } from "../manager/mod.ts";

/** A process, as far as it matters here. */
export interface Retried {
  readonly id: number;
  readonly manager: Pick<Manager, "retrying">;
}

interface Attempts {
  readonly count: number;
  /** Virtual time at which it was first seen that there were so many. */
  readonly seenAt: number;
}

/** Follows the keys that are retried. */
export class Retries {
  readonly #attempts = new Map<string, Attempts>();

  /** True while some key has not been tried since then. To be asked whenever time is about to pass. */
  isWaitedFor(living: readonly Retried[], now: number, lastTroubleAt: number): boolean {
    const keys = living.flatMap(({ id, manager }) =>
      manager.retrying().map(({ controller, key, retries }) => this.#seen(`${id} ${controller} ${key}`, retries, now))
    );
    return keys.some(({ seenAt }) => seenAt <= lastTroubleAt);
  }

  #seen(key: string, count: number, now: number): Attempts {
    const known = this.#attempts.get(key);
    if (known?.count === count) return known;
    const attempts = { count, seenAt: now };
    this.#attempts.set(key, attempts);
    return attempts;
  }
}
