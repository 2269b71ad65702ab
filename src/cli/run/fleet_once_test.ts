/** Tests that `run --once` ends with a fleet: when all clusters that work are reconciled, and with the names of the others. */
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import type { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { scope } from "../../async/mod.ts";
import { createTestFleet, greeter, greeting, namespace, reachable } from "../../fleet/testing/test_fleet.ts";
import { Convergence } from "../convergence/mod.ts";
import { FleetOnce } from "./fleet_once.ts";
import { runOnce } from "./run_once.ts";

const shop = "/api/v1/namespaces/shop";
const timeoutMs = 10_000;

/** Runs a fleet until it has ended. @returns the message of its error; undefined if there is none */
async function once(engage: (f: ReturnType<typeof createTestFleet>) => void): Promise<string | undefined> {
  const state: { ended?: { readonly error?: unknown } } = {};
  // It has the clock of the fleet, which is created with the controller.
  const holder: { convergence?: Convergence } = {};
  const definition = greeter();
  const observed = {
    ...definition,
    reconciler: (...args: Parameters<typeof definition.reconciler>) =>
      (holder.convergence?.observe(definition) ?? definition).reconciler(...args),
  };
  await using f = createTestFleet([observed]);
  const convergence = holder.convergence = new Convergence(f.clock);
  engage(f);
  using stopping = scope(f.stop.signal);
  const running = runOnce(new FleetOnce(f.fleet, { clock: f.clock, timeoutMs }), convergence, stopping)
    .then(() => state.ended = {}, (error: unknown) => state.ended = { error });
  for (let turn = 0; turn < 400 && state.ended === undefined; turn++) await f.clock.advance(100);
  const { ended } = state;
  assert(ended !== undefined, "it does not end");
  await running;
  return ended.error === undefined ? undefined : String(ended.error);
}

test("run --once of a fleet ends when each cluster has been reconciled", async () => {
  const clusters: FakeCluster[] = [];
  const message = await once(({ members: { a, b }, provider }) => {
    for (const cluster of [a, b]) cluster.put(shop, namespace("shop"));
    provider.set(reachable("a", a), reachable("b", b));
    clusters.push(a, b);
  });
  assertEquals(message, undefined);
  assertEquals(clusters.map((cluster) => cluster.get(greeting("shop")) !== undefined), [true, true]);
});

test("run --once of a fleet names a cluster that cannot be connected, and reconciles the others", async () => {
  const message = await once(({ members: { a }, provider }) => {
    a.put(shop, namespace("shop"));
    provider.set(reachable("a", a), {
      ...{ name: "gone", revision: "1" },
      connect: () => Promise.reject(new Error("no route to the host")),
    });
  });
  assertMatch(message ?? "", /Cannot reconcile everything: cluster gone: .*no route to the host/);
});

test("run --once of a fleet ends with an error when the provider reports nothing in time", async () => {
  const message = await once(() => {});
  assertMatch(message ?? "", /Cannot reconcile everything: fleet: the test has reported no clusters yet/);
});
