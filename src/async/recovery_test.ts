import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { Recovery } from "./recovery.ts";
import { drain, VirtualClock } from "./virtual_clock.ts";

const { signal } = new AbortController();

/** Starts a loop that waits `ms`. @returns When it continued, in milliseconds */
function waitingLoop(recovery: Recovery, clock: VirtualClock, ms = 60_000): { at: number | undefined } {
  const loop: { at: number | undefined } = { at: undefined };
  recovery.sleep(ms, signal).then(() => loop.at = clock.monotonic());
  return loop;
}

test("[12] all waits end with the first response, and no timer is left", async () => {
  const clock = new VirtualClock();
  const recovery = new Recovery(clock);
  const startedAt = clock.monotonic();
  recovery.onFailure();
  const loops = [waitingLoop(recovery, clock), waitingLoop(recovery, clock)];
  await clock.advance(2_000);
  recovery.onResponse();
  await drain();
  assertEquals(loops.map(({ at = NaN }) => at - startedAt), [2_000, 2_000]);
  assertEquals(clock.pendingTimers, 0);
});

test("[12] while the server is down, one wait ends every 2.5 s as a probe, the longest first", async () => {
  const clock = new VirtualClock();
  const recovery = new Recovery(clock);
  const startedAt = clock.monotonic();
  recovery.onFailure();
  const loops = [waitingLoop(recovery, clock), waitingLoop(recovery, clock), waitingLoop(recovery, clock)];
  await clock.advance(10_000);
  assertEquals(loops.map(({ at = NaN }) => at - startedAt), [3_500, 6_000, 8_500]);
});

test("a wait ends at least 1 s after its failure, also if the server has responded meanwhile", async () => {
  const clock = new VirtualClock();
  const recovery = new Recovery(clock);
  const startedAt = clock.monotonic();
  recovery.onFailure();
  const loop = waitingLoop(recovery, clock);
  await clock.advance(10);
  recovery.onResponse();
  await clock.advance(5_000);
  assertEquals((loop.at ?? NaN) - startedAt, 1_000);
});

test("without a failure, a wait takes its time, and a response wakes nothing", async () => {
  const clock = new VirtualClock();
  const recovery = new Recovery(clock);
  const startedAt = clock.monotonic();
  const loop = waitingLoop(recovery, clock);
  recovery.onResponse();
  await clock.advance(120_000);
  assertEquals((loop.at ?? NaN) - startedAt, 60_000);
});

test("an abort ends a wait with its reason and leaves no timer", async () => {
  const clock = new VirtualClock();
  const recovery = new Recovery(clock);
  recovery.onFailure();
  const stop = new AbortController();
  const waiting = recovery.sleep(60_000, stop.signal);
  await clock.advance(2_000);
  stop.abort(new Error("stopped"));
  await assertRejects(() => waiting, /^stopped$/);
  assertEquals(clock.pendingTimers, 0);
});
