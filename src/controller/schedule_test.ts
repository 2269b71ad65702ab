/** Tests of schedule(): when keys are enqueued, and which times are missed. */
import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { VirtualClock } from "../async/mod.ts";
import type { CacheReader } from "./caches.ts";
import { schedule, type ScheduledRun, type ScheduleOptions } from "./schedule.ts";

const noCaches: CacheReader = { find: () => undefined, list: () => [] };
const hourMs = 3_600_000;

/** Runs a schedule from a time on. */
function started(expression: string, startAt: string, options: ScheduleOptions = {}) {
  const clock = new VirtualClock({ startAt: Date.parse(startAt) });
  const keys: string[] = [];
  const runs: (readonly [at: string, missed: number])[] = [];
  const stop = new AbortController();
  const note = ({ at, missed }: ScheduledRun) => {
    runs.push([new Date(at).toISOString().slice(0, 16), missed]);
    return ["shop/a"];
  };
  const source = schedule(expression, { keys: note, ...options });
  const context = { clock, caches: noCaches, keys: () => ["shop/all"] };
  const running = source.run((key) => void keys.push(key), stop.signal, context).catch(() => undefined);
  return { clock, keys, runs, source, end: async () => (stop.abort(), await running, clock.pendingTimers) };
}

test("a schedule enqueues its keys at each time, in its time zone, also over a change of the clocks", async () => {
  // The clocks of Berlin are put forward on 29 March 2026: 3:00 is 2:00 UTC before, and 1:00 UTC from then on.
  const one = started("0 3 * * *", "2026-03-27T12:00:00Z", { timeZone: "Europe/Berlin" });
  await one.clock.advance(72 * hourMs);
  assertEquals(one.runs, [["2026-03-28T02:00", 0], ["2026-03-29T01:00", 0], ["2026-03-30T01:00", 0]]);
  assertEquals(one.keys, ["shop/a", "shop/a", "shop/a"]);
  assertEquals([one.source.name, await one.end()], ["schedule 0 3 * * *", 0]);
});

test("without keys, a schedule enqueues all primary objects", async () => {
  const one = started("@every 90m", "2026-01-01T00:00:00Z", { keys: undefined });
  await one.clock.advance(3 * hourMs);
  assertEquals(one.keys, ["shop/all", "shop/all"]);
  await one.end();
});

test("a time before the start is not made up, and one that passes in a pause comes once, with the number of those missed", async () => {
  const one = started("*/10 * * * *", "2026-01-01T00:05:00Z");
  await one.clock.advance(5 * 60_000);
  assertEquals(one.runs, [["2026-01-01T00:10", 0]]);
  one.clock.jump(35 * 60_000); // the machine sleeps over 0:20, 0:30 and 0:40
  await one.clock.advance(10 * 60_000);
  assertEquals(one.runs.slice(1), [["2026-01-01T00:50", 3]]);
  await one.clock.advance(10 * 60_000);
  assertEquals(one.runs.slice(2), [["2026-01-01T01:00", 0]]);
  await one.end();
});

test("a clock that is set ahead or back is noticed within an hour", async () => {
  const one = started("0 12 * * *", "2026-01-01T00:00:00Z");
  await one.clock.advance(60_000);
  one.clock.jump(24 * hourMs);
  await one.clock.advance(hourMs);
  assertEquals(one.runs, [["2026-01-01T12:00", 0]]);
  one.clock.jump(-15 * hourMs); // to 1 January, 10:01
  await one.clock.advance(2 * hourMs);
  assertEquals(one.runs.slice(1), [["2026-01-01T12:00", 0]]);
  await one.end();
});

test("schedule() refuses an invalid expression, an unknown time zone, and times that never come", () => {
  assertThrows(
    () => schedule("0 25 * * *"),
    /^Cannot create schedule "0 25 \* \* \*": end of range \(25\) above maximum/,
  );
  assertThrows(() => schedule("@daily", { timeZone: "Mars/Base" }), /the time zone "Mars\/Base" is unknown/);
  assertThrows(() => schedule("0 0 30 2 *"), /it has no time within five years/);
});
