/** That a timeline says what repeats once, and leaves nothing else out. */
import { assertEquals, test } from "../../tests/testing.ts";
import { folded } from "./_folded.ts";

test("lines that differ in numbers alone are told four times, then counted", () => {
  const reads = Array.from(
    { length: 1_000 },
    (_, index) => `    1.000 s  operator 1  GET foos a  (read ${index}: 200)`,
  );
  const lines = ["    0.500 s  operator 1  starts", ...reads, "   12.000 s  operator 1  ends"];
  assertEquals(folded(lines.join("\n")).split("\n"), [
    lines[0],
    ...reads.slice(0, 4),
    "             ... and 996 times more",
    lines.at(-1),
  ]);
});

test("a timeline in which nothing repeats is left as it is", () => {
  const timeline = "a\nb\na\nb\na\nb\na\nb\n";
  assertEquals(folded(timeline), timeline);
});
