/** External resources as a source, through the public surface: polled, compared, destroyed with their object. */
import { assert, assertEquals, assertThrows, test } from "../testing.ts";
import {
  bounded,
  ConfigMap,
  controller,
  type ControllerDefinition,
  done,
  external,
  type ExternalCall,
  type ExternalOptions,
} from "../../src/mod.ts";
import { simulateController, World } from "../../src/testing.ts";

type Options = ExternalOptions<typeof ConfigMap, string>;

/** A provider of disks, which fails and hangs on demand. */
class Provider {
  readonly disks = new Map<string, string>();
  reads = 0;
  destroyed = 0;
  running = 0;
  maxRunning = 0;
  failure: Error | undefined;
  /** Each call waits until it is aborted, or until this resolves. */
  blocked: Promise<void> | undefined;
  readonly runningKeys: string[] = [];
  /** Keys that were read twice at the same time. */
  readonly overlaps: string[] = [];

  readonly fetch = async (key: string, { signal }: ExternalCall): Promise<string | undefined> => {
    if (this.runningKeys.includes(key)) this.overlaps.push(key);
    this.runningKeys.push(key);
    this.reads++;
    this.maxRunning = Math.max(this.maxRunning, ++this.running);
    try {
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true })
      );
      await Promise.race([aborted, this.blocked ?? Promise.resolve()]);
      if (this.failure !== undefined) throw this.failure;
      return this.disks.get(key);
    } finally {
      this.running--;
      this.runningKeys.splice(this.runningKeys.indexOf(key), 1);
    }
  };

  readonly destroy = (key: string): Promise<void> => {
    this.destroyed++;
    if (this.failure !== undefined) return Promise.reject(this.failure);
    this.disks.delete(key);
    return Promise.resolve();
  };
}

/** Gives each ConfigMap with a size a disk. @param reconciled gets the name of each object that is reconciled */
function disksOf(provider: Provider, options: Partial<Options> = {}, reconciled: string[] = []): ControllerDefinition {
  const disks = external<typeof ConfigMap, string>("disks", ConfigMap, {
    key: ({ metadata, data }) => data?.size === undefined ? undefined : `${metadata.namespace}-${metadata.name}`,
    everyMs: 60_000,
    fetch: provider.fetch,
    destroy: provider.destroy,
    ...options,
  });
  return controller("disks").for(ConfigMap).external(disks).reconcile(async (ctx) => {
    const disk = ctx.external(disks);
    const size = ctx.object.data?.size;
    if (disk.key === undefined || size === undefined) return done;
    reconciled.push(ctx.object.metadata.name ?? "");
    if (await disk.get() === size) return done;
    provider.disks.set(disk.key, size);
    disk.set(size);
    return done;
  });
}

test("an external resource is created once, repaired when it differs, and destroyed before its object goes", async () => {
  const provider = new Provider();
  const reconciled: string[] = [];
  await using world = await World.start({ controllers: [disksOf(provider, {}, reconciled)], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { size: "8" } });
  await world.settled();
  assertEquals([...provider.disks], [["default-a", "8"]]);
  const before = reconciled.length;
  await world.clock.advance(300_000);
  assertEquals(reconciled.length, before, "polls that find no difference ask for nothing");
  assert(provider.reads >= 4 && provider.reads <= 7, `${provider.reads} reads`);
  provider.disks.set("default-a", "4");
  await world.clock.advance(70_000);
  assertEquals([reconciled.length, provider.disks.get("default-a")], [before + 1, "8"]);
  provider.failure = new Error("provider is down");
  await world.delete(ConfigMap, "default/a");
  await world.clock.advance(1_000);
  assert(world.find(ConfigMap, "default/a") !== undefined && provider.destroyed > 1, "the finalizer waits");
  provider.failure = undefined;
  await world.settled();
  assertEquals([world.find(ConfigMap, "default/a"), provider.disks.size], [undefined, 0]);
  const { reads } = provider;
  await world.clock.advance(600_000);
  assertEquals(provider.reads, reads, "nothing is polled for an object that is gone");
});

test("polls of one source run at most so many at a time, and never twice for one key", async () => {
  const provider = new Provider();
  await using world = await World.start({
    controllers: [disksOf(provider, { maxConcurrentPolls: 3 })],
    cluster: false,
  });
  for (let index = 0; index < 10; index++) await world.create(ConfigMap, { name: `d${index}`, data: { size: "1" } });
  await world.settled();
  provider.maxRunning = 0;
  const blocked = Promise.withResolvers<void>();
  provider.blocked = blocked.promise;
  await world.clock.advance(20_000); // within the first period, so that the sweep may have begun
  await world.clock.advance(45_000);
  assertEquals(provider.running, 3);
  await world.patch(ConfigMap, "default/d0", { kind: "merge", value: { data: { size: "2" } } });
  blocked.resolve();
  provider.blocked = undefined;
  await world.clock.advance(60_000);
  assertEquals([provider.maxRunning, provider.overlaps], [3, []]);
});

test("the resources of other objects cost a reconcile and a deletion nothing", async () => {
  const objects = 200;
  const provider = new Provider();
  let keys = 0;
  const key: Options["key"] = ({ metadata, data }) => {
    keys++;
    return data?.size === undefined ? undefined : `${metadata.namespace}-${metadata.name}`;
  };
  await using world = await World.start({ controllers: [disksOf(provider, { key })], cluster: false });
  for (let index = 0; index < objects; index++) {
    await world.create(ConfigMap, { name: `d${index}`, data: { size: "1" } });
  }
  await world.settled();
  for (let index = 0; index < objects; index++) await world.delete(ConfigMap, `default/d${index}`);
  await world.settled();
  assertEquals([provider.destroyed, provider.disks.size], [objects, 0]);
  assert(keys < 10 * objects, `${keys} keys of ${objects} objects`);
});

test("a rate limit spreads the polls", async () => {
  const provider = new Provider();
  await using world = await World.start({
    controllers: [disksOf(provider, { rateLimit: { qps: 1, burst: 1 } })],
    cluster: false,
  });
  for (let index = 0; index < 30; index++) await world.create(ConfigMap, { name: `d${index}`, data: { size: "1" } });
  await world.settled();
  await world.clock.advance(120_000);
  const { reads } = provider;
  await world.clock.advance(10_000);
  assert(provider.reads - reads <= 11, `${provider.reads - reads} reads in 10 s`);
});

test("a failing poll keeps what was found, backs off, and does not reconcile", async () => {
  const provider = new Provider();
  const reconciled: string[] = [];
  await using world = await World.start({ controllers: [disksOf(provider, {}, reconciled)], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { size: "8" } });
  await world.settled();
  provider.failure = new Error("provider is down");
  await world.clock.advance(60_000);
  const [{ reads }, before] = [provider, reconciled.length];
  await world.clock.advance(3_600_000);
  assert(provider.reads - reads < 15, `${provider.reads - reads} reads in an hour`);
  assertEquals(reconciled.length, before);
  await world.patch(ConfigMap, "default/a", { kind: "merge", value: { metadata: { labels: { a: "b" } } } });
  await world.settled();
  assertEquals(reconciled.length, before + 1, "the reconcile uses what was found");
  provider.failure = undefined;
  provider.disks.set("default-a", "4");
  await world.clock.advance(800_000);
  assertEquals(provider.disks.get("default-a"), "8");
});

test("a read that hangs ends after its timeout, and is tried again later", async () => {
  const provider = new Provider();
  await using world = await World.start({ controllers: [disksOf(provider, { timeoutMs: 5_000 })], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { size: "8" } });
  await world.settled();
  const { reads } = provider;
  provider.blocked = new Promise(() => {});
  while (provider.reads === reads) await world.clock.advance(1_000);
  assertEquals(provider.running, 1);
  await world.clock.advance(5_000);
  assertEquals(provider.running, 0);
  provider.blocked = undefined;
  provider.disks.set("default-a", "4");
  await world.clock.advance(200_000);
  assertEquals(provider.disks.get("default-a"), "8");
});

test("a fetch or a destroy that ignores its signal holds up no other resource", async () => {
  const provider = new Provider();
  const forever = new Promise<never>(() => {});
  let isStuck = false;
  const fetch: Options["fetch"] = (key, call) => isStuck && key === "default-a" ? forever : provider.fetch(key, call);
  const destroy = (key: string) => key === "default-a" ? forever : provider.destroy(key);
  const options = { fetch, destroy, timeoutMs: 5_000, maxConcurrentPolls: 1 };
  await using world = await World.start({ controllers: [disksOf(provider, options)], cluster: false });
  for (const name of ["a", "b"]) await world.create(ConfigMap, { name, data: { size: "8" } });
  await world.settled();
  isStuck = true;
  await world.clock.advance(70_000);
  provider.disks.set("default-b", "4");
  await world.clock.advance(130_000);
  assertEquals(provider.disks.get("default-b"), "8");
  for (const name of ["a", "b"]) await world.delete(ConfigMap, `default/${name}`);
  await world.clock.advance(10_000);
  assertEquals(world.list(ConfigMap).map(({ metadata }) => metadata.name), ["a"]);
});

test("a fetchAll that returns no Map is a failed poll", async () => {
  const provider = new Provider();
  let isGarbage = false;
  const fetchAll = () => Promise.resolve(isGarbage ? undefined : new Map(provider.disks));
  const options = { fetch: undefined, fetchAll } as unknown as Partial<Options>;
  await using world = await World.start({ controllers: [disksOf(provider, options)], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { size: "8" } });
  await world.settled();
  isGarbage = true;
  await world.clock.advance(70_000);
  await world.settled(); // the controller runs
  isGarbage = false;
  provider.disks.set("default-a", "4");
  await world.clock.advance(700_000);
  assertEquals(provider.disks.get("default-a"), "8");
});

test("refresh() reads what was written before its call, also while a poll is under way", async () => {
  const provider = new Provider();
  const found: (string | undefined)[] = [];
  let isRead = Promise.withResolvers<void>();
  let blocked = Promise.resolve();
  const disks = external<typeof ConfigMap, string>("disks", ConfigMap, {
    key: ({ metadata, data }) => data && metadata.uid,
    everyMs: 60_000,
    async fetch(key) {
      const disk = provider.disks.get(key);
      isRead.resolve();
      await blocked;
      return disk;
    },
  });
  const sizes = controller("disks").for(ConfigMap).external(disks).reconcile(async (ctx) => {
    const disk = ctx.external(disks);
    if (disk.key === undefined) return done;
    provider.disks.set(disk.key, ctx.object.data?.size ?? "");
    found.push(await disk.refresh());
    return done;
  });
  await using world = await World.start({ controllers: [sizes], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { size: "8" } });
  await world.settled();
  const unblocked = Promise.withResolvers<void>();
  [isRead, blocked] = [Promise.withResolvers<void>(), unblocked.promise];
  await Promise.all([isRead.promise, world.clock.advance(60_000)]);
  await world.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { size: "16" } } });
  await world.clock.advance(1_000);
  blocked = Promise.resolve();
  unblocked.resolve();
  await world.settled();
  assertEquals(found, ["8", "16"]);
});

test("a Date that differs is a difference", async () => {
  let [at, reconciles] = [new Date(0), 0];
  const backups = external("backups", ConfigMap, {
    key: ({ metadata, data }) => data && metadata.uid,
    everyMs: 60_000,
    fetch: () => Promise.resolve({ at: new Date(at) }),
  });
  const times = controller("backups").for(ConfigMap).external(backups).reconcile(async (ctx) => {
    if (await ctx.external(backups).get() !== undefined) reconciles++;
    return done;
  });
  await using world = await World.start({ controllers: [times], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { size: "8" } });
  await world.clock.advance(130_000);
  assertEquals(reconciles, 1);
  at = new Date(1);
  await world.clock.advance(70_000);
  assertEquals(reconciles, 2);
});

test("resources of objects whose bodies are evicted are polled, and kept while such an object has them", async () => {
  const provider = new Map<string, string>();
  const Disks = bounded(ConfigMap, { maxObjects: 1 });
  const disks = external("disks", Disks, {
    key: ({ data }) => data?.disk,
    everyMs: 60_000,
    fetch: (key) => Promise.resolve(provider.get(key)),
    destroy: (key) => Promise.resolve(void provider.delete(key)),
  });
  const formatted = controller("disks").for(Disks).external(disks).reconcile(async (ctx) => {
    const disk = ctx.external(disks);
    if (disk.key === undefined || await disk.get() === "formatted") return done;
    provider.set(disk.key, "formatted");
    disk.set("formatted");
    return done;
  });
  await using world = await World.start({ controllers: [formatted], cluster: false });
  for (const [name, disk] of [["a", "shared"], ["b", "own"], ["c", "shared"]] as const) {
    await world.create(ConfigMap, { name, data: { disk } });
  }
  await world.settled();
  for (const key of provider.keys()) provider.set(key, "broken");
  await world.clock.advance(130_000);
  assertEquals(Object.fromEntries(provider), { shared: "formatted", own: "formatted" });
  await world.delete(ConfigMap, "default/c");
  await world.settled();
  assertEquals([...provider.keys()], ["shared", "own"]);
});

test("what the reconciler sets is not replaced by a read that began before", async () => {
  const provider = new Provider();
  const reconciled: string[] = [];
  await using world = await World.start({ controllers: [disksOf(provider, {}, reconciled)], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { size: "8" } });
  await world.settled();
  const { reads } = provider;
  const blocked = Promise.withResolvers<void>();
  provider.blocked = blocked.promise;
  provider.disks.set("default-a", "4");
  while (provider.reads === reads) await world.clock.advance(1_000);
  await world.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { size: "16" } } });
  await world.clock.advance(1_000);
  const before = reconciled.length;
  provider.disks.set("default-a", "4"); // what the old read is going to answer
  blocked.resolve();
  provider.blocked = undefined;
  await world.clock.advance(1_000);
  assertEquals(reconciled.length, before);
  await world.clock.advance(70_000);
  assertEquals([reconciled.length, provider.disks.get("default-a")], [before + 1, "16"]);
});

test("in bulk, all resources are read with one call, and a difference reconciles only its objects", async () => {
  const provider = new Provider();
  const reconciled: string[] = [];
  let calls = 0;
  const fetchAll = () => {
    calls++;
    return Promise.resolve(new Map(provider.disks));
  };
  const options = { fetch: undefined, fetchAll } as unknown as Partial<Options>;
  await using world = await World.start({ controllers: [disksOf(provider, options, reconciled)], cluster: false });
  for (const name of ["a", "b", "c"]) await world.create(ConfigMap, { name, data: { size: "8" } });
  await world.settled();
  await world.clock.advance(120_000);
  const before = calls;
  reconciled.length = 0;
  provider.disks.delete("default-b");
  await world.clock.advance(60_000);
  assertEquals([calls, reconciled, provider.disks.get("default-b")], [before + 1, ["b"], "8"]);
});

test("the deletion of one object does not end what is read for another one with the same resource", async () => {
  const provider = new Provider();
  const reconciled: string[] = [];
  const options = { key: () => "shared", maxConcurrentPolls: Infinity, timeoutMs: 600_000 };
  await using world = await World.start({ controllers: [disksOf(provider, options, reconciled)], cluster: false });
  for (const name of ["a", "b"]) await world.create(ConfigMap, { name, data: { size: "8" } });
  await world.settled();
  const blocked = Promise.withResolvers<void>();
  provider.blocked = blocked.promise;
  await world.clock.advance(120_000);
  assertEquals(provider.running, 1);
  provider.disks.set("shared", "9");
  await world.delete(ConfigMap, "default/a");
  await world.settled();
  reconciled.length = 0;
  blocked.resolve();
  await world.settled();
  assertEquals([reconciled, provider.destroyed, provider.disks.get("shared")], [["b"], 0, "8"]);
});

test("diff decides which differences count", async () => {
  const provider = new Provider();
  const reconciled: string[] = [];
  const diff = (_: string | undefined, after: string | undefined) => after === undefined;
  await using world = await World.start({ controllers: [disksOf(provider, { diff }, reconciled)], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { size: "8" } });
  await world.settled();
  reconciled.length = 0;
  provider.disks.set("default-a", "9");
  await world.clock.advance(130_000);
  assertEquals(reconciled, []);
  provider.disks.clear();
  await world.clock.advance(70_000);
  assertEquals([reconciled, [...provider.disks]], [["a"], [["default-a", "8"]]]);
});

test("what cannot be polled or destroyed is refused when it is declared", () => {
  const key = () => "a";
  const fetch = () => Promise.resolve("");
  assertThrows(() => external("a", ConfigMap, { key, everyMs: 0, fetch }), /everyMs 0 is not greater than 0/);
  assertThrows(() => external("a", ConfigMap, { key, everyMs: 1 }), /it has neither fetch nor fetchAll/);
  assertThrows(() => external("a", ConfigMap, { key, everyMs: Infinity, fetch }), /everyMs is not finite/);
  const polls = { maxConcurrentPolls: 0.5 };
  assertThrows(
    () => external("a", ConfigMap, { key, everyMs: 1, fetch, ...polls }),
    /maxConcurrentPolls 0.5 is below 1/,
  );
  const limit = { qps: 1, burst: 0 };
  assertThrows(() => external("a", ConfigMap, { key, everyMs: 1, fetch, rateLimit: limit }), /burst 0 is below 1/);
  const source = external("a", ConfigMap, { key, everyMs: 1, fetch, destroy: () => Promise.resolve() });
  const raw = controller("a").for(ConfigMap).external(source);
  assertThrows(() => raw.reconcileKey(() => Promise.resolve(done)), /reconcileKey\(\) has no finalizer/);
});

test("simulate finds nothing wrong with external resources over crashes, and none is left", async () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", name: "a" };
  const create = {
    kind: "create",
    object: { ...object, metadata: { name: "a", namespace: "default" }, data: { size: "8" } },
  } as const;
  const workloads = [{ name: "disks", steps: [create, { kind: "delete", object }] }] as const;
  for (let firstSeed = 1; firstSeed <= 20; firstSeed++) {
    // All processes use one provider; the storm is the last run of a simulation.
    const provider = new Provider();
    const options = { workloads, points: 0, storms: 1, firstSeed };
    const { findings } = await simulateController(() => disksOf(provider), options);
    assertEquals(findings.map(({ violations }) => violations), []);
    assertEquals([provider.destroyed > 0, [...provider.disks]], [true, []], `seed ${firstSeed}`);
  }
});
