/**
 * Random: chance as a parameter, so that a seed replays a run. Jitter is the main customer.
 *
 * The seeded generator is sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, passes BigCrush, four
 * additions a number. It is for scheduling and tests; secrets come from WebCrypto.
 */

/** A source of numbers that are evenly spread over [0, 1). */
export interface Random {
  next(): number;
}

/** The runtime's own generator: different in each run. */
export const systemRandom: Random = { next: () => Math.random() };

/** A generator whose numbers depend on `seed` alone, on every runtime. */
export function seededRandom(seed: number): Random {
  let a = 0, b = seed | 0, c = Math.floor(seed / 2 ** 32) | 0, counter = 1;
  const next = () => {
    const sum = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first outputs still show the seed's bits; 12 rounds mix them, as the author advises.
  for (let round = 0; round < 12; round++) next();
  return { next };
}

/** `ms` lengthened by up to `factor` of itself: jitter 1.0 gives [ms, 2 ms), as client-go's wait.Jitter. */
export function jittered(ms: number, factor: number, random: Random): number {
  return ms + random.next() * factor * ms;
}
