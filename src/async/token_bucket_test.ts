import { assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { TokenBucket, VirtualClock } from "./mod.ts";

const never = new AbortController().signal;

test("tryTake() takes what is stored, and one more token after each interval, up to the burst", async () => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket({ intervalMs: 300_000, burst: 3, clock });
  const takeAll = () => {
    let taken = 0;
    while (bucket.tryTake()) taken++;
    return taken;
  };
  assertEquals(takeAll(), 3);
  await clock.advance(299_999);
  assertEquals(takeAll(), 0);
  await clock.advance(1);
  assertEquals(takeAll(), 1);
  await clock.advance(86_400_000);
  assertEquals(takeAll(), 3);
});

test("reserve() returns how long it takes until the token is made", async () => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket({ intervalMs: 100, burst: 2, clock });
  assertEquals([bucket.reserve(), bucket.reserve(), bucket.reserve(), bucket.reserve()], [0, 0, 100, 200]);
  await clock.advance(150);
  assertEquals([bucket.reserve(), bucket.tryTake()], [150, false]);
});

test("take() waits for its token, in the order of the calls", async () => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket({ intervalMs: 100, burst: 2, clock });
  const takenAt: number[] = [];
  for (let n = 0; n < 4; n++) bucket.take(never).then(() => takenAt.push(clock.monotonic()));
  await clock.advance(1_000);
  assertEquals(takenAt, [0, 0, 100, 200]);
});

test("an aborted take() gives its token back", async () => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket({ intervalMs: 100, burst: 1, clock });
  await bucket.take(never);
  await assertRejects(() => bucket.take(AbortSignal.abort(new Error("stopped"))), /^stopped$/);
  assertEquals([bucket.reserve(), clock.pendingTimers], [100, 0]);
});

test("a bucket refuses options that are out of range", () => {
  assertThrows(() => new TokenBucket({ intervalMs: 0, burst: 1 }), /^Cannot create TokenBucket: intervalMs 0/);
  assertThrows(() => new TokenBucket({ intervalMs: NaN, burst: 1 }), /^Cannot create TokenBucket/);
  assertThrows(() => new TokenBucket({ intervalMs: 1, burst: 0.5 }), /^Cannot create TokenBucket/);
});
