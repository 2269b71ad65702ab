/**
 * Throttle: a token bucket before the network, for those who share an API server without priority and fairness. Off by
 * default: the server's own 429 are the better judge.
 */
import { type Clock, TokenBucket } from "../async/mod.ts";

/** Options of {@link Throttle}. */
export interface ThrottleOptions {
  /** Requests per second in the long run. */
  readonly qps: number;
  /** Requests that may go at once after a quiet time. */
  readonly burst: number;
}

/** Limits the rate of requests. They get their tokens in the order in which they ask for them. */
export class Throttle {
  readonly #bucket: TokenBucket;

  constructor(options: ThrottleOptions, clock: Clock) {
    if (!(options.qps > 0 && options.burst >= 1)) {
      throw new RangeError(`Cannot throttle: qps ${options.qps} is not above 0 or burst ${options.burst} below 1`);
    }
    const { qps, burst } = options;
    this.#bucket = new TokenBucket({ intervalMs: 1000 / qps, burst, clock });
  }

  /** Waits for a rate-limiter token. */
  take(signal: AbortSignal): Promise<void> {
    return this.#bucket.take(signal);
  }
}
