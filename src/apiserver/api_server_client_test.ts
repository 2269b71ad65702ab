/** Our own client and informer on the embedded server, in memory: the way every scenario test runs. */
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { ConfigMap, type Infer, keyOf, type Resource } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { Informer } from "../cache/mod.ts";
import { Client, isAlreadyExists, isConflict, isNotFound } from "../client/mod.ts";
import { families } from "./kind_test_data.ts";
import { ApiServer } from "./api_server.ts";
import { ObjectStorage } from "./storage/mod.ts";

/** A server, a client of it, and an informer on ConfigMaps. */
class Site implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly server: ApiServer;
  readonly client: Client;
  readonly informer: Informer<Infer<typeof ConfigMap>>;
  readonly heard: string[] = [];
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
      onAdd: (object) => void this.heard.push(`+ ${keyOf(object)}`),
      onUpdate: (_old, object) => void this.heard.push(`~ ${keyOf(object)} ${object.data?.["k"] ?? ""}`),
      onDelete: ({ key }) => void this.heard.push(`- ${key}`),
    });
  }

  async start(): Promise<void> {
    this.#running = this.informer.run(this.#stop.signal);
    await this.settle();
  }

  /** Lets everything that is ready happen; an informer's first steps take a few rounds. */
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

test("the client's verbs do what they say on the embedded server", async () => {
  await using site = new Site();
  const { client } = site;
  const created = await site.create("a", { k: "v" });
  assertEquals(await client.get(ConfigMap, "default/a"), created);
  assert(isAlreadyExists(await assertRejects(() => site.create("a"))));
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
  test(`an informer that begins with a ${watchList ? "streaming" : "plain"} list follows the server`, async () => {
    await using site = new Site({ watchList });
    await site.create("a", { k: "1" });
    await site.start();
    assertEquals([site.informer.hasSynced, site.heard.splice(0)], [true, ["+ default/a"]]);
    await site.create("b");
    await site.client.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { k: "2" } } });
    await site.client.delete(ConfigMap, "default/a");
    await site.settle();
    assertEquals(site.heard, ["+ default/b", "~ default/a 2", "- default/a"]);
    assertEquals([...site.informer.store.values()].map((object) => keyOf(object)), ["default/b"]);
  });
}

test("an informer goes on from its bookmark when the server ends the watch, without a list", async () => {
  await using site = new Site();
  await site.create("a");
  await site.start();
  const before = site.requests.length;
  // Writes of another kind move the revision, which only bookmarks tell this informer.
  for (let count = 0; count < 3; count++) {
    await site.client.create(Foo, { metadata: { name: `f${count}`, namespace: "default" }, spec: {} });
  }
  for (let minute = 0; minute < 11; minute++) await site.clock.advance(60_000);
  await site.settle();
  const later = site.requests.slice(before).filter((query) => query !== "");
  assert(later.length > 0 && later.every((query) => query.includes("watch=true")), JSON.stringify(later));
  assert(later.some((query) => query.includes("resourceVersion=8")), JSON.stringify(later));
});

test("an informer that fell behind the history lists anew, and misses nothing", async () => {
  const storage = new ObjectStorage({ maxHistoryChanges: 20 });
  await using site = new Site({ storage });
  for (const name of ["a", "b"]) await site.create(name);
  await site.start();
  site.heard.length = 0;
  // In one go, so that the stream fills up and the history runs away from it.
  const { server } = site;
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
    await site.settle();
    await site.clock.advance(5_000);
  }
  const cached = [...site.informer.store.values()].map((object) => object.metadata.name).sort();
  const stored = [...storage.list("configmaps")].map((object) => JSON.parse(JSON.stringify(object)).metadata.name)
    .sort();
  assertEquals(cached, stored);
  assertEquals(site.heard.filter((line) => line === "- default/a").length, 1);
});

test("many watchers of one server hear the same, in the same order", async () => {
  await using site = new Site();
  const readings = await Promise.all(Array.from({ length: 20 }, async () => {
    const heard: string[] = [];
    const stop = new AbortController();
    const events = site.client.watch(ConfigMap, { resourceVersion: "4", signal: stop.signal });
    const reading = (async () => {
      for await (const batch of events) {
        for (const event of batch) if (event.type !== "ERROR" && event.type !== "MALFORMED") heard.push(event.type);
      }
    })();
    return await Promise.resolve({ heard, stop, reading });
  }));
  await site.settle();
  for (let count = 0; count < 30; count++) await site.create(`n${count}`);
  await site.client.deleteCollection(ConfigMap, { namespace: "default" });
  await site.settle();
  for (const { heard, stop, reading } of readings) {
    assertEquals([heard.filter((type) => type === "ADDED").length, heard.length], [30, 60]);
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
