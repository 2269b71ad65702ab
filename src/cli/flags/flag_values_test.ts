import { assertEquals, test } from "../../../tests/testing.ts";
import { formatDuration, parseDuration } from "./flag_values.ts";

test("parseDuration() reads the durations of Go's time.ParseDuration", () => {
  const cases: readonly (readonly [string, number])[] = [
    ["30s", 30_000],
    ["1m30s", 90_000],
    ["500ms", 500],
    ["1.5h", 5_400_000],
    ["2h0m0.5s", 7_200_500],
    ["250us", 0.25],
    ["250µs", 0.25],
    ["0", 0],
    ["0s", 0],
  ];
  for (const [text, ms] of cases) assertEquals(parseDuration(text), ms, text);
});

test("parseDuration() rejects a missing unit, a sign, spaces, words and very long text", () => {
  const bad = [
    "30",
    "",
    "s",
    "-1s",
    "+1s",
    "1 s",
    "1d",
    "one",
    "1s1",
    ".5s",
    "1e3s",
    "NaNs",
    "9".repeat(400) + "h",
    "__proto__",
  ];
  for (const text of bad) assertEquals(parseDuration(text), undefined, text);
});

test("formatDuration() writes durations that parseDuration() reads", () => {
  for (const text of ["30s", "1m30s", "500ms", "1h", "1h1m1s", "0s", "2.5s"]) {
    assertEquals(formatDuration(parseDuration(text) ?? NaN), text);
  }
  assertEquals(formatDuration(Infinity), "forever");
});
