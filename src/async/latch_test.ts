import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { Latch } from "./mod.ts";
import { CountedSignal } from "./testing/counted_signal.ts";

const never = new AbortController().signal;

test("a latch lets all waits through when it opens, and those that come later", async () => {
  const latch = new Latch();
  const waits = [latch.wait(never), latch.wait(never)];
  assertEquals(latch.isOpen, false);
  latch.open();
  latch.break(new Error("too late"));
  await Promise.all([...waits, latch.wait(never), latch.wait(AbortSignal.abort())]);
  assertEquals(latch.isOpen, true);
});

test("a broken latch rejects all waits with its error", async () => {
  const latch = new Latch();
  const waiting = latch.wait(never);
  latch.break(new Error("stopped"));
  latch.open();
  await assertRejects(() => waiting, /^stopped$/);
  await assertRejects(() => latch.wait(never), /^stopped$/);
  assertEquals(latch.isOpen, false);
});

test("a wait rejects with the signal's reason when that aborts first, and leaves no listener", async () => {
  const latch = new Latch();
  const counted = new CountedSignal(), leaving = new CountedSignal();
  const waiting = latch.wait(counted.signal), left = latch.wait(leaving.signal);
  leaving.controller.abort(new Error("aborted"));
  await assertRejects(() => left, /^aborted$/);
  await assertRejects(() => latch.wait(leaving.signal), /^aborted$/);
  assertEquals(counted.listeners, 1);
  latch.open();
  await waiting;
  assertEquals(counted.listeners, 0);
});
