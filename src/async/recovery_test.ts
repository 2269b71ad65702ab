import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { Backoff } from "./backoff.ts";
import { seededRandom } from "./random.ts";
import { Recovery } from "./recovery.ts";
import { drain, VirtualClock } from "./virtual_clock.ts";

const { signal } = new AbortController();
/** The delays of an informer. */
const backoff = { initialMs: 800, maxMs: 30_000, jitter: 1 };

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

test("[12] while the server is down, one wait ends every 1 to 2 s as a probe, the longest first", async () => {
  const clock = new VirtualClock();
  const recovery = new Recovery(clock, { next: () => 0.5 });
  const startedAt = clock.monotonic();
  recovery.onFailure();
  const loops = [waitingLoop(recovery, clock), waitingLoop(recovery, clock), waitingLoop(recovery, clock)];
  await clock.advance(10_000);
  assertEquals(loops.map(({ at = NaN }) => at - startedAt), [2_500, 4_000, 5_500]);
});

test("[12] a loop that fails while others get responses waits for its own backoff", async () => {
  const clock = new VirtualClock();
  const recovery = new Recovery(clock);
  const startedAt = clock.monotonic();
  recovery.onResponse();
  recovery.onFailure();
  const loop = waitingLoop(recovery, clock);
  for (let second = 0; second < 58; second += 2) {
    await clock.advance(2_000);
    recovery.onResponse();
    recovery.onFailure();
  }
  assertEquals([loop.at, recovery.recoveredAt], [undefined, -Infinity]);
  await clock.advance(2_000);
  assertEquals((loop.at ?? NaN) - startedAt, 60_000);
});

test("[12] the requests of 1,000 processes that lost a server together spread over its return", async () => {
  const clock = new VirtualClock();
  const random = seededRandom(7);
  const stop = new AbortController();
  const returnsAt = clock.monotonic() + 10_000;
  const arrivals: number[] = [];
  for (let process = 0; process < 1_000; process++) {
    const recovery = new Recovery(clock, random);
    for (let kind = 0; kind < 3; kind++) void follow(recovery, new Backoff({ ...backoff, clock, random }));
  }
  async function follow(recovery: Recovery, delays: Backoff): Promise<void> {
    while (clock.monotonic() < returnsAt) {
      recovery.onFailure();
      await recovery.sleep(delays.next(), stop.signal);
    }
    arrivals.push(clock.monotonic() - returnsAt);
    recovery.onResponse();
  }
  for (let step = 0; step < 30; step++) await clock.advance(500);
  stop.abort();
  assertEquals(arrivals.length, 3_000, "all of them follow within 5 s");
  const perSlot = Map.groupBy(arrivals, (at) => Math.floor(at / 100));
  const most = Math.max(...[...perSlot.values()].map((slot) => slot.length));
  assert(most <= 400, `${most} of 3,000 requests within 100 ms`);
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
