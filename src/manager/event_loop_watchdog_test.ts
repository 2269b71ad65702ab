import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { VirtualClock } from "../async/mod.ts";
import type { Fields, Logger } from "../observe/mod.ts";
import { pass } from "./_lease_server.ts";
import { SkewedClock } from "./_skewed_clock.ts";
import { EventLoopWatchdog } from "./event_loop_watchdog.ts";

function recorder(): { readonly log: Logger; readonly warnings: (Fields | undefined)[] } {
  const warnings: (Fields | undefined)[] = [];
  const quiet = () => undefined;
  const log: Logger = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (_, fields) => warnings.push(fields),
    with: () => log,
  };
  return { log, warnings };
}

test("[88] a standstill of the event loop of more than a second is logged, shorter ones are not", async () => {
  const base = new VirtualClock();
  const clock = new SkewedClock(base);
  const { log, warnings } = recorder();
  const watchdog = new EventLoopWatchdog({ clock, log });
  const stop = new AbortController();
  const running = watchdog.run({ stop: stop.signal });
  await pass(base, 10_000);
  for (const ms of [1_200, 5_000]) {
    clock.pause("stopped");
    await pass(base, ms);
    clock.resume();
    await pass(base, 1_000);
  }
  assertEquals([warnings, watchdog.longestMs], [[{ lateMs: 4_750 }], 4_750]);
  stop.abort();
  await running;
  assertEquals(base.pendingTimers, 0);
});

test("[88] a standstill as long as the renew deadline ends the watchdog, and with it the Manager", async () => {
  const base = new VirtualClock();
  const clock = new SkewedClock(base);
  const watchdog = new EventLoopWatchdog({ clock, log: recorder().log, failAfterMs: 10_000 });
  const running = assertRejects(
    () => watchdog.run({ stop: new AbortController().signal }),
    /^Cannot go on: the event loop did not turn for 10750 ms$/,
  );
  await pass(base, 250);
  clock.pause("stopped");
  await pass(base, 11_000);
  clock.resume();
  await pass(base, 0);
  await running;
});
