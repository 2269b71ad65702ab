import { assertEquals, test } from "../../../tests/testing.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { TimerQueue } from "./timer_queue.ts";

test("deadlines fire in the order of their times, on one timer", async () => {
  const clock = new VirtualClock();
  using pacer = new TimerQueue(clock);
  const fired: string[] = [];
  for (const ms of [300, 100, 200, 100]) pacer.after(ms, () => fired.push(`${ms}@${clock.monotonic()}`));
  assertEquals(clock.pendingTimers, 1);
  await clock.advance(1000);
  assertEquals(fired, ["100@100", "100@100", "200@200", "300@300"]);
  assertEquals(clock.pendingTimers, 0);
});

test("a disposed deadline does not fire, and the last one disposes the timer", async () => {
  const clock = new VirtualClock();
  using pacer = new TimerQueue(clock);
  let fired = 0;
  const first = pacer.after(100, () => fired++);
  const second = pacer.after(200, () => fired++);
  second[Symbol.dispose]();
  assertEquals(pacer.size, 1);
  first[Symbol.dispose]();
  assertEquals([pacer.size, clock.pendingTimers], [0, 0]);
  await clock.advance(1000);
  assertEquals(fired, 0);
});

test("a deadline may add another one, also an earlier one", async () => {
  const clock = new VirtualClock();
  using pacer = new TimerQueue(clock);
  const fired: number[] = [];
  const again = () => {
    fired.push(clock.monotonic());
    if (fired.length < 4) pacer.after(50, again);
  };
  pacer.after(500, () => fired.push(clock.monotonic()));
  pacer.after(50, again);
  await clock.advance(1000);
  assertEquals(fired, [50, 100, 150, 200, 500]);
});

test("a disposed TimerQueue has no timer", () => {
  const clock = new VirtualClock();
  const pacer = new TimerQueue(clock);
  pacer.after(100, () => {});
  pacer[Symbol.dispose]();
  pacer.after(100, () => {});
  assertEquals(clock.pendingTimers, 0);
});

test("deadlines fire in order after any sequence of adding and disposing", async () => {
  const random = seededRandom(3);
  const clock = new VirtualClock();
  using pacer = new TimerQueue(clock);
  const fired: number[] = [];
  const expected: number[] = [];
  for (let count = 0; count < 500; count++) {
    const ms = Math.floor(random.next() * 1000);
    const timer = pacer.after(ms, () => fired.push(ms));
    if (random.next() < 0.3) timer[Symbol.dispose]();
    else expected.push(ms);
  }
  await clock.advance(1000);
  assertEquals(fired, expected.sort((left, right) => left - right));
});
