/**
 * Backoff: growing, jittered delays between attempts that fail, with a memory that fades when things go well.
 *
 * Guarantees: delays grow by `factor` from `initialMs` to `maxMs`, each lengthened by up to `jitter` of itself; an
 * attempt that comes `resetAfterMs` or more after the previous one starts again from `initialMs`. It only computes:
 * the caller sleeps on its Clock.
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
  /** Quiet time in milliseconds after which the delays start over. @default Infinity */
  readonly resetAfterMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/** Computes the delays of one retry loop. */
export class Backoff {
  readonly #options: Required<BackoffOptions>;
  #nextMs: number;
  #lastAt = -Infinity;

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
    // Quiet time counts from the end of the wait that this delay is for.
    this.#lastAt = at + delayMs;
    return delayMs;
  }

  /** Starts over from the first delay. */
  reset(): void {
    this.#nextMs = this.#options.initialMs;
  }
}
