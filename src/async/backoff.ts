/**
 * Backoff: growing delays with jitter between failing attempts, which start over after a healthy time.
 *
 * Guarantees: delays grow by `factor` from `initialMs` to `maxMs`, and each is lengthened by up to `jitter` of itself;
 * an attempt that comes `resetAfterMs` or more after the previous one starts over with `initialMs`. It only computes
 * delays: the caller waits on its Clock.
 */
import { type Clock, systemClock } from "./clock.ts";
import { jittered, type Random, systemRandom } from "./random.ts";

/** Options of a {@link Backoff}. */
export interface BackoffOptions {
  /** First delay in milliseconds. */
  readonly initialMs: number;
  /** Largest delay in milliseconds, before jitter. */
  readonly maxMs: number;
  /** Growth per attempt. @default 2 */
  readonly factor?: number;
  /** Part of a delay by which it may be lengthened. @default 0 */
  readonly jitter?: number;
  /** Time without attempts, in milliseconds, after which the delays start over. @default Infinity */
  readonly resetAfterMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/**
 * Computes the delays of one retry loop.
 *
 * @example
 * ```ts
 * import { Backoff } from "./mod.ts";
 *
 * const backoff = new Backoff({ initialMs: 100, maxMs: 300 });
 * console.assert(backoff.next() === 100 && backoff.next() === 200 && backoff.next() === 300);
 * ```
 */
export class Backoff {
  readonly #options: Required<BackoffOptions>;
  #nextMs: number;
  #lastAt = -Infinity;

  /** @throws {RangeError} when not 0 <= initialMs <= maxMs < Infinity, factor is below 1, or jitter is negative */
  constructor(options: BackoffOptions) {
    const { initialMs, maxMs, factor = 2, jitter = 0, resetAfterMs = Infinity } = options;
    if (!(initialMs >= 0 && maxMs >= initialMs && maxMs < Infinity)) {
      throw new RangeError(
        `Cannot create Backoff: initialMs ${initialMs} and maxMs ${maxMs} are not 0 <= initial <= max < Infinity`,
      );
    }
    if (!(factor >= 1 && jitter >= 0)) {
      throw new RangeError(`Cannot create Backoff: factor ${factor} is below 1 or jitter ${jitter} below 0`);
    }
    const { clock = systemClock, random = systemRandom } = options;
    this.#options = { initialMs, maxMs, factor, jitter, resetAfterMs, clock, random };
    this.#nextMs = initialMs;
  }

  /** The delay before the next attempt, in milliseconds. */
  next(): number {
    const { initialMs, maxMs, factor, jitter, resetAfterMs, clock, random } = this.#options;
    const at = clock.monotonic();
    if (at - this.#lastAt >= resetAfterMs) this.#nextMs = initialMs;
    const delayMs = jittered(this.#nextMs, jitter, random);
    this.#nextMs = Math.min(maxMs, this.#nextMs * factor);
    // The time without attempts begins at the end of this delay.
    this.#lastAt = at + delayMs;
    return delayMs;
  }

  /** Starts over from the first delay. */
  reset(): void {
    this.#nextMs = this.#options.initialMs;
  }
}
