/** Tests of the verdicts: the ratio of the medians, in the direction in which the metric is better. */
import { assert, assertEquals, test } from "../tests/testing.ts";
import { type Bar, bars, judge } from "./bars.ts";
import { cases, growthSubject, mostGrown } from "./cases/mod.ts";
import type { Metric, Sample } from "./metric.ts";

const scale = { growth: [10, 20], stored: [1, 2] };

function samplesOf(metric: Metric, own: readonly number[], peer: readonly number[]): readonly Sample[] {
  return [
    ...own.map((value) => ({ subject: "pintle", values: { [metric]: value } })),
    ...peer.map((value) => ({ subject: "peer", values: { [metric]: value } })),
  ];
}

test("judge() compares the medians, so one slow run does not change the verdict", () => {
  const bar: Bar = { caseName: "sync", metric: "timeMs", peer: "peer", bar: 0.6, aim: 0.5 };
  const verdict = judge(bar, samplesOf("timeMs", [1, 9, 1.1], [2, 2.2, 90]), scale);
  assertEquals(verdict?.ratio, 1.1 / 2.2);
  assertEquals([verdict?.ours, verdict?.peer], [1.1, 2.2]);
});

test("judge() expects small ratios if lower is better, and large ratios if higher is better", () => {
  const lower: Bar = { caseName: "sync", metric: "timeMs", peer: "peer", bar: 0.6, aim: 0.5 };
  const higher: Bar = { caseName: "queue", metric: "addAfter", peer: "peer", bar: 1, aim: 2 };
  const table: readonly (readonly [Bar, number, string])[] = [
    [lower, 0.5, "aim met"],
    [lower, 0.6, "met"],
    [lower, 0.61, "missed"],
    [higher, 2, "aim met"],
    [higher, 1, "met"],
    [higher, 0.99, "missed"],
  ];
  for (const [bar, ratio, expected] of table) {
    assertEquals(judge(bar, samplesOf(bar.metric, [ratio], [1]), scale)?.kind, expected, `${bar.metric} ${ratio}`);
  }
});

test("judge() compares the most expensive size with the cheapest if the bar has no peer", () => {
  const bar: Bar = { caseName: "growth", metric: "usPerObject", bar: 1.15, aim: 1.15 };
  const samples: readonly Sample[] = [
    { subject: "pintle, 10 Foos", values: { usPerObject: 50 } },
    { subject: "pintle, 20 Foos", values: { usPerObject: 40 } },
  ];
  const verdict = judge(bar, samples, scale);
  assertEquals([verdict?.ours, verdict?.peer, verdict?.ratio, verdict?.kind], [50, 40, 1.25, "missed"]);
});

test("judge() compares our median with the limit, and ignores the peers, if the bar has a limit", () => {
  const bar: Bar = { caseName: "webhook", metric: "p99Us", limit: 50_000, bar: 1, aim: 0.2 };
  const table: readonly (readonly [number, string])[] = [[10_000, "aim met"], [50_000, "met"], [50_001, "missed"]];
  for (const [value, expected] of table) {
    assertEquals(judge(bar, samplesOf("p99Us", [1, value, 1e9], [1]), scale)?.kind, expected, `${value}`);
  }
  assertEquals(judge(bar, samplesOf("p99Us", [], [1]), scale), undefined);
});

test("judge() takes the subject that the bar names", () => {
  const bar: Bar = { caseName: "types", subject: "pintle, b", metric: "editCpuMs", limit: 500, bar: 1, aim: 0.5 };
  const samples: readonly Sample[] = [
    { subject: "pintle, a", values: { editCpuMs: 100 } },
    { subject: "pintle, b", values: { editCpuMs: 600 } },
  ];
  const verdict = judge(bar, samples, scale);
  assertEquals([verdict?.ours, verdict?.kind], [600, "missed"]);
});

test("judge() returns undefined if one side was not measured", () => {
  const bar: Bar = { caseName: "sync", metric: "timeMs", peer: "peer", bar: 0.6, aim: 0.5 };
  assertEquals(judge(bar, samplesOf("timeMs", [1], []), scale), undefined);
  assertEquals(judge({ ...bar, peer: undefined }, samplesOf("timeMs", [1], []), scale), undefined);
});

test("each bar names an existing case, and a peer or a subject of that case", () => {
  for (const bar of bars) {
    const found = cases.find(({ name }) => name === bar.caseName);
    assert(found !== undefined, bar.caseName);
    const isSized = found.name === "growth";
    const names = found.subjects.map(({ name }) => isSized ? growthSubject(name, mostGrown) : name);
    for (const named of [bar.peer, bar.subject]) {
      assert(named === undefined || names.includes(named), `${bar.caseName} ${named}`);
    }
  }
});
