/** Controllers with bounded caches, through the public surface. */
import { assertEquals, assertThrows, test } from "../testing.ts";
import {
  bounded,
  type CacheLimit,
  ConfigMap,
  controller,
  type ControllerDefinition,
  done,
  type KubeObject,
  manifest,
  Namespace,
  Secret,
  type Workload,
} from "../../src/mod.ts";
import { RecordedWorld } from "../../src/cli/replay/testing/recorded_world.ts";
import type { Fault } from "../../src/simulation/fault_plan.ts";
import { runSchedule } from "../../src/simulation/schedule.ts";
import { simulateController, World } from "../../src/testing.ts";

const sourceLabel = { matchLabels: { role: "source" } };

/** Writes a ConfigMap `sum` for each Secret: the numbers in the ConfigMaps that name it in their data. */
function sums(limit: CacheLimit, seen: string[] = []): ControllerDefinition {
  const Numbers = bounded(ConfigMap, limit);
  return controller("sums").for(Secret)
    .owns(Numbers, { to: ({ metadata, data }) => data?.of === undefined ? [] : [`${metadata.namespace}/${data.of}`] })
    .reconcile(async (ctx) => {
      const { name = "", namespace = "" } = ctx.object.metadata;
      seen.push(name);
      const sources = await ctx.list(Numbers, { namespace, labelSelector: sourceLabel });
      const sum = sources.filter(({ data }) => data?.of === name).reduce(
        (total, { data }) => total + Number(data?.n),
        0,
      );
      await ctx.apply(
        manifest(ConfigMap, { metadata: { name: `${name}-sum`, namespace }, data: { sum: String(sum) } }),
      );
      return done;
    });
}

function source(name: string, of: string, n: number) {
  return { name, labels: { role: "source" }, data: { of, n: String(n) } };
}

/** Creates, changes, re-maps and deletes sources; returns all sums at the end. */
async function runWorkload(limit: CacheLimit): Promise<unknown> {
  await using world = await World.start({ controllers: [sums(limit)], cluster: false });
  for (const name of ["a", "b", "c"]) await world.create(Secret, { name });
  for (let index = 0; index < 30; index++) {
    await world.create(ConfigMap, source(`n${index}`, "abc"[index % 3] ?? "", index));
  }
  await world.settled();
  const change = (name: string, data: Record<string, string>) =>
    world.patch(ConfigMap, `default/${name}`, { kind: "merge", value: { data } });
  await change("n0", { of: "b", n: "100" });
  await change("n4", { n: "7" });
  await world.settled();
  await world.delete(ConfigMap, "default/n5");
  await world.settled();
  return ["a", "b", "c"].map((name) => world.get(ConfigMap, `default/${name}-sum`).data);
}

test("a controller with a bounded cache has the same results as with a cache of all bodies", async () => {
  const all = await runWorkload({ maxObjects: 1_000_000 });
  assertEquals(all, [{ sum: "135" }, { sum: "248" }, { sum: "150" }]);
  assertEquals(await runWorkload({ maxObjects: 1 }), all);
  assertEquals(await runWorkload({ maxBytes: 500 }), all);
});

test("a change of an evicted body is reconciled for the key that it had, and for the one that it has", async () => {
  const seen: string[] = [];
  await using world = await World.start({ controllers: [sums({ maxObjects: 1 }, seen)], cluster: false });
  for (const name of ["a", "b"]) await world.create(Secret, { name });
  await world.create(ConfigMap, source("n1", "a", 1));
  await world.create(ConfigMap, source("n2", "a", 2));
  await world.settled();
  seen.length = 0;
  // The old body named "a". Only one body is kept, and it is that of n2 or of a sum.
  await world.patch(ConfigMap, "default/n1", { kind: "merge", value: { data: { of: "b" } } });
  await world.settled();
  assertEquals([...new Set(seen)].sort(), ["a", "b"]);
  assertEquals(world.get(ConfigMap, "default/a-sum").data?.sum, "2");
  assertEquals(world.get(ConfigMap, "default/b-sum").data?.sum, "1");
});

test("a predicate that needs the evicted old body accepts the change, one that needs only metadata decides", async () => {
  const keys: string[] = [];
  const Maps = bounded(ConfigMap, { maxObjects: 1 });
  const watcher = (name: string, isRelevant: (old: ConfigMap, object: ConfigMap) => boolean) =>
    controller(name).for(Secret).watches(Maps, {
      to: ({ metadata }) => [`default/${metadata.name}`],
      when: (change) => change.kind === "updated" && isRelevant(change.old, change.object),
    }).reconcileKey(({ key }) => {
      keys.push(`${name} ${key}`);
      return Promise.resolve(done);
    });
  const controllers = [
    watcher("by-body", (old, object) => old.data?.n !== object.data?.n),
    watcher("by-labels", (old, object) => old.metadata.labels?.role !== object.metadata.labels?.role),
  ];
  await using world = await World.start({ controllers, cluster: false });
  for (const name of ["x", "y"]) await world.create(ConfigMap, source(name, "a", 1));
  await world.settled();
  // Changes neither the number nor the label; the body of x was evicted, that of y was not.
  for (const name of ["y", "x"]) {
    await world.patch(ConfigMap, `default/${name}`, { kind: "merge", value: { data: { other: "1" } } });
    await world.settled();
  }
  assertEquals(keys, ["by-body default/x"]);
});

test("ctx.list and ctx.get read all bodies, however few the cache keeps", async () => {
  const Maps = bounded(ConfigMap, { maxObjects: 1 });
  const read: (string | undefined)[] = [];
  let found = 0;
  const reader = controller("reader").for(Secret).watches(Maps, { to: () => [] }).reconcile(async (ctx) => {
    found = (await ctx.list(Maps, { namespace: "default" })).length;
    for (let index = 0; index < 30; index++) {
      read.push((await ctx.get(Maps, `default/m${index}`)).data?.n);
    }
    return done;
  });
  await using world = await World.start({ controllers: [reader], cluster: false });
  for (let index = 0; index < 30; index++) {
    await world.create(ConfigMap, { name: `m${index}`, data: { n: String(index) } });
  }
  await world.settled();
  await world.create(Secret, { name: "a" });
  await world.settled();
  assertEquals([found, read.length, read[29]], [30, 30, "29"]);
});

test("a primary kind can be bounded, and its objects are whole in every reconcile", async () => {
  const Maps = bounded(ConfigMap, { maxObjects: 1 });
  const seen = new Map<string, string | undefined>();
  const primary = controller("primary").for(Maps).watches(Namespace, {
    to: (_, caches) => caches.list(ConfigMap, {}).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
  }).reconcile((ctx) => {
    seen.set(`${ctx.object.metadata.namespace}/${ctx.object.metadata.name}`, ctx.object.data?.n);
    return Promise.resolve(done);
  });
  await using world = await World.start({ controllers: [primary], cluster: false });
  for (const name of ["x", "y", "z"]) await world.create(ConfigMap, source(name, "a", name.charCodeAt(0)));
  await world.settled();
  seen.clear();
  await world.create(Namespace, { name: "other" });
  await world.settled();
  assertEquals([...seen].sort(), [["default/x", "120"], ["default/y", "121"], ["default/z", "122"]]);
});

test("all bodies are kept if another controller needs the kind without a limit", async () => {
  const read: (string | undefined)[] = [];
  const whole = controller("whole").for(Secret).watches(ConfigMap, { to: () => [] }).reconcile((ctx) => {
    read.push(...ctx.list(ConfigMap, { namespace: "default" }).map(({ data }) => data?.n));
    return Promise.resolve(done);
  });
  await using world = await World.start({ controllers: [sums({ maxObjects: 1 }), whole], cluster: false });
  for (const name of ["x", "y", "z"]) await world.create(ConfigMap, source(name, "none", 1));
  await world.settled();
  await world.create(Secret, { name: "a" });
  await world.settled();
  assertEquals(read.slice(0, 3), ["1", "1", "1"]);
});

test("a limit that keeps nothing, or has no number, is refused", () => {
  for (const limit of [{}, { maxObjects: 0 }, { maxBytes: -1 }, { maxObjects: NaN }]) {
    assertThrows(() => bounded(ConfigMap, limit), /Cannot bound the cache of ConfigMap: .* at least 1/);
  }
});

test("simulate finds nothing wrong with a controller whose cache keeps one body", async () => {
  const create = <T extends KubeObject>(object: T) => ({ kind: "create", object, atOnce: true }) as const;
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "default" } };
  const map = (name: string, n: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", labels: { role: "source" } },
    data: { of: "a", n },
  });
  const steps = [create(secret), create(map("n1", "1")), create(map("n2", "2")), create(map("n3", "3"))];
  const { findings } = await simulateController(() => sums({ maxObjects: 1 }), {
    workloads: [{ name: "sums", steps }],
    points: 3,
    storms: 3,
  });
  assertEquals(findings, []);
});

test("a bounded cache of selected namespaces has what those have, while they come and go", async () => {
  const seen: string[] = [];
  const namespaceSelector = { matchLabels: { team: "a" } };
  await using world = await World.start({
    controllers: [sums({ maxObjects: 1 }, seen)],
    cluster: false,
    namespaceSelector,
  });
  const sumIn = (namespace: string) => world.find(ConfigMap, `${namespace}/a-sum`)?.data?.sum;
  const select = async (namespace: string, team: string | null) => {
    await world.patch(Namespace, namespace, { kind: "merge", value: { metadata: { labels: { team } } } as never });
    await world.settled();
  };
  for (const namespace of ["one", "two"]) {
    await world.create(Namespace, { name: namespace });
    await world.create(Secret, { namespace, name: "a" });
    for (const n of [1, 2, 3]) await world.create(ConfigMap, { namespace, ...source(`n${n}`, "a", n) });
  }
  await select("one", "a");
  assertEquals([sumIn("one"), sumIn("two")], ["6", undefined]);
  await select("two", "a");
  await select("one", null);
  seen.length = 0;
  for (const namespace of ["one", "two"]) {
    await world.patch(ConfigMap, `${namespace}/n1`, { kind: "merge", value: { data: { n: "10" } } });
  }
  await world.settled();
  assertEquals([sumIn("one"), sumIn("two"), new Set(seen)], ["6", "15", new Set(["a"])]);
  await select("one", "a");
  assertEquals(sumIn("one"), "15", "the bodies are those of the server, and not those of before");
});

test("replicas that divide the keys have bounded caches, under faults", async () => {
  const faults: readonly (readonly Fault[])[] = [
    [],
    [{ kind: "crash", write: 2, moment: "committed", downMs: 1_000 }],
    [{ kind: "partition", write: 1, forMs: 20_000 }],
    [{ kind: "scale", write: 2, by: "join", forMs: 30_000 }],
  ];
  const steps: Workload["steps"] = [
    ...["a", "b"].map((name) => ({
      kind: "create" as const,
      object: { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "default" } },
      atOnce: true,
    })),
    ...["n1", "n2", "n3"].map((name, index) => {
      const { labels, data } = source(name, index === 1 ? "b" : "a", index);
      return {
        kind: "create" as const,
        object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default", labels }, data },
      };
    }),
    {
      kind: "patch",
      object: { apiVersion: "v1", kind: "ConfigMap", name: "n1" },
      patch: { data: { of: "b", n: "7" } },
    },
  ];
  for (const plan of faults.map((list) => ({ faults: list }))) {
    const run = {
      controllers: [sums({ maxObjects: 1 })],
      workload: { name: "sums", steps },
      replicas: 2,
      sharded: true,
    };
    assertEquals((await runSchedule({ ...run, plan })).violations, [], JSON.stringify(plan));
  }
});

test("a recording of a bounded cache replays with the same writes, also after bodies were evicted and read", async () => {
  await using recorded = await RecordedWorld.start([sums({ maxObjects: 1 })], { cluster: false });
  const { world } = recorded;
  for (const name of ["a", "b"]) await world.create(Secret, { name });
  for (const [name, of, n] of [["n1", "a", 1], ["n2", "b", 2], ["n3", "a", 3]] as const) {
    await world.create(ConfigMap, source(name, of, n));
  }
  await world.settled();
  await world.patch(ConfigMap, "default/n1", { kind: "merge", value: { data: { of: "b" } } });
  await world.settled();
  await world.delete(ConfigMap, "default/n2");
  await recorded.save();
  const { code, out, err } = await recorded.replay([sums({ maxObjects: 1 })]);
  assertEquals({ code, out }, { code: 0, out: "" }, err);
});
