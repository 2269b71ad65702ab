/** Tests of the webhooks of a controller in a World: they are called in this process before an object is stored. */
import { Node, RuntimeClass } from "../../src/api/mod.ts";
import { NodePool, nodepoolController, nodepoolWebhooks } from "../../src/controllers/nodepool/mod.ts";
import { withWebhooks } from "../../src/mod.ts";
import { World } from "../../src/testing.ts";
import { assertEquals, assertMatch, assertRejects, test } from "../testing.ts";

const withPoolWebhooks = withWebhooks(nodepoolController, nodepoolWebhooks);

test("World calls the defaulting webhook, which sets the missing fields of a pool", async () => {
  await using world = await World.start({ controllers: [withPoolWebhooks], cluster: false });
  const pool = await world.create(NodePool, { name: "gpu", spec: {} });
  assertEquals([pool.spec.labels, pool.spec.handler], [{ "node-pool.lailin.xyz/gpu": "" }, "runc"]);
});

test("World calls the validating webhook, which rejects an invalid pool and an invalid change", async () => {
  await using world = await World.start({ controllers: [withPoolWebhooks], cluster: false });
  const spec = { labels: { "kubernetes.io/hostname": "x" }, taints: [], handler: "runc" };
  const rejection = await assertRejects(() => world.create(NodePool, { name: "bad", spec }));
  assertMatch(rejection.message, /NodePool "bad" is invalid: spec\.labels/);
  assertEquals(world.find(NodePool, "bad"), undefined);
  await world.create(NodePool, { name: "good", spec: { labels: { disk: "ssd" }, taints: [], handler: "runc" } });
  const value = { spec: { labels: spec.labels } };
  await assertRejects(() => world.patch(NodePool, "good", { kind: "merge", value }), /NodePool "good" is invalid/);
  assertEquals(world.get(NodePool, "good").spec.labels, { disk: "ssd" });
});

test("a pool in a World gets defaults, configures its Nodes, and removes its settings when it is deleted", async () => {
  await using world = await World.start({ controllers: [withPoolWebhooks], nodes: 1 });
  await world.settled();
  const role = { "node-role.kubernetes.io/gpu": "" };
  await world.patch(Node, "node-1", { kind: "merge", value: { metadata: { labels: role } } });
  await world.create(NodePool, { name: "gpu", spec: {} });
  await world.settled();
  assertEquals(world.get(Node, "node-1").metadata.labels?.["node-pool.lailin.xyz/gpu"], "");
  assertEquals(world.get(RuntimeClass, "node-pool-gpu").handler, "runc");
  assertEquals(world.get(NodePool, "gpu").status?.nodeCount, 1);
  await world.delete(NodePool, "gpu");
  await world.settled();
  assertEquals(world.get(Node, "node-1").metadata.labels?.["node-pool.lailin.xyz/gpu"], undefined);
  assertEquals([world.find(NodePool, "gpu"), world.find(RuntimeClass, "node-pool-gpu")], [undefined, undefined]);
});
