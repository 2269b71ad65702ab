/** Tests of the statistics, against values that were calculated manually. */
import { assert, assertEquals, assertThrows, test } from "../tests/testing.ts";
import { median, quantile, spread } from "./statistics.ts";

test("median() of an odd number of unsorted values is the middle value", () => {
  assertEquals(median([30, 10, 20]), 20);
});

test("median() of an even number of values is the mean of the two middle values", () => {
  assertEquals(median([1, 2, 4, 100]), 3);
});

test("quantile() interpolates between neighbours, from the smallest to the largest value", () => {
  const values = [0, 10, 20, 30, 40];
  const table: readonly (readonly [number, number])[] = [[0, 0], [0.25, 10], [0.9, 36], [0.99, 39.6], [1, 40]];
  for (const [q, expected] of table) assert(Math.abs(quantile(values, q) - expected) < 1e-9, `q = ${q}`);
});

test("quantile() sorts numerically and does not change its argument", () => {
  const values = [9, 100, 20];
  assertEquals(quantile(values, 1), 100);
  assertEquals(values, [9, 100, 20]);
});

test("quantile() throws for an empty list, and for a share that is not between 0 and 1", () => {
  assertThrows(() => quantile([], 0.5), /no values/);
  assertThrows(() => quantile([1], 1.01), /not between/);
  assertThrows(() => quantile([1], NaN), /not between/);
});

test("spread() returns the largest value divided by the smallest", () => {
  assertEquals(spread([20, 10, 15]), 2);
  assertEquals(spread([7]), 1);
});
