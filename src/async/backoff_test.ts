import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { Backoff, seededRandom, VirtualClock } from "./mod.ts";

function delays(backoff: Backoff, count: number): number[] {
  return Array.from({ length: count }, () => backoff.next());
}

test("[8] delays grow from 0.8 s to 30 s and stay there", () => {
  const backoff = new Backoff({ initialMs: 800, maxMs: 30_000, clock: new VirtualClock() });
  assertEquals(delays(backoff, 8), [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  for (let n = 0; n < 10_000; n++) backoff.next();
  assertEquals(backoff.next(), 30_000);
  backoff.reset();
  assertEquals(backoff.next(), 800);
});

test("[8] jitter 1.0 lengthens a delay to less than twice its length", () => {
  const options = { initialMs: 800, maxMs: 30_000, jitter: 1, clock: new VirtualClock() };
  const backoff = new Backoff({ ...options, random: seededRandom(1) });
  const plain = new Backoff({ ...options, jitter: 0 });
  const factors = delays(backoff, 200).map((ms) => ms / plain.next());
  assert(factors.every((factor) => factor >= 1 && factor < 2), factors.join(" "));
  assert(Math.max(...factors) - Math.min(...factors) > 0.9, "the delays hardly vary");
});

test("[8] the delays start over two minutes after a wait, not earlier", async () => {
  const clock = new VirtualClock();
  const backoff = new Backoff({ initialMs: 800, maxMs: 30_000, resetAfterMs: 120_000, clock });
  assertEquals(delays(backoff, 4), [800, 1_600, 3_200, 6_400]);
  await clock.advance(6_400 + 119_999);
  assertEquals(backoff.next(), 12_800);
  await clock.advance(12_800 + 120_000);
  assertEquals(backoff.next(), 800);
});

test("delays that are longer than resetAfterMs continue to grow", async () => {
  const clock = new VirtualClock();
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, resetAfterMs: 2_000, clock });
  const waits: number[] = [];
  for (let n = 0; n < 5; n++) {
    const ms = backoff.next();
    waits.push(ms);
    await clock.advance(ms);
  }
  assertEquals(waits, [1_000, 2_000, 4_000, 8_000, 16_000]);
});

test("a Backoff refuses options that are out of range", () => {
  assertThrows(() => new Backoff({ initialMs: -1, maxMs: 1 }), /^Cannot create Backoff: initialMs -1/);
  assertThrows(() => new Backoff({ initialMs: 2, maxMs: 1 }), /^Cannot create Backoff/);
  assertThrows(() => new Backoff({ initialMs: 1, maxMs: Infinity }), /^Cannot create Backoff/);
  assertThrows(() => new Backoff({ initialMs: NaN, maxMs: 1 }), /^Cannot create Backoff/);
  assertThrows(() => new Backoff({ initialMs: 1, maxMs: 2, factor: 0.5 }), /^Cannot create Backoff: factor 0.5/);
  assertThrows(() => new Backoff({ initialMs: 1, maxMs: 2, jitter: -1 }), /^Cannot create Backoff/);
});
