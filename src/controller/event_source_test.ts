import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { seededRandom, VirtualClock } from "../async/mod.ts";
import type { CacheReader } from "./caches.ts";
import { logger } from "../observe/mod.ts";
import { type EventSource, keepSourceRunning, ticker } from "./event_source.ts";

/** No source of these tests reads a cache. */
const noCaches: CacheReader = { find: () => undefined, list: () => [] };

function createRunner() {
  const clock = new VirtualClock();
  const keys: string[] = [];
  const stop = new AbortController();
  const run = (source: EventSource) =>
    keepSourceRunning(source, (key) => void keys.push(key), stop.signal, {
      context: { clock, caches: noCaches, keys: () => ["shop/a", "shop/b"] },
      random: seededRandom(1),
      log: logger("test"),
    });
  return { clock, keys, stop, run };
}

test("a ticker calls keys() at every tick", async () => {
  const b = createRunner();
  let round = 0;
  const running = b.run(ticker("tick", 1_000, () => [`shop/${++round}`]));
  await b.clock.advance(3_500);
  assertEquals(b.keys, ["shop/1", "shop/2", "shop/3"]);
  b.stop.abort();
  await running;
  assertEquals(b.clock.pendingTimers, 0);
});

test("a source that throws or ends is restarted with growing delays", async () => {
  const b = createRunner();
  let starts = 0;
  const running = b.run({
    name: "flaky",
    run: () => ++starts % 2 === 0 ? Promise.resolve() : Promise.reject(new Error("no luck")),
  });
  await b.clock.advance(2_000);
  assertEquals(starts, 2);
  await b.clock.advance(10 * 60_000);
  const early = starts;
  await b.clock.advance(10 * 60_000);
  assertEquals(starts - early <= 11, true, "at most once a minute in the long run");
  b.stop.abort();
  await running;
});

test("ticker() rejects a period that is not greater than 0", () => {
  assertThrows(() => ticker("t", 0, () => []), /everyMs 0 is not greater than 0/);
});

test("a source can reconcile all objects of the cache", async () => {
  const b = createRunner();
  const running = b.run({
    name: "signal",
    run: (enqueue, signal, { keys }) => {
      for (const key of keys()) enqueue(key);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    },
  });
  assertEquals(b.keys, ["shop/a", "shop/b"]);
  b.stop.abort();
  await running;
});
