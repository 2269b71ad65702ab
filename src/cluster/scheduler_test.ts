import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { templateOf, TestCluster } from "./testing/test_cluster.ts";

const { ClusterRole, Node, Pod } = builtin;

async function addPod(cluster: TestCluster, name: string, spec: object = {}): Promise<void> {
  const { metadata: { labels }, spec: whole } = templateOf("web", "app:1", spec);
  await cluster.create(Pod, name, { spec: whole }, { labels });
  await cluster.settled();
}

function scheduled(cluster: TestCluster, name: string) {
  return cluster.get(Pod, `default/${name}`).status?.conditions?.find(({ type }) => type === "PodScheduled");
}

test("the scheduler distributes Pods over the nodes", async () => {
  await using cluster = await TestCluster.start();
  for (let number = 0; number < 6; number++) await addPod(cluster, `p${number}`);
  const nodes = cluster.list(Pod).map(({ spec }) => spec.nodeName);
  for (const node of ["node-1", "node-2", "node-3"]) assertEquals(nodes.filter((one) => one === node).length, 2);
});

test("a Pod without an eligible node reports why, as kube-scheduler does, and starts when a node becomes eligible", async () => {
  await using cluster = await TestCluster.start();
  await cluster.patch(Node, "node-1", { spec: { taints: [{ key: "only", value: "gpu", effect: "NoSchedule" }] } });
  await cluster.patch(Node, "node-2", { spec: { unschedulable: true } });
  await addPod(cluster, "picky", { nodeSelector: { disk: "ssd" } });
  const { spec, status } = cluster.get(Pod, "default/picky");
  assertEquals([spec.nodeName, status?.phase, scheduled(cluster, "picky")?.reason], [
    undefined,
    "Pending",
    "Unschedulable",
  ]);
  assertEquals(
    scheduled(cluster, "picky")?.message,
    "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, " +
      "1 node(s) had untolerated taint(s) {only: gpu}, 1 node(s) were unschedulable.",
  );
  await cluster.patch(Node, "node-3", { metadata: { labels: { disk: "ssd" } } });
  await cluster.settled();
  assertEquals(cluster.get(Pod, "default/picky").spec.nodeName, "node-3");
  assertEquals([scheduled(cluster, "picky")?.status, cluster.get(Pod, "default/picky").status?.phase], [
    "True",
    "Running",
  ]);
});

const affinity = (operator: string, values?: readonly string[]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: "cores", operator, values }] }],
    },
  },
});

test("the scheduler honours each operator of required node affinity", async () => {
  await using cluster = await TestCluster.start({ nodes: 2 });
  await cluster.patch(Node, "node-1", { metadata: { labels: { cores: "16" } } });
  const table = [
    ["In", ["16"], "node-1"],
    ["NotIn", ["16"], "node-2"],
    ["Exists", undefined, "node-1"],
    ["DoesNotExist", undefined, "node-2"],
    ["Gt", ["8"], "node-1"],
    ["Lt", ["8"], undefined],
  ] as const;
  for (const [operator, values, expected] of table) {
    const name = operator.toLowerCase();
    await addPod(cluster, name, { affinity: affinity(operator, values) });
    assertEquals(cluster.get(Pod, `default/${name}`).spec.nodeName, expected, operator);
  }
});

test("a Pod of another scheduler, or with a scheduling gate, is not scheduled", async () => {
  await using cluster = await TestCluster.start();
  await addPod(cluster, "other", { schedulerName: "other" });
  await addPod(cluster, "gated", { schedulingGates: [{ name: "example.dev/wait" }] });
  for (const name of ["other", "gated"]) assertEquals(cluster.get(Pod, `default/${name}`).spec.nodeName, undefined);
  await cluster.patch(Pod, "default/gated", { spec: { schedulingGates: null } });
  await cluster.settled();
  assert(cluster.get(Pod, "default/gated").spec.nodeName !== undefined);
});

test("a Pod runs with an address, and completes when its restart policy is Never", async () => {
  await using cluster = await TestCluster.start({ pace: { startMs: 2_000, runMs: 5_000 } });
  const { metadata: { labels }, spec } = templateOf("web", "app:1", { restartPolicy: "Never" });
  await cluster.create(Pod, "once", { spec }, { labels });
  const phase = () => cluster.get(Pod, "default/once").status?.phase;
  await cluster.pass(1_000);
  assertEquals(phase(), "Pending");
  await cluster.pass(3_000);
  assertEquals(phase(), "Running");
  assert(/^10\.244\.\d+\.\d+$/.test(cluster.get(Pod, "default/once").status?.podIP ?? ""));
  await cluster.settled();
  assertEquals(phase(), "Succeeded");
});

test("the Pods of a deleted node are deleted", async () => {
  await using cluster = await TestCluster.start({ nodes: 1 });
  await addPod(cluster, "alone");
  await cluster.delete(Node, "node-1");
  await cluster.patch(Pod, "default/alone", { metadata: { labels: { touched: "yes" } } });
  await cluster.settled();
  assertEquals(cluster.find(Pod, "default/alone"), undefined);
});

test("an aggregated ClusterRole has the rules of the ClusterRoles that it selects, also after changes", async () => {
  await using cluster = await TestCluster.start();
  const labels = { "example.dev/part": "yes" };
  await cluster.create(ClusterRole, "whole", {
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
    rules: [],
  });
  const rule = (resource: string) => ({ apiGroups: [""], resources: [resource], verbs: ["get"] });
  await cluster.create(ClusterRole, "part-b", { rules: [rule("pods")] }, { labels });
  await cluster.create(ClusterRole, "part-a", { rules: [rule("secrets"), rule("pods")] }, { labels });
  await cluster.settled();
  const resources = () => cluster.get(ClusterRole, "whole").rules?.flatMap((one) => one.resources ?? []);
  assertEquals(resources(), ["secrets", "pods"]);
  await cluster.delete(ClusterRole, "part-a");
  await cluster.settled();
  assertEquals(resources(), ["pods"]);
});
