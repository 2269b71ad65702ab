/**
 * RateLimiter: computes how long a retried key must wait. The four limiters of client-go, with its defaults.
 *
 * A limiter only computes and counts; the queue waits. A limiter stores its count of a key until `forget`, so the caller
 * must forget a key when it succeeds or will not be retried.
 */
import { type Clock, jittered, type Random, systemClock, systemRandom, TokenBucket } from "../async/mod.ts";

/**
 * Decides the delays of retried keys. Four limiters exist; write another one for another policy.
 *
 * @example
 * ```ts
 * import { type RateLimiter, WorkQueue } from "@pintle/controller/cache";
 *
 * const everyMinute: RateLimiter<string> = { when: () => 60_000, forget: () => {}, retries: () => 0 };
 * using queue = new WorkQueue<string>({ name: "foo", rateLimiter: everyMinute });
 * queue.addRateLimited("default/a");
 * console.assert(queue.counts.waiting === 1);
 * ```
 */
export interface RateLimiter<K> {
  /** Counts one more retry of `key` and returns how long it must wait, in milliseconds. */
  when(key: K): number;
  /** Resets the count of `key`: it succeeded, or will not be retried. */
  forget(key: K): void;
  /** How often `key` was retried since it was last forgotten. */
  retries(key: K): number;
}

/** Options of an {@link ExponentialRateLimiter}. */
export interface ExponentialRateLimiterOptions {
  /** Delay of the first retry in milliseconds. @default 5, as in client-go */
  readonly initialMs?: number;
  /** Largest delay in milliseconds, before jitter. @default 1_000_000, as in client-go */
  readonly maxMs?: number;
  /** Part of a delay by which it may be lengthened, so that keys that failed together retry apart. @default 0 */
  readonly jitter?: number;
  /** Varies the delays. @default systemRandom */
  readonly random?: Random;
}

/**
 * Each retry of a key waits twice as long as the previous one: initialMs·2^n, at most maxMs.
 *
 * @example
 * ```ts
 * import { ExponentialRateLimiter } from "@pintle/controller/cache";
 *
 * const limiter = new ExponentialRateLimiter<string>({ initialMs: 100, maxMs: 300 });
 * const delays = [limiter.when("a"), limiter.when("a"), limiter.when("a")];
 * console.assert(delays.join() === "100,200,300" && limiter.retries("a") === 3);
 * limiter.forget("a");
 * console.assert(limiter.when("a") === 100);
 * ```
 */
export class ExponentialRateLimiter<K> implements RateLimiter<K> {
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #jitter: number;
  readonly #random: Random;
  readonly #retries = new Map<K, number>();

  /**
   * Creates the limiter.
   *
   * @throws {RangeError} when not 0 <= initialMs <= maxMs < Infinity, or jitter is negative
   */
  constructor(options: ExponentialRateLimiterOptions = {}) {
    const { initialMs = 5, maxMs = 1_000_000, jitter = 0, random = systemRandom } = options;
    if (!(initialMs >= 0 && maxMs >= initialMs && maxMs < Infinity && jitter >= 0)) {
      throw new RangeError(
        `Cannot create ExponentialRateLimiter: initialMs ${initialMs}, maxMs ${maxMs} and jitter ${jitter} are out of range`,
      );
    }
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
    this.#jitter = jitter;
    this.#random = random;
  }

  /** Counts one more retry of `key` and returns how long it must wait, in milliseconds. */
  when(key: K): number {
    const retries = this.#retries.get(key) ?? 0;
    this.#retries.set(key, retries + 1);
    // 2 ** 10_000 is Infinity, which is above every maxMs; but 0 * Infinity would be NaN.
    const ms = this.#initialMs === 0 ? 0 : Math.min(this.#maxMs, this.#initialMs * 2 ** retries);
    return this.#jitter === 0 ? ms : jittered(ms, this.#jitter, this.#random);
  }

  /** Resets the count of `key`: it succeeded, or will not be retried. */
  forget(key: K): void {
    this.#retries.delete(key);
  }

  /** How often `key` was retried since it was last forgotten. */
  retries(key: K): number {
    return this.#retries.get(key) ?? 0;
  }
}

/** Options of a {@link BucketRateLimiter}. */
export interface BucketRateLimiterOptions {
  /** Retries per second in the long run. @default 10, as in client-go */
  readonly perSecond?: number;
  /** Retries that may come at once after a quiet time. @default 100, as in client-go */
  readonly burst?: number;
  /** Measures the time between retries. @default systemClock */
  readonly clock?: Clock;
}

/**
 * One token bucket for all keys. A retry that finds no token waits for the next one that is not reserved.
 *
 * @example
 * ```ts
 * import { BucketRateLimiter } from "@pintle/controller/cache";
 * import { VirtualClock } from "@pintle/controller/testing";
 *
 * const limiter = new BucketRateLimiter<string>({ perSecond: 10, burst: 2, clock: new VirtualClock() });
 * const delays = [limiter.when("a"), limiter.when("b"), limiter.when("c")];
 * console.assert(delays.join() === "0,0,100");
 * ```
 */
export class BucketRateLimiter<K> implements RateLimiter<K> {
  readonly #bucket: TokenBucket;

  /**
   * Creates the limiter.
   *
   * @throws {RangeError} when perSecond is not positive or burst below 1
   */
  constructor(options: BucketRateLimiterOptions = {}) {
    const { perSecond = 10, burst = 100, clock = systemClock } = options;
    if (!(perSecond > 0 && burst >= 1)) {
      throw new RangeError(
        `Cannot create BucketRateLimiter: perSecond ${perSecond} is not positive or burst ${burst} below 1`,
      );
    }
    this.#bucket = new TokenBucket({ intervalMs: 1000 / perSecond, burst, clock });
  }

  /** Reserves the next token and returns how long the key must wait for it, in milliseconds. */
  when(_key: K): number {
    return this.#bucket.reserve();
  }

  /** Does nothing: a bucket has no count of a key. */
  forget(_key: K): void {}

  /** Always 0: a bucket has no count of a key. */
  retries(_key: K): number {
    return 0;
  }
}

/** Options of a {@link FastSlowRateLimiter}. */
export interface FastSlowRateLimiterOptions {
  /** Delay of the first retries in milliseconds. */
  readonly fastMs: number;
  /** Delay of all later ones in milliseconds. */
  readonly slowMs: number;
  /** How many retries of a key are fast. */
  readonly fastRetries: number;
}

/**
 * The first retries of a key have a short delay, all later ones a long delay.
 *
 * @example
 * ```ts
 * import { FastSlowRateLimiter } from "@pintle/controller/cache";
 *
 * const limiter = new FastSlowRateLimiter<string>({ fastMs: 10, slowMs: 60_000, fastRetries: 2 });
 * const delays = [limiter.when("a"), limiter.when("a"), limiter.when("a")];
 * console.assert(delays.join() === "10,10,60000");
 * ```
 */
export class FastSlowRateLimiter<K> implements RateLimiter<K> {
  readonly #options: FastSlowRateLimiterOptions;
  readonly #retries = new Map<K, number>();

  /**
   * Creates the limiter.
   *
   * @throws {RangeError} when a delay is negative or infinite
   */
  constructor(options: FastSlowRateLimiterOptions) {
    const { fastMs, slowMs } = options;
    if (!(fastMs >= 0 && fastMs < Infinity && slowMs >= 0 && slowMs < Infinity)) {
      throw new RangeError(
        `Cannot create FastSlowRateLimiter: fastMs ${fastMs} or slowMs ${slowMs} is negative or infinite`,
      );
    }
    this.#options = options;
  }

  /** Counts one more retry of `key` and returns how long it must wait, in milliseconds. */
  when(key: K): number {
    const retries = (this.#retries.get(key) ?? 0) + 1;
    this.#retries.set(key, retries);
    const { fastMs, slowMs, fastRetries } = this.#options;
    return retries <= fastRetries ? fastMs : slowMs;
  }

  /** Resets the count of `key`: it succeeded, or will not be retried. */
  forget(key: K): void {
    this.#retries.delete(key);
  }

  /** How often `key` was retried since it was last forgotten. */
  retries(key: K): number {
    return this.#retries.get(key) ?? 0;
  }
}

/**
 * Combines several limiters: the longest of their delays counts.
 *
 * @example
 * ```ts
 * import { BucketRateLimiter, ExponentialRateLimiter, MaxOfRateLimiter } from "@pintle/controller/cache";
 *
 * const limiter = new MaxOfRateLimiter<string>([
 *   new ExponentialRateLimiter({ initialMs: 1_000 }),
 *   new BucketRateLimiter({ perSecond: 10 }),
 * ]);
 * console.assert(limiter.when("a") === 1_000 && limiter.retries("a") === 1);
 * ```
 */
export class MaxOfRateLimiter<K> implements RateLimiter<K> {
  readonly #limiters: readonly RateLimiter<K>[];

  /** Combines `limiters`. */
  constructor(limiters: readonly RateLimiter<K>[]) {
    this.#limiters = [...limiters];
  }

  /** Counts one more retry of `key` and returns how long it must wait, in milliseconds. */
  when(key: K): number {
    let ms = 0;
    for (const limiter of this.#limiters) ms = Math.max(ms, limiter.when(key));
    return ms;
  }

  /** Resets the count of `key`: it succeeded, or will not be retried. */
  forget(key: K): void {
    for (const limiter of this.#limiters) limiter.forget(key);
  }

  /** How often `key` was retried since it was last forgotten. */
  retries(key: K): number {
    let retries = 0;
    for (const limiter of this.#limiters) retries = Math.max(retries, limiter.retries(key));
    return retries;
  }
}

/**
 * Creates the default rate limiter of client-go: 5 ms·2^n up to 1000 s per key, combined with 10/s, burst 100, for all keys.
 *
 * @param options.clock Measures the time of the bucket. @default systemClock
 * @example
 * ```ts
 * import { defaultRateLimiter, WorkQueue } from "@pintle/controller/cache";
 *
 * const rateLimiter = defaultRateLimiter<string>();
 * using queue = new WorkQueue<string>({ name: "foo", rateLimiter });
 * queue.addRateLimited("default/a");
 * console.assert(queue.retries("default/a") === 1 && rateLimiter.when("default/a") === 10);
 * ```
 */
export function defaultRateLimiter<K>(options: { readonly clock?: Clock } = {}): RateLimiter<K> {
  return new MaxOfRateLimiter<K>([new ExponentialRateLimiter<K>(), new BucketRateLimiter<K>(options)]);
}
