/** Tests of what reaches the store and the handlers, and in which order: behaviours.md 2.2. */
import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import { resourceVersion } from "../api/mod.ts";
import { drain } from "../async/mod.ts";
import { key, recorder, Rig, startRig } from "./_rig.ts";

/** Makes the watch expire, so that a full state comes once more. */
async function relist(rig: Rig): Promise<void> {
  rig.api.endWatches(new FakeApiError(410, "Expired"));
  await drain();
  await rig.waitOut();
}

/** Lets things happen that no watch sees. */
async function unseen(rig: Rig, change: () => void): Promise<void> {
  rig.api.endWatches(new FakeApiError(410, "Expired"));
  await drain();
  change();
  await rig.waitOut();
}

for (const watchList of [true, false]) {
  const how = watchList ? "stream" : "list";

  test(`[21] a full state by ${how} tells what is gone with a tombstone, what is new and what has changed`, async () => {
    await using rig = await startRig({ watchList, prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)) });
    rig.news();
    await unseen(rig, () => {
      rig.api.delete("a");
      rig.api.put("b", { value: 5 });
      rig.api.put("d");
    });
    assertEquals(rig.news(), ["-? default/a 0", "~ default/b 0>5", "+ default/d 0"]);
  });

  test(`[27] a name with another UID, seen only by ${how}, is a deletion and an addition`, async () => {
    await using rig = await startRig({ watchList, prepare: (api) => api.put("a", { value: 1 }) });
    rig.news();
    await unseen(rig, () => {
      rig.api.delete("a");
      rig.api.put("a", { value: 2 });
    });
    assertEquals(rig.news(), ["-? default/a 1", "+ default/a 2"]);
  });

  test(`[22] whoever reads while a full state by ${how} is told sees all of it`, async () => {
    await using rig = await startRig({ watchList, prepare: (api) => ["a", "b"].forEach((name) => api.put(name)) });
    const seen: string[][] = [];
    const look = () => void seen.push(rig.cached);
    rig.informer.addHandler({ added: look, updated: look, deleted: look });
    await drain();
    seen.length = 0;
    await unseen(rig, () => {
      rig.api.delete("a");
      rig.api.put("b", { value: 1 });
      rig.api.put("c");
    });
    assertEquals(seen, Array(3).fill(["default/b 1", "default/c 0"]));
  });
}

test("[21] a handler that has not yet heard of an object hears of its addition and then of its deletion", async () => {
  await using rig = await startRig();
  const heard: string[] = [];
  const gate = Promise.withResolvers<void>();
  const inner = recorder(heard);
  rig.informer.addHandler({
    added: async (thing, info) => {
      await gate.promise;
      inner.added?.(thing, info);
    },
    deleted: inner.deleted,
  });
  await drain();
  rig.api.put("first");
  rig.api.put("queued");
  await drain();
  await unseen(rig, () => rig.api.delete("queued"));
  gate.resolve();
  await drain();
  assertEquals(heard, ["+ default/first 0", "+ default/queued 0", "-? default/queued 0"]);
});

test("[22] an iteration that began before a full state ends over the old one", async () => {
  await using rig = await startRig({ prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)) });
  const iteration = rig.informer.store.values()[Symbol.iterator]();
  iteration.next();
  await unseen(rig, () => ["a", "b", "c"].forEach((name) => rig.api.delete(name)));
  assertEquals(rig.informer.store.size, 0);
  assertEquals([iteration.next().value?.metadata.name, iteration.next().value?.metadata.name], ["b", "c"]);
});

test("[22] a resync tells one moment's state, whatever comes while it is told", async () => {
  await using rig = await startRig({ prepare: (api) => ["a", "b"].forEach((name) => api.put(name)) });
  const heard: string[] = [];
  const inner = recorder(heard);
  rig.informer.addHandler({
    updated: async (old, current) => {
      await Promise.resolve();
      inner.updated?.(old, current);
    },
  }, { resyncMs: 60_000 });
  await rig.clock.advance(60_000);
  rig.api.put("b", { value: 1 });
  await drain();
  assertEquals(heard, ["~ default/a 0>0", "~ default/b 0>0", "~ default/b 0>1"]);
});

test("[23] events of different keys keep the server's order, inside and across batches", async () => {
  await using rig = await startRig();
  const order = ["a", "b", "a", "c", "b", "a"];
  order.forEach((name, value) => rig.api.put(name, { value }));
  rig.api.delete("b");
  rig.api.put("b", { value: 9 });
  await drain();
  assertEquals(rig.news(), [
    "+ default/a 0",
    "+ default/b 1",
    "~ default/a 0>2",
    "+ default/c 3",
    "~ default/b 1>4",
    "~ default/a 2>5",
    "- default/b 4",
    "+ default/b 9",
  ]);
});

test("[24] a second deletion says nothing more, and the first one had the object", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a", { value: 4 }) });
  rig.news();
  const a = rig.informer.lister.get(key("a"));
  await unseen(rig, () => rig.api.delete("a"));
  rig.api.send([{ type: "DELETED", object: a }, { type: "DELETED", object: a }]);
  await drain();
  assertEquals(rig.news(), ["-? default/a 4"]);
});

test("[24][27] the deletion of a newer object of the same name takes the older one along, as not seen", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a", { value: 4 }) });
  rig.news();
  const a = rig.informer.lister.get(key("a"));
  const metadata = { ...a.metadata, uid: "another", resourceVersion: resourceVersion("150") };
  rig.api.send([{ type: "DELETED", object: { ...a, metadata, spec: { value: 9 } } }]);
  await drain();
  assertEquals([rig.news(), rig.cached], [["-? default/a 4"], []]);
});

test("[24] updates are not folded across a deletion, not even for a slow handler", async () => {
  await using rig = await startRig();
  const heard: string[] = [];
  const gate = Promise.withResolvers<void>();
  const inner = recorder(heard);
  rig.informer.addHandler({ ...inner, added: (thing, info) => gate.promise.then(() => inner.added?.(thing, info)) });
  await drain();
  rig.api.put("a", { value: 1 });
  rig.api.put("a", { value: 2 });
  rig.api.delete("a");
  rig.api.put("a", { value: 3 });
  rig.api.put("a", { value: 4 });
  await drain();
  gate.resolve();
  await drain();
  assertEquals(heard, ["+ default/a 1", "~ default/a 1>2", "- default/a 2", "+ default/a 3", "~ default/a 3>4"]);
});

test("[25] a resync never says something older than an update that waits", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a", { value: 1 }) });
  const heard: string[] = [];
  const inner = recorder(heard);
  rig.informer.addHandler({
    updated: async (old, current) => {
      await rig.clock.sleep(50_000, rig.signal);
      inner.updated?.(old, current);
    },
  }, { resyncMs: 60_000 });
  await rig.clock.advance(59_000);
  rig.api.put("a", { value: 2 });
  rig.api.put("a", { value: 3 });
  await drain();
  await rig.clock.advance(300_000);
  assertEquals(heard.slice(0, 3), ["~ default/a 1>2", "~ default/a 2>3", "~ default/a 3>3"]);
});

test("[26] hasSynced is true for an empty list", async () => {
  await using rig = await startRig();
  assert(rig.informer.hasSynced);
  assertEquals(rig.informer.lister.list(), []);
});

test("[26] hasSynced is false until the whole first state was told, and stays true through deletions", async () => {
  const rig = new Rig({ prepare: (api) => ["a", "b"].forEach((name) => api.put(name)) });
  await using _stopping = rig;
  const states: string[] = [];
  const look = () => void states.push(`${rig.informer.store.size} ${rig.informer.hasSynced}`);
  rig.informer.addHandler({ added: look, deleted: look });
  await drain();
  await rig.start();
  look();
  await unseen(rig, () => ["a", "b"].forEach((name) => rig.api.delete(name)));
  assertEquals(states, ["2 false", "2 false", "2 true", "0 true", "0 true"]);
});

test("[26] synced() resolves with the first state, rejects with the signal's reason, and when the informer stops", async () => {
  await using rig = await startRig();
  await rig.informer.synced(rig.signal);
  const stuck = await startRig({ prepare: (api) => api.refuse("watch", "hang") });
  const reason = new Error("enough");
  const aborted = stuck.informer.synced(AbortSignal.abort(reason)).catch((error: unknown) => error);
  const stopped = stuck.informer.synced(new AbortController().signal).catch((error: unknown) => String(error));
  await stuck.stop();
  assertEquals(await aborted, reason);
  assertEquals(await stopped, "Error: Cannot wait for informer things.example.dev to sync: it has stopped");
});

test("[29] a cached object cannot be changed by any reader: in test mode each write throws", async () => {
  const caught: unknown[] = [];
  await using rig = await startRig({
    prepare: (api) => api.put("a"),
    onError: (error) => void caught.push(error),
  });
  rig.informer.addHandler({
    added: (thing) => void Reflect.set(thing.metadata, "name", "changed"),
    updated: (_old, current) => Object.assign(current, { spec: { value: 99 } }),
  });
  await drain();
  rig.api.put("a", { value: 1 });
  await drain();
  assertEquals(caught.length, 1);
  assertThrows(
    () => Object.assign(rig.informer.lister.get(key("a")).metadata, { labels: {} }),
    /read.?only|not extensible|Cannot add/i,
  );
  assertEquals(rig.cached, ["default/a 1"]);
  assertEquals(rig.informer.lister.get(key("a")).metadata.name, "a");
});

test("[30] the store's version follows events and bookmarks, and a repeated or older one does not turn it back", async () => {
  await using rig = await startRig({ prepare: (api) => api.put("a") });
  const versions: (string | undefined)[] = [];
  const look = async () => {
    await drain();
    versions.push(rig.informer.store.lastSyncResourceVersion);
  };
  await look();
  rig.api.put("b");
  await look();
  rig.api.elsewhere();
  rig.api.bookmark();
  await look();
  rig.api.send([{ type: "BOOKMARK", object: { metadata: { resourceVersion: resourceVersion("7") } } }]);
  await look();
  rig.api.delete("b");
  await look();
  assertEquals(versions, ["101", "102", "103", "103", "104"]);
  rig.api.send([{ type: "BOOKMARK", object: { metadata: { resourceVersion: resourceVersion("8") } } }]);
  rig.api.endWatches();
  await drain();
  assertEquals(rig.api.watches().at(-1)?.resourceVersion, "104");
});

test("a relist that brings what is there already says nothing and keeps the objects", async () => {
  await using rig = await startRig({ watchList: false, prepare: (api) => api.put("a") });
  rig.news();
  const before = rig.informer.lister.get(key("a"));
  await relist(rig);
  assertEquals(rig.api.lists().length, 2);
  assertEquals(rig.news(), []);
  assert(rig.informer.lister.get(key("a")) === before);
});

test("[28] a transform that throws keeps the object as it was, on an event and on a full state, and is reported", async () => {
  let poisoned = false;
  await using rig = await startRig({
    watchList: false,
    transform: (thing: Thing) => {
      if (poisoned && thing.metadata.name === "a") throw new Error("boom");
      return thing;
    },
    prepare: (api) => (api.put("a", { value: 1 }), api.put("b")),
  });
  rig.news();
  poisoned = true;
  rig.api.put("a", { value: 2 });
  rig.api.put("b", { value: 2 });
  await drain();
  assertEquals(rig.news(), ["~ default/b 0>2"]);
  await relist(rig);
  assertEquals(rig.news(), []);
  assertEquals(rig.cached, ["default/a 1", "default/b 2"]);
  assertEquals(rig.counts.get("reflector_skipped_events_total"), 2);
  poisoned = false;
  rig.api.put("a", { value: 3 });
  rig.api.delete("b");
  await drain();
  assertEquals(rig.news(), ["~ default/a 1>3", "- default/b 2"]);
});

test("managedFields are dropped by default, and kept on request", async () => {
  for (const [transform, kept] of [[undefined, false], [(thing: Thing) => thing, true]] as const) {
    await using rig = await startRig({
      ...(transform === undefined ? {} : { transform }),
      prepare: (api) => {
        const thing = api.put("a");
        const managed = { ...thing, metadata: { ...thing.metadata, managedFields: [{ manager: "kubectl" }] } };
        api.list = () => Promise.resolve({ items: [managed], resourceVersion: api.version });
      },
      watchList: false,
    });
    assertEquals(Object.hasOwn(rig.informer.lister.get(key("a")).metadata, "managedFields"), kept);
  }
});
