import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { slope, trend } from "./trend.ts";

const series = (value: (at: number) => number) =>
  Array.from({ length: 91 }, (_, index) => ({ at: index * 10, value: value(index * 10) }));

test("the slope is that of the line, whatever the noise around it", () => {
  assertEquals(slope(series((at) => 5 + 2 * at)), 2);
  assert(Math.abs(slope(series((at) => 5 + 2 * at + (at % 20 === 0 ? 1 : -1))) - 2) < 0.01);
  assertThrows(() => slope([{ at: 1, value: 3 }]), /Cannot compute a slope/);
});

test("a series that grows in its first third only is flat, and one that goes on growing is not", () => {
  const tolerance = { share: 0.02, value: 1 };
  assert(trend(series((at) => Math.min(at, 300)), tolerance).isFlat);
  const growing = trend(series((at) => 100 + at / 10), tolerance);
  assert(!growing.isFlat);
  assert(Math.abs(growing.perHour - 360) < 0.001);
});

test("what is within the tolerance is flat", () => {
  assert(trend(series((at) => 100 + at / 300), { share: 0, value: 1.1 }).isFlat);
  assert(!trend(series((at) => 100 + at / 300), { share: 0, value: 0.9 }).isFlat);
  assert(trend(series((at) => 100 + at / 300), { share: 0.02, value: 0 }).isFlat);
});
