/** Tests of folded timelines. */
import { assertEquals, test } from "../../tests/testing.ts";
import { foldRepeats } from "./timeline.ts";

test("foldRepeats() shows four of the lines that differ only in numbers, and counts the rest", () => {
  const reads = Array.from(
    { length: 1_000 },
    (_, index) => `    1.000 s  operator 1  GET foos a  (read ${index}: 200)`,
  );
  const lines = ["    0.500 s  operator 1  starts", ...reads, "   12.000 s  operator 1  ends"];
  assertEquals(foldRepeats(lines.join("\n")).split("\n"), [
    lines[0],
    ...reads.slice(0, 4),
    "             ... repeated 996 more times",
    lines.at(-1),
  ]);
});

test("foldRepeats() does not change a timeline without repetitions", () => {
  const timeline = "a\nb\na\nb\na\nb\na\nb\n";
  assertEquals(foldRepeats(timeline), timeline);
});
