/**
 * TokenBucket: limits how often something happens in the long run, and allows a burst after a quiet time.
 *
 * Guarantees: callers of `reserve` and `take` get their tokens in the order of their calls. A bucket sets no timer
 * of its own; only `take` waits, on the Clock.
 */
import { type Clock, systemClock } from "./clock.ts";

/** Options of a {@link TokenBucket}. */
export interface TokenBucketOptions {
  /** Milliseconds in which one token is made. */
  readonly intervalMs: number;
  /** The most tokens that are stored; the bucket starts full. */
  readonly burst: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/**
 * A token bucket. Use `tryTake` to drop what exceeds the limit, `reserve` or `take` to delay it.
 *
 * @example
 * ```ts
 * import { TokenBucket, VirtualClock } from "./mod.ts";
 *
 * const bucket = new TokenBucket({ intervalMs: 100, burst: 2, clock: new VirtualClock() });
 * console.assert(bucket.tryTake() && bucket.tryTake() && !bucket.tryTake());
 * console.assert(bucket.reserve() === 100 && bucket.reserve() === 200);
 * ```
 */
export class TokenBucket {
  readonly #intervalMs: number;
  readonly #burst: number;
  readonly #clock: Clock;
  /** Below zero when tokens that are not made yet have been reserved. */
  #tokens: number;
  #countedAt: number;

  /** @throws {RangeError} when intervalMs is not above 0, or burst is below 1 */
  constructor(options: TokenBucketOptions) {
    const { intervalMs, burst, clock = systemClock } = options;
    if (!(intervalMs > 0 && burst >= 1)) {
      throw new RangeError(`Cannot create TokenBucket: intervalMs ${intervalMs} or burst ${burst} is out of range`);
    }
    this.#intervalMs = intervalMs;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#countedAt = clock.monotonic();
  }

  /** Takes a token if there is one. @returns whether there was */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes the next token, even if it is not made yet. @returns milliseconds until it is */
  reserve(): number {
    this.#refill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : -this.#tokens * this.#intervalMs;
  }

  /**
   * Takes the next token and waits until it is made.
   *
   * @throws `signal.reason` when aborted first; the token is given back
   */
  async take(signal: AbortSignal): Promise<void> {
    const delayMs = this.reserve();
    if (delayMs === 0) return;
    try {
      await this.#clock.sleep(delayMs, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#countedAt) / this.#intervalMs);
    this.#countedAt = now;
  }
}
