/** Tests of the written results. */
import { assert, assertEquals, assertStringIncludes, test } from "../tests/testing.ts";
import { formatValue, type Metric } from "./metric.ts";
import { renderResults, type Results } from "./report.ts";

const results: Results = {
  date: "2026-11-21",
  scale: { growth: [], stored: [] },
  facts: { "machine": "2 cores", "odd": "a|b" },
  cases: [{
    name: "sync",
    title: "50,000 Foos into a cache",
    runs: 3,
    samples: [
      { subject: "pintle", values: { timeMs: 2100, cpuMs: 800 } },
      { subject: "pintle", values: { timeMs: 1900, cpuMs: 810 } },
      { subject: "pintle", values: { timeMs: 2000, cpuMs: 820 } },
      { subject: "controller-runtime (typed)", values: { timeMs: 4000, cpuMs: 2000 } },
    ],
  }],
};

test("renderResults() writes a row with ratio, bar, aim and verdict for each measured bar", () => {
  const text = renderResults(results);
  assertStringIncludes(
    text,
    "| 50,000 Foos into a cache | time | 2.00 s | controller-runtime (typed): 4.00 s | 0.50 | ≤ 0.60 | ≤ 0.50 | aim met |",
  );
  assertStringIncludes(text, "| 0.41 | ≤ 0.30 | ≤ 0.22 | **missed** |");
  assert(!text.includes("kube-rs"), "a bar has no row if its peer was not measured");
});

test("renderResults() marks a limit as promised", () => {
  const samples = [{ subject: "pintle", values: { p99Us: 2750 } }];
  const text = renderResults({ ...results, cases: [{ name: "webhook", title: "reviews", runs: 3, samples }] });
  assertStringIncludes(text, "| reviews | p99 | 2.75 ms | promised: 50.0 ms | 0.06 | ≤ 1.00 | ≤ 0.20 | aim met |");
});

test("renderResults() writes medians with their range, and only the metrics that a case has", () => {
  const text = renderResults(results);
  assertStringIncludes(text, "| pintle | 2.00 s (1.90 s – 2.10 s) | 810 ms (800 ms – 820 ms) |");
  assert(!text.includes("max RSS"));
});

test("renderResults() writes the values of a single run without a range", () => {
  const samples = [{ subject: "pintle", values: { timeMs: 2000 } }];
  const text = renderResults({ ...results, cases: [{ name: "shards", title: "replicas", runs: 1, samples }] });
  assertStringIncludes(text, "every subject once.\n");
  assertStringIncludes(text, "| pintle | 2.00 s |\n");
});

test("renderResults() writes the date, the number of runs and the facts, and escapes table cells", () => {
  const text = renderResults(results);
  assertStringIncludes(text, "Measured on 2026-11-21, every subject 3 times in turn");
  assertStringIncludes(text, "| machine | 2 cores |");
  assertStringIncludes(text, "| odd | a\\|b |");
});

test("formatValue() chooses the unit and writes three digits", () => {
  const table: readonly (readonly [Metric, number, string])[] = [
    ["timeMs", 45.678, "45.7 ms"],
    ["timeMs", 999, "999 ms"],
    ["timeMs", 11_340, "11.3 s"],
    ["p99Us", 812.5, "813 µs"],
    ["p99Us", 8125, "8.13 ms"],
    ["maxRssBytes", 138 << 20, "138 MiB"],
    ["bytesPerObject", 2345.6, "2346 B"],
    ["addAfter", 1_430_000, "1.43 M/s"],
    ["answered", 5_674.1, "5674/s"],
  ];
  for (const [metric, value, expected] of table) assertEquals(formatValue(metric, value), expected);
});
