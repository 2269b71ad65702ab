import process from "node:process";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { pendingTimers, queueDepth, sampleOf } from "./sample.ts";

test("the depths of all queues are added, and other metrics are not", () => {
  const text = [
    "# TYPE workqueue_depth gauge",
    'workqueue_depth{name="foo",priority="0"} 3',
    'workqueue_depth{name="foo",priority="-100"} 4',
    'workqueue_adds_total{name="foo"} 900',
  ].join("\n");
  assertEquals(queueDepth(text), 7);
});

test("the timers of a process are read when it tells them", () => {
  assertEquals(pendingTimers("# TYPE process_pending_timers gauge\nprocess_pending_timers 12\n"), 12);
  assertEquals(pendingTimers("process_open_fds 12\n"), undefined);
});

test("a process that serves no metrics has memory and handles; one that is gone has nothing", async () => {
  const own = await sampleOf(process.pid, "http://127.0.0.1:1/metrics");
  assert(own !== undefined && own.rssBytes > own.anonymousBytes && own.handles > 2 && own.threads > 0);
  assertEquals([own.queued, own.timers], [undefined, undefined]);
  assertEquals(await sampleOf(2 ** 30, "http://127.0.0.1:1/metrics"), undefined);
});
