import { assert, assertEquals, assertMatch, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { drain } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";
import { FakeLeaseServer } from "./testing/fake_lease_server.ts";
import { createTestManager, greeter, namespace } from "./testing/test_manager.ts";
import { LeaseLostError } from "./election/leadership.ts";
import type { ManagerOptions } from "./manager_options.ts";
import type { Life, Runnable } from "./runnable_group.ts";

const { Namespace } = builtin;

function ended({ stop }: Life): Promise<void> {
  return new Promise((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
}

function part(name: string, trace: string[]): Runnable {
  return {
    name,
    prepare: () => Promise.resolve(void trace.push(`start ${name}`)),
    run: async (life) => {
      await ended(life);
      trace.push(`stop ${name}`);
    },
  };
}

test("a controller reconciles existing and new objects, and then writes nothing", async () => {
  await using b = createTestManager([greeter()]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => b.cluster.get("/api/v1/namespaces/shop/configmaps/greeter") !== undefined);
  b.cluster.put("/api/v1/namespaces/bank", namespace("bank"));
  await b.until(() => b.cluster.get("/api/v1/namespaces/bank/configmaps/greeter") !== undefined);
  await b.clock.advance(60_000);
  assertEquals(b.cluster.writes.length, 2, "[65] nothing is written once all objects have the desired values");
});

test("a dependent that another client deletes is created again", async () => {
  await using b = createTestManager([greeter()]);
  const dependent = "/api/v1/namespaces/shop/configmaps/greeter";
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => b.cluster.get(dependent) !== undefined);
  b.cluster.remove(dependent);
  await b.until(() => b.cluster.get(dependent) !== undefined);
});

test("two controllers that watch the same kind share its cache", async () => {
  await using b = createTestManager([greeter("one"), greeter("two")]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => b.cluster.writes.length === 2);
  assertEquals(b.cluster.openWatches, 2, "one watch of Namespaces, one of ConfigMaps");
});

test("[58] servers start before caches, caches before others; [59] they stop in the reverse order", async () => {
  const trace: string[] = [];
  const b = createTestManager([greeter()]);
  b.cluster.intercept = (_, path) => void (trace.at(-1) === `list ${path}` || trace.push(`list ${path}`));
  await b.manager.addRunnable(part("other", trace), "others");
  await b.manager.addRunnable(part("webhook", trace), "webhooks");
  await b.manager.addRunnable(part("health", trace), "http");
  const running = b.start();
  await b.until(() => trace.includes("list /api/v1/namespaces"));
  assertEquals(trace.slice(0, 2), ["start health", "start webhook"]);
  b.stop.abort();
  await running;
  assertEquals(trace.filter((line) => line.startsWith("stop")), ["stop other", "stop webhook", "stop health"]);
  await b[Symbol.asyncDispose]();
});

test("[12] a process is not ready before its caches have started", async () => {
  await using b = createTestManager([greeter()]);
  const started = Promise.withResolvers<void>();
  await b.manager.addRunnable({ name: "slow", prepare: () => started.promise, run: ended }, "webhooks");
  const problems = () => b.manager.checks().map(({ problem }) => problem());
  b.start();
  await drain();
  assertEquals(problems(), ["namespaces: not synced yet (not started); configmaps: not synced yet (not started)"]);
  started.resolve();
  await b.until(() => problems()[0] === undefined);
});

test("[59] run() throws the error of a Runnable that fails, and stops the others", async () => {
  const trace: string[] = [];
  await using b = createTestManager([greeter()]);
  await b.manager.addRunnable(part("healthy", trace));
  await b.manager.addRunnable({ name: "broken", run: () => Promise.reject(new Error("no luck")) });
  await assertRejects(() => b.start(), /Cannot run broken: no luck/);
  assertEquals(trace, ["start healthy", "stop healthy"]);
});

test("[59] errors of the stop are thrown together with the error that caused it", async () => {
  await using b = createTestManager([]);
  await b.manager.addRunnable({ name: "broken", run: () => Promise.reject(new Error("no luck")) });
  await b.manager.addRunnable({
    name: "sloppy",
    run: async (life) => {
      await ended(life);
      throw new Error("no luck at the end");
    },
  });
  const error = await assertRejects(() => b.start());
  assertMatch(error.message, /broken: no luck.*sloppy: no luck at the end/);
});

/** A controller whose reconcile waits until the test lets it finish, or until it is aborted. */
function waiting() {
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const { promise: leave, resolve: finish } = Promise.withResolvers<void>();
  const ends: string[] = [];
  const definition = controller("waiting").for(Namespace).reconcile(async (ctx) => {
    enter();
    const aborted = new Promise<never>((_, reject) =>
      ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason))
    );
    await Promise.race([leave, aborted]).then(() => ends.push("finished"), () => ends.push("aborted"));
    return done;
  });
  return { definition, entered, leave: finish, ends };
}

test("[60] a reconcile that runs at the stop may finish", async () => {
  const { definition, entered, leave, ends } = waiting();
  await using b = createTestManager([definition]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  const running = b.start();
  await entered;
  b.stop.abort();
  await b.clock.advance(29_000);
  leave();
  await running;
  assertEquals(ends, ["finished"]);
});

test("[60] a reconcile is aborted after the grace period", async () => {
  const { definition, entered, ends } = waiting();
  await using b = createTestManager([definition]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  const running = b.start();
  await entered;
  b.stop.abort();
  await b.clock.advance(30_000);
  await running;
  assertEquals(ends, ["aborted"]);
});

test("[60] a grace period of 0 aborts immediately", async () => {
  const { definition, entered, ends } = waiting();
  await using b = createTestManager([definition], { gracefulShutdownTimeoutMs: 0 });
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  const running = b.start();
  await entered;
  b.stop.abort();
  await running;
  assertEquals(ends, ["aborted"]);
});

test("[60] an infinite grace period waits without limit", async () => {
  const { definition, entered, leave, ends } = waiting();
  await using b = createTestManager([definition], { gracefulShutdownTimeoutMs: Infinity });
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  const running = b.start();
  await entered;
  b.stop.abort();
  await b.clock.advance(24 * 3_600_000);
  assertEquals(ends, []);
  leave();
  await running;
  assertEquals(ends, ["finished"]);
});

test("[60] run() does not wait for a Runnable that ignores the abort, and names it", async () => {
  const b = createTestManager([], { gracefulShutdownTimeoutMs: 1_000 });
  await b.manager.addRunnable({ name: "stuck", run: () => new Promise(() => {}) });
  const running = b.start();
  await drain();
  b.stop.abort();
  const failed = assertRejects(() => running, /Cannot stop others \(stuck\): it did not end when it was aborted/);
  await b.clock.advance(2_000);
  await failed;
});

test("a Manager without controllers runs its servers until the stop", async () => {
  const trace: string[] = [];
  await using b = createTestManager([]);
  await b.manager.addRunnable(part("server", trace), "http");
  b.start();
  await b.clock.advance(60_000);
  assertEquals(trace, ["start server"]);
  b.stop.abort();
  await b.start();
  assertEquals(trace, ["start server", "stop server"]);
});

/** A Manager that leads; `lose` gives its Lease to another process. */
async function leading(definitions: readonly ControllerDefinition[], options: Partial<ManagerOptions> = {}) {
  const server = new FakeLeaseServer();
  const leaderElection = { client: new Client(server.transport), namespace: "shop", name: "operator", identity: "a" };
  const b = createTestManager(definitions, { leaderElection, ...options });
  const running = b.start().then(() => undefined, (error: unknown) => error);
  await b.until(() => b.manager.elector?.leadership !== undefined);
  const lose = async () => {
    server.edit({ holderIdentity: "b" });
    await b.clock.advance(2_000);
    await b.until(() => b.manager.elector?.leadership === undefined);
    await drain();
  };
  return { ...b, running, lose };
}

test("[49] the process that leads records it as an Event on the Lease, before it releases the Lease", async () => {
  const b = await leading([]);
  const events = () => b.cluster.writes.filter(({ path }) => path.endsWith("/namespaces/shop/events"));
  await b.until(() => events().length > 0);
  const { regarding, note, reason, type } = Object(events()[0]?.body);
  assertEquals([note, reason, type], ["a became leader", "LeaderElection", "Normal"]);
  assertEquals([regarding.kind, regarding.namespace, regarding.name], ["Lease", "shop", "operator"]);
  b.stop.abort();
  assertEquals(await b.running, undefined);
});

test("[49] an Event that cannot be sent does not keep a process whose Lease is lost", async () => {
  const client = new Client(() => Promise.reject(new TypeError("connection refused")));
  const b = await leading([], { client, gracefulShutdownTimeoutMs: Infinity });
  await b.lose();
  const error = await b.running;
  assert(error instanceof LeaseLostError, String(error));
});

test("[48] when the Lease is lost, there is no grace period", async () => {
  const b = await leading([], { gracefulShutdownTimeoutMs: Infinity });
  const ends: string[] = [];
  const waitForKill = ({ kill }: Life) =>
    new Promise<void>((resolve) => kill.addEventListener("abort", () => resolve(void ends.push("killed"))));
  await b.manager.addRunnable({ name: "server", run: waitForKill }, "http");
  await b.manager.addRunnable({ name: "stuck", run: () => new Promise(() => {}) });
  await b.lose();
  await b.until(() => ends.length === 1);
  await b.clock.advance(1_000); // for "stuck", which does not end when it is aborted
  const error = await b.running;
  assert(error instanceof AggregateError && error.errors[0] instanceof LeaseLostError, String(error));
  assertMatch(String(error.errors[1]), /Cannot stop others \(stuck\)/);
});

test("[48] a lost Lease ends the grace period of a running stop", async () => {
  const { definition, entered, ends } = waiting();
  const b = await leading([definition]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  await entered;
  b.stop.abort();
  await drain();
  await b.lose();
  assert(await b.running instanceof LeaseLostError);
  assertEquals(ends, ["aborted"]);
});

test("[48] run() does not wait for a reconcile that ignores a lost Lease, and throws the loss", async () => {
  const entered = Promise.withResolvers<void>();
  const stuck = controller("stuck").for(Namespace).reconcile(() => {
    entered.resolve();
    return new Promise(() => {});
  });
  const b = await leading([stuck]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  await entered.promise;
  await b.lose();
  await b.clock.advance(1_000);
  const error = await b.running;
  assert(error instanceof AggregateError && error.errors[0] instanceof LeaseLostError, String(error));
  assertMatch(String(error.errors[1]), /Cannot stop the controllers: it did not end when it was aborted/);
});

test("[48] a process whose Lease is lost ends although none of its requests ever settles", async () => {
  const client = new Client(() => new Promise<Response>(() => {}));
  const b = await leading([greeter()], { client, gracefulShutdownTimeoutMs: Infinity });
  await b.lose();
  let error: unknown;
  b.running.then((result) => error = result);
  // Each part that waits for such a request has one second.
  for (let second = 0; second < 4 && error === undefined; second++) await b.clock.advance(1_000);
  const [first] = error instanceof AggregateError ? error.errors : [error];
  assert(first instanceof LeaseLostError, String(error));
});

test("[63] a controller whose reconciles throw does not affect another controller", async () => {
  const broken = controller("broken").for(Namespace).reconcile(() => Promise.reject(new Error("no luck")));
  await using b = createTestManager([broken, greeter()]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => b.cluster.get("/api/v1/namespaces/shop/configmaps/greeter") !== undefined);
});

test("[63] a reconcile that takes too long is aborted and retried", async () => {
  let attempts = 0;
  const slow = controller("slow", { reconcileTimeoutMs: 5_000 }).for(Namespace).reconcile((ctx) => {
    attempts += 1;
    if (attempts > 1) return Promise.resolve(done);
    return new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
  });
  await using b = createTestManager([slow]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => attempts === 1);
  await b.clock.advance(6_000);
  await b.until(() => attempts === 2);
});

test("a Manager with dryRun sends all writes as dry runs", async () => {
  await using b = createTestManager([greeter()], { dryRun: true });
  const queries: string[] = [];
  b.cluster.intercept = (request) => {
    if (request.method !== "GET") queries.push(new URL(request.url).searchParams.get("dryRun") ?? "none");
    return undefined;
  };
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => queries.length > 0);
  assertEquals(queries[0], "All");
});

test("add() rejects a second controller of the same name and a controller after the start, and run() a second call", async () => {
  await using b = createTestManager([greeter()]);
  assertThrows(() => b.manager.add(greeter()), /a controller with that name exists/);
  b.start();
  assertThrows(() => b.manager.add(greeter("late")), /the Manager has started/);
  await assertRejects(() => b.manager.run(b.stop.signal), /it has already run/);
});

test("a standby has warm caches: it reconciles from them as soon as it leads, without another list or watch", async () => {
  const server = new FakeLeaseServer();
  const other = { holderIdentity: "other", leaseDurationSeconds: 15, leaseTransitions: 1 };
  server.put({ metadata: { namespace: "shop", name: "operator" }, spec: other });
  const leaderElection = { client: new Client(server.transport), namespace: "shop", name: "operator", identity: "a" };
  await using b = createTestManager([greeter()], { leaderElection });
  const reads: string[] = [];
  b.cluster.intercept = ({ method, url }) => void (method === "GET" && reads.push(url));
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  const cached = () => b.manager.caches.findInformer(Namespace)?.lister.size ?? 0;
  await b.until(() => cached() === 1);
  b.cluster.put("/api/v1/namespaces/bank", namespace("bank"));
  await b.until(() => cached() === 2);
  assertEquals([b.manager.elector?.leadership, b.cluster.writes.length, reads.length], [undefined, 0, 2]);
  server.edit({ holderIdentity: "", leaseDurationSeconds: 1 });
  await b.clock.advance(5_000);
  const created = () => b.cluster.writes.filter(({ path }) => path.endsWith("/configmaps/greeter"));
  await b.until(() => created().length === 2);
  assertEquals(reads.length, 2, "one watch of Namespaces and one of ConfigMaps, both from before");
});

test("[12] after an outage of an hour, caches, keys and readiness are back within 5 s of the server's return", async () => {
  let isDown = false;
  const seen: string[] = [];
  const reader = controller("reader").for(Namespace).reconcile(async (ctx) => {
    await ctx.client.raw("/readyz", { signal: ctx.signal });
    seen.push(ctx.object.metadata.name ?? "");
    return done;
  });
  await using b = createTestManager([reader, greeter()], { strictAccess: false });
  b.cluster.intercept = (request, path) => {
    if (isDown) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    return path === "/readyz" && request.method === "GET" ? new Response("ok") : undefined;
  };
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => seen.length === 1 && b.cluster.writes.length === 1);
  const problems = () => b.manager.checks().map(({ problem }) => problem()).filter((one) => one !== undefined);
  assertEquals(problems(), []);
  isDown = true;
  b.cluster.put("/api/v1/namespaces/bank", namespace("bank"));
  await b.until(() => b.manager.retrying().length === 2);
  b.cluster.endWatches();
  await b.clock.advance(10);
  assertEquals(problems().length, 2, "both controllers wait for their caches after the first failure");
  await b.clock.advance(3_600_000);
  isDown = false;
  b.cluster.put("/api/v1/namespaces/late", namespace("late"));
  await b.clock.advance(5_000);
  assertEquals([seen.toSorted(), problems()], [["bank", "late", "shop"], []]);
  assertEquals(b.cluster.get("/api/v1/namespaces/bank/configmaps/greeter") !== undefined, true);
  assertEquals(b.cluster.get("/api/v1/namespaces/late/configmaps/greeter") !== undefined, true);
});
