/**
 * Random: randomness as a parameter, so that a seed repeats a run. Most of it is used for jitter.
 *
 * The seeded generator is sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, passes BigCrush, four additions
 * per number. It is for scheduling and tests, not for secrets: those come from WebCrypto.
 */

/**
 * A source of random numbers: `systemRandom` in production, `seededRandom()` in tests. Not for secrets.
 *
 * @example
 * ```ts
 * import { type Random } from "@pintle/controller/testing";
 *
 * const half: Random = { next: () => 0.5 };
 * console.assert(half.next() === 0.5);
 * ```
 */
export interface Random {
  /** Returns the next number; they are uniformly distributed over [0, 1). */
  next(): number;
}

/**
 * The generator of the runtime: different numbers in each run.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@pintle/controller/testing";
 *
 * const number = systemRandom.next();
 * console.assert(number >= 0 && number < 1);
 * ```
 */
export const systemRandom: Random = { next: () => Math.random() };

/**
 * Creates a generator whose numbers depend only on the seed, on every runtime, so that a run can be repeated.
 *
 * @param seed An integer from 0 to 2^53 - 1.
 *
 * @example
 * ```ts
 * import { seededRandom } from "@pintle/controller/testing";
 *
 * console.assert(seededRandom(7).next() === seededRandom(7).next());
 * console.assert(seededRandom(7).next() !== seededRandom(8).next());
 * ```
 */
export function seededRandom(seed: number): Random {
  let a = 0, b = seed | 0, c = Math.floor(seed / 2 ** 32) | 0, counter = 1;
  const next = () => {
    const sum = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first numbers depend directly on bits of the seed; 12 rounds mix them, as the author recommends.
  for (let round = 0; round < 12; round++) next();
  return { next };
}

/** Lengthens `ms` by up to `factor` of itself: 1.0 gives [ms, 2 ms), as wait.Jitter of client-go. */
export function jittered(ms: number, factor: number, random: Random): number {
  return ms + random.next() * factor * ms;
}
