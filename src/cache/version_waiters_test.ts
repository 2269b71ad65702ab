/** Tests of waiting for a version: what read-your-own-writes stands on (behaviours.md 64). */
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { type ResourceVersion, resourceVersion } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { startRig } from "./_rig.ts";
import { VersionWaiters } from "./_version_waiters.ts";

const version = (number: number): ResourceVersion => resourceVersion(String(number));

test("[64] waitFor() resolves when the cache has reached the version, by an event or by a bookmark", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  assert(await rig.informer.waitFor(version(101), rig.signal));
  const reached: string[] = [];
  for (const wanted of [102, 103, 104]) {
    rig.informer.waitFor(version(wanted), rig.signal).then((ok) => reached.push(`${wanted} ${ok}`));
  }
  rig.api.put("b");
  await drain();
  assertEquals(reached, ["102 true"]);
  assertEquals([rig.informer.isAtLeast(version(102)), rig.informer.isAtLeast(version(103))], [true, false]);
  rig.api.elsewhere();
  rig.api.elsewhere();
  rig.api.bookmark();
  await drain();
  assertEquals(reached, ["102 true", "103 true", "104 true"]);
});

test("[64] waitFor() answers false after its time, and when the informer stops, and rejects on abort", async () => {
  const rig = await startRig();
  const late = rig.informer.waitFor(version(500), rig.signal, { timeoutMs: 10_000 });
  let answer: boolean | undefined;
  late.then((value) => answer = value);
  await rig.clock.advance(9_999);
  assertEquals(answer, undefined);
  await rig.clock.advance(1);
  assertEquals(answer, false);
  const reason = new Error("enough");
  const given = new AbortController();
  const aborted = assertRejects(() => rig.informer.waitFor(version(500), given.signal), /enough/);
  await drain();
  given.abort(reason);
  assertEquals(await aborted, reason);
  const stopped = rig.informer.waitFor(version(500), new AbortController().signal, { timeoutMs: 1e6 });
  await rig.stop();
  assertEquals(await stopped, false);
  assertEquals(await rig.informer.waitFor(version(500), new AbortController().signal), false);
  assertEquals(rig.clock.pendingTimers, 0);
});

test("[64] a version that cannot be compared keeps nobody waiting", async () => {
  await using rig = await startRig();
  assert(await rig.informer.waitFor(resourceVersion("not-a-number"), rig.signal));
});

test("[64] before the first state nothing is reached, and waiting for it works", async () => {
  await using rig = await startRig({ prepare: (api) => api.refuse("watch", new TypeError("refused")) });
  assert(!rig.informer.isAtLeast(version(1)));
  let reached = false;
  rig.informer.waitFor(version(100), rig.signal).then((ok) => reached = ok);
  await drain();
  assert(!reached);
  await rig.waitOut();
  assert(reached);
});

test("ten thousand waiters are woken in the order of their versions, each once, and none too early", async () => {
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

test("waiters that gave up leave neither memory, nor timers, nor listeners behind", async () => {
  const clock = new VirtualClock();
  const waiters = new VersionWaiters(clock);
  const given = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = AbortSignal.prototype;
  given.signal.addEventListener = function (...args: Parameters<typeof addEventListener>) {
    listeners++;
    return addEventListener.apply(this, args);
  };
  given.signal.removeEventListener = function (...args: Parameters<typeof removeEventListener>) {
    listeners--;
    return removeEventListener.apply(this, args);
  };
  const answers: Promise<boolean>[] = [];
  for (let count = 0; count < 1_000; count++) answers.push(waiters.wait(version(9_000 + count), given.signal, 100));
  answers.push(waiters.wait(version(9_500), given.signal, Infinity));
  assertEquals([waiters.size, listeners, clock.pendingTimers], [1_001, 1_001, 1_000]);
  await clock.advance(100);
  assertEquals([waiters.size, listeners, clock.pendingTimers], [1, 1, 0]);
  waiters.reached(version(9_500));
  assertEquals([waiters.size, listeners], [0, 0]);
  assertEquals((await Promise.all(answers)).filter((reached) => reached).length, 1);
});
