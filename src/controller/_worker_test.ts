import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type ObjectKey, objectKey } from "../api/mod.ts";
import { drain, VirtualClock } from "../async/mod.ts";
import { ApiError, Client, UnreachableError } from "../client/mod.ts";
import { logger } from "../observe/mod.ts";
import { ExponentialRateLimiter, WorkQueue } from "../queue/mod.ts";
import { createReconcileAttempt, type Outcome, type ReconcileAttempt, UnreachableFailures, work } from "./_worker.ts";
import { controller } from "./builder.ts";
import { type Cause, done, requeueAfter, type Result, TerminalError } from "./request.ts";
import { OwnerChangedError, type OwnerState } from "./owner_errors.ts";

const key = objectKey({ namespace: "default", name: "a" });
const failed: Outcome = { kind: "failed", error: new Error("no luck") };

interface TestWorker extends AsyncDisposable {
  readonly queue: WorkQueue<ObjectKey, Cause>;
  readonly clock: VirtualClock;
  readonly attempts: number;
}

/** Starts one worker whose attempts end with these outcomes, in order; the last outcome repeats. */
function startWorker(outcomes: readonly Outcome[], options: { readonly maxRetries?: number } = {}): TestWorker {
  const clock = new VirtualClock();
  const rateLimiter = new ExponentialRateLimiter<ObjectKey>({ initialMs: 10, maxMs: 1000 });
  const queue = new WorkQueue<ObjectKey, Cause>({ name: "test", clock, rateLimiter });
  const stop = new AbortController();
  let attempts = 0;
  const attempt: ReconcileAttempt = () => Promise.resolve(outcomes[Math.min(attempts++, outcomes.length - 1)] ?? done);
  const unreachableFailures = new UnreachableFailures();
  const running = work(
    { queue, attempt, unreachableFailures, log: logger("test"), ...options },
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

test("a key that succeeds is forgotten and not reconciled again", async () => {
  await using worker = startWorker([failed, done]);
  worker.queue.add(key);
  await worker.clock.advance(60_000);
  assertEquals(worker.attempts, 2);
  assertEquals(worker.queue.retries(key), 0);
});

test("[41] a key that fails is retried with growing delays", async () => {
  await using worker = startWorker([failed]);
  worker.queue.add(key);
  await worker.clock.advance(10 + 20 + 40 + 79);
  assertEquals(worker.attempts, 4);
  await worker.clock.advance(1);
  assertEquals(worker.attempts, 5);
});

test("[41] a key whose server asks to wait is retried after Retry-After at the earliest, and after five minutes at the latest", async () => {
  const asked = (retryAfterMs: number): Outcome => {
    const cause = new ApiError({ code: 429 }, { action: "evict Pod", retryAfterMs });
    return { kind: "failed", error: new Error("Cannot drain Node", { cause }) };
  };
  await using worker = startWorker([asked(7_000), asked(365 * 86_400_000), done]);
  worker.queue.add(key);
  await worker.clock.advance(6_999);
  assertEquals(worker.attempts, 1);
  await worker.clock.advance(1);
  assertEquals(worker.attempts, 2);
  await worker.clock.advance(5 * 60_000 - 1);
  assertEquals(worker.attempts, 2);
  await worker.clock.advance(1);
  assertEquals(worker.attempts, 3);
});

test("[41] a requeue comes after its delay, is not rate limited, and forgets earlier failures", async () => {
  await using worker = startWorker([failed, requeueAfter(5_000), done]);
  worker.queue.add(key);
  await worker.clock.advance(10);
  assertEquals([worker.attempts, worker.queue.retries(key)], [2, 0]);
  await worker.clock.advance(4_999);
  assertEquals(worker.attempts, 2);
  await worker.clock.advance(1);
  assertEquals(worker.attempts, 3);
});

test("[41] a terminal error is not retried, but the key is reconciled again after a change", async () => {
  await using worker = startWorker([{ kind: "terminal", error: new TerminalError("bad input") }, done]);
  worker.queue.add(key);
  await worker.clock.advance(3_600_000);
  assertEquals(worker.attempts, 1);
  worker.queue.add(key);
  await drain();
  assertEquals(worker.attempts, 2);
});

test("whatever is thrown is retried: no Error, nothing that becomes text, a cause of itself", async () => {
  const round = new Error("round");
  round.cause = round;
  const thrown = [undefined, "", Object.create(null), round];
  await using worker = startWorker([...thrown.map((error): Outcome => ({ kind: "failed", error })), done]);
  worker.queue.add(key);
  await worker.clock.advance(60_000);
  assertEquals(worker.attempts, thrown.length + 1);
  assertEquals(await outcomeOf(round), { kind: "failed", error: round });
});

test("a failing key is dropped after maxRetries until it changes", async () => {
  await using worker = startWorker([failed], { maxRetries: 2 });
  worker.queue.add(key);
  await worker.clock.advance(3_600_000);
  assertEquals(worker.attempts, 3);
  worker.queue.add(key);
  await worker.clock.advance(3_600_000);
  assertEquals(worker.attempts, 6);
});

test("failures because the server is unreachable drop no key and use up no retries", async () => {
  const reason = { kind: "unreachable", detail: "reset" } as const;
  const error = new UnreachableError({ action: "apply Deployment", reason });
  const unreachable: Outcome = { kind: "failed", error: new Error("Cannot reconcile Foo", { cause: error }) };
  const outcomes = [unreachable, unreachable, unreachable, unreachable, failed, failed, done];
  await using worker = startWorker(outcomes, { maxRetries: 2 });
  worker.queue.add(key);
  await worker.clock.advance(3_600_000);
  assertEquals(worker.attempts, 7);
});

test("after the stop a worker takes no more keys, although keys are queued", async () => {
  const clock = new VirtualClock();
  const queue = new WorkQueue<ObjectKey, Cause>({ name: "test", clock });
  const stop = new AbortController();
  const finish = Promise.withResolvers<Outcome>();
  const seen: string[] = [];
  const attempt: ReconcileAttempt = (attempted) => {
    seen.push(attempted);
    return finish.promise;
  };
  const unreachableFailures = new UnreachableFailures();
  const running = work({ queue, attempt, unreachableFailures, log: logger("test") }, stop.signal);
  queue.add(key);
  queue.add(objectKey({ namespace: "default", name: "b" }));
  await drain();
  stop.abort();
  finish.resolve(done);
  await running;
  assertEquals(seen, ["default/a"]);
});

const owner = {
  resource: builtin.Namespace,
  object: { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", uid: "u-shop" } },
};

/** The outcome of an attempt whose reconciler ends in this way. */
async function outcomeWith(reconcile: () => Promise<Result>): Promise<Outcome> {
  const definition = controller("greeter").for(builtin.Namespace).reconcileKey(reconcile);
  const attempt = createReconcileAttempt({
    definition,
    client: new Client(() => Promise.reject(new Error("not needed here"))),
    caches: { find: () => undefined, list: () => [] },
    events: { record: () => {} },
    clock: new VirtualClock(),
    kill: new AbortController().signal,
    log: logger("test"),
    onRepair: () => () => {},
  });
  return await attempt(objectKey({ name: "shop" }), [], 0);
}

/** The outcome of an attempt whose reconciler throws `error`. */
const outcomeOf = (error: Error) => outcomeWith(() => Promise.reject(error));

function ownerChanged(state: OwnerState): OwnerChangedError {
  return new OwnerChangedError('create ConfigMap "a" again', owner, state);
}

test("an attempt whose owner is deleted on the server is done and has not failed", async () => {
  assertEquals(await outcomeOf(ownerChanged("deleted")), { kind: "done" });
  assertEquals(await outcomeOf(new Error("Cannot reconcile it", { cause: ownerChanged("deleted") })), { kind: "done" });
});

test("an attempt whose owner is newer on the server is requeued until the cache has it", async () => {
  assertEquals(await outcomeOf(ownerChanged("newer")), { kind: "requeue", afterMs: 1_000 });
});

test("an attempt that throws any other error has failed", async () => {
  const error = new Error("no luck");
  assertEquals(await outcomeOf(error), { kind: "failed", error });
});

test("a requeue after Infinity is done, as the earliest of no deadlines", async () => {
  assertEquals(await outcomeWith(() => Promise.resolve(requeueAfter(Math.min()))), { kind: "done" });
});

test("an attempt whose reconciler returns no result has failed, and the worker goes on", async () => {
  for (const result of [undefined, {}, { kind: "requeue" }, { kind: "requeue", afterMs: NaN }]) {
    assertEquals((await outcomeWith(() => Promise.resolve(result as Result))).kind, "failed");
  }
});
