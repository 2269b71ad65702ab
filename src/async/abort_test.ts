import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { aborted, isAbortOf, onAbort, runTurns, untilAborted } from "./mod.ts";
import { CountedSignal } from "./testing/counted_signal.ts";

test("onAbort() calls its function once, at once when the signal is aborted already", () => {
  const { controller, signal } = new CountedSignal();
  const calls: string[] = [];
  using _before = onAbort(signal, () => calls.push("before"));
  assertEquals(calls, []);
  controller.abort();
  controller.abort();
  using _after = onAbort(signal, () => calls.push("after"));
  assertEquals(calls, ["before", "after"]);
});

test("a disposed onAbort() calls nothing and leaves no listener", () => {
  const counted = new CountedSignal();
  let calls = 0;
  const listening = onAbort(counted.signal, () => calls++);
  assertEquals(counted.listeners, 1);
  listening[Symbol.dispose]();
  assertEquals(counted.listeners, 0);
  counted.controller.abort();
  assertEquals(calls, 0);
});

test("aborted() resolves at the abort", async () => {
  const { controller, signal } = new CountedSignal();
  let isOver = false;
  const waiting = aborted(signal).then(() => isOver = true);
  await runTurns();
  assertEquals(isOver, false);
  controller.abort(new Error("stopped"));
  await waiting;
  await aborted(signal);
});

test("a disposed aborted() never settles and leaves no listener", async () => {
  const counted = new CountedSignal();
  let isOver = false;
  {
    using stopped = aborted(counted.signal);
    stopped.then(() => isOver = true);
    assertEquals(counted.listeners, 1);
  }
  assertEquals(counted.listeners, 0);
  counted.controller.abort();
  await runTurns();
  assertEquals(isOver, false);
});

test("untilAborted() settles as its work does and leaves no listener", async () => {
  const counted = new CountedSignal();
  assertEquals(await untilAborted(Promise.resolve("result"), counted.signal), "result");
  await assertRejects(() => untilAborted(Promise.reject(new Error("failed")), counted.signal), /^failed$/);
  assertEquals(counted.listeners, 0);
});

test("untilAborted() rejects with the signal's reason, and a later failure of the work is handled", async () => {
  const { controller, signal } = new CountedSignal();
  const work = Promise.withResolvers<void>();
  const waiting = untilAborted(work.promise, signal);
  controller.abort(new Error("stopped"));
  await assertRejects(() => waiting, /^stopped$/);
  await assertRejects(() => untilAborted(work.promise, signal), /^stopped$/);
  work.reject(new Error("failed later"));
  await runTurns();
});

test("isAbortOf() is true for the reason of the signal and for an AbortError, and only after the abort", () => {
  const controller = new AbortController();
  const reason = new Error("stopped");
  const abortError = new DOMException("The operation was aborted", "AbortError");
  assertEquals(isAbortOf(controller.signal, abortError), false);
  controller.abort(reason);
  assertEquals(
    [reason, abortError, new Error("stopped"), new DOMException("x", "TimeoutError")].map((error) =>
      isAbortOf(controller.signal, error)
    ),
    [true, true, false, false],
  );
});
