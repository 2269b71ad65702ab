import { assertEquals, test } from "../../tests/testing.ts";
import { type Clock, TurnClock, VirtualClock } from "./mod.ts";

test("monotonic() of a TurnClock reads its clock once per turn and wall time each time", async () => {
  let reads = 0;
  const virtual = new VirtualClock();
  const counted: Clock = {
    now: () => virtual.now(),
    monotonic: () => (reads++, virtual.monotonic() + reads),
    sleep: (ms, signal) => virtual.sleep(ms, signal),
    timer: (ms, fire) => virtual.timer(ms, fire),
  };
  const clock = new TurnClock(counted);
  assertEquals([clock.monotonic(), clock.monotonic(), reads], [1, 1, 1]);
  await Promise.resolve();
  assertEquals([clock.monotonic(), reads], [2, 2]);
  virtual.jump(1_000);
  assertEquals(clock.now(), virtual.now());
});

test("sleep() and timer() of a TurnClock are those of its clock", async () => {
  const virtual = new VirtualClock();
  const clock = new TurnClock(virtual);
  let fired = 0;
  using _timer = clock.timer(10, () => fired++);
  const slept = clock.sleep(20, new AbortController().signal).then(() => fired++);
  await virtual.advance(20);
  await slept;
  assertEquals(fired, 2);
});
