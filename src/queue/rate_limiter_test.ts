import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { VirtualClock } from "../async/mod.ts";
import {
  BucketRateLimiter,
  defaultRateLimiter,
  ExponentialRateLimiter,
  FastSlowRateLimiter,
  MaxOfRateLimiter,
  type RateLimiter,
} from "./mod.ts";

function delays(limiter: RateLimiter<string>, key: string, count: number): number[] {
  return Array.from({ length: count }, () => limiter.when(key));
}

test("[41] delays double from 5 ms to 1000 s per key, and forget() resets them", () => {
  const limiter = new ExponentialRateLimiter<string>();
  assertEquals(delays(limiter, "a", 5), [5, 10, 20, 40, 80]);
  assertEquals(delays(limiter, "b", 2), [5, 10]);
  assertEquals([limiter.retries("a"), limiter.retries("b"), limiter.retries("c")], [5, 2, 0]);
  assertEquals(delays(limiter, "a", 15).slice(-2), [1_000_000, 1_000_000]);
  limiter.forget("a");
  assertEquals([limiter.retries("a"), limiter.when("a")], [0, 5]);
});

test("[41] the 10,000th retry waits the maximum delay: nothing overflows", () => {
  const limiter = new ExponentialRateLimiter<string>();
  const all = delays(limiter, "a", 10_001);
  assertEquals(all.at(-1), 1_000_000);
  assert(all.every((ms, at) => Number.isFinite(ms) && ms >= (all[at - 1] ?? 0)), "delays must not shrink");
  const zero = new ExponentialRateLimiter<string>({ initialMs: 0 });
  assertEquals(new Set(delays(zero, "a", 2_000)), new Set([0]));
});

test("[41] jitter lengthens every delay by at most its part, also the maximum", () => {
  const limiter = new ExponentialRateLimiter<string>({ maxMs: 10, jitter: 0.5, random: { next: () => 0.5 } });
  assertEquals(delays(limiter, "a", 3), [6.25, 12.5, 12.5]);
});

test("[41] the bucket allows 100 retries at once and then 10 per second, for all keys together", async () => {
  const clock = new VirtualClock();
  const limiter = new BucketRateLimiter<string>({ clock });
  const first = Array.from({ length: 103 }, (_, n) => Math.round(limiter.when(`k${n}`)));
  assertEquals([Math.max(...first.slice(0, 100)), ...first.slice(100)], [0, 100, 200, 300]);
  await clock.advance(1_300);
  assertEquals(delays(limiter, "a", 11).map(Math.round), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100]);
  await clock.advance(3_600_000);
  assertEquals(delays(limiter, "a", 101).filter((ms) => ms === 0).length, 100);
  limiter.forget("a");
  assertEquals(limiter.retries("a"), 0);
});

test("[41] the first retries of a key are fast and the later ones slow", () => {
  const limiter = new FastSlowRateLimiter<string>({ fastMs: 5, slowMs: 10_000, fastRetries: 3 });
  assertEquals(delays(limiter, "a", 5), [5, 5, 5, 10_000, 10_000]);
  assertEquals([limiter.retries("a"), limiter.when("b")], [5, 5]);
  limiter.forget("a");
  assertEquals(limiter.when("a"), 5);
});

test("[41] combined limiters return the longest delay and forget together", () => {
  const slow = new FastSlowRateLimiter<string>({ fastMs: 7, slowMs: 3_000, fastRetries: 3 });
  const limiter = new MaxOfRateLimiter<string>([new ExponentialRateLimiter<string>(), slow]);
  assertEquals(delays(limiter, "a", 5), [7, 10, 20, 3_000, 3_000]);
  assertEquals(limiter.retries("a"), 5);
  limiter.forget("a");
  assertEquals([limiter.retries("a"), limiter.when("a")], [0, 7]);
});

test("[41] the default limiter combines the exponential limit with the bucket", () => {
  const limiter = defaultRateLimiter<string>({ clock: new VirtualClock() });
  assertEquals(delays(limiter, "a", 3), [5, 10, 20]);
  for (let n = 0; n < 97; n++) limiter.when(`k${n}`);
  assertEquals([Math.round(limiter.when("b")), Math.round(limiter.when("c"))], [100, 200]);
});

test("limiters refuse options that are out of range", () => {
  assertThrows(() => new ExponentialRateLimiter({ initialMs: 10, maxMs: 5 }), /^Cannot create ExponentialRateLimiter/);
  assertThrows(() => new ExponentialRateLimiter({ maxMs: Infinity }), /^Cannot create ExponentialRateLimiter/);
  assertThrows(() => new BucketRateLimiter({ perSecond: 0 }), /^Cannot create BucketRateLimiter/);
  assertThrows(() => new BucketRateLimiter({ burst: 0 }), /^Cannot create BucketRateLimiter/);
  assertThrows(() => new FastSlowRateLimiter({ fastMs: 1, slowMs: NaN, fastRetries: 1 }), /^Cannot create FastSlow/);
});
