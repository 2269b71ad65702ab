import { assertEquals, test } from "../../tests/testing.ts";
import { compareResourceVersions, isComparable } from "./resource_version.ts";

const ordered: readonly (readonly [string, string, number | undefined])[] = [
  ["1", "1", 0],
  ["9", "10", -1],
  ["10", "9", 1],
  ["123", "124", -1],
  ["9007199254740993", "9007199254740992", 1],
  ["18446744073709551615", "18446744073709551614", 1],
  ["0", "1", -1],
  ["01", "1", undefined],
  ["", "1", undefined],
  ["abc", "abc", 0],
  ["abc", "abd", undefined],
  ["-1", "1", undefined],
  ["1e3", "1000", undefined],
];

for (const [left, right, expected] of ordered) {
  test(`[18] the order of "${left}" and "${right}" is ${expected === undefined ? "not comparable" : expected}`, () => {
    const order = compareResourceVersions(left, right);
    assertEquals(order === undefined ? undefined : Math.sign(order), expected);
  });
}

test("[18] isComparable() is true only for decimal numbers without leading zeros", () => {
  assertEquals(["0", "5", "10", "00", "", "5a", " 5", "٥"].map(isComparable), [
    true,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});
