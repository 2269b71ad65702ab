/** Tests of `replay` with the controllers of this program, recorded in a World. */
import { RecordedWorld } from "../../src/cli/replay/testing/recorded_world.ts";
import { EcsBinding, ecsbindingController } from "../../src/controllers/ecsbinding/mod.ts";
import { Foo, fooController } from "../../src/controllers/foo/mod.ts";
import { ingressController } from "../../src/controllers/ingress/mod.ts";
import { NodePool, nodepoolController } from "../../src/controllers/nodepool/mod.ts";
import { podsController } from "../../src/controllers/pods/mod.ts";
import { Deployment, Ingress, Node, Service } from "../../src/mod.ts";
import type { World } from "../../src/simulation/mod.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";

const all = [fooController, podsController, ecsbindingController, nodepoolController, ingressController];

async function createSamples(world: World): Promise<void> {
  await world.create(Foo, { name: "a", spec: { deploymentName: "web", replicas: 2 } });
  await world.create(Foo, { name: "b", spec: { deploymentName: "api", replicas: 1 } });
  await world.create(Foo, { name: "thief", spec: { deploymentName: "web", replicas: 3 } });
  await world.create(Service, {
    name: "shop",
    annotations: { "ingress/http": "shop.example.com" },
    spec: { ports: [{ port: 80 }] },
  });
  const [node] = world.list(Node);
  assert(node?.metadata.name !== undefined);
  const { name: nodename } = node.metadata;
  await world.create(EcsBinding, { name: "e", spec: { nodename } });
  await world.create(NodePool, { name: "pool", spec: { labels: { disk: "ssd" } } });
  const value = { metadata: { labels: { "node-role.kubernetes.io/pool": "" } } };
  await world.patch(Node, nodename, { kind: "merge", value });
}

test("[136] a recording of all controllers, with hand edits and failures, replays with the same writes", async () => {
  await using recorded = await RecordedWorld.start(all);
  const { world } = recorded;
  await createSamples(world);
  await world.clock.advance(10_000);
  await world.patch(Deployment, "default/web", { kind: "merge", value: { spec: { replicas: 5 } } });
  await world.patch(Foo, "default/b", { kind: "json", operations: [{ op: "remove", path: "/spec/replicas" }] });
  await world.delete(Deployment, "default/api");
  await world.delete(Foo, "default/thief");
  await world.settled();
  await world.delete(Ingress, "default/shop");
  await world.delete(Foo, "default/a");
  await world.delete(NodePool, "pool");
  await recorded.save();
  const { code, out, err } = await recorded.replay(all);
  assertEquals({ code, out }, { code: 0, out: "" }, err);
  assertMatch(err, /op: replay: \d{2,} reconciles do the same\n$/);
  const { entries } = recorded;
  const writers = new Set(entries.flatMap((entry) => entry.kind === "write" ? [entry.controller] : []));
  assertEquals([...writers].toSorted(), ["ecsbinding", "foo", "ingress", "nodepool"]);
  assert(entries.some((entry) => entry.kind === "reconcile-end" && entry.outcome === "failed"));
});
