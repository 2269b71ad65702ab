import { assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { drain, runTurns, VirtualClock } from "./mod.ts";
import { CountedSignal } from "./testing/counted_signal.ts";

const never = new AbortController().signal;

test("timers fire in the order of their due times, and of their creation when these are equal", async () => {
  const clock = new VirtualClock();
  const fired: string[] = [];
  for (const [name, ms] of [["c", 30], ["a", 10], ["b1", 20], ["b2", 20], ["now", -5]] as const) {
    clock.timer(ms, () => fired.push(`${name}@${clock.monotonic()}`));
  }
  await clock.advance(25);
  assertEquals(fired, ["now@0", "a@10", "b1@20", "b2@20"]);
  assertEquals([clock.pendingTimers, clock.nextTimerInMs, clock.monotonic()], [1, 5, 25]);
  await clock.advance(5);
  assertEquals([fired.at(-1), clock.pendingTimers, clock.nextTimerInMs], ["c@30", 0, undefined]);
});

test("the code after a timer runs until it waits again, before the next timer fires", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  const loop = async (name: string, ms: number) => {
    for (let n = 0; n < 3; n++) {
      await clock.sleep(ms, never);
      await Promise.resolve();
      seen.push(`${name}@${clock.monotonic()}`);
    }
  };
  const loops = [loop("a", 10), loop("b", 15)];
  await clock.advance(45);
  await Promise.all(loops);
  assertEquals(seen, ["a@10", "b@15", "a@20", "b@30", "a@30", "b@45"]);
});

test("a timer that is set by a timer fires within the same advance() when it is due", async () => {
  const clock = new VirtualClock();
  let ticks = 0;
  const tick = () => {
    ticks++;
    clock.timer(10, tick);
  };
  clock.timer(10, tick);
  await clock.advance(100);
  assertEquals([ticks, clock.pendingTimers], [10, 1]);
});

test("[44, 86] a virtual timer of more than 2^31-1 ms fires at its time", async () => {
  const clock = new VirtualClock();
  let fired = 0;
  clock.timer(2 ** 40, () => fired++);
  await clock.advance(2 ** 40 - 1);
  assertEquals(fired, 0);
  await clock.advance(1);
  assertEquals(fired, 1);
});

test("the wall time has whole milliseconds, after a timer with a fraction too", async () => {
  const clock = new VirtualClock();
  const startedAt = clock.now();
  await clock.advance(12.75);
  assertEquals([clock.now() - startedAt, clock.monotonic()], [12, 12.75]);
});

test("[87] jump() changes only the wall time", async () => {
  const clock = new VirtualClock({ startAt: 1_000_000 });
  let fired = 0;
  clock.timer(100, () => fired++);
  clock.jump(-500_000);
  assertEquals([clock.now(), clock.monotonic()], [500_000, 0]);
  clock.jump(3_600_000);
  await clock.advance(99);
  assertEquals([clock.now(), clock.monotonic(), fired], [4_100_099, 99, 0]);
  await clock.advance(1);
  assertEquals(fired, 1);
});

test("an aborted sleep() rejects with the reason and leaves no timer; a disposed timer does not fire", async () => {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const sleep = clock.sleep(1_000, abort.signal);
  let fired = 0;
  const timer = clock.timer(10, () => fired++);
  assertEquals(clock.pendingTimers, 2);
  abort.abort(new Error("stopped"));
  timer[Symbol.dispose]();
  await assertRejects(() => sleep, /stopped/);
  await clock.advance(2_000);
  assertEquals([fired, clock.pendingTimers], [0, 0]);
});

test("a sleep() that is over leaves no listener on its signal", async () => {
  const clock = new VirtualClock();
  const counted = new CountedSignal();
  const sleep = clock.sleep(10, counted.signal);
  assertEquals(counted.listeners, 1);
  await clock.advance(10);
  await sleep;
  assertEquals(counted.listeners, 0);
});

test("time never decreases, also when two calls of advance() overlap", async () => {
  const clock = new VirtualClock();
  await Promise.all([clock.advance(100), clock.advance(5)]);
  assertEquals(clock.monotonic(), 100);
  clock.timer(1, () => {});
  await Promise.all([clock.advance(10), clock.advance(100)]);
  assertEquals(clock.monotonic(), 200);
  await assertRejects(() => clock.advance(-1), /^Cannot advance VirtualClock: by -1 ms$/);
  await assertRejects(() => clock.advance(NaN), /^Cannot advance VirtualClock/);
  assertThrows(() => clock.timer(NaN, () => {}), /^Cannot set a timer/);
});

test("drain() reads streams in memory to their end", async () => {
  let text: string | undefined;
  new Response("hello").text().then((read) => text = read);
  await drain();
  assertEquals(text, "hello");
});

test("one turn of the event loop settles all code that waits only for promises", async () => {
  const done: string[] = [];
  const chain = async () => {
    for (let step = 0; step < 100; step++) await Promise.resolve();
    done.push(await new Response("body").text());
  };
  void chain();
  await runTurns();
  assertEquals(done, ["body"]);
});

test("a clock with fewer drainTurns fires the same timers in the same order", async () => {
  const clock = new VirtualClock({ drainTurns: 1 });
  const { signal } = new AbortController();
  const wokenAt: number[] = [];
  const wait = async (ms: number) => {
    await clock.sleep(ms, signal);
    wokenAt.push(clock.monotonic());
    if (ms < 40) await wait(ms * 2);
  };
  void wait(10);
  void wait(15);
  await clock.advance(100);
  assertEquals(wokenAt, [10, 15, 30, 45, 70]);
});
