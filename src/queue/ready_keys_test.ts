import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { make, never, takeAll, taken } from "./testing/test_queue.ts";

test("[42] higher priorities go first, first in first out within each", () => {
  const { queue } = make();
  queue.add("low1", { priority: -100 });
  queue.add("a");
  queue.add("high", { priority: 10 });
  queue.add("low2", { priority: -100 });
  queue.add("b");
  assertEquals(takeAll(queue), ["high", "a", "b", "low1", "low2"]);
});

test("[42] a queued key that is added with a higher priority moves up, and with a lower one it stays", () => {
  const { queue } = make();
  queue.add("first", { priority: -100 });
  queue.add("second", { priority: -100 });
  queue.add("normal");
  queue.add("second", { priority: 0 });
  queue.add("normal", { priority: -100 });
  assertEquals(takeAll(queue), ["normal", "second", "first"]);
});

test("[42] a key of higher priority that becomes ready is taken before the ready ones of lower priority", async () => {
  const { queue, clock } = make();
  queue.add("low", { priority: -100 });
  queue.addAfter("high", 1_000, { priority: 0 });
  await clock.advance(1_000);
  assertEquals(takeAll(queue), ["high", "low"]);
});

test("[42] of keys that become due together, a waiting worker gets the one with the highest priority", async () => {
  const { queue, clock } = make();
  const waiting = queue.take(never);
  queue.addAfter("low", 10, { priority: -100 });
  queue.addAfter("high", 10);
  await clock.advance(10);
  assertEquals((await waiting)?.key, "high");
  assertEquals(takeAll(queue), ["low"]);
});

test("[42] low priorities do not starve under an endless stream of higher ones", () => {
  const { queue } = make({ ageingTurns: 10 });
  for (let n = 0; n < 5; n++) {
    queue.add(`list${n}`, { priority: -100 });
    queue.add(`resync${n}`, { priority: -200 });
  }
  const waitedTurns: number[] = [];
  for (let turn = 1; turn <= 200 && waitedTurns.length < 10; turn++) {
    queue.add(`event${turn}`);
    queue.add(`more${turn}`);
    using item = taken(queue);
    if (item.priority < 0) waitedTurns.push(turn);
  }
  assertEquals(waitedTurns, [11, 22, 33, 44, 55, 66, 77, 88, 99, 110]);
});

test("[42] any number of different priorities is served, and each key is taken once", () => {
  const { queue } = make();
  for (let n = 0; n < 1_000; n++) queue.add(`k${n}`, { priority: n });
  const keys = takeAll(queue);
  assertEquals(new Set(keys).size, 1_000);
  assertEquals(keys[0], "k999");
  for (let n = 0; n < 100; n++) queue.add(`k${n}`, { priority: -n });
  assertEquals(takeAll(queue).length, 100);
});

test("[42] lanes take turns: a namespace with 1,000 keys delays one with a single key by one turn", () => {
  const { queue } = make({ laneOf: (key) => key.slice(0, key.indexOf("/")) });
  for (let n = 0; n < 1_000; n++) queue.add(`noisy/${n}`);
  queue.add("quiet/a");
  queue.add("other/a");
  queue.add("other/b");
  assertEquals(takeAll(queue).slice(0, 6), ["noisy/0", "quiet/a", "other/a", "noisy/1", "other/b", "noisy/2"]);
});

test("[42] a lane of weight 3 gives three keys per turn", () => {
  const { queue } = make({ laneOf: (key) => key.slice(0, 1), laneWeight: (lane) => lane === "a" ? 3 : 1 });
  for (const key of ["a1", "a2", "a3", "a4", "b1", "b2", "b3"]) queue.add(key);
  assertEquals(takeAll(queue), ["a1", "a2", "a3", "b1", "a4", "b2", "b3"]);
});

test("a laneOf that throws leaves the queue unchanged", () => {
  let broken = true;
  const { queue } = make({
    laneOf: (key) => {
      if (broken) throw new TypeError("Cannot sort");
      return key;
    },
  });
  assertThrows(() => queue.add("a"), /Cannot sort/);
  broken = false;
  queue.add("a");
  assertEquals(takeAll(queue), ["a"]);
  assertEquals(queue.counts.running, 0);
});
