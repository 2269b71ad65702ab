/** Tests of a Manager whose API server is away for a while: what its caches and its readiness do meanwhile, and after it. */
import { statusResponse } from "../../tests/fakes/cluster.ts";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { aborted } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";
import { FakeLeaseServer } from "./testing/fake_lease_server.ts";
import { createTestManager, namespace, type TestManager } from "./testing/test_manager.ts";

const { ConfigMap, Deployment, Namespace, Node, Pod, Secret, Service, ServiceAccount } = builtin;

/** A controller that watches eight kinds. */
const watcher: ControllerDefinition = [ConfigMap, Deployment, Node, Pod, Secret, Service, ServiceAccount].reduce(
  (definition, kind) => definition.watches(kind, { to: () => [] }),
  controller("watcher").for(Namespace),
).reconcile(() => Promise.resolve(done));

/** What the network and the server do. */
interface Faults {
  /** How requests fail: refused at once, or never answered. */
  away: "no" | "refused" | "silent";
  /** The server lost its history: a watch that resumes gets 410 after it was accepted. */
  hasLostHistory: boolean;
  /** The status of every answer of a server that is starting. */
  startingStatus: number | undefined;
}

interface Outage extends AsyncDisposable {
  readonly manager: TestManager;
  readonly faults: Faults;
  /** The problems that readiness shows. */
  problems(): readonly string[];
  /** Advances the clock until the caches follow and readiness passes. @returns How long that took, in milliseconds */
  recover(maxMs: number): Promise<number>;
}

/** A standby whose caches follow the server. */
async function startStandby(): Promise<Outage> {
  const faults: Faults = { away: "no", hasLostHistory: false, startingStatus: undefined };
  const leases = new FakeLeaseServer();
  const other = { holderIdentity: "other", leaseDurationSeconds: 3_600 * 24, leaseTransitions: 1 };
  leases.put({ metadata: { namespace: "shop", name: "operator" }, spec: other });
  const fail = (request: Request): Promise<Response> | undefined => {
    if (faults.away === "refused") throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    if (faults.away === "no") return undefined;
    return new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
  };
  const leaseClient = new Client((request) => fail(request) ?? leases.transport(request));
  const leaderElection = { client: leaseClient, namespace: "shop", name: "operator", identity: "a" };
  const manager = createTestManager([watcher], { leaderElection });
  manager.cluster.intercept = (request) => {
    const failure = fail(request);
    if (failure !== undefined) return failure;
    if (faults.startingStatus !== undefined) return statusResponse(faults.startingStatus, "Forbidden");
    const query = new URL(request.url).searchParams;
    if (!faults.hasLostHistory || query.get("watch") !== "true" || query.has("sendInitialEvents")) return undefined;
    const status = { kind: "Status", status: "Failure", code: 410, reason: "Expired", message: "too old" };
    return new Response(`${JSON.stringify({ type: "ERROR", object: status })}\n`);
  };
  manager.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  manager.start();
  const problems = () => manager.manager.checks().map(({ problem }) => problem()).filter((one) => one !== undefined);
  await manager.until(() => manager.cluster.openWatches === 8 && problems().length === 0);
  const cached = () => manager.manager.caches.findInformer(Namespace)?.lister.size;
  return {
    manager,
    faults,
    problems,
    async recover(maxMs) {
      let waitedMs = 0;
      while (waitedMs < maxMs && (problems().length > 0 || cached() !== 2)) {
        await manager.clock.advance(100);
        waitedMs += 100;
      }
      assertEquals([problems(), cached()], [[], 2], `after ${waitedMs} ms`);
      return waitedMs;
    },
    [Symbol.asyncDispose]: () => manager[Symbol.asyncDispose](),
  };
}

test("[12] caches that get 410 after an outage follow within 5 s of the server's return, whenever it returns", async () => {
  for (const outageMs of [500, 5_000, 40_000, 41_300, 3_600_000]) {
    await using outage = await startStandby();
    outage.faults.away = "refused";
    outage.manager.cluster.endWatches();
    await outage.manager.clock.advance(50);
    assertEquals(outage.problems().length, 1, "not ready after the first failed attempt");
    await outage.manager.clock.advance(outageMs);
    outage.manager.cluster.put("/api/v1/namespaces/late", namespace("late"));
    Object.assign(outage.faults, { away: "no", hasLostHistory: true });
    const waitedMs = await outage.recover(10_000);
    assert(waitedMs <= 5_000, `it took ${waitedMs} ms after an outage of ${outageMs} ms`);
  }
});

test("[12] a server that refuses requests while it starts delays the caches by seconds, not by their backoff", async () => {
  for (const status of [403, 500, 404, 401]) {
    await using outage = await startStandby();
    outage.faults.away = "refused";
    outage.manager.cluster.endWatches();
    await outage.manager.clock.advance(40_000);
    outage.manager.cluster.put("/api/v1/namespaces/late", namespace("late"));
    Object.assign(outage.faults, { away: "no", startingStatus: status });
    await outage.manager.clock.advance(8_000);
    assertEquals(outage.problems().length, 1);
    outage.faults.startingStatus = undefined;
    const waitedMs = await outage.recover(10_000);
    assert(waitedMs <= 5_000, `it took ${waitedMs} ms after a start with ${status}`);
  }
});

test("[12] a network that swallows everything: readiness fails after 10 s, and dead connections are left after it", async () => {
  await using outage = await startStandby();
  outage.faults.away = "silent";
  outage.manager.cluster.abandonWatches();
  await outage.manager.clock.advance(60_000);
  assert(/the API server has not responded for \d\d s/.test(outage.problems()[0] ?? ""), outage.problems()[0]);
  outage.manager.cluster.put("/api/v1/namespaces/late", namespace("late"));
  outage.faults.away = "no";
  const waitedMs = await outage.recover(60_000);
  // A renewal that is under way when the network returns ends after 5 s, the next one begins up to 4.4 s later.
  assert(waitedMs <= 13_000, `it took ${waitedMs} ms`);
});

test("[114] while a Manager prepares, its servers respond, it is alive and not ready, and nothing else has started", async () => {
  let goOn = () => {};
  const prepare = () => new Promise<void>((resolve) => goOn = resolve);
  await using b = createTestManager([watcher], { prepare });
  let hasServer = false;
  const run = ({ stop }: { readonly stop: AbortSignal }) => {
    hasServer = true;
    return aborted(stop);
  };
  await b.manager.addRunnable({ name: "probes", run }, "http");
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  b.start();
  await b.until(() => hasServer);
  await b.clock.advance(60_000);
  const problems = () => b.manager.checks().map(({ problem }) => problem());
  assert(/it has not started: the API server was not reached yet/.test(problems()[0] ?? ""));
  assertEquals(b.cluster.openWatches, 0);
  goOn();
  await b.until(() => b.cluster.openWatches === 8 && problems()[0] === undefined);
});
