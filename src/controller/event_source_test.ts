import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { seededRandom, VirtualClock } from "../async/mod.ts";
import { logger } from "../observe/mod.ts";
import { type EventSource, keepSourceRunning, ticker } from "./event_source.ts";

function createRunner() {
  const clock = new VirtualClock();
  const keys: string[] = [];
  const stop = new AbortController();
  const run = (source: EventSource) =>
    keepSourceRunning(source, (key) => void keys.push(key), stop.signal, {
      clock,
      random: seededRandom(1),
      log: logger("test"),
    });
  return { clock, keys, stop, run };
}

test("a ticker calls keys() at every tick", async () => {
  const b = createRunner();
  let round = 0;
  const running = b.run(ticker("tick", 1_000, () => [`shop/${++round}`], b.clock));
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
  assertThrows(() => ticker("t", 0, () => [], new VirtualClock()), /everyMs 0 is not greater than 0/);
});
