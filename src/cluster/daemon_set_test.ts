import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { readyOf, selectorFor, templateOf, TestCluster } from "./testing/test_cluster.ts";

const { DaemonSet, Node, Pod } = builtin;
const key = "default/agent";

async function deploy(cluster: TestCluster, spec: object = {}): Promise<void> {
  await cluster.create(DaemonSet, "agent", {
    spec: { selector: selectorFor("agent"), template: templateOf("agent"), ...spec },
  });
  await cluster.settled();
}

function nodesOf(cluster: TestCluster): readonly (string | undefined)[] {
  return cluster.list(Pod).map(({ spec }) => spec.nodeName).toSorted();
}

const taint = (effect: string) => ({ spec: { taints: [{ key: "only", value: "gpu", effect }] } });

test("a DaemonSet has one Pod on each node, also on nodes that are added", async () => {
  await using cluster = await TestCluster.start({ nodes: 2 });
  await deploy(cluster);
  assertEquals(nodesOf(cluster), ["node-1", "node-2"]);
  await cluster.create(Node, "node-3", {}, { labels: { "pintle.dev/simulated": "true" } });
  await cluster.settled();
  assertEquals(nodesOf(cluster), ["node-1", "node-2"], "node-3 is not ready yet");
  const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }];
  await cluster.patch(Node, "node-3", { status: { conditions } }, "status");
  await cluster.patch(Node, "node-3", { spec: { taints: null } });
  await cluster.settled();
  assertEquals(nodesOf(cluster), ["node-1", "node-2", "node-3"]);
  const { status } = cluster.get(DaemonSet, key);
  assertEquals([status?.desiredNumberScheduled, status?.numberReady, status?.numberAvailable], [3, 3, 3]);
});

test("a tainted node gets no Pod unless the template tolerates the taint; a cordoned node gets one", async () => {
  await using cluster = await TestCluster.start();
  await cluster.patch(Node, "node-1", taint("NoSchedule"));
  await cluster.patch(Node, "node-2", { spec: { unschedulable: true } });
  await deploy(cluster);
  assertEquals(nodesOf(cluster), ["node-2", "node-3"]);
  const tolerations = [{ key: "only", operator: "Exists" }];
  await cluster.patch(DaemonSet, key, { spec: { template: { spec: { tolerations } } } });
  await cluster.settled();
  assertEquals([nodesOf(cluster), readyOf(cluster.list(Pod))], [["node-1", "node-2", "node-3"], 3]);
});

test("a later NoSchedule taint keeps the Pod, a NoExecute taint removes it, and without taints it is created again", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster);
  await cluster.patch(Node, "node-1", taint("NoSchedule"));
  await cluster.settled();
  assertEquals(nodesOf(cluster), ["node-1", "node-2", "node-3"]);
  await cluster.patch(Node, "node-1", taint("NoExecute"));
  await cluster.settled();
  assertEquals(nodesOf(cluster), ["node-2", "node-3"]);
  await cluster.patch(Node, "node-1", { spec: { taints: null } });
  await cluster.settled();
  assertEquals(nodesOf(cluster), ["node-1", "node-2", "node-3"]);
});

test("nodes that the template's node selector does not match get no Pod", async () => {
  await using cluster = await TestCluster.start();
  await cluster.patch(Node, "node-2", { metadata: { labels: { disk: "ssd" } } });
  await deploy(cluster, { template: templateOf("agent", "app:1", { nodeSelector: { disk: "ssd" } }) });
  assertEquals(nodesOf(cluster), ["node-2"]);
});

test("an update replaces one Pod at a time and waits until each is ready", async () => {
  await using cluster = await TestCluster.start({ pace: { startMs: 1_000 } });
  await deploy(cluster);
  await cluster.patch(DaemonSet, key, { spec: { template: templateOf("agent", "app:2") } });
  await cluster.settled(() => assert(readyOf(cluster.list(Pod)) >= 2));
  assertEquals(cluster.list(Pod).map(({ spec }) => spec.containers[0]?.image), ["app:2", "app:2", "app:2"]);
  assertEquals(cluster.get(DaemonSet, key).status?.updatedNumberScheduled, 3);
});
