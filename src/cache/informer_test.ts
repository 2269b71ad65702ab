/** Tests of the content of the store, and of the order of notifications: behaviours 21-30. */
import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { FakeApiError, type Thing } from "../../tests/fakes/list_watch.ts";
import { resourceVersion } from "../api/mod.ts";
import { drain } from "../async/mod.ts";
import { key, recorder, startEnvironment, TestEnvironment } from "./testing/test_environment.ts";

/** Makes the watch expire, so that the reflector reads a full state again. */
async function relist(env: TestEnvironment): Promise<void> {
  env.api.endWatches(new FakeApiError(410, "Expired"));
  await drain();
  await env.waitOutBackoff();
}

/** Makes changes that no watch observes. */
async function changeUnobserved(env: TestEnvironment, change: () => void): Promise<void> {
  env.api.endWatches(new FakeApiError(410, "Expired"));
  await drain();
  change();
  await env.waitOutBackoff();
}

for (const watchList of [true, false]) {
  const how = watchList ? "stream" : "list";

  test(`[21] a full state by ${how} notifies of deleted objects with a tombstone, of new and of changed ones`, async () => {
    await using env = await startEnvironment({
      watchList,
      prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)),
    });
    env.takeReceived();
    await changeUnobserved(env, () => {
      env.api.delete("a");
      env.api.put("b", { value: 5 });
      env.api.put("d");
    });
    assertEquals(env.takeReceived(), ["-? default/a 0", "~ default/b 0>5", "+ default/d 0"]);
  });

  test(`[27] a name with another UID in a ${how} is a deletion and an addition`, async () => {
    await using env = await startEnvironment({ watchList, prepare: (api) => api.put("a", { value: 1 }) });
    env.takeReceived();
    await changeUnobserved(env, () => {
      env.api.delete("a");
      env.api.put("a", { value: 2 });
    });
    assertEquals(env.takeReceived(), ["-? default/a 1", "+ default/a 2"]);
  });

  test(`[22] a handler that reads the store during the delivery of a full state by ${how} sees all of it`, async () => {
    await using env = await startEnvironment({
      watchList,
      prepare: (api) => ["a", "b"].forEach((name) => api.put(name)),
    });
    const states: string[][] = [];
    const record = () => void states.push(env.cached);
    env.informer.addHandler({ onAdd: record, onUpdate: record, onDelete: record });
    await drain();
    states.length = 0;
    await changeUnobserved(env, () => {
      env.api.delete("a");
      env.api.put("b", { value: 1 });
      env.api.put("c");
    });
    assertEquals(states, Array(3).fill(["default/b 1", "default/c 0"]));
  });
}

test("[21] a slow handler gets the addition of an object and then its deletion, also when a relist finds it deleted", async () => {
  await using env = await startEnvironment();
  const received: string[] = [];
  const gate = Promise.withResolvers<void>();
  const inner = recorder(received);
  env.informer.addHandler({
    onAdd: async (thing, info) => {
      await gate.promise;
      inner.onAdd?.(thing, info);
    },
    onDelete: inner.onDelete,
  });
  await drain();
  env.api.put("first");
  env.api.put("queued");
  await drain();
  await changeUnobserved(env, () => env.api.delete("queued"));
  gate.resolve();
  await drain();
  assertEquals(received, ["+ default/first 0", "+ default/queued 0", "-? default/queued 0"]);
});

test("[22] an iteration that began before a full state continues over the old one", async () => {
  await using env = await startEnvironment({ prepare: (api) => ["a", "b", "c"].forEach((name) => api.put(name)) });
  const iteration = env.informer.store.values()[Symbol.iterator]();
  iteration.next();
  await changeUnobserved(env, () => ["a", "b", "c"].forEach((name) => env.api.delete(name)));
  assertEquals(env.informer.store.size, 0);
  assertEquals([iteration.next().value?.metadata.name, iteration.next().value?.metadata.name], ["b", "c"]);
});

test("[25] a resync of a small cache delivers one state, also when changes come meanwhile", async () => {
  await using env = await startEnvironment({ prepare: (api) => ["a", "b"].forEach((name) => api.put(name)) });
  const received: string[] = [];
  const inner = recorder(received);
  env.informer.addHandler({
    onUpdate: async (old, current, info) => {
      await Promise.resolve();
      inner.onUpdate?.(old, current, info);
    },
  }, { resyncMs: 60_000 });
  await env.clock.advance(60_000);
  env.api.put("b", { value: 1 });
  await drain();
  assertEquals(received, ["~ default/a 0>0", "~ default/b 0>0", "~ default/b 0>1"]);
});

test("[23] events of different keys keep the order of the server, inside and across batches", async () => {
  await using env = await startEnvironment();
  const order = ["a", "b", "a", "c", "b", "a"];
  order.forEach((name, value) => env.api.put(name, { value }));
  env.api.delete("b");
  env.api.put("b", { value: 9 });
  await drain();
  assertEquals(env.takeReceived(), [
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

test("[24] a second deletion notifies no handler, and the first one has the object", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a", { value: 4 }) });
  env.takeReceived();
  const a = env.informer.lister.get(key("a"));
  await changeUnobserved(env, () => env.api.delete("a"));
  env.api.send([{ type: "DELETED", object: a }, { type: "DELETED", object: a }]);
  await drain();
  assertEquals(env.takeReceived(), ["-? default/a 4"]);
});

test("[24][27] the deletion of a newer object with the same name deletes the older one, with unknown final state", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a", { value: 4 }) });
  env.takeReceived();
  const a = env.informer.lister.get(key("a"));
  const metadata = { ...a.metadata, uid: "another", resourceVersion: resourceVersion("150") };
  env.api.send([{ type: "DELETED", object: { ...a, metadata, spec: { value: 9 } } }]);
  await drain();
  assertEquals([env.takeReceived(), env.cached], [["-? default/a 4"], []]);
});

test("[24] updates are not merged across a deletion, not even for a slow handler", async () => {
  await using env = await startEnvironment();
  const received: string[] = [];
  const gate = Promise.withResolvers<void>();
  const inner = recorder(received);
  env.informer.addHandler({ ...inner, onAdd: (thing, info) => gate.promise.then(() => inner.onAdd?.(thing, info)) });
  await drain();
  env.api.put("a", { value: 1 });
  env.api.put("a", { value: 2 });
  env.api.delete("a");
  env.api.put("a", { value: 3 });
  env.api.put("a", { value: 4 });
  await drain();
  gate.resolve();
  await drain();
  assertEquals(received, ["+ default/a 1", "~ default/a 1>2", "- default/a 2", "+ default/a 3", "~ default/a 3>4"]);
});

test("[25] a resync never delivers a state that is older than a waiting update", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a", { value: 1 }) });
  const received: string[] = [];
  const inner = recorder(received);
  env.informer.addHandler({
    onUpdate: async (old, current, info) => {
      await env.clock.sleep(50_000, env.signal);
      inner.onUpdate?.(old, current, info);
    },
  }, { resyncMs: 60_000 });
  await env.clock.advance(59_000);
  env.api.put("a", { value: 2 });
  env.api.put("a", { value: 3 });
  await drain();
  await env.clock.advance(300_000);
  assertEquals(received.slice(0, 3), ["~ default/a 1>2", "~ default/a 2>3", "~ default/a 3>3"]);
});

test("[26] hasSynced is true for an empty list", async () => {
  await using env = await startEnvironment();
  assert(env.informer.hasSynced);
  assertEquals(env.informer.lister.list(), []);
});

test("[26] hasSynced is false until the whole first state was delivered, and stays true after deletions", async () => {
  const env = new TestEnvironment({ prepare: (api) => ["a", "b"].forEach((name) => api.put(name)) });
  await using _stopping = env;
  const states: string[] = [];
  const record = () => void states.push(`${env.informer.store.size} ${env.informer.hasSynced}`);
  env.informer.addHandler({ onAdd: record, onDelete: record });
  await drain();
  await env.start();
  record();
  await changeUnobserved(env, () => ["a", "b"].forEach((name) => env.api.delete(name)));
  assertEquals(states, ["2 false", "2 false", "2 true", "0 true", "0 true"]);
});

test("[26] synced() resolves at the first full state, and rejects on abort and when the informer stops", async () => {
  await using env = await startEnvironment();
  await env.informer.synced(env.signal);
  const stuck = await startEnvironment({ prepare: (api) => api.failNext("watch", "hang") });
  const reason = new Error("enough");
  const aborted = stuck.informer.synced(AbortSignal.abort(reason)).catch((error: unknown) => error);
  const stopped = stuck.informer.synced(new AbortController().signal).catch((error: unknown) => String(error));
  await stuck.stop();
  assertEquals(await aborted, reason);
  assertEquals(await stopped, "Error: Cannot wait for informer things.example.dev to sync: it has stopped");
});

test("[29] with freeze, each write to a cached object throws", async () => {
  const caught: unknown[] = [];
  await using env = await startEnvironment({
    prepare: (api) => api.put("a"),
    onError: (error) => void caught.push(error),
  });
  env.informer.addHandler({
    onAdd: (thing) => void Reflect.set(thing.metadata, "name", "changed"),
    onUpdate: (_old, current) => Object.assign(current, { spec: { value: 99 } }),
  });
  await drain();
  env.api.put("a", { value: 1 });
  await drain();
  assertEquals(caught.length, 1);
  assertThrows(
    () => Object.assign(env.informer.lister.get(key("a")).metadata, { labels: {} }),
    /read.?only|not extensible|Cannot add/i,
  );
  assertEquals(env.cached, ["default/a 1"]);
  assertEquals(env.informer.lister.get(key("a")).metadata.name, "a");
});

test("[30] the version of the store follows events and bookmarks, and an older one does not decrease it", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  const versions: (string | undefined)[] = [];
  const record = async () => {
    await drain();
    versions.push(env.informer.store.lastSyncResourceVersion);
  };
  await record();
  env.api.put("b");
  await record();
  env.api.changeElsewhere();
  env.api.bookmark();
  await record();
  env.api.send([{ type: "BOOKMARK", object: { metadata: { resourceVersion: resourceVersion("7") } } }]);
  await record();
  env.api.delete("b");
  await record();
  assertEquals(versions, ["101", "102", "103", "103", "104"]);
  env.api.send([{ type: "BOOKMARK", object: { metadata: { resourceVersion: resourceVersion("8") } } }]);
  env.api.endWatches();
  await drain();
  assertEquals(env.api.watches().at(-1)?.resourceVersion, "104");
});

test("a relist without changes notifies no handler and keeps the cached objects", async () => {
  await using env = await startEnvironment({ watchList: false, prepare: (api) => api.put("a") });
  env.takeReceived();
  const before = env.informer.lister.get(key("a"));
  await relist(env);
  assertEquals(env.api.lists().length, 2);
  assertEquals(env.takeReceived(), []);
  assert(env.informer.lister.get(key("a")) === before);
});

test("[28] when a transform throws, the cached object stays, on an event and on a full state, and it is reported", async () => {
  let poisoned = false;
  await using env = await startEnvironment({
    watchList: false,
    transform: (thing: Thing) => {
      if (poisoned && thing.metadata.name === "a") throw new Error("boom");
      return thing;
    },
    prepare: (api) => (api.put("a", { value: 1 }), api.put("b")),
  });
  env.takeReceived();
  poisoned = true;
  env.api.put("a", { value: 2 });
  env.api.put("b", { value: 2 });
  await drain();
  assertEquals(env.takeReceived(), ["~ default/b 0>2"]);
  await relist(env);
  assertEquals(env.takeReceived(), []);
  assertEquals(env.cached, ["default/a 1", "default/b 2"]);
  assertEquals(env.counts.get("reflector_skipped_events_total"), 2);
  poisoned = false;
  env.api.put("a", { value: 3 });
  env.api.delete("b");
  await drain();
  assertEquals(env.takeReceived(), ["~ default/a 1>3", "- default/b 2"]);
});

test("managedFields are removed by default, and another transform can keep them", async () => {
  for (const [transform, isKept] of [[undefined, false], [(thing: Thing) => thing, true]] as const) {
    await using env = await startEnvironment({
      ...(transform === undefined ? {} : { transform }),
      prepare: (api) => {
        const thing = api.put("a");
        const managed = { ...thing, metadata: { ...thing.metadata, managedFields: [{ manager: "kubectl" }] } };
        api.list = () => Promise.resolve({ items: [managed], resourceVersion: api.version });
      },
      watchList: false,
    });
    assertEquals(Object.hasOwn(env.informer.lister.get(key("a")).metadata, "managedFields"), isKept);
  }
});

/** The version of the cache, the latest known one, and the age of the last proof in ms. */
function progressOf({ informer }: TestEnvironment): readonly unknown[] {
  const { version, latestVersion, unconfirmedMs } = informer.status().progress ?? {};
  return [version, latestVersion, unconfirmedMs];
}

test("[130] a full state, an event and a bookmark prove that a cache is current, also one that repeats its version", async () => {
  await using env = new TestEnvironment({ prepare: (api) => api.put("a") });
  assertEquals(env.informer.status().progress, undefined);
  await env.start();
  await env.clock.advance(10_000);
  assertEquals(progressOf(env), ["101", "101", 10_000]);
  env.api.put("b");
  await drain();
  assertEquals(progressOf(env), ["102", "102", 0]);
  await env.clock.advance(5_000);
  env.api.bookmark();
  await drain();
  assertEquals(progressOf(env), ["102", "102", 0]);
  env.api.failNext("watch", new Error("connection refused"), new Error("connection refused"));
  env.api.endWatches(new Error("connection reset"));
  await env.clock.advance(1_000);
  assertEquals(progressOf(env), ["102", "102", 1_000]);
});

test("[130] a cache knows that it is behind when a response has a later version, until the server has lost that version", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  const [thing] = env.informer.lister.list();
  assert(thing !== undefined);
  const later = { ...thing, metadata: { ...thing.metadata, resourceVersion: resourceVersion("140") } };
  env.informer.writeThrough(later);
  assertEquals(progressOf(env), ["101", "140", 0]);
  env.informer.writeThrough({ ...later, metadata: { ...later.metadata, resourceVersion: resourceVersion("130") } });
  assertEquals(progressOf(env), ["101", "140", 0]);
  await changeUnobserved(env, () => env.api.restore(90, [thing]));
  assertEquals(progressOf(env).slice(0, 2), ["90", "90"]);
});
