/** Tests of the statistics, against values that were calculated manually. */
import { assert, assertEquals, assertThrows, test } from "../tests/testing.ts";
import { median, quantile, spread } from "./statistics.ts";

test("median() of an odd number of values is the one in the middle, in whatever order they come", () => {
  assertEquals(median([30, 10, 20]), 20);
});

test("median() of an even number of values lies between the two in the middle", () => {
  assertEquals(median([1, 2, 4, 100]), 3);
});

test("quantile() interpolates between neighbours and reaches both ends", () => {
  const values = [0, 10, 20, 30, 40];
  const table: readonly (readonly [number, number])[] = [[0, 0], [0.25, 10], [0.9, 36], [0.99, 39.6], [1, 40]];
  for (const [q, expected] of table) assert(Math.abs(quantile(values, q) - expected) < 1e-9, `q = ${q}`);
});

test("quantile() sorts numbers as numbers and leaves its argument alone", () => {
  const values = [9, 100, 20];
  assertEquals(quantile(values, 1), 100);
  assertEquals(values, [9, 100, 20]);
});

test("quantile() refuses an empty list, and a share that is not between 0 and 1", () => {
  assertThrows(() => quantile([], 0.5), /no values/);
  assertThrows(() => quantile([1], 1.01), /not between/);
  assertThrows(() => quantile([1], NaN), /not between/);
});

test("spread() is the largest over the smallest value", () => {
  assertEquals(spread([20, 10, 15]), 2);
  assertEquals(spread([7]), 1);
});
