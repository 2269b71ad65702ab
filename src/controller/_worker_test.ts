import { assertEquals, test } from "../../tests/testing.ts";
import { type ObjectKey, objectKey } from "../api/mod.ts";
import { drain, VirtualClock } from "../async/mod.ts";
import { UnreachableError } from "../client/mod.ts";
import { logger } from "../observe/mod.ts";
import { ExponentialRateLimiter, WorkQueue } from "../queue/mod.ts";
import type { Attempt, Outcome } from "./_attempt.ts";
import { Outages } from "./_outages.ts";
import { work } from "./_worker.ts";
import type { Cause } from "./reconciler.ts";
import { done, requeueAfter, TerminalError } from "./result.ts";

const key = objectKey({ namespace: "default", name: "a" });
const failed: Outcome = { kind: "failed", error: new Error("no luck") };

interface Bench extends AsyncDisposable {
  readonly queue: WorkQueue<ObjectKey, Cause>;
  readonly clock: VirtualClock;
  readonly attempts: number;
}

/** One worker whose attempts end as the test says, in order; the last outcome repeats. */
function bench(outcomes: readonly Outcome[], options: { readonly maxRetries?: number } = {}): Bench {
  const clock = new VirtualClock();
  const rateLimiter = new ExponentialRateLimiter<ObjectKey>({ initialMs: 10, maxMs: 1000 });
  const queue = new WorkQueue<ObjectKey, Cause>({ name: "test", clock, rateLimiter });
  const stop = new AbortController();
  let attempts = 0;
  const attempt: Attempt = () => Promise.resolve(outcomes[Math.min(attempts++, outcomes.length - 1)] ?? done);
  const running = work(
    { queue, attempt, held: () => false, outages: new Outages(), log: logger("test"), ...options },
    stop.signal,
  );
  return {
    queue,
    clock,
    get attempts() {
      return attempts;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      queue.shutDown();
      await running;
      assertEquals(clock.pendingTimers, 0);
    },
  };
}

test("a key that succeeds is forgotten and not run again", async () => {
  await using b = bench([failed, done]);
  b.queue.add(key);
  await b.clock.advance(60_000);
  assertEquals(b.attempts, 2);
  assertEquals(b.queue.retries(key), 0);
});

test("[41] a key that fails is retried with growing delays", async () => {
  await using b = bench([failed]);
  b.queue.add(key);
  await b.clock.advance(10 + 20 + 40 + 79);
  assertEquals(b.attempts, 4);
  await b.clock.advance(1);
  assertEquals(b.attempts, 5);
});

test("[41] a requeue comes after its delay, is not rate limited, and forgets earlier failures", async () => {
  await using b = bench([failed, requeueAfter(5_000), done]);
  b.queue.add(key);
  await b.clock.advance(10);
  assertEquals([b.attempts, b.queue.retries(key)], [2, 0]);
  await b.clock.advance(4_999);
  assertEquals(b.attempts, 2);
  await b.clock.advance(1);
  assertEquals(b.attempts, 3);
});

test("[41] a terminal error is not retried, but a new change is looked at", async () => {
  await using b = bench([{ kind: "terminal", error: new TerminalError("bad input") }, done]);
  b.queue.add(key);
  await b.clock.advance(3_600_000);
  assertEquals(b.attempts, 1);
  b.queue.add(key);
  await drain();
  assertEquals(b.attempts, 2);
});

test("after maxRetries a failing key is dropped until it changes", async () => {
  await using b = bench([failed], { maxRetries: 2 });
  b.queue.add(key);
  await b.clock.advance(3_600_000);
  assertEquals(b.attempts, 3);
  b.queue.add(key);
  await b.clock.advance(3_600_000);
  assertEquals(b.attempts, 6);
});

test("a key whose requests get no answer is not dropped, and has all its retries after the outage", async () => {
  const reason = { kind: "unreachable", detail: "reset" } as const;
  const error = new UnreachableError({ action: "apply Deployment", reason });
  const outage: Outcome = { kind: "failed", error: new Error("Cannot bring Foo", { cause: error }) };
  await using b = bench([outage, outage, outage, outage, failed, failed, done], { maxRetries: 2 });
  b.queue.add(key);
  await b.clock.advance(3_600_000);
  assertEquals(b.attempts, 7);
});

test("after the stop no key is taken, and what is queued stays for the next start's list", async () => {
  const clock = new VirtualClock();
  const queue = new WorkQueue<ObjectKey, Cause>({ name: "test", clock });
  const stop = new AbortController();
  const finish = Promise.withResolvers<Outcome>();
  const seen: string[] = [];
  const attempt: Attempt = (attempted) => {
    seen.push(attempted);
    return finish.promise;
  };
  const running = work({ queue, attempt, held: () => false, outages: new Outages(), log: logger("test") }, stop.signal);
  queue.add(key);
  queue.add(objectKey({ namespace: "default", name: "b" }));
  await drain();
  stop.abort();
  finish.resolve(done);
  await running;
  assertEquals(seen, ["default/a"]);
});
