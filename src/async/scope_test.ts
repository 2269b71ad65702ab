import { assert, assertEquals, test } from "../../tests/testing.ts";
import { scope, VirtualClock } from "./mod.ts";
import { CountedSignal } from "./testing/counted_signal.ts";

test("a scope aborts with its parent, with the same reason", () => {
  const parent = new AbortController();
  using child = scope(parent.signal);
  assertEquals(child.signal.aborted, false);
  parent.abort(new Error("stopped"));
  assertEquals(child.signal.reason, parent.signal.reason);
  using late = scope(parent.signal);
  assertEquals(late.signal.reason, parent.signal.reason);
});

test("abort() of a scope does not abort its parent, and a second reason changes nothing", () => {
  const parent = new AbortController();
  using child = scope(parent.signal);
  child.abort("first");
  child.abort("second");
  parent.abort("third");
  assertEquals([child.signal.reason, parent.signal.reason], ["first", "third"]);
});

test("a scope aborts with a TimeoutError after its timeout", async () => {
  const clock = new VirtualClock();
  using child = scope(new AbortController().signal, { timeoutMs: 1_000, clock });
  await clock.advance(999);
  assertEquals(child.signal.aborted, false);
  await clock.advance(1);
  const { reason } = child.signal;
  assert(reason instanceof DOMException);
  assertEquals([reason.name, reason.message], ["TimeoutError", "Timed out after 1000 ms"]);
});

test("a disposed scope leaves no listener on its parent and no timer", () => {
  const clock = new VirtualClock();
  const parent = new CountedSignal();
  for (let n = 0; n < 1_000; n++) {
    using child = scope(parent.signal, { timeoutMs: 1_000, clock });
    assertEquals([child.signal.aborted, parent.listeners, clock.pendingTimers], [false, 1, 1]);
  }
  assertEquals([parent.listeners, clock.pendingTimers], [0, 0]);
});

test("a disposed scope no longer follows its parent", () => {
  const parent = new AbortController();
  const child = scope(parent.signal);
  child[Symbol.dispose]();
  parent.abort();
  assertEquals(child.signal.aborted, false);
});

test("a scope of an aborted parent sets no timer", () => {
  const clock = new VirtualClock();
  using child = scope(AbortSignal.abort("stopped"), { timeoutMs: 1_000, clock });
  assertEquals([child.signal.reason, clock.pendingTimers], ["stopped", 0]);
});
