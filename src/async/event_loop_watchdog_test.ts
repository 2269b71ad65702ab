import { assertEquals, test } from "../../tests/testing.ts";
import type { Clock } from "./clock.ts";
import { watchEventLoop } from "./event_loop_watchdog.ts";
import { VirtualClock } from "./virtual_clock.ts";

/** A clock on which time can pass without a timer firing, as it does while the event loop is blocked. */
function blockable() {
  const base = new VirtualClock();
  let lostMs = 0;
  const clock: Clock = {
    now: () => base.now() + lostMs,
    monotonic: () => base.monotonic() + lostMs,
    sleep: (ms, signal) => base.sleep(ms, signal),
    timer: (ms, fire) => base.timer(ms, fire),
  };
  return { base, clock, block: (ms: number) => void (lostMs += ms) };
}

test("[88] an event loop that was blocked for a second or more is told, once per time", async () => {
  const { base, clock, block } = blockable();
  const told: number[] = [];
  using _watching = watchEventLoop({ clock, blocked: (ms) => void told.push(ms) });
  await base.advance(10_000);
  assertEquals(told, []);
  block(2_500);
  await base.advance(500);
  assertEquals(told, [2_500]);
  await base.advance(10_000);
  assertEquals(told, [2_500]);
});

test("[88] a short delay is nothing to talk about", async () => {
  const { base, clock, block } = blockable();
  const told: number[] = [];
  using _watching = watchEventLoop({ clock, blocked: (ms) => void told.push(ms) });
  block(999);
  await base.advance(500);
  assertEquals(told, []);
});

test("a watchdog that is disposed leaves no timer behind", async () => {
  const clock = new VirtualClock();
  const watching = watchEventLoop({ clock, blocked: () => {} });
  await clock.advance(5_000);
  watching[Symbol.dispose]();
  assertEquals(clock.pendingTimers, 0);
});
