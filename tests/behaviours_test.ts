/** Shows how tasks/behaviours.ts reads the numbers off the names of tests. */
import { behaviourCount, behavioursPage, evidenceIn, missingNumbers } from "../tasks/_behaviours.ts";
import { assertEquals, assertStringIncludes, assertThrows, test } from "./testing.ts";

test("numbers are read off the names of tests, one or several, in any quotes", () => {
  const text =
    'test("[12] a \\"watch\\" ends", f);\ntest(`[38, 39] ${key} runs once`, f);\ntest("[] none", f); list["[1]"];';
  assertEquals(evidenceIn("src/a_test.ts", text), [
    { numbers: [12], path: "src/a_test.ts", name: 'a "watch" ends' },
    { numbers: [38, 39], path: "src/a_test.ts", name: "${key} runs once" },
  ]);
});

test("the page has one row for each number of a test, in order, and names what no test shows", () => {
  const path = "src/a_test.ts";
  const page = behavioursPage([{ numbers: [10, 2], path, name: "a | b" }, { numbers: [2], path, name: "A" }]);
  const rows = page.split("\n").filter((line) => /^\| \d/.test(line));
  assertEquals(rows.map((row) => row.split(" | ").slice(0, 2)), [["| 2", "A"], ["| 2", "a \\| b"], [
    "| 10",
    "a \\| b",
  ]]);
  assertStringIncludes(page, `2 of ${behaviourCount} numbered behaviours`);
  assertStringIncludes(page, "Without one: 1, 3, 4, 5,");
});

test("a number that does not exist is refused", () => {
  assertThrows(() => behavioursPage([{ numbers: [96], path: "src/a_test.ts", name: "x" }]), /there is no behaviour 96/);
  assertEquals(missingNumbers([]).length, behaviourCount);
});
