import { assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { plot } from "./plot.ts";

const points = [0, 5, 10, 60, 65].map((at) => ({ at, value: at * 2 }));
const svg = plot({
  panels: [{ title: "Memory <MiB>", series: [{ name: "all", color: "#06c", points }] }],
  marks: new Map([["a leader is killed", [{ at: 30, color: "#c00" }]]]),
  seconds: 120,
  gapSeconds: 20,
});

test("a gap in the samples ends a part of the line", () => {
  const lines = svg.split("\n").filter((line) => line.includes('stroke="#06c"'));
  assertEquals(lines.map((line) => line.split("L").length), [3, 2]);
});

test("the axes end at a round value above the largest one, and at the last second", () => {
  assertMatch(svg, />200<\/text>/);
  assertMatch(svg, />2 min<\/text>/);
});

test("texts are escaped, and marks stand in each panel", () => {
  assertMatch(svg, /Memory &lt;MiB>/);
  assertEquals(svg.match(/stroke="#c00"/g)?.length, 1);
});
