import { assert, assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { CountedSignal } from "../async/testing/counted_signal.ts";
import { make, never, takeAll, taken } from "./testing/test_queue.ts";

test("[38] a key that is added during its run runs exactly once more, and only afterwards", () => {
  const { queue } = make();
  queue.add("a");
  const first = taken(queue);
  for (let n = 0; n < 3; n++) queue.add("a");
  assertEquals(queue.tryTake(), undefined);
  assertEquals(queue.counts, { queued: 0, running: 1, runningDirty: 1, waiting: 0, parked: 0 });
  first[Symbol.dispose]();
  assertEquals(takeAll(queue), ["a"]);
  assertEquals(queue.counts, { queued: 0, running: 0, runningDirty: 0, waiting: 0, parked: 0 });
});

test("[38] disposing an item twice does not end the next run of its key", () => {
  const { queue } = make();
  queue.add("a");
  const first = taken(queue);
  queue.add("a");
  first[Symbol.dispose]();
  const second = taken(queue);
  queue.add("a");
  first[Symbol.dispose]();
  assertEquals(queue.tryTake(), undefined);
  second[Symbol.dispose]();
  assertEquals(takeAll(queue), ["a"]);
});

test("[38] the end of a using block ends the run, also when the block throws", async () => {
  const { queue } = make();
  queue.add("a");
  await assertRejects(async () => {
    using item = await queue.take(never);
    throw new Error(`Cannot reconcile "${item?.key}"`);
  });
  assertEquals(queue.counts.running, 0);
});

test("[38] of many workers only one has a key at a time", async () => {
  const { queue, clock } = make();
  const running = new Set<string>();
  let runs = 0;
  const work = async () => {
    while (true) {
      using item = await queue.take(never);
      if (item === undefined) return;
      assert(!running.has(item.key), `${item.key} runs twice at the same time`);
      running.add(item.key);
      await clock.sleep(1 + runs++ % 3, never);
      running.delete(item.key);
    }
  };
  const workers = Array.from({ length: 5 }, work);
  for (let n = 0; n < 200; n++) {
    queue.add(`k${n % 7}`);
    if (n % 4 === 0) await clock.advance(1);
  }
  await clock.advance(1_000);
  queue.shutDown();
  await Promise.all(workers);
  assertEquals(queue.counts.running, 0);
  assert(runs > 50, `only ${runs} runs`);
});

test("[39] an add of a queued key changes nothing, and the key stays at its position", () => {
  const { queue } = make();
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
  assertEquals(queue.size, 3);
  assertEquals(takeAll(queue), ["a", "b", "c"]);
});

test("[39] of two delayed adds of a key the earlier time counts", async () => {
  const { queue, clock } = make();
  queue.addAfter("a", 500);
  queue.addAfter("a", 100);
  queue.addAfter("a", 900);
  queue.addAfter("b", 100);
  queue.addAfter("b", 500);
  await clock.advance(99);
  assertEquals(queue.size, 0);
  await clock.advance(1);
  assertEquals(takeAll(queue), ["a", "b"]);
  await clock.advance(10_000);
  assertEquals(takeAll(queue), []);
  assertEquals(clock.pendingTimers, 0);
});

test("an add does not cancel a delayed add of the same key", async () => {
  const { queue, clock } = make();
  queue.addAfter("a", 100);
  queue.add("a");
  assertEquals(takeAll(queue), ["a"]);
  await clock.advance(100);
  assertEquals(takeAll(queue), ["a"]);
});

test("a delay of 0 or below adds at once, and one that is not finite is refused", () => {
  const { queue, clock } = make();
  queue.addAfter("a", 0);
  queue.addAfter("b", -5);
  assertEquals(takeAll(queue), ["a", "b"]);
  assertEquals(clock.pendingTimers, 0);
  assertThrows(() => queue.addAfter("a", NaN), /^Cannot add "a": the delay is NaN ms$/);
  assertThrows(() => queue.addAfter("a", Infinity), /Cannot add/);
  assertThrows(() => queue.add("a", { priority: NaN }), /^Cannot add "a": the priority is NaN$/);
});

test("a thousand delays share one timer, and an earlier one moves it", async () => {
  const { queue, clock } = make();
  for (let n = 0; n < 1_000; n++) queue.addAfter(`k${n}`, 1_000 + (n * 7919) % 1_000);
  assertEquals(clock.pendingTimers, 1);
  queue.addAfter("soon", 10);
  assertEquals([clock.pendingTimers, clock.nextTimerInMs], [1, 10]);
  await clock.advance(10);
  assertEquals(takeAll(queue), ["soon"]);
  await clock.advance(2_000);
  assertEquals(queue.size, 1_000);
});

test("[40] shutDown ends blocked takes, adds nothing more, and lets queued keys be taken", async () => {
  const { queue, clock } = make();
  const blocked = queue.take(never);
  queue.shutDown();
  assertEquals(await blocked, undefined);
  const other = make().queue;
  other.add("a");
  other.addAfter("later", 10);
  other.shutDown();
  other.add("b");
  other.addAfter("c", 5);
  other.addRateLimited("d");
  await clock.advance(1_000);
  assertEquals((await other.take(never))?.key, "a");
  assertEquals(await other.take(never), undefined);
  assertEquals(other.counts.waiting, 0);
  assertEquals(clock.pendingTimers, 0);
});

test("[40] shutDownWithDrain waits for queued, running and dirty keys", async () => {
  const { queue } = make();
  let drained = false;
  queue.add("a");
  queue.add("b");
  const first = taken(queue);
  queue.add("a");
  const drain = queue.shutDownWithDrain().then(() => drained = true);
  const runs = [first.key];
  first[Symbol.dispose]();
  for (let item = await queue.take(never); item !== undefined; item = await queue.take(never)) {
    assertEquals(drained, false);
    runs.push(item.key);
    item[Symbol.dispose]();
  }
  await drain;
  assertEquals(runs, ["a", "b", "a"]);
});

test("[40] a later shutDown ends the wait of shutDownWithDrain", async () => {
  const { queue } = make();
  queue.add("a");
  const stuck = taken(queue);
  const drain = queue.shutDownWithDrain();
  queue.shutDown();
  await drain;
  assertEquals(queue.counts.running, 1);
  stuck[Symbol.dispose]();
});

test("[40] an aborted signal ends the wait of shutDownWithDrain with its reason", async () => {
  const { queue } = make();
  queue.add("a");
  const grace = new AbortController();
  const drain = queue.shutDownWithDrain(grace.signal);
  grace.abort(new Error("Cannot drain: out of time"));
  await assertRejects(() => drain, /out of time/);
  await assertRejects(() => queue.shutDownWithDrain(grace.signal), /out of time/);
  takeAll(queue);
  await queue.shutDownWithDrain(grace.signal);
});

test("[41] a rate-limited key waits longer each time until it is forgotten; addAfter is not rate-limited", async () => {
  const { queue, clock } = make();
  const delays: (number | undefined)[] = [];
  for (let n = 0; n < 4; n++) {
    queue.addRateLimited("a");
    delays.push(clock.nextTimerInMs);
    await clock.advance(10_000);
    takeAll(queue);
  }
  assertEquals([delays, queue.retries("a")], [[5, 10, 20, 40], 4]);
  queue.addAfter("a", 7);
  assertEquals([clock.nextTimerInMs, queue.retries("a")], [7, 4]);
  await clock.advance(7);
  queue.forget("a");
  queue.addRateLimited("a");
  assertEquals([clock.nextTimerInMs, queue.retries("a")], [5, 1]);
});

test("[42] one key that always fails does not prevent 10,000 healthy keys from finishing", async () => {
  const { queue, clock } = make();
  queue.add("bad");
  const finished = new Set<string>();
  let failures = 0;
  for (let turn = 0; turn < 10_100; turn++) {
    if (turn < 10_000) queue.add(`good${turn}`);
    using item = queue.tryTake();
    if (item === undefined) break;
    if (item.key !== "bad") finished.add(item.key);
    else {
      failures++;
      queue.addRateLimited(item.key);
    }
    if (turn % 50 === 0) await clock.advance(1);
  }
  assertEquals(finished.size, 10_000);
  assert(failures > 3 && failures < 20, `${failures} failures`);
});

test("[43] a processed key leaves no memory in the queue", () => {
  const { queue } = make({ laneOf: (key) => key });
  for (let n = 0; n < 10_000; n++) queue.add(`k${n}`);
  assertEquals(takeAll(queue).length, 10_000);
  assertEquals(queue.snapshot(), []);
  assertEquals(queue.counts, { queued: 0, running: 0, runningDirty: 0, waiting: 0, parked: 0 });
});

test("[44] a delay beyond 2^31-1 ms fires at its time, not at once", async () => {
  const { queue, clock } = make();
  const fiftyDays = 50 * 24 * 3600 * 1000;
  queue.addAfter("a", fiftyDays);
  await clock.advance(2 ** 31);
  assertEquals(queue.size, 0);
  await clock.advance(fiftyDays - 2 ** 31);
  assertEquals(takeAll(queue), ["a"]);
});

test("[45] blocked takes are served in the order of their calls, and leave no listeners", async () => {
  const { queue } = make();
  const signal = new CountedSignal();
  const first = queue.take(signal.signal), second = queue.take(signal.signal), third = queue.take(signal.signal);
  assertEquals(signal.listeners, 3);
  queue.add("a");
  queue.add("b");
  assertEquals([(await first)?.key, (await second)?.key], ["a", "b"]);
  queue.shutDown();
  assertEquals(await third, undefined);
  assertEquals(signal.listeners, 0);
});

test("[45] an aborted take leaves its place in the line, and takes nothing", async () => {
  const { queue } = make();
  const abort = new AbortController();
  const aborted = queue.take(abort.signal), next = queue.take(never);
  abort.abort();
  assertEquals(await aborted, undefined);
  queue.add("a");
  assertEquals((await next)?.key, "a");
  queue.add("b");
  assertEquals(await queue.take(abort.signal), undefined);
  assertEquals(queue.size, 1);
});

test("[94] keys with the names of members of Object work as all others", async () => {
  const { queue, clock } = make({ laneOf: (key) => key });
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", ""];
  for (const name of names) queue.add(name);
  assertEquals(takeAll(queue), names);
  for (const name of names) queue.addRateLimited(name);
  await clock.advance(1_000);
  assertEquals(takeAll(queue), names);
});

test("retract() cancels the next run of a running key when all of its causes are obsolete", () => {
  const { queue } = make();
  queue.add("a", { cause: "created" });
  const first = taken(queue);
  queue.add("a", { cause: "own" });
  queue.add("a", { cause: "other" });
  queue.retract("a", (cause) => cause === "own");
  assertEquals(queue.counts.runningDirty, 1);
  queue.retract("a", (cause) => cause === "other");
  assertEquals(queue.counts.runningDirty, 0);
  first[Symbol.dispose]();
  assertEquals(takeAll(queue), []);
});

test("retract() leaves a key alone that is queued and not running", () => {
  const { queue } = make();
  queue.add("a", { cause: "own" });
  queue.retract("a", () => true);
  assertEquals(takeAll(queue), ["a"]);
});

test("removeWhere() forgets queued, delayed and parked keys, and what would follow a run in progress", async () => {
  const { queue, clock } = make();
  for (const key of ["a/run", "a/queued", "b/queued"]) queue.add(key);
  const item = queue.tryTake();
  queue.add("a/run");
  queue.addAfter("a/later", 1_000);
  queue.addAfter("b/later", 2_000);
  queue.addRateLimited("a/failed");
  queue.park("a/parked", "it fights");
  queue.add("a/parked");
  queue.removeWhere((key) => key.startsWith("a/"));
  item?.[Symbol.dispose]();
  assertEquals(queue.counts, { queued: 1, running: 0, runningDirty: 0, waiting: 1, parked: 0 });
  assertEquals([item?.key, queue.retries("a/failed"), queue.unpark("a/parked")], ["a/run", 0, false]);
  await clock.advance(60_000);
  assertEquals([queue.tryTake()?.key, queue.tryTake()?.key, queue.tryTake()], ["b/queued", "b/later", undefined]);
  queue.shutDown();
  assertEquals(clock.pendingTimers, 0);
});
