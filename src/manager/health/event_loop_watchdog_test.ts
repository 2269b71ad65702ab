import { assertEquals, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import type { Fields, Logger } from "../../observe/mod.ts";
import { pass } from "../testing/fake_lease_server.ts";
import { SkewedClock } from "../testing/skewed_clock.ts";
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

test("[88] a block of the event loop of more than a second is logged, a shorter one is not", async () => {
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
  assertEquals([warnings, watchdog.longestMs], [[{ blockedMs: 4_750 }], 4_750]);
  stop.abort();
  await running;
  assertEquals(base.pendingTimers, 0);
});

test("[88] the liveness check fails during a block as long as the renew deadline, and passes after it", async () => {
  const base = new VirtualClock();
  const clock = new SkewedClock(base);
  const watchdog = new EventLoopWatchdog({ clock, log: recorder().log });
  const { name, probe, problem } = watchdog.check;
  assertEquals([name, probe, problem()], ["event-loop", "live", undefined], "it is not running yet");
  const stop = new AbortController();
  const running = watchdog.run({ stop: stop.signal });
  await pass(base, 10_000);
  assertEquals(problem(), undefined);
  clock.pause("stopped");
  await pass(base, 10_249);
  assertEquals(problem(), undefined);
  await pass(base, 1);
  assertEquals(problem(), "the event loop has been blocked for 10000 ms");
  clock.resume();
  await pass(base, 250);
  assertEquals(problem(), undefined);
  stop.abort();
  await running;
  assertEquals([base.pendingTimers, problem()], [0, undefined]);
});
