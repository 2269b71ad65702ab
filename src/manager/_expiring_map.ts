/**
 * ExpiringMap: answers that are asked for once and believed for a while. Whoever asks while an answer is under way gets
 * the same one; errors are not kept; the number of answers is bounded, the oldest goes first.
 */
import type { Clock } from "../async/mod.ts";

/** Options of an {@link ExpiringMap}. */
export interface ExpiringMapOptions {
  readonly clock: Clock;
  /** Most answers that are kept. @default 1024 */
  readonly capacity?: number;
}

/** An answer, and for how many milliseconds it is one. */
export interface Expiring<Value> {
  readonly value: Value;
  readonly ttlMs: number;
}

interface Entry<Value> {
  readonly answer: Promise<Expiring<Value>>;
  /** Monotonic; Infinity while the answer is under way. */
  expiresAt: number;
}

export class ExpiringMap<Value> {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(options: ExpiringMapOptions) {
    this.#clock = options.clock;
    this.#capacity = options.capacity ?? 1024;
  }

  /** The answer that is kept under `key`, or else the one that `ask` gives. */
  async get(key: string, ask: () => Promise<Expiring<Value>>): Promise<Value> {
    const known = this.#entries.get(key);
    if (known !== undefined && known.expiresAt > this.#clock.monotonic()) return (await known.answer).value;
    const entry: Entry<Value> = { answer: ask(), expiresAt: Infinity };
    this.#keep(key, entry);
    try {
      const { value, ttlMs } = await entry.answer;
      entry.expiresAt = this.#clock.monotonic() + ttlMs;
      return value;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }

  #keep(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#capacity) return;
    const oldest = this.#entries.keys().next().value;
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
