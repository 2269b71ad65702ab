import { assert, assertEquals, assertMatch, assertThrows, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { controller, done, inHub, manifest } from "../controller/mod.ts";
import { Manager } from "../manager/mod.ts";
import { configureLogging, MetricsRegistry } from "../observe/mod.ts";
import type { ClusterProvider } from "./cluster_provider.ts";
import { Fleet } from "./fleet.ts";
import { connectionTo, createTestFleet, greeter, greeting, namespace, reachable } from "./testing/test_fleet.ts";
import { FakeLeaseServer } from "../manager/testing/fake_lease_server.ts";
import { FakeCluster } from "../../tests/fakes/cluster.ts";

const { ConfigMap, Namespace } = builtin;
const shop = "/api/v1/namespaces/shop";

const clusterIn = (cluster: FakeCluster) => Reflect.get(cluster.get(greeting("shop")) ?? {}, "data");

test("the same controller works in each cluster, and knows its name", async () => {
  await using f = createTestFleet([greeter()]);
  const { a, b } = f.members;
  for (const cluster of [a, b]) cluster.put(shop, namespace("shop"));
  f.provider.set(reachable("a", a), reachable("b", b));
  f.start();
  await f.until(() => clusterIn(a) !== undefined && clusterIn(b) !== undefined);
  assertEquals([clusterIn(a), clusterIn(b)], [{ cluster: "a" }, { cluster: "b" }]);
  assertEquals(f.hub.writes, [], "nothing is written in the hub");
  await f.until(() => f.fleet.isIdle());
  assertEquals(f.fleet.clusters().map(({ name, state, problem }) => [name, state, problem]), [
    ["a", "running", undefined],
    ["b", "running", undefined],
  ]);
});

test("clusters are engaged and disengaged while the fleet runs, and nothing is deleted", async () => {
  await using f = createTestFleet([greeter()]);
  const { a, b } = f.members;
  for (const cluster of [a, b]) cluster.put(shop, namespace("shop"));
  f.provider.set(reachable("a", a));
  f.start();
  await f.until(() => clusterIn(a) !== undefined);
  f.provider.set(reachable("a", a), reachable("b", b));
  await f.until(() => clusterIn(b) !== undefined);
  f.provider.set(reachable("b", b));
  await f.until(() => f.fleet.clusters().length === 1);
  assertEquals([a.openWatches, clusterIn(a)], [0, { cluster: "a" }]);
  a.put("/api/v1/namespaces/late", namespace("late"));
  await f.clock.advance(60_000);
  assertEquals(a.get(greeting("late")), undefined);
  f.provider.set(reachable("a", a), reachable("b", b));
  await f.until(() => a.get(greeting("late")) !== undefined);
});

test("a cluster that is reported again while it drains is engaged when it has drained", async () => {
  const { promise: leave, resolve: finish } = Promise.withResolvers<void>();
  let runs = 0;
  const slow = controller("slow").for(Namespace).reconcile(async () => {
    if (runs++ === 0) await leave;
    return done;
  });
  await using f = createTestFleet([slow]);
  const { a } = f.members;
  a.put(shop, namespace("shop"));
  f.provider.set(reachable("a", a));
  f.start();
  await f.until(() => runs === 1);
  f.provider.set();
  await f.until(() => f.fleet.clusters()[0]?.state === "draining");
  f.provider.set(reachable("a", a));
  await f.clock.advance(1_000);
  assertEquals(runs, 1);
  finish();
  await f.until(() => runs === 2);
});

test("a reconcile that never ends keeps its turn no longer than its cluster is engaged", async () => {
  const { promise: never } = Promise.withResolvers<never>();
  const runs: string[] = [];
  const endless = controller("endless").for(Namespace).reconcile(async (ctx) => {
    runs.push(ctx.cluster?.name ?? "");
    return await never;
  });
  await using f = createTestFleet([endless], { maxConcurrentReconciles: 1, gracefulShutdownTimeoutMs: 0 });
  const { a } = f.members;
  a.put(shop, namespace("shop"));
  f.provider.set(reachable("a", a));
  f.start();
  await f.until(() => runs.length === 1);
  f.provider.set();
  for (let turn = 0; turn < 60 && f.fleet.clusters().length > 0; turn++) await f.clock.advance(1_000);
  f.provider.set(reachable("a", a));
  await f.until(() => runs.length === 2);
});

test("a cluster that cannot be connected is reported and tried again; the others work", async () => {
  await using f = createTestFleet([greeter()]);
  const { a, b } = f.members;
  for (const cluster of [a, b]) cluster.put(shop, namespace("shop"));
  let attempts = 0;
  const broken = {
    ...reachable("b", b),
    connect: () =>
      ++attempts < 4 ? Promise.reject(new Error("Cannot use kubeconfig")) : Promise.resolve(connectionTo(b)),
  };
  f.provider.set(reachable("a", a), broken);
  f.start();
  await f.until(() => clusterIn(a) !== undefined);
  assertEquals(f.fleet.clusters()[1], { name: "b", state: "failed", problem: "Cannot use kubeconfig" });
  const ready = () => f.fleet.checks().find(({ name }) => name === "fleet")?.problem();
  assertEquals(ready(), undefined, "one broken cluster keeps no process from being ready");
  f.provider.set(broken);
  await f.until(() => f.fleet.clusters().length === 1);
  assertMatch(ready() ?? "", /^no cluster works: b: Cannot use kubeconfig$/);
  await f.clock.advance(30_000);
  await f.until(() => clusterIn(b) !== undefined);
  assertEquals([attempts, ready()], [4, undefined]);
});

/** Virtual milliseconds until a new Namespace has its ConfigMap in `a`. */
async function latencyOf(prepare: (b: FakeCluster) => void, maxConcurrentReconciles?: number): Promise<number> {
  await using f = createTestFleet([greeter()], { maxConcurrentReconciles, gracefulShutdownTimeoutMs: 0 });
  const { a, b } = f.members;
  for (let index = 0; index < 20; index++) b.put(`/api/v1/namespaces/n${index}`, namespace(`n${index}`));
  prepare(b);
  f.provider.set(reachable("b", b), reachable("a", a));
  f.start();
  await f.clock.advance(120_000);
  const startedAt = f.clock.monotonic();
  a.put(shop, namespace("shop"));
  while (clusterIn(a) === undefined) await f.clock.advance(1);
  return f.clock.monotonic() - startedAt;
}

const aborted = (request: Request) =>
  new Promise<never>((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));

test("a cluster that is slow, silent, gone or answers nonsense does not delay another one", async () => {
  const troubles: Readonly<Record<string, (cluster: FakeCluster) => void>> = {
    "answers no request": (b) => b.intercept = aborted,
    "answers no write": (b) => b.intercept = (request) => request.method === "GET" ? undefined : aborted(request),
    "refuses connections": (b) => b.intercept = () => Promise.reject(new TypeError("connection refused")),
    "answers with HTML": (b) => b.intercept = () => new Response("<h1>It works!</h1>"),
    "answers lists of another kind": (b) => b.intercept = () => Response.json({ kind: "PodList", items: [{}] }),
    "has lost its credentials": (b) => b.intercept = () => new Response("{}", { status: 401 }),
    "is overloaded": (b) => b.intercept = () => new Response("{}", { status: 429, headers: { "retry-after": "5" } }),
  };
  const usual = await latencyOf(() => {}, 1);
  for (const [trouble, prepare] of Object.entries(troubles)) {
    assertEquals(await latencyOf(prepare, 1), usual, `the cluster ${trouble}`);
  }
});

test("new credentials of the same server replace the connection, and nothing is listed again", async () => {
  await using f = createTestFleet([greeter()]);
  const { a } = f.members;
  a.put(shop, namespace("shop"));
  const used: string[] = [];
  const closed: string[] = [];
  const withToken = (revision: string) => ({
    ...reachable("a", a, revision),
    connect: () =>
      Promise.resolve(connectionTo(a, {
        transport: (request) => {
          used.push(`${revision} ${request.method} ${new URL(request.url).searchParams.has("watch") ? "watch" : ""}`);
          return a.transport(request);
        },
        [Symbol.dispose]: () => void closed.push(revision),
      })),
  });
  f.provider.set(withToken("1"));
  f.start();
  await f.until(() => clusterIn(a) !== undefined);
  f.provider.set({ ...withToken("2"), connect: () => Promise.reject(new Error("it is not PEM")) });
  await f.until(() => f.fleet.clusters()[0]?.problem !== undefined);
  assertEquals(f.fleet.clusters()[0]?.problem, "its new credentials are not in use: it is not PEM");
  f.provider.set(withToken("3"));
  await f.clock.advance(1);
  used.length = 0;
  a.put("/api/v1/namespaces/late", namespace("late"));
  await f.until(() => a.get(greeting("late")) !== undefined);
  assertEquals([...new Set(used)], ["3 PATCH "], "caches stay");
  await f.clock.advance(40_000);
  assertEquals([closed, f.fleet.clusters()[0]?.problem], [["1"], undefined]);
});

test("a cluster that gets another server starts anew", async () => {
  await using f = createTestFleet([greeter()]);
  const { a, b } = f.members;
  for (const cluster of [a, b]) cluster.put(shop, namespace("shop"));
  f.provider.set(reachable("x", a));
  f.start();
  await f.until(() => clusterIn(a) !== undefined);
  const moved = { ...reachable("x", b, "2"), connect: () => Promise.resolve(connectionTo(b, { server: "https://b" })) };
  f.provider.set(moved);
  await f.until(() => clusterIn(b) !== undefined);
  assertEquals([a.openWatches, f.fleet.clusters()[0]?.server], [0, "https://b"]);
});

test("a cluster that was created anew at the address of the old one starts anew: no cache has objects of both", async () => {
  await using f = createTestFleet([greeter()]);
  const { a, b } = f.members;
  a.put(shop, namespace("shop"));
  const created = (cluster: FakeCluster, identity: string) => ({
    ...reachable("x", cluster, identity),
    connect: () => Promise.resolve(connectionTo(cluster, { identity })),
  });
  f.provider.set(created(a, "1"));
  f.start();
  await f.until(() => clusterIn(a) !== undefined);
  b.put("/api/v1/namespaces/other", namespace("other"));
  for (let index = 0; index < 20; index++) b.put(`/api/v1/namespaces/n${index}`, namespace(`n${index}`));
  f.provider.set(created(b, "2"));
  await f.until(() => b.get(greeting("other")) !== undefined);
  const namespaces = f.fleet.managers().get("x")?.caches.list(Namespace, {}) ?? [];
  assertEquals([a.openWatches, namespaces.length, clusterIn(b)], [0, 21, undefined]);
});

test("two names for one cluster are warned about, and other clusters with the same URL are not", async () => {
  let log = "";
  using _logging = configureLogging({ level: "warn", write: (text) => log += text });
  await using f = createTestFleet([greeter()]);
  const at = (name: string, identity: string, cluster: FakeCluster) => ({
    ...reachable(name, cluster),
    connect: () => Promise.resolve(connectionTo(cluster, { identity })),
  });
  f.provider.set(at("admin", "1", f.members.a), at("other", "2", f.members.b));
  f.start();
  await f.until(() => f.fleet.isIdle());
  assertEquals(log, "");
  f.provider.set(at("admin", "1", f.members.a), at("other", "2", f.members.b), at("dev", "1", f.members.a));
  await f.until(() => f.fleet.clusters().length === 3 && f.fleet.isIdle());
  assertMatch(log, /two clusters are the same one, so its objects are reconciled twice +cluster=dev sameAs=admin\n$/);
});

test("a provider that fails is watched again, and the clusters stay as they are", async () => {
  await using f = createTestFleet([greeter()]);
  const { a } = f.members;
  f.provider.failure = new Error("the inventory is away");
  f.start();
  const ready = () => f.fleet.checks().find(({ name }) => name === "fleet")?.problem();
  await f.until(() => ready()?.includes("inventory") === true);
  assertEquals(ready(), "the test has reported no clusters yet: the inventory is away");
  f.provider.set(reachable("a", a));
  await f.clock.advance(5_000);
  a.put(shop, namespace("shop"));
  await f.until(() => clusterIn(a) !== undefined);
});

test("a provider that does not look at its signal does not delay the stop", async () => {
  const { promise: never } = Promise.withResolvers<never>();
  const hub = new FakeCluster();
  const clock = new VirtualClock();
  const manager = new Manager({ client: new Client(hub.transport, { clock }), clock, random: seededRandom(1) });
  const provider: ClusterProvider = {
    name: "an inventory",
    async *watch() {
      yield [reachable("a", hub)];
      await never;
    },
  };
  const fleet = new Fleet({ hub: manager, provider });
  fleet.add(greeter());
  const stop = new AbortController();
  const startedAt = clock.monotonic();
  const running = fleet.run(stop.signal);
  for (let turn = 0; turn < 2_000 && !fleet.isIdle(); turn++) await drain();
  stop.abort();
  let hasEnded = false;
  running.then(() => hasEnded = true, () => undefined);
  for (let turn = 0; turn < 60 && !hasEnded; turn++) await clock.advance(1_000);
  await running;
  assertEquals([fleet.clusters(), clock.monotonic() - startedAt < 5_000], [[], true]);
});

test("the process leads in all clusters or in none, and releases the Lease after the last write of any cluster", async () => {
  const leases = new FakeLeaseServer();
  leases.put({
    metadata: { name: "operator", namespace: "shop" },
    spec: { holderIdentity: "other", leaseDurationSeconds: 15 },
  });
  const leaderElection = { client: new Client(leases.transport), namespace: "shop", name: "operator", identity: "me" };
  const { promise: leave, resolve: finish } = Promise.withResolvers<void>();
  const slow = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
    if (ctx.cluster?.name === "b") await leave;
    const metadata = { namespace: ctx.object.metadata.name, name: "greeter" };
    await ctx.apply(manifest(ConfigMap, { metadata, data: { cluster: ctx.cluster?.name ?? "" } }));
    return done;
  });
  await using f = createTestFleet([slow], { leaderElection });
  const { a, b } = f.members;
  for (const cluster of [a, b]) cluster.put(shop, namespace("shop"));
  f.provider.set(reachable("a", a), reachable("b", b));
  const running = f.start();
  await f.clock.advance(5_000);
  assertEquals([a.writes.length, b.writes.length], [0, 0], "another process leads");
  assertEquals([a.openWatches > 0, b.openWatches > 0], [true, true], "the caches of a standby are filled");
  for (let second = 0; second < 30 && clusterIn(a) === undefined; second++) await f.clock.advance(1_000);
  assertEquals(clusterIn(a), { cluster: "a" });
  f.stop.abort();
  await f.clock.advance(2_000);
  assertEquals(Reflect.get(leases.lease?.spec ?? {}, "holderIdentity"), "me", "cluster b still works");
  finish();
  await f.until(() => clusterIn(b) !== undefined);
  await running;
  assertEquals(Reflect.get(leases.lease?.spec ?? {}, "holderIdentity"), "");
});

test("a controller reads in the hub and writes in the members; changes in the hub reach all of them", async () => {
  const Settings = inHub(ConfigMap);
  const copier = controller("copier").for(Namespace).owns(ConfigMap)
    .watches(Settings, { to: (_, caches) => caches.list(Namespace, {}).map(({ metadata }) => metadata.name ?? "") })
    .reconcile(async (ctx) => {
      const text = ctx.find(Settings, "fleet/settings")?.data?.text ?? "none";
      const metadata = { namespace: ctx.object.metadata.name, name: "greeter" };
      await ctx.apply(manifest(ConfigMap, { metadata, data: { text } }));
      return done;
    });
  await using f = createTestFleet([copier]);
  const { a, b } = f.members;
  for (const cluster of [a, b]) cluster.put(shop, namespace("shop"));
  const settings = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "fleet", name: "settings" } };
  const path = "/api/v1/namespaces/fleet/configmaps/settings";
  f.hub.put(path, { ...settings, ...{ data: { text: "one" } } });
  f.provider.set(reachable("a", a), reachable("b", b));
  f.start();
  await f.until(() => clusterIn(a) !== undefined && clusterIn(b) !== undefined);
  assertEquals([clusterIn(a), clusterIn(b)], [{ text: "one" }, { text: "one" }]);
  assertEquals(f.hub.openWatches, 1, "all members share the cache of the hub");
  f.hub.put(path, { ...settings, ...{ data: { text: "two" } } });
  await f.until(() => Reflect.get(clusterIn(a), "text") === "two" && Reflect.get(clusterIn(b), "text") === "two");
  f.provider.set();
  await f.until(() => f.fleet.clusters().length === 0);
});

test("a controller with runsIn: hub runs in the hub only", async () => {
  const names: (string | undefined)[] = [];
  const counter = controller("counter", { runsIn: "hub" }).for(Namespace).reconcile((ctx) => {
    names.push(ctx.cluster?.name);
    return Promise.resolve(done);
  });
  await using f = createTestFleet([counter, greeter()]);
  f.hub.put(shop, namespace("shop"));
  f.members.a.put(shop, namespace("shop"));
  f.provider.set(reachable("a", f.members.a));
  f.start();
  await f.until(() => clusterIn(f.members.a) !== undefined);
  assertEquals([names, f.hub.writes], [[undefined], []]);
  assertThrows(
    () => f.fleet.add({ ...greeter(), name: "late" }),
    /Cannot add controller "late": the Fleet has started/,
  );
});

test("metrics have the name of the cluster, and end with it", async () => {
  const metrics = new MetricsRegistry();
  await using f = createTestFleet([greeter()], { metrics });
  const { a } = f.members;
  a.put(shop, namespace("shop"));
  f.provider.set(reachable("a", a));
  f.start();
  await f.until(() => f.fleet.isIdle());
  const text = await metrics.render();
  assertMatch(text, /workqueue_adds_total\{cluster="a",name="greeter",controller="greeter"\} \d/);
  assertMatch(text, /fleet_cluster_ready\{cluster="a"\} 1/);
  f.provider.set();
  await f.until(() => f.fleet.clusters().length === 0);
  assert(!(await metrics.render()).includes('cluster="a"'));
});

test("two controllers of one name are refused", () => {
  const { fleet } = createTestFleet([greeter()]);
  assertThrows(() => fleet.add(greeter()), /Cannot add controller "greeter": a controller with that name exists/);
});
