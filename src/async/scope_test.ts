import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { onAbort, scope, VirtualClock } from "./mod.ts";
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

test("all listeners of a scope are called once with its abort, also after one that throws, and none that was disposed", () => {
  const child = scope(new AbortController().signal);
  const calls: string[] = [];
  const { queueMicrotask } = globalThis;
  const later: (() => void)[] = [];
  const defect = new Error("a defect of a listener");
  onAbort(child.signal, () => calls.push("first"));
  onAbort(child.signal, () => {
    throw defect;
  });
  onAbort(child.signal, () => calls.push("second"));
  const disposed = onAbort(child.signal, () => calls.push("disposed"));
  disposed[Symbol.dispose]();
  globalThis.queueMicrotask = (act) => void later.push(act);
  try {
    child.abort("over");
  } finally {
    globalThis.queueMicrotask = queueMicrotask;
  }
  child.abort("again");
  onAbort(child.signal, () => calls.push(String(child.signal.reason)));
  assertEquals(calls, ["first", "second", "over"]);
  assertEquals(later.length, 1); // the runtime reports it as uncaught
  assertEquals(assertThrows(() => later[0]?.()), defect);
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
