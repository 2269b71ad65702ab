/** Our client and informer on the embedded server, in memory, as in every scenario test. */
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { ConfigMap, type Infer, keyOf, type Resource } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { Informer } from "../cache/mod.ts";
import { Client, isAlreadyExists, isConflict, isNotFound } from "../client/mod.ts";
import { families } from "./testing/test_kinds.ts";
import { ApiServer } from "./api_server.ts";
import { ObjectStorage } from "./storage/mod.ts";

/** A server, a client of it, and an informer on ConfigMaps. */
class TestCluster implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly server: ApiServer;
  readonly client: Client;
  readonly informer: Informer<Infer<typeof ConfigMap>>;
  readonly events: string[] = [];
  readonly requests: string[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: { readonly watchList?: boolean; readonly storage?: ObjectStorage } = {}) {
    const { storage } = options;
    const random = seededRandom(5);
    this.server = new ApiServer({ families, clock: this.clock, random, ...(storage === undefined ? {} : { storage }) });
    this.client = new Client((request) => {
      this.requests.push(new URL(request.url).search);
      return this.server.fetch(request);
    });
    this.informer = new Informer({
      name: "configmaps",
      listWatch: this.client.listWatch(ConfigMap),
      clock: this.clock,
      random,
      freeze: true,
      checkConsistency: true,
      ...(options.watchList === undefined ? {} : { watchList: options.watchList }),
    });
    this.informer.addHandler({
      onAdd: (object) => void this.events.push(`+ ${keyOf(object)}`),
      onUpdate: (_old, object) => void this.events.push(`~ ${keyOf(object)} ${object.data?.["k"] ?? ""}`),
      onDelete: ({ key }) => void this.events.push(`- ${key}`),
    });
  }

  async start(): Promise<void> {
    this.#running = this.informer.run(this.#stop.signal);
    await this.settle();
  }

  /** Runs all pending microtasks; the first steps of an informer take a few rounds. */
  async settle(): Promise<void> {
    for (let round = 0; round < 5; round++) await drain();
  }

  create(name: string, data: Readonly<Record<string, string>> = {}) {
    return this.client.create(ConfigMap, { metadata: { name, namespace: "default" }, data });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.server[Symbol.dispose]();
    assertEquals([this.server.watches, this.clock.pendingTimers], [0, 0]);
  }
}

test("all verbs of the client work on the embedded server", async () => {
  await using cluster = new TestCluster();
  const { client } = cluster;
  const created = await cluster.create("a", { k: "v" });
  assertEquals(await client.get(ConfigMap, "default/a"), created);
  assert(isAlreadyExists(await assertRejects(() => cluster.create("a"))));
  const updated = await client.update(ConfigMap, { ...created, data: { k: "w" } });
  assert(isConflict(await assertRejects(() => client.update(ConfigMap, { ...created, data: { k: "x" } }))));
  const { items } = await client.list(ConfigMap, { namespace: "default", keepManagedFields: true });
  assertEquals(items, [updated]);
  assertEquals((await client.get(ConfigMap, "default/a", { metadataOnly: true })).data, undefined);
  await client.delete(ConfigMap, "default/a");
  assert(isNotFound(await assertRejects(() => client.get(ConfigMap, "default/a"))));
  assertEquals(await client.find(ConfigMap, "default/a"), undefined);
});

for (const watchList of [true, false]) {
  test(`an informer that starts with a ${watchList ? "streaming" : "plain"} list follows the server`, async () => {
    await using cluster = new TestCluster({ watchList });
    await cluster.create("a", { k: "1" });
    await cluster.start();
    assertEquals([cluster.informer.hasSynced, cluster.events.splice(0)], [true, ["+ default/a"]]);
    await cluster.create("b");
    await cluster.client.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { k: "2" } } });
    await cluster.client.delete(ConfigMap, "default/a");
    await cluster.settle();
    assertEquals(cluster.events, ["+ default/b", "~ default/a 2", "- default/a"]);
    assertEquals([...cluster.informer.store.values()].map((object) => keyOf(object)), ["default/b"]);
  });
}

test("an informer continues from its bookmark, without a list, when the server ends the watch", async () => {
  await using cluster = new TestCluster();
  await cluster.create("a");
  await cluster.start();
  const before = cluster.requests.length;
  // Writes of another kind increase the revision, which this informer sees only in bookmarks.
  for (let count = 0; count < 3; count++) {
    await cluster.client.create(Foo, { metadata: { name: `f${count}`, namespace: "default" }, spec: {} });
  }
  for (let minute = 0; minute < 11; minute++) await cluster.clock.advance(60_000);
  await cluster.settle();
  const later = cluster.requests.slice(before).filter((query) => query !== "");
  assert(later.length > 0 && later.every((query) => query.includes("watch=true")), JSON.stringify(later));
  assert(later.some((query) => query.includes("resourceVersion=8")), JSON.stringify(later));
});

test("an informer that is behind the history lists again, and misses no event", async () => {
  const storage = new ObjectStorage({ maxHistoryChanges: 20 });
  await using cluster = new TestCluster({ storage });
  for (const name of ["a", "b"]) await cluster.create(name);
  await cluster.start();
  cluster.events.length = 0;
  // All at once, so that the stream is full and the history moves on.
  const { server } = cluster;
  const kind = server.kinds.family("configmaps")?.storage;
  assert(kind !== undefined);
  for (let count = 0; count < 500; count++) {
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `n${count}`, namespace: "default", uid: `u${count}` },
    };
    storage.create("configmaps", "default", `n${count}`, { ...object, data: { text: "x".repeat(1000) } });
  }
  const gone = storage.find("configmaps", "default", "a");
  if (gone !== undefined) storage.delete("configmaps", gone);
  for (let round = 0; round < 20; round++) {
    await cluster.settle();
    await cluster.clock.advance(5_000);
  }
  const cached = [...cluster.informer.store.values()].map((object) => object.metadata.name).sort();
  const stored = [...storage.list("configmaps")].map((object) => JSON.parse(JSON.stringify(object)).metadata.name)
    .sort();
  assertEquals(cached, stored);
  assertEquals(cluster.events.filter((line) => line === "- default/a").length, 1);
});

test("many watches of one server get the same events in the same order", async () => {
  await using cluster = new TestCluster();
  const readings = await Promise.all(Array.from({ length: 20 }, async () => {
    const types: string[] = [];
    const stop = new AbortController();
    const events = cluster.client.watch(ConfigMap, { resourceVersion: "4", signal: stop.signal });
    const reading = (async () => {
      for await (const batch of events) {
        for (const event of batch) if (event.type !== "ERROR" && event.type !== "MALFORMED") types.push(event.type);
      }
    })();
    return await Promise.resolve({ types, stop, reading });
  }));
  await cluster.settle();
  for (let count = 0; count < 30; count++) await cluster.create(`n${count}`);
  await cluster.client.deleteCollection(ConfigMap, { namespace: "default" });
  await cluster.settle();
  for (const { types, stop, reading } of readings) {
    assertEquals([types.filter((type) => type === "ADDED").length, types.length], [30, 60]);
    stop.abort();
    await reading.catch(() => {});
  }
});

const Foo: Resource<{
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: object;
}> = { group: "example.com", version: "v1", kind: "Foo", plural: "foos", scope: "Namespaced" };
