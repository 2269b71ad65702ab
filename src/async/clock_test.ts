import { assert, assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { maxTimerMs, pendingSystemTimers, systemClock } from "./mod.ts";

/** Replaces the timers of the runtime. As there, a delay of more than 31 bits fires after 1 ms. */
class FakeRuntime implements Disposable {
  elapsedMs = 1_000.25;
  readonly requested: number[] = [];
  readonly #pending = new Map<number, { readonly dueAt: number; readonly fire: () => void }>();
  readonly #real = { setTimeout, clearTimeout, now: performance.now };

  constructor() {
    Object.assign(globalThis, {
      setTimeout: (fire: () => void, ms: number) => {
        const id = this.requested.push(ms);
        this.#pending.set(id, { dueAt: this.elapsedMs + (ms > maxTimerMs ? 1 : Math.trunc(ms)), fire });
        return id;
      },
      clearTimeout: (id: number) => this.#pending.delete(id),
    });
    performance.now = () => this.elapsedMs;
  }

  get pending(): number {
    return this.#pending.size;
  }

  advance(ms: number): void {
    const until = this.elapsedMs + ms;
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      const [id, timer] = next;
      this.#pending.delete(id);
      this.elapsedMs = timer.dueAt;
      timer.fire();
    }
    this.elapsedMs = until;
  }

  #next(until: number) {
    return [...this.#pending].filter(([, timer]) => timer.dueAt <= until).sort((a, b) => a[1].dueAt - b[1].dueAt)[0];
  }

  [Symbol.dispose](): void {
    const { setTimeout, clearTimeout, now } = this.#real;
    Object.assign(globalThis, { setTimeout, clearTimeout });
    performance.now = now;
  }
}

test("[44, 86] a system timer of more than 2^31-1 ms fires at its time, not after 1 ms", () => {
  using runtime = new FakeRuntime();
  let fired = 0;
  const delayMs = 5 * 2 ** 31 + 7;
  systemClock.timer(delayMs, () => fired++);
  runtime.advance(delayMs - 1);
  assertEquals(fired, 0);
  runtime.advance(2);
  assertEquals([fired, runtime.pending], [1, 0]);
  assert(runtime.requested.every((ms) => ms <= maxTimerMs), "the runtime would clamp this");
  assertEquals(runtime.requested.length, 6);
});

test("[86] a timer with an infinite delay never fires, and NaN is refused", () => {
  using runtime = new FakeRuntime();
  let fired = 0;
  using _timer = systemClock.timer(Infinity, () => fired++);
  runtime.advance(10 * 2 ** 31);
  assertEquals([fired, runtime.pending], [0, 1]);
  assertThrows(() => systemClock.timer(NaN, () => fired++), /^Cannot set a timer/);
});

test("a system timer never fires early, although runtimes truncate fractions of milliseconds", () => {
  using runtime = new FakeRuntime();
  const startedAt = runtime.elapsedMs;
  let firedAt = -1;
  systemClock.timer(10.5, () => firedAt = runtime.elapsedMs);
  runtime.advance(20);
  assert(firedAt - startedAt >= 10.5, `fired after ${firedAt - startedAt} ms`);
});

test("a disposed system timer does not fire, also during the second part of a long delay", () => {
  using runtime = new FakeRuntime();
  let fired = 0;
  const short = systemClock.timer(10, () => fired++);
  const long = systemClock.timer(2 ** 32, () => fired++);
  short[Symbol.dispose]();
  runtime.advance(2 ** 31 + 5);
  long[Symbol.dispose]();
  long[Symbol.dispose]();
  runtime.advance(2 ** 33);
  assertEquals([fired, runtime.pending], [0, 0]);
});

test("[87] a jump of the wall clock changes neither the monotonic time nor a timer", () => {
  using runtime = new FakeRuntime();
  const realNow = Date.now;
  let fired = 0;
  systemClock.timer(100, () => fired++);
  const before = systemClock.monotonic();
  try {
    const hour = 3_600_000;
    const wall = realNow();
    Date.now = () => wall - hour;
    assertEquals(systemClock.now(), wall - hour);
    assertEquals(systemClock.monotonic(), before);
    runtime.advance(99);
    Date.now = () => wall + hour;
    assertEquals([fired, systemClock.monotonic() - before], [0, 99]);
    runtime.advance(1);
    assertEquals(fired, 1);
  } finally {
    Date.now = realNow;
  }
});

test("sleep() with the timers of the runtime resolves after its time, and leaves no timer", async () => {
  const before = systemClock.monotonic();
  await systemClock.sleep(1.5, new AbortController().signal);
  assert(systemClock.monotonic() - before >= 1.5);
});

test("an aborted sleep() rejects with the reason of the signal, and leaves no timer", async () => {
  using runtime = new FakeRuntime();
  const abort = new AbortController();
  const sleep = systemClock.sleep(60_000, abort.signal);
  assertEquals(runtime.pending, 1);
  abort.abort(new Error("Cannot continue: stopped"));
  await assertRejects(() => sleep, /stopped/);
  await assertRejects(() => systemClock.sleep(60_000, abort.signal), /stopped/);
  assertEquals(runtime.pending, 0);
});

test("pendingSystemTimers() counts a timer until it fires or is disposed, and once only", () => {
  using runtime = new FakeRuntime();
  const before = pendingSystemTimers();
  const disposed = systemClock.timer(3_600_000, () => {});
  let whenFired = NaN;
  systemClock.timer(10, () => whenFired = pendingSystemTimers());
  assertEquals(pendingSystemTimers(), before + 2);
  runtime.advance(10);
  assertEquals(whenFired, before + 1);
  disposed[Symbol.dispose]();
  disposed[Symbol.dispose]();
  assertEquals(pendingSystemTimers(), before);
});
