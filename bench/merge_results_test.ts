/** Tests of mergeResults(). */
import { assertEquals, assertThrows, test } from "../tests/testing.ts";
import { mergeResults } from "./merge_results.ts";
import { type CaseResult, renderResults, type Results } from "./report.ts";

const sync = (timeMs: number): CaseResult => ({
  name: "sync",
  title: "Foos into a cache",
  runs: 3,
  samples: [
    { subject: "pintle", values: { timeMs } },
    { subject: "controller-runtime (typed)", values: { timeMs: 4000 } },
  ],
});
const webhook = (p99Us: number): CaseResult => ({
  name: "webhook",
  title: "reviews",
  runs: 3,
  samples: [{ subject: "pintle", values: { p99Us } }],
});

function results(date: string, cases: readonly CaseResult[], facts: Results["facts"]): string {
  return renderResults({ date, scale: { growth: [], stored: [] }, facts, cases });
}

test("mergeResults() replaces the rows, the table and the facts of the measured cases, and keeps their order", () => {
  const whole = results("2026-01-01", [sync(2000), webhook(9000)], { machine: "2 cores", Go: "1.26" });
  const part = results("2026-01-02", [sync(1000)], { machine: "4 cores" });
  const both = mergeResults(whole, part);
  const bySection = both.split("## ");
  assertEquals(both.includes("2.00 s"), false, both);
  assertEquals(bySection.map((section) => /on (2026-01-0\d)/.exec(section)?.[1]), [
    undefined,
    "2026-01-02",
    "2026-01-01",
    undefined,
  ]);
  assertEquals(bySection[3], "Measured with\n\n|  |  |\n| --- | --- |\n| machine | 4 cores |\n| Go | 1.26 |\n");
});

test("mergeResults() appends a case that the old results do not have", () => {
  const facts = { machine: "2 cores" };
  const both = mergeResults(results("2026-01-01", [sync(2000)], facts), results("2026-01-01", [webhook(9000)], facts));
  assertEquals(both, results("2026-01-01", [sync(2000), webhook(9000)], facts));
});

test("mergeResults() returns the same text when it merges a text with itself", () => {
  const whole = results("2026-01-01", [sync(2000), webhook(9000)], { machine: "2 cores" });
  assertEquals(mergeResults(whole, whole), whole);
});

test("mergeResults() throws for a text without a table of bars", () => {
  assertThrows(() => mergeResults("# Something else\n", "# Something else\n"), /there is no table of bars/);
});
