/** Controllers that every replica runs, beside those that only the leader runs. */
import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { drain } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";
import { LeaseLostError } from "./election/mod.ts";
import { debugStateOf } from "./manager.ts";
import { FakeLeaseServer } from "./testing/fake_lease_server.ts";
import { createTestManager, greeter, namespace } from "./testing/test_manager.ts";

const { Namespace } = builtin;

/** A Manager that shares a Lease with another process, "b". */
function replica(definitions: readonly ControllerDefinition[]) {
  const server = new FakeLeaseServer();
  const leaderElection = { client: new Client(server.transport), namespace: "shop", name: "operator", identity: "a" };
  return { server, ...createTestManager(definitions, { leaderElection }) };
}

/** A controller that every replica runs, and the keys that it has seen. */
function table(name = "table") {
  const keys: string[] = [];
  const definition = controller(name, { replicas: "every" }).for(Namespace).reconcile((ctx) => {
    keys.push(ctx.object.metadata.name ?? "");
    return Promise.resolve(done);
  });
  return { keys, definition };
}

test("a controller for every replica runs in a standby, and goes on when the replica leads", async () => {
  const { keys, definition } = table();
  await using b = replica([greeter(), definition]);
  b.server.put({
    metadata: { namespace: "shop", name: "operator" },
    spec: { holderIdentity: "b", leaseDurationSeconds: 15, leaseTransitions: 1 },
  });
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  void b.start();
  await b.until(() => keys.length === 1);
  await b.clock.advance(5_000);
  assertEquals([b.manager.elector?.leadership, b.cluster.writes.length], [undefined, 0]);
  assertEquals(b.manager.activity().map(({ controller, objects }) => [controller, objects]), [["table", 1]]);
  await b.clock.advance(60_000);
  await b.until(() => b.cluster.get("/api/v1/namespaces/shop/configmaps/greeter") !== undefined);
  b.cluster.put("/api/v1/namespaces/bank", namespace("bank"));
  await b.until(() => keys.length === 2);
  assertEquals(keys, ["shop", "bank"], "the term of the leader did not start it anew");
});

test("a lost Lease ends the process although a reconcile of a controller for every replica hangs", async () => {
  const entered = Promise.withResolvers<void>();
  const stuck = controller("stuck", { replicas: "every" }).for(Namespace).reconcile(() => {
    entered.resolve();
    return new Promise(() => {});
  });
  const b = replica([greeter(), stuck]);
  b.cluster.put("/api/v1/namespaces/shop", namespace("shop"));
  const running = b.start().then(() => undefined, (error: unknown) => error);
  await entered.promise;
  await b.until(() => b.manager.elector?.leadership !== undefined);
  b.server.edit({ holderIdentity: "b" });
  await b.clock.advance(2_000);
  await drain();
  await b.clock.advance(1_000);
  const error = await running;
  assert(error instanceof AggregateError && error.errors.some((one) => one instanceof LeaseLostError), String(error));
  assertMatch(String(error), /Cannot stop the controllers: it did not end when it was aborted/);
});

test("[130] /debug/controllers says on which replicas a controller runs", async () => {
  await using b = createTestManager([greeter(), table().definition]);
  void b.start();
  await b.until(() => b.manager.isIdle());
  assertEquals(debugStateOf(b.manager).controllerStates().map((one) => [one.controller, one.runsOn]), [
    ["greeter", "leader"],
    ["table", "every"],
  ]);
});
