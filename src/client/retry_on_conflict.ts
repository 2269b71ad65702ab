/**
 * retryOnConflict(): read, change, write, and again from the reading when somebody else wrote in between. Delays are
 * those of client-go's DefaultRetry: 10 ms, jitter 0.1, five tries (behaviours.md 75).
 */
import { type Clock, jittered, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { isConflict } from "./api_error.ts";

/** Options of {@link retryOnConflict}. */
export interface RetryOnConflictOptions {
  /** Most tries. @default 5 */
  readonly attempts?: number;
  /** Milliseconds between two tries, before jitter. @default 10 */
  readonly delayMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
  readonly signal?: AbortSignal;
}

const never = new AbortController().signal;

/**
 * Calls `fn`, which must read anew each time, until it does not end in a conflict.
 *
 * @throws what `fn` throws: the last conflict, or at once anything else.
 * @example
 * ```ts
 * import { ApiError, retryOnConflict } from "./mod.ts";
 *
 * let tries = 0;
 * const value = await retryOnConflict(() => {
 *   if (++tries < 3) throw new ApiError({ code: 409, reason: "Conflict" }, { action: 'update ConfigMap "a/b"' });
 *   return Promise.resolve("written");
 * });
 * console.assert(value === "written" && tries === 3);
 * ```
 */
export async function retryOnConflict<T>(fn: () => Promise<T>, options: RetryOnConflictOptions = {}): Promise<T> {
  const { attempts = 5, delayMs = 10, clock = systemClock, random = systemRandom, signal = never } = options;
  if (!(attempts >= 1)) throw new RangeError(`Cannot retry: attempts ${attempts} is below 1`);
  for (let tries = 1;; tries++) {
    try {
      return await fn();
    } catch (error) {
      if (!isConflict(error) || tries >= attempts) throw error;
    }
    await clock.sleep(jittered(delayMs, 0.1, random), signal);
  }
}
