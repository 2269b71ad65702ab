/** Tests of what a handler can rely on: behaviours.md 2.3. */
import { assert, assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import type { Thing } from "../../tests/fakes/list_watch.ts";
import { keyOf } from "../api/mod.ts";
import { drain, seededRandom } from "../async/mod.ts";
import type { Fields, Logger } from "../observe/mod.ts";
import { recorder, Rig, startRig } from "./_rig.ts";
import type { InformerHandler } from "./mod.ts";

/** A logger that keeps warnings and errors. */
function keptLog(kept: { message: string; fields: Fields | undefined }[], inherited: Fields = {}): Logger {
  const keep = (message: string, fields?: Fields) => void kept.push({ message, fields: { ...inherited, ...fields } });
  return {
    debug() {},
    info() {},
    warn: keep,
    error: keep,
    with: (fields) => keptLog(kept, { ...inherited, ...fields }),
  };
}

/** A handler whose calls take so long. */
function slow(rig: Rig, heard: string[], ms: number): InformerHandler<Thing> {
  const inner = recorder(heard);
  return {
    added: (thing, info) => rig.clock.sleep(ms, rig.signal).then(() => inner.added?.(thing, info)),
    updated: (old, current) => rig.clock.sleep(ms, rig.signal).then(() => inner.updated?.(old, current)),
    deleted: (tombstone) => rig.clock.sleep(ms, rig.signal).then(() => inner.deleted?.(tombstone)),
  };
}

test("[31] each handler hears everything once and in store order, quick, slow or failing, through cuts and relists", async () => {
  await using rig = await startRig();
  const random = seededRandom(31);
  const slowly: string[] = [];
  const failing: string[] = [];
  rig.informer.addHandler(slow(rig, slowly, 7));
  const inner = recorder(failing);
  rig.informer.addHandler({
    added: (thing, info) => {
      inner.added?.(thing, info);
      throw new Error("added");
    },
    updated: (old, current) => {
      inner.updated?.(old, current);
      return Promise.reject(new Error("updated"));
    },
    deleted: inner.deleted,
  });
  await drain();
  for (let step = 0; step < 300; step++) {
    const name = "abcde"[Math.floor(random.next() * 5)] ?? "a";
    if (random.next() < 0.25) rig.api.delete(name);
    else rig.api.put(name, { value: step });
    if (random.next() < 0.1) rig.api.endWatches();
    if (random.next() < 0.03) rig.api.compact();
    if (random.next() < 0.3) await rig.clock.advance(Math.floor(random.next() * 2_000));
  }
  await rig.clock.advance(60_000);
  assert(rig.heard.length > 150, `${rig.heard.length} notifications`);
  assertEquals(slowly, rig.heard);
  assertEquals(failing, rig.heard);
  assertEquals(rig.cached, rig.served);
});

test("[32] a late handler gets all present objects first and then live ones, none lost and none twice", async () => {
  await using rig = await startRig({ prepare: (api) => (api.put("a"), api.put("b")) });
  const heard: string[] = [];
  const initials: boolean[] = [];
  const inner = recorder(heard);
  rig.informer.addHandler({
    ...inner,
    added: (thing, info) => (initials.push(info.initial), inner.added?.(thing, info)),
  });
  assertEquals(heard, []);
  rig.api.put("b", { value: 1 });
  rig.api.put("c");
  await drain();
  assertEquals(heard, ["+ default/a 0", "+ default/b 0", "~ default/b 0>1", "+ default/c 0"]);
  assertEquals(initials, [true, true, false]);
});

test("[32] a handler that is added while another is being told of a full state gets each object once", async () => {
  const rig = new Rig({ prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)) });
  await using _stopping = rig;
  const heard: string[] = [];
  let synced = false;
  rig.informer.addHandler({
    added: (thing) => {
      if (thing.metadata.name !== "b") return;
      const late = rig.informer.addHandler(recorder(heard));
      late.synced(rig.signal).then(() => synced = true);
    },
  });
  await drain();
  await rig.start();
  await drain();
  assertEquals(heard, ["+ default/a 0", "+ default/b 0", "+ default/c 0"]);
  assert(synced);
});

test("[32] a handler that is added while another is told of one event gets the object once", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  const heard: string[] = [];
  let added = false;
  rig.informer.addHandler({
    updated: () => {
      if (!added) rig.informer.addHandler(recorder(heard));
      added = true;
    },
  });
  await drain();
  rig.api.put("a", { value: 1 });
  rig.api.put("a", { value: 2 });
  await drain();
  assertEquals(heard, ["+ default/a 1", "~ default/a 1>2"]);
});

test("[33] a handler has synced when it has processed its initial objects, not before", async () => {
  await using rig = await startRig({ prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)) });
  const heard: string[] = [];
  const registration = rig.informer.addHandler(slow(rig, heard, 1_000));
  let resolved = false;
  registration.synced(rig.signal).then(() => resolved = true);
  await rig.clock.advance(2_999);
  assertEquals([heard.length, registration.hasSynced, resolved, rig.informer.hasSynced], [2, false, false, true]);
  rig.api.put("d");
  await rig.clock.advance(1);
  assertEquals([heard.length, registration.hasSynced, resolved], [3, true, true]);
});

test("[33] a handler that was there before the first state syncs with it, and one with nothing to hear at once", async () => {
  const rig = new Rig({ prepare: (api) => api.put("a") });
  await using _stopping = rig;
  const heard: string[] = [];
  const early = rig.informer.addHandler(slow(rig, heard, 1_000));
  const idle = rig.informer.addHandler({ deleted: () => {} });
  await rig.start();
  assertEquals([early.hasSynced, idle.hasSynced], [false, true]);
  await rig.clock.advance(1_000);
  assert(early.hasSynced);
});

test("[34] a handler that takes 10 s a call delays no other, and its backlog is counted and warned about at 1,000", async () => {
  const kept: { message: string; fields: Fields | undefined }[] = [];
  const gauge: number[] = [];
  await using rig = await startRig({
    log: keptLog(kept),
    metrics: {
      count() {},
      observe() {},
      set: (name, labels, value) =>
        void (name === "informer_queued_items" && labels.handler === "slow" && gauge.push(value)),
    },
  });
  const registration = rig.informer.addHandler(slow(rig, [], 10_000), { name: "slow" });
  await drain();
  for (let value = 0; value < 1_000; value++) rig.api.put("a", { value });
  await drain();
  assertEquals([rig.heard.length, registration.backlog, kept.length], [1_000, 999, 0]);
  rig.api.put("a", { value: 1_000 });
  await drain();
  assertEquals([rig.heard.length, registration.backlog, gauge.at(-1)], [1_001, 1_000, 1_000]);
  assertEquals(kept.map(({ fields }) => [fields?.handler, fields?.backlog]), [["slow", 1_000]]);
  for (let value = 0; value < 500; value++) rig.api.put("a", { value });
  await drain();
  assertEquals(kept.length, 1);
  await rig.clock.advance(20_000);
  assertEquals(registration.backlog, 1_498);
});

test("[35] a handler that throws or rejects is reported by name, the next items arrive, the others hear everything", async () => {
  const kept: { message: string; fields: Fields | undefined }[] = [];
  const errors: string[] = [];
  await using rig = await startRig({
    log: keptLog(kept),
    onError: (error, origin) => void errors.push(`${origin.informer} ${origin.handler}: ${String(error)}`),
  });
  let calls = 0;
  rig.informer.addHandler({
    added: () => {
      calls++;
      throw new Error("sync");
    },
    updated: () => {
      calls++;
      return Promise.reject(new Error("async"));
    },
  }, { name: "bad" });
  await drain();
  rig.api.put("a");
  rig.api.put("a", { value: 1 });
  rig.api.put("a", { value: 2 });
  rig.api.put("b");
  await drain();
  assertEquals(calls, 4);
  assertEquals(errors, ["sync", "async", "async", "sync"].map((what) => `things.example.dev bad: Error: ${what}`));
  assertEquals(kept.map(({ fields }) => fields?.handler), ["bad", "bad", "bad", "bad"]);
  assertEquals(rig.heard.length, 4);
  assertEquals(rig.status.kind, "watching");
});

test("[36] a removed handler is not called any more once remove() has resolved", async () => {
  await using rig = await startRig();
  const heard: string[] = [];
  const registration = rig.informer.addHandler(slow(rig, heard, 1_000));
  await drain();
  rig.api.put("a");
  rig.api.put("b");
  await drain();
  let removed = false;
  const removing = registration.remove().then(() => removed = true);
  await drain();
  assert(!removed, "a call is still under way");
  await rig.clock.advance(1_000);
  assert(removed);
  await removing;
  rig.api.put("c");
  await rig.clock.advance(10_000);
  assertEquals([heard, registration.backlog], [["+ default/a 0"], 0]);
});

test("[36] a second removal is harmless, and so is one from inside the handler", async () => {
  await using rig = await startRig();
  let calls = 0;
  const registration = rig.informer.addHandler({
    added: () => {
      calls++;
      void registration.remove();
    },
  });
  await drain();
  rig.api.put("a");
  rig.api.put("b");
  await drain();
  await registration.remove();
  await registration.remove();
  assertEquals([calls, rig.heard.length], [1, 2]);
});

test("[36] a handler that another one removes while both are being told is not called any more", async () => {
  await using rig = await startRig();
  const heard: string[] = [];
  const removals: Promise<void>[] = [];
  rig.informer.addHandler({ added: () => void removals.push(second.remove()) });
  const second = rig.informer.addHandler(recorder(heard));
  await drain();
  rig.api.put("a");
  await drain();
  await Promise.all(removals);
  assertEquals([heard, removals.length], [[], 1]);
});

test("[36] a handler removed before its initial objects were processed never syncs", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  const registration = rig.informer.addHandler(slow(rig, [], 1_000));
  const waiting = assertRejects(() => registration.synced(rig.signal), /handler-1 to sync: it was removed/);
  const removing = registration.remove();
  await rig.clock.advance(1_000);
  await removing;
  await waiting;
  assert(!registration.hasSynced);
});

test("[36] a handler is refused on a stopped informer, and so is a second run", async () => {
  const rig = await startRig();
  await assertRejects(
    () => rig.informer.run(rig.signal),
    /Cannot run informer things.example.dev: it was started before/,
  );
  await rig.stop();
  await assertRejects(() => rig.informer.run(new AbortController().signal), /was started before/);
  assertThrows(
    () => rig.informer.addHandler({ added: () => {} }),
    /Cannot add handler handler-1 to informer things.*: it has stopped/,
  );
});

test("[36] a handler without any function, or with a negative resync period, is refused", async () => {
  await using rig = await startRig();
  assertThrows(() => rig.informer.addHandler({}), /none of added, updated and deleted/);
  assertThrows(() => rig.informer.addHandler({ added: () => {} }, { resyncMs: -1 }), /resyncMs -1 is below 0/);
});

test("[36] what waits for a slow handler when the informer stops is dropped, and no timer is left", async () => {
  const rig = await startRig({ prepare: (api) => ["a", "b"].forEach((name) => api.put(name)) });
  const heard: string[] = [];
  const registration = rig.informer.addHandler({
    added: async (thing) => {
      await drain();
      heard.push(keyOf(thing));
    },
  }, { resyncMs: 1_000 });
  const waiting = assertRejects(() => registration.synced(new AbortController().signal), /it was stopped/);
  await Promise.resolve();
  await rig.stop();
  await waiting;
  await drain();
  assert(heard.length <= 1);
  assertEquals(rig.clock.pendingTimers, 0);
});

test("[37] each handler is resynced at its own period, the informer's when it has none, and not at all for 0", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a"), resyncMs: 50_000 });
  const times = new Map<string, number[]>();
  for (const [name, resyncMs] of [["quick", 20_000], ["slow", 70_000], ["never", 0], ["default", undefined]] as const) {
    const at: number[] = [];
    times.set(name, at);
    const options = resyncMs === undefined ? { name } : { name, resyncMs };
    rig.informer.addHandler({
      updated: (old, current) => {
        assert(old === current);
        at.push(rig.clock.monotonic() / 1_000);
      },
    }, options);
  }
  await rig.clock.advance(145_000);
  assertEquals(times.get("quick"), [20, 40, 60, 80, 100, 120, 140]);
  assertEquals(times.get("slow"), [70, 140]);
  assertEquals(times.get("never"), []);
  assertEquals(times.get("default"), [50, 100]);
});

test("[37] a handler that is still at the last resync is not given another", async () => {
  await using rig = await startRig({ prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)) });
  const heard: string[] = [];
  const { updated } = slow(rig, heard, 25_000);
  const registration = rig.informer.addHandler({ ...(updated === undefined ? {} : { updated }) }, { resyncMs: 10_000 });
  await rig.clock.advance(80_000);
  assert(registration.backlog <= 2, `backlog ${registration.backlog}`);
  await rig.clock.advance(500_000);
  assert(heard.length >= 18 && registration.backlog <= 2);
});
