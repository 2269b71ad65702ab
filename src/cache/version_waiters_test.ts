/** Tests of waiting for a version, which reading your own writes needs (behaviour 64). */
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { type ResourceVersion, resourceVersion } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { CountedSignal } from "../async/testing/counted_signal.ts";
import { startEnvironment } from "./testing/test_environment.ts";
import { VersionWaiters } from "./version_waiters.ts";

const version = (number: number): ResourceVersion => resourceVersion(String(number));

test("[64] waitFor() resolves when an event or a bookmark has brought the version", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  assert(await env.informer.waitFor(version(101), env.signal));
  const reached: string[] = [];
  for (const wanted of [102, 103, 104]) {
    env.informer.waitFor(version(wanted), env.signal).then((ok) => reached.push(`${wanted} ${ok}`));
  }
  env.api.put("b");
  await drain();
  assertEquals(reached, ["102 true"]);
  assertEquals([env.informer.isAtLeast(version(102)), env.informer.isAtLeast(version(103))], [true, false]);
  env.api.changeElsewhere();
  env.api.changeElsewhere();
  env.api.bookmark();
  await drain();
  assertEquals(reached, ["102 true", "103 true", "104 true"]);
});

test("[64] waitFor() returns false after its timeout and when the informer stops, and rejects on abort", async () => {
  const env = await startEnvironment();
  const late = env.informer.waitFor(version(500), env.signal, { timeoutMs: 10_000 });
  let result: boolean | undefined;
  late.then((value) => result = value);
  await env.clock.advance(9_999);
  assertEquals(result, undefined);
  await env.clock.advance(1);
  assertEquals(result, false);
  const reason = new Error("enough");
  const given = new AbortController();
  const aborted = assertRejects(() => env.informer.waitFor(version(500), given.signal), /enough/);
  await drain();
  given.abort(reason);
  assertEquals(await aborted, reason);
  const stopped = env.informer.waitFor(version(500), new AbortController().signal, { timeoutMs: 1e6 });
  await env.stop();
  assertEquals(await stopped, false);
  assertEquals(await env.informer.waitFor(version(500), new AbortController().signal), false);
  assertEquals(env.clock.pendingTimers, 0);
});

test("[64] waitFor() resolves at once for a version that cannot be compared", async () => {
  await using env = await startEnvironment();
  assert(await env.informer.waitFor(resourceVersion("not-a-number"), env.signal));
});

test("[64] before the first full state no version is reached, and waitFor() waits for it", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.failNext("watch", new TypeError("refused")) });
  assert(!env.informer.isAtLeast(version(1)));
  let reached = false;
  env.informer.waitFor(version(100), env.signal).then((ok) => reached = ok);
  await drain();
  assert(!reached);
  await env.waitOutBackoff();
  assert(reached);
});

test("10,000 waits end in the order of their versions, each once, and none too early", async () => {
  const clock = new VirtualClock();
  const waiters = new VersionWaiters(clock);
  const random = seededRandom(5);
  const woken: number[] = [];
  const signal = new AbortController().signal;
  for (let count = 0; count < 10_000; count++) {
    const wanted = 1 + Math.floor(random.next() * 100_000);
    waiters.wait(version(wanted), signal, Infinity).then(() => woken.push(wanted));
  }
  let before = 0;
  for (let at = 0; at <= 100_000; at += 5_000) {
    waiters.reached(version(at));
    await drain();
    assert(woken.slice(before).every((wanted) => wanted <= at && wanted > at - 5_000), `at ${at}`);
    before = woken.length;
  }
  assertEquals([woken.length, waiters.size], [10_000, 0]);
  assertEquals(woken, woken.toSorted((left, right) => left - right));
});

test("waits that timed out leave no memory, no timers and no listeners", async () => {
  const clock = new VirtualClock();
  const waiters = new VersionWaiters(clock);
  const counted = new CountedSignal();
  const results: Promise<boolean>[] = [];
  for (let count = 0; count < 1_000; count++) results.push(waiters.wait(version(9_000 + count), counted.signal, 100));
  results.push(waiters.wait(version(9_500), counted.signal, Infinity));
  assertEquals([waiters.size, counted.listeners, clock.pendingTimers], [1_001, 1_001, 1_000]);
  await clock.advance(100);
  assertEquals([waiters.size, counted.listeners, clock.pendingTimers], [1, 1, 0]);
  waiters.reached(version(9_500));
  assertEquals([waiters.size, counted.listeners], [0, 0]);
  assertEquals((await Promise.all(results)).filter((reached) => reached).length, 1);
});
