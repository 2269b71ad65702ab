/** Tests of own writes in caches of a certain scope, before the first full state, and of several namespaces. */
import { FakeApi, type Thing } from "../../tests/fakes/list_watch.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type ListWatch, type Resource, resourceVersion } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { type CacheScope, InformerFactory, type ObjectOf, type SharedInformer } from "./mod.ts";
import { key, startEnvironment } from "./testing/test_environment.ts";

const { Pod } = builtin;
const writer = { controller: "foo", key: key("foo") };

function pod(version: string, rest: Partial<KubeObject> & { readonly status?: unknown; readonly spec?: unknown } = {}) {
  const metadata = {
    name: "a",
    namespace: "shop",
    uid: "u-a",
    resourceVersion: resourceVersion(version),
    ...rest.metadata,
  };
  return { apiVersion: "v1", kind: "Pod", ...rest, metadata } as KubeObject;
}

/** A synced, empty cache of Pods. */
async function cacheOf(
  scope: CacheScope,
  namespaces?: readonly string[],
): Promise<{ readonly informer: SharedInformer<KubeObject>; readonly received: string[] } & AsyncDisposable> {
  const factory = new InformerFactory({
    clock: new VirtualClock(),
    random: seededRandom(1),
    namespaces,
    listWatch: <R extends Resource>(): ListWatch<ObjectOf<R>> => {
      const api: unknown = new FakeApi();
      return api as ListWatch<ObjectOf<R>>;
    },
  });
  const informer = factory.informer(Pod, scope) as unknown as SharedInformer<KubeObject>;
  const received: string[] = [];
  informer.addHandler({
    onAdd: (object, { writtenBy }) => void received.push(`+ ${object.metadata.name} ${writtenBy?.controller}`),
    onUpdate: (_old, object, { writtenBy }) => void received.push(`~ ${object.metadata.name} ${writtenBy?.controller}`),
    onDelete: ({ lastKnown, writtenBy }) => void received.push(`- ${lastKnown.metadata.name} ${writtenBy?.controller}`),
  });
  const stop = new AbortController();
  const running = factory.run(stop.signal);
  await factory.synced(stop.signal);
  await drain();
  return {
    informer,
    received,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

test("an own write is in the cache at once, and its handlers are notified once, with the writer", async () => {
  await using env = await startEnvironment();
  env.informer.addHandler({ onAdd: () => {} });
  const created = env.api.put("a", { value: 1 }); // the watch has it, but has not been read yet
  assertEquals(env.informer.writeThrough(created, { writer }), "stored");
  assertEquals(env.cached, ["default/a 1"]);
  await drain();
  assertEquals(env.takeReceived(), ["+ default/a 1"]);
  assertEquals(env.informer.unconfirmedWrites, 0);
  assertEquals(env.informer.writeThrough(created, { writer }), "known");
});

test("an object that was written and deleted before the watch showed it is missing, and stays out of the cache", async () => {
  await using env = await startEnvironment();
  const created = env.api.put("a");
  env.api.delete("a");
  await drain();
  assertEquals([env.informer.writeThrough(created, { writer }), env.cached], ["missing", []]);
});

test("an own deletion is in the cache at once, and no older state comes back", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  env.takeReceived();
  env.api.put("a", { value: 2 });
  const { uid = "" } = env.informer.lister.get(key("a")).metadata;
  env.api.delete("a");
  env.informer.deleteThrough(key("a"), uid, writer);
  assertEquals(env.cached, []);
  await drain();
  assertEquals([env.cached, env.takeReceived()], [[], ["-? default/a 0"]]);
});

test("a cache with a label selector drops an object whose own write takes the label away, and ignores others", async () => {
  await using cache = await cacheOf({ labelSelector: { matchLabels: { app: "web" } } });
  const { informer, received } = cache;
  const labelled = (version: string, app: string) => pod(version, { metadata: { labels: { app } } });
  assertEquals(informer.writeThrough(labelled("201", "db"), { writer }), "outside");
  assertEquals(informer.writeThrough(labelled("202", "web"), { writer }), "stored");
  assertEquals(informer.writeThrough(labelled("203", "db"), { writer }), "stored");
  assertEquals(informer.lister.size, 0);
  assertEquals(received, ["+ a foo", "- a foo"]);
  assertEquals(informer.writeThrough(labelled("202", "web"), { writer }), "known");
});

test("a cache with a field selector decides as the server does, absent fields included", async () => {
  await using cache = await cacheOf({ fieldSelector: { "status.phase": "Running", "spec.hostNetwork": "false" } });
  const { informer } = cache;
  assertEquals(informer.writeThrough(pod("201", { status: { phase: "Pending" } }), { writer }), "outside");
  assertEquals(informer.writeThrough(pod("202", { status: { phase: "Running" } }), { writer }), "stored");
});

test("a cache of metadata gets the metadata of an own write only", async () => {
  await using cache = await cacheOf({ projection: "metadata" });
  assertEquals(cache.informer.writeThrough(pod("201", { spec: { nodeName: "n1" } }), { writer }), "stored");
  const [cached] = cache.informer.lister.list();
  assertEquals([cached?.kind, Object.keys(cached ?? {}).sort()], ["PartialObjectMetadata", [
    "apiVersion",
    "kind",
    "metadata",
  ]]);
});

test("a cache of several namespaces gets the own writes in its namespaces", async () => {
  await using cache = await cacheOf({}, ["shop", "bank"]);
  const { informer } = cache;
  assertEquals(informer.writeThrough(pod("201"), { writer }), "stored");
  assertEquals(informer.writeThrough(pod("202", { metadata: { namespace: "other" } }), { writer }), "outside");
  assertEquals([informer.lister.size, informer.unconfirmedWrites], [1, 1]);
  informer.deleteThrough(key("a", "shop"), "u-a", writer);
  assertEquals(informer.lister.size, 0);
});

test("an own write before the first full state is part of that state, also if the list is older", async () => {
  const env = await startEnvironment({ prepare: (api) => api.failNext("watch", "hang") });
  await using _stop = env;
  const thing = { ...env.api.put("a", { value: 1 }) };
  const newer: Thing = {
    ...thing,
    metadata: { ...thing.metadata, resourceVersion: resourceVersion("900") },
    spec: { value: 2 },
  };
  assertEquals(env.informer.writeThrough(newer, { writer }), "stored");
  assertEquals([env.cached, env.informer.hasSynced], [[], false]);
  await env.clock.advance(600_000);
  assertEquals([env.cached, env.informer.hasSynced], [["default/a 2"], true]);
});

test("a list that is older than an own write does not replace it; a newer one does", async () => {
  await using env = await startEnvironment({ prepare: (api) => api.put("a") });
  const thing = env.informer.lister.get(key("a"));
  const written: Thing = {
    ...thing,
    metadata: { ...thing.metadata, resourceVersion: resourceVersion("105") },
    spec: { value: 5 },
  };
  assertEquals(env.informer.writeThrough(written, { writer }), "stored");
  env.api.compact();
  env.api.put("b");
  env.api.endWatches(new Error("reset"));
  await env.waitOutBackoff();
  await env.clock.advance(60_000);
  assertEquals(env.cached, ["default/a 5", "default/b 0"]);
  for (let version = 0; version < 5; version++) env.api.put("b");
  await drain();
  assertEquals(env.informer.unconfirmedWrites, 0);
});

const base = { data: { a: "1", list: ["x"] }, metadata: { labels: { app: "web" } } };

/** The writers that are notified when this process sent some fields of a cached Pod and the response is `after`. */
async function notifiedAfter(sent: unknown, after: Record<string, unknown>): Promise<number> {
  await using cache = await cacheOf({});
  let notified = 0;
  cache.informer.addHandler({ onAdd: () => {}, onIntervening: () => void notified++ });
  cache.informer.writeThrough(pod("201", base as never));
  await drain();
  cache.informer.writeThrough(pod("203", after as never), { writer, sent });
  await drain();
  return notified;
}

test("a response with no other difference than what was sent has no intervening change", async () => {
  const metadata = { labels: { app: "web" }, generation: 2, managedFields: [{ manager: "foo" }] };
  assertEquals(await notifiedAfter({ data: { a: "2" } }, { ...base, data: { a: "2", list: ["x"] }, metadata }), 0);
  assertEquals(await notifiedAfter({ data: { list: ["x", "y"] } }, { ...base, data: { a: "1", list: ["x", "y"] } }), 0);
  assertEquals(await notifiedAfter({ status: { ready: true } }, { ...base, status: { ready: true } }), 0);
  assertEquals(await notifiedAfter({ data: { a: null } }, { ...base, data: { list: ["x"] } }), 0);
  const withoutLabels = { ...base, metadata: { labels: undefined } };
  assertEquals(await notifiedAfter({ metadata: { labels: { app: null } } }, withoutLabels), 0);
  assertEquals(await notifiedAfter(undefined, { ...base, data: { b: "1" } }), 0, "a write of the whole object");
});

test("a response with a difference that was not sent has an intervening change", async () => {
  assertEquals(await notifiedAfter({ data: { a: "2" } }, { ...base, data: { a: "2", list: ["y"] } }), 1);
  assertEquals(
    await notifiedAfter({ data: { a: "2" } }, { ...base, data: { a: "2", list: ["x"] }, spec: { more: 1 } }),
    1,
  );
  const metadata = { labels: { app: "db" } };
  assertEquals(await notifiedAfter({ status: { ready: true } }, { ...base, metadata, status: { ready: true } }), 1);
  assertEquals(await notifiedAfter({ data: { a: "2" } }, { data: { a: "2" }, metadata: base.metadata }), 1);
});
