import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { ClusterRig, readyOf, selectorFor, templateOf } from "./cluster_rig.ts";

const { DaemonSet, Node, Pod } = builtin;
const key = "default/agent";

async function deploy(cluster: ClusterRig, spec: object = {}): Promise<void> {
  await cluster.create(DaemonSet, "agent", {
    spec: { selector: selectorFor("agent"), template: templateOf("agent"), ...spec },
  });
  await cluster.settled();
}

function nodesOf(cluster: ClusterRig): readonly (string | undefined)[] {
  return cluster.list(Pod).map(({ spec }) => spec.nodeName).toSorted();
}

const taint = (effect: string) => ({ spec: { taints: [{ key: "only", value: "gpu", effect }] } });

test("a DaemonSet has one Pod on each node, and on each that comes", async () => {
  await using cluster = await ClusterRig.start({ nodes: 2 });
  await deploy(cluster);
  assertEquals(nodesOf(cluster), ["node-1", "node-2"]);
  await cluster.create(Node, "node-3", {}, { labels: { "pintle.dev/simulated": "true" } });
  await cluster.settled();
  assertEquals(nodesOf(cluster), ["node-1", "node-2"], "it is not ready yet");
  const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }];
  await cluster.patch(Node, "node-3", { status: { conditions } }, "status");
  await cluster.patch(Node, "node-3", { spec: { taints: null } });
  await cluster.settled();
  assertEquals(nodesOf(cluster), ["node-1", "node-2", "node-3"]);
  const { status } = cluster.get(DaemonSet, key);
  assertEquals([status?.desiredNumberScheduled, status?.numberReady, status?.numberAvailable], [3, 3, 3]);
});

test("a tainted node gets no Pod, unless the template tolerates that; a cordoned one does", async () => {
  await using cluster = await ClusterRig.start();
  await cluster.patch(Node, "node-1", taint("NoSchedule"));
  await cluster.patch(Node, "node-2", { spec: { unschedulable: true } });
  await deploy(cluster);
  assertEquals(nodesOf(cluster), ["node-2", "node-3"]);
  const tolerations = [{ key: "only", operator: "Exists" }];
  await cluster.patch(DaemonSet, key, { spec: { template: { spec: { tolerations } } } });
  await cluster.settled();
  assertEquals([nodesOf(cluster), readyOf(cluster.list(Pod))], [["node-1", "node-2", "node-3"], 3]);
});

test("a NoSchedule taint that comes later leaves the Pod, NoExecute takes it, and without both it is back", async () => {
  await using cluster = await ClusterRig.start();
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

test("nodes that the template's selector does not mean get no Pod", async () => {
  await using cluster = await ClusterRig.start();
  await cluster.patch(Node, "node-2", { metadata: { labels: { disk: "ssd" } } });
  await deploy(cluster, { template: templateOf("agent", "app:1", { nodeSelector: { disk: "ssd" } }) });
  assertEquals(nodesOf(cluster), ["node-2"]);
});

test("an update replaces one Pod at a time, each when the one before is ready", async () => {
  await using cluster = await ClusterRig.start({ pace: { startMs: 1_000 } });
  await deploy(cluster);
  await cluster.patch(DaemonSet, key, { spec: { template: templateOf("agent", "app:2") } });
  await cluster.settled(() => assert(readyOf(cluster.list(Pod)) >= 2));
  assertEquals(cluster.list(Pod).map(({ spec }) => spec.containers[0]?.image), ["app:2", "app:2", "app:2"]);
  assertEquals(cluster.get(DaemonSet, key).status?.updatedNumberScheduled, 3);
});
