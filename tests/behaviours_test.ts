/** Shows how tasks/behaviours.ts reads the numbers off the names of tests. */
import { behavioursPage, evidenceIn, lengths, missingNumbers, type Promised } from "../tasks/_behaviours.ts";
import { assertEquals, assertStringIncludes, assertThrows, test } from "./testing.ts";

const path = "src/a_test.ts";
const promise = (number: number): Promised => ({ list: "behaviours", number });

test("numbers are read off the names of tests, one or several, in any quotes, of either list", () => {
  const text =
    'test("[12] a \\"watch\\" ends", f);\ntest(`[38, security 3] ${key} runs once`, f);\ntest("[] none", f); list["[1]"];';
  assertEquals(evidenceIn(path, text), [
    { promises: [promise(12)], path, name: 'a "watch" ends' },
    { promises: [promise(38), { list: "security", number: 3 }], path, name: "${key} runs once" },
  ]);
});

test("the page has one row for each number of a test, in order, and names what no test shows", () => {
  const page = behavioursPage([
    { promises: [promise(10), promise(2)], path, name: "a | b" },
    { promises: [promise(2), { list: "security", number: 7 }], path, name: "A" },
  ]);
  const rows = page.split("\n").filter((line) => /^\| \d/.test(line));
  assertEquals(rows.map((row) => row.split(" | ").slice(0, 2)), [
    ["| 2", "A"],
    ["| 2", "a \\| b"],
    ["| 10", "a \\| b"],
    ["| 7", "A"],
  ]);
  assertStringIncludes(page, `2 of ${lengths.behaviours} numbers`);
  assertStringIncludes(page, `1 of ${lengths.security} numbers`);
  assertStringIncludes(page, "Without one: 1, 3, 4, 5,");
});

test("a number that does not exist is refused", () => {
  assertThrows(() => behavioursPage([{ promises: [promise(96)], path, name: "x" }]), /behaviours has no number 96/);
  assertEquals(missingNumbers("security", []).length, lengths.security);
});
