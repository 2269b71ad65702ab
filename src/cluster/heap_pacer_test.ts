/** Tests of the pace of garbage collections. */
import { assertEquals, test } from "../../tests/testing.ts";
import { VirtualClock } from "../async/mod.ts";
import { paceHeap } from "./heap_pacer.ts";

const mebibyte = 1024 * 1024;

test("paceHeap() collects when the heap has grown by a quarter and 16 MiB, and ends with the signal", async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  let [used, collections] = [10, 0];
  const collect = () => {
    collections++;
    used = 40;
  };
  const pacing = paceHeap({ clock, signal: stop.signal, usedBytes: () => used * mebibyte, collect });
  const steps: readonly (readonly [used: number, collections: number])[] = [[16, 0], [17, 1], [66, 1], [67, 2], [
    40,
    2,
  ]];
  for (const [size, expected] of steps) {
    used = size;
    await clock.advance(250);
    assertEquals(collections, expected, `${size} MiB`);
  }
  stop.abort();
  await pacing;
  used = 500;
  await clock.advance(1_000);
  assertEquals(collections, 2);
});

test("paceHeap() goes on while the size of the heap cannot be told", async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const sizes: (number | undefined)[] = [
    undefined,
    20 * mebibyte,
    undefined,
    20 * mebibyte,
    10 * mebibyte,
    20 * mebibyte,
  ];
  let collections = 0;
  const pacing = paceHeap({
    clock,
    signal: stop.signal,
    usedBytes: () => sizes.shift(),
    collect: () => void collections++,
  });
  for (const expected of [0, 1, 2, 2]) {
    await clock.advance(250);
    assertEquals(collections, expected);
  }
  stop.abort();
  await pacing;
});
