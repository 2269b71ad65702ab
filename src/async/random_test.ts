import { assert, assertEquals, assertNotEquals, test } from "../../tests/testing.ts";
import { jittered, seededRandom, systemRandom } from "./mod.ts";

/** A second implementation of sfc32, as its author describes it, in arithmetic that cannot overflow. */
function reference(seed: number, count: number): number[] {
  const mask = 0xffffffffn;
  let a = 0n, b = BigInt.asUintN(32, BigInt(seed)), c = BigInt.asUintN(32, BigInt(seed) >> 32n), counter = 1n;
  const outputs: number[] = [];
  for (let n = 0; n < count + 12; n++) {
    const sum = (a + b + counter++) & mask;
    a = b ^ (b >> 9n);
    b = (c + (c << 3n)) & mask;
    c = (((c << 21n) | (c >> 11n)) + sum) & mask;
    if (n >= 12) outputs.push(Number(sum) / 2 ** 32);
  }
  return outputs;
}

function draws(seed: number, count: number): number[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => random.next());
}

test("a seed gives the numbers of sfc32, the same on every runtime", () => {
  for (const seed of [0, 1, 42, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER]) {
    assertEquals(draws(seed, 100), reference(seed, 100));
  }
  assertNotEquals(draws(1, 5), draws(2, 5));
  assertNotEquals(draws(1, 5), draws(1 + 2 ** 32, 5));
});

test("the numbers are uniformly distributed over [0, 1)", () => {
  const tenths = new Array<number>(10).fill(0);
  for (const value of draws(7, 100_000)) {
    assert(value >= 0 && value < 1);
    const at = Math.floor(value * 10);
    tenths[at] = (tenths[at] ?? 0) + 1;
  }
  // Six standard deviations around 10,000.
  assert(tenths.every((count) => Math.abs(count - 10_000) < 570), tenths.join(" "));
});

test("generators of neighbouring seeds have different first numbers", () => {
  const first = Array.from({ length: 1_000 }, (_, seed) => draws(seed, 1)[0] ?? 0);
  const mean = first.reduce((sum, value) => sum + value, 0) / first.length;
  assert(Math.abs(mean - 0.5) < 0.06, `mean ${mean}`);
  assertEquals(new Set(first).size, 1_000);
});

test("jittered() lengthens a delay by up to its factor, and not at all for 0", () => {
  const fixed = (value: number) => ({ next: () => value });
  assertEquals(jittered(1_000, 1, fixed(0)), 1_000);
  assertEquals(jittered(1_000, 1, fixed(0.5)), 1_500);
  assertEquals(jittered(1_000, 0.2, fixed(1)), 1_200);
  assertEquals(jittered(1_000, 0, systemRandom), 1_000);
  const value = systemRandom.next();
  assert(value >= 0 && value < 1);
});
