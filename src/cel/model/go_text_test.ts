import { assertEquals, test } from "../../../tests/testing.ts";
import { humanDuration } from "./go_text.ts";

const [second, minute, hour, day, year] = [1_000, 60_000, 3_600_000, 86_400_000, 365 * 86_400_000];

const spans: readonly (readonly [ms: number, text: string])[] = [
  [-2 * second, "<invalid>"],
  [-1 * second, "0s"],
  [0, "0s"],
  [999, "0s"],
  [119 * second, "119s"],
  [2 * minute, "2m"],
  [2 * minute + second, "2m1s"],
  [10 * minute - second, "9m59s"],
  [10 * minute + 59 * second, "10m"],
  [3 * hour - second, "179m"],
  [3 * hour, "3h"],
  [3 * hour + 10 * minute, "3h10m"],
  [8 * hour - second, "7h59m"],
  [8 * hour + 59 * minute, "8h"],
  [48 * hour - second, "47h"],
  [2 * day, "2d"],
  [2 * day + hour, "2d1h"],
  [8 * day - second, "7d23h"],
  [8 * day + 23 * hour, "8d"],
  [2 * year - second, "729d"],
  [2 * year, "2y"],
  [2 * year + day, "2y1d"],
  [8 * year - second, "7y364d"],
  [8 * year + 100 * day, "8y"],
];

for (const [ms, text] of spans) {
  test(`humanDuration() shows ${ms} ms as ${text}`, () => assertEquals(humanDuration(ms), text));
}
