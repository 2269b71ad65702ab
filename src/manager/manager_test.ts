import { assert, assertEquals, assertMatch, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { drain } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";
import { LeaseServer } from "./_lease_server.ts";
import { bench, greeter, namespace } from "./_manager_rig.ts";
import { LeaseLostError } from "./lease_lost_error.ts";
import type { ManagerOptions } from "./manager.ts";
import type { Life, Runnable } from "./runnable.ts";

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

test("a controller reconciles what is there and what comes, and then is silent", async () => {
  await using b = bench([greeter()]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => b.cluster.get("/api/v1/namespaces/shop/configmaps/greeter") !== undefined);
  b.cluster.put("/api/v1/namespaces/bank", namespace("bank"));
  await b.until(() => b.cluster.get("/api/v1/namespaces/bank/configmaps/greeter") !== undefined);
  await b.clock.advance(60_000);
  assertEquals(b.cluster.writes.length, 2, "[65] nothing is written once everything is in order");
});

test("a child that somebody deletes comes back", async () => {
  await using b = bench([greeter()]);
  const child = "/api/v1/namespaces/shop/configmaps/greeter";
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => b.cluster.get(child) !== undefined);
  b.cluster.remove(child);
  await b.until(() => b.cluster.get(child) !== undefined);
});

test("two controllers that watch the same kind share its cache", async () => {
  await using b = bench([greeter("one"), greeter("two")]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => b.cluster.writes.length === 2);
  assertEquals(b.cluster.openWatches, 2, "one watch of Namespaces, one of ConfigMaps");
});

test("[58] servers start before caches, caches before others; [59] the stop goes the other way", async () => {
  const trace: string[] = [];
  const b = bench([greeter()]);
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

test("[59] a part that fails for good stops the rest and is what run throws", async () => {
  const trace: string[] = [];
  await using b = bench([greeter()]);
  await b.manager.addRunnable(part("healthy", trace));
  await b.manager.addRunnable({ name: "broken", run: () => Promise.reject(new Error("no luck")) });
  await assertRejects(() => b.start(), /Cannot run broken: no luck/);
  assertEquals(trace, ["start healthy", "stop healthy"]);
});

test("[59] errors of the stop are reported together with the one that caused it", async () => {
  await using b = bench([]);
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

/** A controller whose reconcile waits until the test lets it go, or it is aborted. */
function waiting() {
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const { promise: leave, resolve: let_go } = Promise.withResolvers<void>();
  const ends: string[] = [];
  const definition = controller("waiting").for(Namespace).reconcile(async (ctx) => {
    enter();
    const aborted = new Promise<never>((_, reject) =>
      ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason))
    );
    await Promise.race([leave, aborted]).then(() => ends.push("finished"), () => ends.push("aborted"));
    return done;
  });
  return { definition, entered, leave: let_go, ends };
}

test("[60] what is being reconciled at the stop may finish", async () => {
  const { definition, entered, leave, ends } = waiting();
  await using b = bench([definition]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  const running = b.start();
  await entered;
  b.stop.abort();
  await b.clock.advance(29_000);
  leave();
  await running;
  assertEquals(ends, ["finished"]);
});

test("[60] after the grace period it is aborted", async () => {
  const { definition, entered, ends } = waiting();
  await using b = bench([definition]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  const running = b.start();
  await entered;
  b.stop.abort();
  await b.clock.advance(30_000);
  await running;
  assertEquals(ends, ["aborted"]);
});

test("[60] a grace period of 0 aborts at once", async () => {
  const { definition, entered, ends } = waiting();
  await using b = bench([definition], { gracefulShutdownTimeoutMs: 0 });
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  const running = b.start();
  await entered;
  b.stop.abort();
  await running;
  assertEquals(ends, ["aborted"]);
});

test("[60] an endless grace period waits", async () => {
  const { definition, entered, leave, ends } = waiting();
  await using b = bench([definition], { gracefulShutdownTimeoutMs: Infinity });
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

test("[60] what ignores being aborted is named and left behind", async () => {
  const b = bench([], { gracefulShutdownTimeoutMs: 1_000 });
  await b.manager.addRunnable({ name: "deaf", run: () => new Promise(() => {}) });
  const running = b.start();
  await drain();
  b.stop.abort();
  const failed = assertRejects(() => running, /Cannot stop others \(deaf\): it did not end when it was aborted/);
  await b.clock.advance(2_000);
  await failed;
});

test("without controllers the rest runs until the stop", async () => {
  const trace: string[] = [];
  await using b = bench([]);
  await b.manager.addRunnable(part("server", trace), "http");
  b.start();
  await b.clock.advance(60_000);
  assertEquals(trace, ["start server"]);
  b.stop.abort();
  await b.start();
  assertEquals(trace, ["start server", "stop server"]);
});

/** A Manager that leads by a Lease of a server of its own; `lose` gives that to somebody else. */
async function leading(definitions: readonly ControllerDefinition[], options: Partial<ManagerOptions> = {}) {
  const server = new LeaseServer();
  const leaderElection = { client: new Client(server.transport), namespace: "shop", name: "operator", identity: "a" };
  const b = bench(definitions, { leaderElection, ...options });
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

test("[48] a lost Lease waits for nothing, however long the grace period is", async () => {
  const b = await leading([], { gracefulShutdownTimeoutMs: Infinity });
  const ends: string[] = [];
  const drains = ({ kill }: Life) =>
    new Promise<void>((resolve) => kill.addEventListener("abort", () => resolve(void ends.push("killed"))));
  await b.manager.addRunnable({ name: "server", run: drains }, "http");
  await b.manager.addRunnable({ name: "deaf", run: () => new Promise(() => {}) });
  await b.lose();
  await b.until(() => ends.length === 1);
  await b.clock.advance(1_000); // for "deaf", which does not end when it is aborted
  const error = await b.running;
  assert(error instanceof AggregateError && error.errors[0] instanceof LeaseLostError, String(error));
  assertMatch(String(error.errors[1]), /Cannot stop others \(deaf\)/);
});

test("[48] a stop that waits is cut short when the Lease is lost meanwhile", async () => {
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

test("[48] a reconcile that ignores a lost Lease is left behind, and the loss is still told", async () => {
  const entered = Promise.withResolvers<void>();
  const deaf = controller("deaf").for(Namespace).reconcile(() => {
    entered.resolve();
    return new Promise(() => {});
  });
  const b = await leading([deaf]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  await entered.promise;
  await b.lose();
  await b.clock.advance(1_000);
  const error = await b.running;
  assert(error instanceof AggregateError && error.errors[0] instanceof LeaseLostError, String(error));
  assertMatch(String(error.errors[1]), /Cannot stop the controllers: it did not end when it was aborted/);
});

test("[63] a reconcile that throws concerns its own key, a controller that fails its own", async () => {
  const broken = controller("broken").for(Namespace).reconcile(() => Promise.reject(new Error("no luck")));
  await using b = bench([broken, greeter()]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => b.cluster.get("/api/v1/namespaces/shop/configmaps/greeter") !== undefined);
});

test("[63] a reconcile that takes too long is aborted, and tried again", async () => {
  let attempts = 0;
  const slow = controller("slow", { reconcileTimeoutMs: 5_000 }).for(Namespace).reconcile((ctx) => {
    attempts += 1;
    if (attempts > 1) return Promise.resolve(done);
    return new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
  });
  await using b = bench([slow]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => attempts === 1);
  await b.clock.advance(6_000);
  await b.until(() => attempts === 2);
});

test("a dry-run Manager asks the server to store nothing", async () => {
  await using b = bench([greeter()], { dryRun: true });
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

test("the same controller twice, a controller while it runs, and a second run are refused", async () => {
  await using b = bench([greeter()]);
  assertThrows(() => b.manager.add(greeter()), /there is one of that name/);
  b.start();
  assertThrows(() => b.manager.add(greeter("late")), /the Manager has run/);
  await assertRejects(() => b.manager.run(b.stop.signal), /it has run already/);
});
