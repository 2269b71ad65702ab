/**
 * StoppedKeys: the keys of a controller that failed and are not retried until something changes: with a TerminalError, or more
 * often than `maxRetries`. The queue does not have them any more, but a user who asks what fails wants to see them.
 *
 * Guarantees: bounded; of more than 1,000 keys, those that failed last; a key stays until it is reconciled again.
 */
import type { ObjectKey } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import { errorText } from "../observe/mod.ts";

/** A key that failed and waits for a change. */
export interface StoppedKey {
  readonly key: ObjectKey;
  /** The message of its error. */
  readonly error: string;
  /** When it failed, milliseconds since the epoch. */
  readonly at: number;
}

/** The oldest are dropped: what failed last is what a user looks for. */
const maxKeys = 1_000;
const maxErrorChars = 1_000;

export class StoppedKeys {
  readonly #clock: Clock;
  readonly #keys = new Map<ObjectKey, StoppedKey>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The keys, in the order in which they failed. */
  list(): readonly StoppedKey[] {
    return [...this.#keys.values()];
  }

  /** `key` failed and will not be retried. */
  record(key: ObjectKey, error: unknown): void {
    this.#keys.delete(key);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size >= maxKeys && oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.set(key, { key, error: errorText(error).slice(0, maxErrorChars), at: this.#clock.now() });
  }

  /** These keys are no longer reconciled. */
  removeWhere(isRemoved: (key: ObjectKey) => boolean): void {
    for (const key of [...this.#keys.keys()].filter(isRemoved)) this.#keys.delete(key);
  }

  /** `key` was reconciled again. */
  forget(key: ObjectKey): void {
    if (this.#keys.size > 0) this.#keys.delete(key);
  }
}
