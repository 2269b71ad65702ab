/** Tests of the contract between a cache and its handlers: behaviours 31-37. */
import { assert, assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import type { Thing } from "../../tests/fakes/list_watch.ts";
import { keyOf } from "../api/mod.ts";
import { drain, seededRandom } from "../async/mod.ts";
import type { Fields, Logger } from "../observe/mod.ts";
import { recorder, startEnvironment, TestEnvironment } from "./testing/test_environment.ts";
import type { InformerHandler } from "./mod.ts";

/** A logger that records warnings and errors. */
function recordingLog(records: { message: string; fields: Fields | undefined }[], inherited: Fields = {}): Logger {
  const record = (message: string, fields?: Fields) =>
    void records.push({ message, fields: { ...inherited, ...fields } });
  return {
    debug() {},
    info() {},
    warn: record,
    error: record,
    with: (fields) => recordingLog(records, { ...inherited, ...fields }),
  };
}

/** A handler whose calls take `ms` milliseconds. */
function slow(env: TestEnvironment, received: string[], ms: number): InformerHandler<Thing> {
  const inner = recorder(received);
  return {
    onAdd: (thing, info) => env.clock.sleep(ms, env.signal).then(() => inner.onAdd?.(thing, info)),
    onUpdate: (old, current, info) => env.clock.sleep(ms, env.signal).then(() => inner.onUpdate?.(old, current, info)),
    onDelete: (tombstone) => env.clock.sleep(ms, env.signal).then(() => inner.onDelete?.(tombstone)),
  };
}

test("[31] every handler, fast, slow or failing, gets each notification once and in store order, also after relists", async () => {
  await using env = await startEnvironment();
  const random = seededRandom(31);
  const slowly: string[] = [];
  const failing: string[] = [];
  env.informer.addHandler(slow(env, slowly, 7));
  const inner = recorder(failing);
  env.informer.addHandler({
    onAdd: (thing, info) => {
      inner.onAdd?.(thing, info);
      throw new Error("added");
    },
    onUpdate: (old, current, info) => {
      inner.onUpdate?.(old, current, info);
      return Promise.reject(new Error("updated"));
    },
    onDelete: inner.onDelete,
  });
  await drain();
  for (let step = 0; step < 300; step++) {
    const name = "abcde"[Math.floor(random.next() * 5)] ?? "a";
    if (random.next() < 0.25) env.api.delete(name);
    else env.api.put(name, { value: step });
    if (random.next() < 0.1) env.api.endWatches();
    if (random.next() < 0.03) env.api.compact();
    if (random.next() < 0.3) await env.clock.advance(Math.floor(random.next() * 2_000));
  }
  await env.clock.advance(60_000);
  assert(env.received.length > 150, `${env.received.length} notifications`);
  assertEquals(slowly, env.received);
  assertEquals(failing, env.received);
  assertEquals(env.cached, env.served);
});

test("[32] a late handler gets all cached objects first and then changes, none lost and none twice", async () => {
  await using env = await startEnvironment({ prepare: (api) => (api.put("a"), api.put("b")) });
  const received: string[] = [];
  const initials: boolean[] = [];
  const inner = recorder(received);
  env.informer.addHandler({
    ...inner,
    onAdd: (thing, info) => (initials.push(info.isInInitialList), inner.onAdd?.(thing, info)),
  });
  assertEquals(received, []);
  env.api.put("b", { value: 1 });
  env.api.put("c");
  await drain();
  assertEquals(received, ["+ default/a 0", "+ default/b 0", "~ default/b 0>1", "+ default/c 0"]);
  assertEquals(initials, [true, true, false]);
});

test("[32] a handler that is added while a full state is delivered to another gets each object once", async () => {
  const env = new TestEnvironment({ prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)) });
  await using _stopping = env;
  const received: string[] = [];
  let synced = false;
  env.informer.addHandler({
    onAdd: (thing) => {
      if (thing.metadata.name !== "b") return;
      const late = env.informer.addHandler(recorder(received));
      late.synced(env.signal).then(() => synced = true);
    },
  });
  await drain();
  await env.start();
  await drain();
  assertEquals(received, ["+ default/a 0", "+ default/b 0", "+ default/c 0"]);
  assert(synced);
});

test("[32] a handler that is added while an event is delivered to another gets the object once", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  const received: string[] = [];
  let added = false;
  env.informer.addHandler({
    onUpdate: () => {
      if (!added) env.informer.addHandler(recorder(received));
      added = true;
    },
  });
  await drain();
  env.api.put("a", { value: 1 });
  env.api.put("a", { value: 2 });
  await drain();
  assertEquals(received, ["+ default/a 1", "~ default/a 1>2"]);
});

test("[33] a handler has synced after it has processed its initial objects, not before", async () => {
  await using env = await startEnvironment({ prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)) });
  const received: string[] = [];
  const registration = env.informer.addHandler(slow(env, received, 1_000));
  let resolved = false;
  registration.synced(env.signal).then(() => resolved = true);
  await env.clock.advance(2_999);
  assertEquals([received.length, registration.hasSynced, resolved, env.informer.hasSynced], [2, false, false, true]);
  env.api.put("d");
  await env.clock.advance(1);
  assertEquals([received.length, registration.hasSynced, resolved], [3, true, true]);
});

test("[33] a handler that was added before the first full state syncs with it, and one without onAdd at once", async () => {
  const env = new TestEnvironment({ prepare: (api) => api.put("a") });
  await using _stopping = env;
  const received: string[] = [];
  const early = env.informer.addHandler(slow(env, received, 1_000));
  const idle = env.informer.addHandler({ onDelete: () => {} });
  await env.start();
  assertEquals([early.hasSynced, idle.hasSynced], [false, true]);
  await env.clock.advance(1_000);
  assert(early.hasSynced);
});

test("[34] a handler that takes 10 s per call delays no other, and its backlog is measured and logged at 1,000", async () => {
  const records: { message: string; fields: Fields | undefined }[] = [];
  const gauge: number[] = [];
  await using env = await startEnvironment({
    log: recordingLog(records),
    metrics: {
      count() {},
      observe() {},
      forget() {},
      set: (name, labels, value) =>
        void (name === "informer_queued_items" && labels.handler === "slow" && gauge.push(value)),
    },
  });
  const registration = env.informer.addHandler(slow(env, [], 10_000), { name: "slow" });
  await drain();
  for (let value = 0; value < 1_000; value++) env.api.put("a", { value });
  await drain();
  assertEquals([env.received.length, registration.backlog, records.length], [1_000, 999, 0]);
  env.api.put("a", { value: 1_000 });
  await drain();
  assertEquals([env.received.length, registration.backlog, gauge.at(-1)], [1_001, 1_000, 1_000]);
  assertEquals(records.map(({ fields }) => [fields?.handler, fields?.backlog]), [["slow", 1_000]]);
  for (let value = 0; value < 500; value++) env.api.put("a", { value });
  await drain();
  assertEquals(records.length, 1);
  await env.clock.advance(20_000);
  assertEquals(registration.backlog, 1_498);
});

test("[35] a handler that throws or rejects is reported by name, and all handlers get all further notifications", async () => {
  const records: { message: string; fields: Fields | undefined }[] = [];
  const errors: string[] = [];
  await using env = await startEnvironment({
    log: recordingLog(records),
    onError: (error, origin) => void errors.push(`${origin.informer} ${origin.handler}: ${String(error)}`),
  });
  let calls = 0;
  env.informer.addHandler({
    onAdd: () => {
      calls++;
      throw new Error("sync");
    },
    onUpdate: () => {
      calls++;
      return Promise.reject(new Error("async"));
    },
  }, { name: "bad" });
  await drain();
  env.api.put("a");
  env.api.put("a", { value: 1 });
  env.api.put("a", { value: 2 });
  env.api.put("b");
  await drain();
  assertEquals(calls, 4);
  assertEquals(errors, ["sync", "async", "async", "sync"].map((what) => `things.example.dev bad: Error: ${what}`));
  assertEquals(records.map(({ fields }) => fields?.handler), ["bad", "bad", "bad", "bad"]);
  assertEquals(env.received.length, 4);
  assertEquals(env.status.kind, "watching");
});

test("[36] a removed handler is not called after remove() has resolved", async () => {
  await using env = await startEnvironment();
  const received: string[] = [];
  const registration = env.informer.addHandler(slow(env, received, 1_000));
  await drain();
  env.api.put("a");
  env.api.put("b");
  await drain();
  let removed = false;
  const removing = registration.remove().then(() => removed = true);
  await drain();
  assert(!removed, "a call is still under way");
  await env.clock.advance(1_000);
  assert(removed);
  await removing;
  env.api.put("c");
  await env.clock.advance(10_000);
  assertEquals([received, registration.backlog], [["+ default/a 0"], 0]);
});

test("[36] a second removal does nothing, and a handler can start its own removal", async () => {
  await using env = await startEnvironment();
  let calls = 0;
  const registration = env.informer.addHandler({
    onAdd: () => {
      calls++;
      void registration.remove();
    },
  });
  await drain();
  env.api.put("a");
  env.api.put("b");
  await drain();
  await registration.remove();
  await registration.remove();
  assertEquals([calls, env.received.length], [1, 2]);
});

test("[36] a handler that another one removes during a delivery is not called any more", async () => {
  await using env = await startEnvironment();
  const received: string[] = [];
  const removals: Promise<void>[] = [];
  env.informer.addHandler({ onAdd: () => void removals.push(second.remove()) });
  const second = env.informer.addHandler(recorder(received));
  await drain();
  env.api.put("a");
  await drain();
  await Promise.all(removals);
  assertEquals([received, removals.length], [[], 1]);
});

test("[36] a handler that is removed before it has processed its initial objects never syncs", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  const registration = env.informer.addHandler(slow(env, [], 1_000));
  const waiting = assertRejects(() => registration.synced(env.signal), /handler-1 to sync: it was removed/);
  const removing = registration.remove();
  await env.clock.advance(1_000);
  await removing;
  await waiting;
  assert(!registration.hasSynced);
});

test("[36] a stopped informer refuses handlers, and an informer refuses a second run", async () => {
  const env = await startEnvironment();
  await assertRejects(
    () => env.informer.run(env.signal),
    /Cannot run informer things.example.dev: it was started before/,
  );
  await env.stop();
  await assertRejects(() => env.informer.run(new AbortController().signal), /was started before/);
  assertThrows(
    () => env.informer.addHandler({ onAdd: () => {} }),
    /Cannot add handler handler-1 to informer things.*: it has stopped/,
  );
});

test("[36] addHandler() refuses a handler without any function, and a negative resync period", async () => {
  await using env = await startEnvironment();
  assertThrows(() => env.informer.addHandler({}), /none of onAdd, onUpdate and onDelete/);
  assertThrows(() => env.informer.addHandler({ onAdd: () => {} }, { resyncMs: -1 }), /resyncMs -1 is below 0/);
});

test("[36] the backlog of a slow handler is dropped when the informer stops, and no timer remains", async () => {
  const env = await startEnvironment({ prepare: (api) => ["a", "b"].forEach((name) => api.put(name)) });
  const received: string[] = [];
  const registration = env.informer.addHandler({
    onAdd: async (thing) => {
      await drain();
      received.push(keyOf(thing));
    },
  }, { resyncMs: 1_000 });
  const waiting = assertRejects(() => registration.synced(new AbortController().signal), /it was stopped/);
  await Promise.resolve();
  await env.stop();
  await waiting;
  await drain();
  assert(received.length <= 1);
  assertEquals(env.clock.pendingTimers, 0);
});

test("[37] each handler is resynced at its own period, by default that of the informer, and never for 0", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a"), resyncMs: 50_000 });
  const times = new Map<string, number[]>();
  for (const [name, resyncMs] of [["quick", 20_000], ["slow", 70_000], ["never", 0], ["default", undefined]] as const) {
    const at: number[] = [];
    times.set(name, at);
    const options = resyncMs === undefined ? { name } : { name, resyncMs };
    env.informer.addHandler({
      onUpdate: (old, current) => {
        assert(old === current);
        at.push(env.clock.monotonic() / 1_000);
      },
    }, options);
  }
  await env.clock.advance(145_000);
  assertEquals(times.get("quick"), [20, 40, 60, 80, 100, 120, 140]);
  assertEquals(times.get("slow"), [70, 140]);
  assertEquals(times.get("never"), []);
  assertEquals(times.get("default"), [50, 100]);
});

test("[37] a handler that still processes a resync gets no further one", async () => {
  await using env = await startEnvironment({ prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)) });
  const received: string[] = [];
  const { onUpdate } = slow(env, received, 25_000);
  const registration = env.informer.addHandler({ ...(onUpdate === undefined ? {} : { onUpdate }) }, {
    resyncMs: 10_000,
  });
  await env.clock.advance(80_000);
  assert(registration.backlog <= 2, `backlog ${registration.backlog}`);
  await env.clock.advance(500_000);
  assert(received.length >= 18 && registration.backlog <= 2);
});
