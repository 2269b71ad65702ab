/**
 * Throttle: a token bucket before the network, for those who share an API server without priority and fairness. Off by
 * default: the server's own 429 are the better judge.
 */
import type { Clock } from "../async/mod.ts";

/** Options of {@link Throttle}. */
export interface ThrottleOptions {
  /** Requests per second in the long run. */
  readonly qps: number;
  /** Requests that may go at once after a quiet time. */
  readonly burst: number;
}

/** Hands out leave to send, in the order it was asked for. */
export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #clock: Clock;
  #tokens: number;
  #countedAt: number;

  constructor(options: ThrottleOptions, clock: Clock) {
    if (!(options.qps > 0 && options.burst >= 1)) {
      throw new RangeError(`Cannot throttle: qps ${options.qps} is not above 0 or burst ${options.burst} below 1`);
    }
    this.#options = options;
    this.#clock = clock;
    this.#tokens = options.burst;
    this.#countedAt = clock.monotonic();
  }

  /** Resolves when it is the caller's turn. */
  async take(signal: AbortSignal): Promise<void> {
    const { qps, burst } = this.#options;
    const at = this.#clock.monotonic();
    this.#tokens = Math.min(burst, this.#tokens + (at - this.#countedAt) * qps / 1000);
    this.#countedAt = at;
    // Below zero are those who wait: each token that comes is already somebody's.
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await this.#clock.sleep(-this.#tokens / qps * 1000, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }
}
