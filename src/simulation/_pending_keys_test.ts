/** Tests when keys keep a run from having settled. */
import { VirtualClock } from "../async/mod.ts";
import { assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { LoopGuard, type RequeueingProcess, TimerTracker } from "./_pending_keys.ts";

function requeued(dueAt: number, now: number, monotonic = now): RequeueingProcess {
  return {
    id: 1,
    clock: { now: () => now, monotonic: () => monotonic },
    manager: { requeued: () => [{ controller: "c", key: "default/a", dueAt }] },
  };
}

test("a requeue counts until the key was reconciled twice since the last change", () => {
  const timers = new TimerTracker();
  const within = { withinMs: 60_000 };
  assertEquals(timers.hasDue([requeued(20_000, 0)], { now: 0, changedAt: 0, ...within }), true);
  assertEquals(timers.hasDue([requeued(20_000, 10_000)], { now: 10_000, changedAt: 0, ...within }), true);
  assertEquals(timers.hasDue([requeued(40_000, 20_000)], { now: 20_000, changedAt: 0, ...within }), true);
  assertEquals(timers.hasDue([requeued(60_000, 40_000)], { now: 40_000, changedAt: 0, ...within }), false);
  assertEquals(timers.hasDue([requeued(60_000, 41_000)], { now: 41_000, changedAt: 40_500, ...within }), true);
});

test("a key that changes something each time is not waited for in the end", () => {
  const timers = new TimerTracker();
  const due = Array.from({ length: 8 }, (_, round) => {
    const now = round * 10_000;
    return timers.hasDue([requeued(now + 10_000, now)], { now, changedAt: now, withinMs: 60_000 });
  });
  assertEquals(due, [true, true, true, true, true, true, false, false]);
});

test("one requeue on a wall clock that runs slower is no new one each time", () => {
  const timers = new TimerTracker();
  const due = Array.from({ length: 9 }, (_, second) => {
    const [now, monotonic] = [second * 200, second * 1_000];
    return timers.hasDue([requeued(now + 30_000 - monotonic, now, monotonic)], {
      now: monotonic,
      changedAt: 0,
      withinMs: 60_000,
    });
  });
  assertEquals(new Set(due), new Set([true]));
});

test("a requeue that is due much later does not count", () => {
  const due = new TimerTracker().hasDue([requeued(90_000, 0)], { now: 0, changedAt: 0, withinMs: 60_000 });
  assertEquals(due, false);
});

test("LoopGuard ends a run once, and names the key that is reconciled most", () => {
  const messages: string[] = [];
  const guard = new LoopGuard(new VirtualClock(), (message) => messages.push(message));
  for (let reconcile = 0; reconcile < 3_000; reconcile++) guard.count("c", reconcile % 10 === 0 ? "b" : "a");
  assertEquals([messages.length, guard.isEnded, guard.reconciles], [1, true, 3_000]);
  assertStringIncludes(messages[0] ?? "", "controller c a was reconciled");
});
