import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  test,
} from "../../../tests/testing.ts";
import { statusResponse } from "../../../tests/fakes/toolbox.ts";
import { findCondition, Node, RuntimeClass } from "../../mod.ts";

import { nodepoolController } from "./controller.ts";
import { NodePool } from "./resource.ts";
import { TestCluster } from "./testing/test_cluster.ts";

const role = "node-role.kubernetes.io/gpu";
const claim = "nodepool.nodes.lailin.xyz/gpu";
const dedicated = { key: "example.dev/dedicated", value: "gpu", effect: "NoSchedule" } as const;
const foreign = { key: "other.dev/key", value: "x", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" } as const;

/** Returns a cluster with one pool and one member, both settled. */
async function settled(spec: { labels?: Record<string, string>; taints?: readonly object[] }): Promise<TestCluster> {
  const cluster = new TestCluster();
  cluster.pool("gpu", spec);
  cluster.node("n1", { [role]: "" });
  await cluster.settle("gpu");
  return cluster;
}

function reasons(cluster: TestCluster): readonly string[] {
  return cluster.events.map(({ reason }) => reason);
}

function ready(cluster: TestCluster) {
  return findCondition(cluster.get(NodePool, "gpu").status?.conditions, "Ready");
}

test("a member gets the labels and taints of the pool in one request, and keeps its own", async () => {
  const cluster = new TestCluster();
  cluster.pool("gpu", { labels: { disk: "ssd" }, taints: [dedicated] });
  cluster.node("n1", { [role]: "true", own: "x" }, { spec: { podCIDR: "10.0.0.0/24", taints: [foreign] } });
  await cluster.reconcile("gpu");
  const node = cluster.get(Node, "n1");
  assertEquals(node.metadata.labels, { [role]: "true", own: "x", disk: "ssd" });
  assertEquals(node.spec, { podCIDR: "10.0.0.0/24", taints: [foreign, dedicated] });
  assertEquals(cluster.writes.filter((write) => write.includes("/nodes/")), ["PATCH /api/v1/nodes/n1"]);
});

test("a Node that is not a member, or of another pool, is not changed", async () => {
  const cluster = await settled({ labels: { disk: "ssd" } });
  cluster.node("n2", { "node-role.kubernetes.io/other": "" });
  cluster.node("n3", {}, { metadata: { name: "n3", annotations: { [claim]: "not ours to read" } } });
  const before = cluster.get(Node, "n2");
  await cluster.settle("gpu");
  assertEquals(cluster.get(Node, "n2"), before);
});

test("[65] a settled pool causes no request and no Event in further reconciles", async () => {
  const cluster = await settled({ labels: { disk: "ssd" }, taints: [dedicated] });
  const [requests, events] = [cluster.handled.length, cluster.events.length];
  for (let again = 0; again < 3; again++) await cluster.reconcile("gpu");
  assertEquals([cluster.handled.length, cluster.events.length], [requests, events]);
  assertEquals(reasons(cluster), ["NodeJoined", "RuntimeClassCreated"]);
});

test("labels and taints that the pool drops or changes are removed or changed on its members", async () => {
  const cluster = await settled({ labels: { disk: "ssd", zone: "a" }, taints: [dedicated] });
  cluster.edit(Node, "n1", { metadata: { labels: { own: "x" } } });
  cluster.edit(NodePool, "gpu", { spec: { labels: { disk: "nvme", zone: null }, taints: [] } });
  await cluster.settle("gpu");
  const node = cluster.get(Node, "n1");
  assertEquals(node.metadata.labels, { [role]: "", own: "x", disk: "nvme" });
  assertEquals(node.spec.taints, undefined);
  assertEquals(reasons(cluster).slice(2), ["NodeUpdated"]);
});

test("a Node that leaves loses only what the pool has set", async () => {
  const cluster = await settled({ labels: { disk: "ssd" }, taints: [dedicated] });
  cluster.edit(Node, "n1", {
    metadata: { labels: { [role]: null, own: "x" } },
    spec: { taints: [foreign, dedicated] },
  });
  await cluster.settle("gpu");
  const node = cluster.get(Node, "n1");
  assertEquals(node.metadata.labels, { own: "x" });
  assertEquals(node.metadata.annotations, {});
  assertEquals(node.spec.taints, [foreign]);
  assertEquals(reasons(cluster).at(-1), "NodeLeft");
  assertEquals(cluster.get(NodePool, "gpu").status?.nodeCount, 0);
});

test("a Node that leaves keeps a label and a taint that another client has changed", async () => {
  const cluster = await settled({ labels: { disk: "ssd" }, taints: [dedicated] });
  const theirs = { ...dedicated, value: "theirs" };
  cluster.edit(Node, "n1", { metadata: { labels: { [role]: null, disk: "hdd" } }, spec: { taints: [theirs] } });
  await cluster.settle("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels, { disk: "hdd" });
  assertEquals(cluster.get(Node, "n1").spec.taints, [theirs]);
});

test("a label that another manager applied, too, stays when the pool drops it", async () => {
  const cluster = await settled({ labels: { disk: "ssd" } });
  cluster.edit(Node, "n1", { metadata: { labels: { disk: "ssd" } } }, "gitops");
  cluster.edit(NodePool, "gpu", { spec: { labels: { disk: null, zone: "a" } } });
  await cluster.settle("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels, { [role]: "", disk: "ssd", zone: "a" });
});

test("a value that another client set first is reported once and stays, until that client removes it", async () => {
  const cluster = new TestCluster();
  cluster.pool("gpu", { labels: { disk: "ssd", zone: "a" }, taints: [dedicated] });
  cluster.node("n1", { [role]: "", disk: "hdd" }, { spec: { taints: [{ ...dedicated, value: "theirs" }] } });
  await cluster.settle("gpu");
  await cluster.settle("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels, { [role]: "", disk: "hdd", zone: "a" });
  assertEquals(cluster.get(Node, "n1").spec.taints, [{ ...dedicated, value: "theirs" }]);
  assertEquals([ready(cluster)?.status, ready(cluster)?.reason], ["False", "Conflict"]);
  assertEquals(
    ready(cluster)?.message,
    'label "disk" of Node "n1" is "hdd", set by another client, and stays; desired: "ssd"; ' +
      'taint "example.dev/dedicated:NoSchedule" of Node "n1" is "theirs", set by another client, and stays; desired: "gpu"',
  );
  assertEquals(reasons(cluster).filter((reason) => reason === "Conflict").length, 1);
  cluster.edit(Node, "n1", { metadata: { labels: { disk: null } }, spec: { taints: null } });
  await cluster.settle("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels, { [role]: "", zone: "a", disk: "ssd" });
  assertEquals([ready(cluster)?.status, ready(cluster)?.reason], ["True", "Settled"]);
});

test("a label that another client removes from a member is restored", async () => {
  const cluster = await settled({ labels: { disk: "ssd" }, taints: [dedicated] });
  cluster.edit(Node, "n1", { metadata: { labels: { disk: null } }, spec: { taints: [foreign] } });
  await cluster.settle("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels?.disk, "ssd");
  assertEquals(cluster.get(Node, "n1").spec.taints, [foreign, dedicated]);
});

test("a value of two pools is removed by the last pool; of two different values the first one stays", async () => {
  const cluster = new TestCluster();
  cluster.pool("gpu", { labels: { disk: "ssd", zone: "a" }, taints: [dedicated] });
  cluster.pool("big", { labels: { disk: "ssd", zone: "b" }, taints: [dedicated] });
  cluster.node("n1", { [role]: "", "node-role.kubernetes.io/big": "" });
  await cluster.settle("gpu");
  await cluster.settle("big");
  await cluster.settle("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels?.zone, "a");
  cluster.edit(Node, "n1", { metadata: { labels: { [role]: null } } });
  await cluster.settle("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels, { "node-role.kubernetes.io/big": "", disk: "ssd" });
  assertEquals(cluster.get(Node, "n1").spec.taints, [dedicated]);
  await cluster.settle("big");
  assertEquals(cluster.get(Node, "n1").metadata.labels?.zone, "b");
  cluster.edit(Node, "n1", { metadata: { labels: { "node-role.kubernetes.io/big": null } } });
  await cluster.settle("big");
  assertEquals([cluster.get(Node, "n1").metadata.labels, cluster.get(Node, "n1").spec.taints], [{}, undefined]);
});

test("[security 22] a label that the webhook would reject is never written to a Node, and the status reports it", async () => {
  const cluster = new TestCluster();
  cluster.pool("gpu", {
    labels: { "node-restriction.kubernetes.io/x": "y", "not legal": "z", disk: "ssd" },
    taints: [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }, dedicated],
  });
  cluster.node("n1", { [role]: "" });
  await cluster.settle("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels, { [role]: "", disk: "ssd" });
  assertEquals(cluster.get(Node, "n1").spec.taints, [dedicated]);
  assertEquals([ready(cluster)?.status, ready(cluster)?.reason], ["False", "InvalidSpec"]);
  assertMatch(ready(cluster)?.message ?? "", /ignored: spec\.labels: Forbidden: "node-restriction\.kubernetes\.io\/x"/);
});

test("status counts the members and adds up their resources, and drops resources that no member has any more", async () => {
  const cluster = new TestCluster();
  cluster.pool("gpu", {});
  const allocatable = { cpu: "3920m", memory: "16Gi", pods: "110", "example.dev/gpu": "2" };
  cluster.node("n1", { [role]: "" }, { status: { allocatable } });
  cluster.node("n2", { [role]: "" }, { status: { allocatable: { cpu: "4", memory: "32851196Ki", pods: "110" } } });
  cluster.node("n3", { [role]: "" });
  cluster.node("n4", {}, { status: { allocatable } });
  await cluster.settle("gpu");
  const { status, metadata } = cluster.get(NodePool, "gpu");
  assertEquals([status?.nodeCount, status?.observedGeneration], [3, metadata.generation]);
  assertEquals(status?.allocatable, { cpu: "7920m", memory: "49628412Ki", pods: "220", "example.dev/gpu": "2" });
  cluster.remove(Node, "n1");
  await cluster.settle("gpu");
  assertEquals(cluster.get(NodePool, "gpu").status?.allocatable, { cpu: "4", memory: "32851196Ki", pods: "110" });
});

test("the finalizer is added before the first Node is changed, and removed after the last", async () => {
  const cluster = await settled({ labels: { disk: "ssd" }, taints: [dedicated] });
  assertEquals(nodepoolController.finalizer, "nodes.lailin.xyz/nodepool");
  assertMatch(cluster.writes[0] ?? "", /PATCH .*\/nodepools\/gpu$/);
  assertEquals(cluster.get(NodePool, "gpu").metadata.finalizers, ["nodes.lailin.xyz/nodepool"]);
  cluster.edit(NodePool, "gpu", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
  const before = cluster.writes.length;
  await cluster.reconcile("gpu");
  assertEquals(cluster.writes.slice(before).map((write) => write.replace(/.*\//, "")), ["n1", "gpu"]);
  assertEquals(cluster.find(NodePool, "gpu"), undefined);
  const node = cluster.get(Node, "n1");
  assertEquals([node.metadata.labels, node.metadata.annotations, node.spec.taints], [{ [role]: "" }, {}, undefined]);
});

test("a deleted pool stays until every Node is cleaned up", async () => {
  const cluster = await settled({ labels: { disk: "ssd" } });
  cluster.edit(NodePool, "gpu", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
  cluster.fault = ({ method, path }) =>
    method === "PATCH" && path.endsWith("/n1") ? statusResponse(500, "Broken") : undefined;
  await assertRejects(() => cluster.reconcile("gpu"), /Cannot update Node "n1" of NodePool "gpu"/);
  assert(cluster.find(NodePool, "gpu") !== undefined);
  cluster.fault = undefined;
  await cluster.reconcile("gpu");
  assertEquals(cluster.find(NodePool, "gpu"), undefined);
  assertEquals(cluster.get(Node, "n1").metadata.labels, { [role]: "" });
});

test("a deleted pool also cleans up a Node that is not in the cache yet", async () => {
  const cluster = await settled({ labels: { disk: "ssd" } });
  const annotations = { [claim]: '{"labels":{"disk":"ssd"},"taints":[]}' };
  cluster.edit(NodePool, "gpu", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
  cluster.sync();
  cluster.put({ kind: "Node", metadata: { name: "n2", labels: { disk: "ssd" }, annotations }, spec: {} });
  await cluster.attempt("gpu");
  assertEquals(cluster.get(Node, "n2").metadata.labels, {});
});

test("a stale cache of a deleted pool causes no writes", async () => {
  const cluster = new TestCluster();
  cluster.put({
    kind: "NodePool",
    metadata: { name: "gpu", finalizers: ["nodes.lailin.xyz/nodepool"] },
    spec: { labels: { disk: "ssd" }, taints: [dedicated], handler: "runc" },
  });
  cluster.node("n1", { [role]: "" });
  cluster.sync();
  for (const end of ["marked", "gone"]) {
    if (end === "marked") cluster.edit(NodePool, "gpu", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    else cluster.remove(NodePool, "gpu");
    await cluster.attempt("gpu");
    assertEquals(cluster.writes, [], end);
  }
});

test("a stale cache of a changed pool writes the live settings", async () => {
  const cluster = await settled({ labels: { disk: "ssd" } });
  cluster.node("n2", { [role]: "" });
  cluster.sync();
  cluster.edit(NodePool, "gpu", { spec: { labels: { disk: "nvme" } } });
  await cluster.attempt("gpu");
  assertEquals(cluster.get(Node, "n2").metadata.labels?.disk, "nvme");
});

test("[75] a Node that changed in the meantime is read and planned again, and keeps the change", async () => {
  const cluster = new TestCluster();
  cluster.pool("gpu", { labels: { disk: "ssd" }, taints: [dedicated] });
  cluster.node("n1", { [role]: "" });
  cluster.sync();
  cluster.edit(Node, "n1", { metadata: { labels: { own: "x" } }, spec: { taints: [foreign] } });
  await cluster.attempt("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels, { [role]: "", own: "x", disk: "ssd" });
  assertEquals(cluster.get(Node, "n1").spec.taints, [foreign, dedicated]);
});

test("[75] a Node that always conflicts fails after five attempts, and is retried later", async () => {
  const cluster = new TestCluster();
  cluster.pool("gpu", { labels: { disk: "ssd" } });
  cluster.node("n1", { [role]: "" });
  cluster.node("n2", { [role]: "" });
  cluster.fault = ({ method, path }) =>
    method === "PATCH" && path.endsWith("/n1") ? statusResponse(409, "Conflict") : undefined;
  await assertRejects(() => cluster.reconcile("gpu"), /Cannot update Node "n1"/);
  assertEquals(cluster.writes.filter((write) => write.endsWith("/n1")).length, 5);
  assertEquals(cluster.get(Node, "n2").metadata.labels?.disk, "ssd");
  assertEquals([ready(cluster)?.reason, ready(cluster)?.message], ["NodesFailed", 'cannot write Node "n1"']);
});

test("a Node that left during the write is not written as a member", async () => {
  const cluster = new TestCluster();
  cluster.pool("gpu", { labels: { disk: "ssd" } });
  cluster.node("n1", { [role]: "" });
  cluster.sync();
  cluster.edit(Node, "n1", { metadata: { labels: { [role]: null } } });
  await cluster.attempt("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels, {});
});

test("a deleted Node is ignored", async () => {
  const cluster = await settled({ labels: { disk: "ssd" } });
  cluster.node("n2", { [role]: "" });
  cluster.sync();
  cluster.remove(Node, "n2");
  await cluster.attempt("gpu");
  await cluster.settle("gpu");
  assertEquals(cluster.get(NodePool, "gpu").status?.nodeCount, 1);
});

test("many Nodes are reported in one Event", async () => {
  const cluster = new TestCluster();
  cluster.pool("gpu", {});
  for (let at = 1; at <= 20; at++) cluster.node(`n${String(at).padStart(2, "0")}`, { [role]: "" });
  await cluster.settle("gpu");
  assertEquals(cluster.events.map(({ type, reason, note }) => [type, reason, note]), [
    ["Normal", "NodeJoined", 'Nodes "n01", "n02", "n03", "n04", "n05" and 15 more joined'],
    ["Normal", "RuntimeClassCreated", 'RuntimeClass "node-pool-gpu" created'],
  ]);
});

test("the RuntimeClass is owned by the pool and follows its spec, including dropped labels", async () => {
  const cluster = await settled({ labels: { disk: "ssd", zone: "a" }, taints: [dedicated] });
  const { uid } = cluster.get(NodePool, "gpu").metadata;
  const made = cluster.get(RuntimeClass, "node-pool-gpu");
  assertEquals(made.metadata.ownerReferences?.map((one) => [one.kind, one.uid, one.controller]), [[
    "NodePool",
    uid,
    true,
  ]]);
  assertEquals([made.handler, made.scheduling?.nodeSelector], ["runc", { disk: "ssd", zone: "a" }]);
  cluster.edit(NodePool, "gpu", { spec: { labels: { zone: null }, taints: [] } });
  await cluster.settle("gpu");
  assertEquals(cluster.get(RuntimeClass, "node-pool-gpu").scheduling, {
    nodeSelector: { disk: "ssd" },
    tolerations: [],
  });
});

test("[75] a foreign RuntimeClass of the same name is not changed and is reported", async () => {
  const cluster = new TestCluster();
  cluster.put({ kind: "RuntimeClass", metadata: { name: "node-pool-gpu" }, handler: "theirs" });
  cluster.pool("gpu", { labels: { disk: "ssd" } });
  cluster.node("n1", { [role]: "" });
  for (let again = 0; again < 2; again++) {
    await assertRejects(() => cluster.reconcile("gpu"), /it has no controller/);
  }
  assertEquals(cluster.get(RuntimeClass, "node-pool-gpu").handler, "theirs");
  assertEquals(cluster.get(Node, "n1").metadata.labels?.disk, "ssd");
  assertEquals([ready(cluster)?.status, ready(cluster)?.reason], ["False", "ErrResourceExists"]);
  assertEquals(reasons(cluster), ["NodeJoined", "ErrResourceExists"]);
});

test("a changed handler of a pool without members creates a new RuntimeClass", async () => {
  const cluster = new TestCluster();
  cluster.pool("gpu", {});
  await cluster.settle("gpu");
  cluster.edit(NodePool, "gpu", { spec: { handler: "kata" } });
  await cluster.settle("gpu");
  assertEquals(cluster.get(RuntimeClass, "node-pool-gpu").handler, "kata");
  assertEquals(ready(cluster)?.status, "True");
});

test("a changed handler of a pool with members is applied after they have left", async () => {
  const cluster = await settled({ labels: { disk: "ssd" } });
  cluster.edit(NodePool, "gpu", { spec: { handler: "kata", labels: { disk: "nvme" } } });
  await cluster.settle("gpu");
  const held = cluster.get(RuntimeClass, "node-pool-gpu");
  assertEquals([held.handler, held.scheduling?.nodeSelector], ["runc", { disk: "nvme" }]);
  assertEquals([ready(cluster)?.status, ready(cluster)?.reason], ["False", "HandlerInUse"]);
  assertStringIncludes(ready(cluster)?.message ?? "", 'the handler is "runc" and cannot change to "kata"');
  cluster.edit(Node, "n1", { metadata: { labels: { [role]: null } } });
  await cluster.settle("gpu");
  assertEquals(cluster.get(RuntimeClass, "node-pool-gpu").handler, "kata");
});

test("an invalid annotation removes nothing and is written again", async () => {
  const cluster = await settled({ labels: { disk: "ssd" } });
  cluster.edit(Node, "n1", { metadata: { annotations: { [claim]: "{" } } });
  cluster.edit(NodePool, "gpu", { spec: { labels: { disk: null, zone: "a" } } });
  await cluster.settle("gpu");
  assertEquals(cluster.get(Node, "n1").metadata.labels, { [role]: "", disk: "ssd", zone: "a" });
  assertEquals(cluster.get(Node, "n1").metadata.annotations, { [claim]: '{"labels":{"zone":"a"},"taints":[]}' });
});

test("a change of a Node reconciles its pools, a heartbeat does not", () => {
  const watch = nodepoolController.watches.find(({ resource }) => resource.kind === "Node");
  const object = (rest: object) => ({ apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec: {}, ...rest });
  const old = object({ status: { allocatable: { cpu: "4" }, conditions: [1] } });
  const passes = (rest: object) => watch?.when?.({ kind: "updated", old, object: { ...old, ...rest } });
  assertEquals(passes({ status: { allocatable: { cpu: "4" }, conditions: [2] } }), false);
  assertEquals(passes({ metadata: { name: "n", annotations: { "other.dev/at": "now" } } }), false);
  assertEquals(passes({ metadata: { name: "n", annotations: { [claim]: "{}" } } }), true);
  assertEquals(passes({ metadata: { name: "n", labels: { [role]: "" } } }), true);
  assertEquals(passes({ spec: { taints: [foreign] } }), true);
  assertEquals(passes({ status: { allocatable: { cpu: "5" } } }), true);
});

test("a pool is reconciled when its spec changes and at each resync, not when its status is written", () => {
  const watch = nodepoolController.watches[0];
  const at = (generation: number, version: string) =>
    NodePool.make({ metadata: { name: "gpu", generation, resourceVersion: version as never }, spec: {} });
  const passes = (old: NodePool, object: NodePool) => watch?.when?.({ kind: "updated", old, object });
  assertEquals(passes(at(1, "1"), at(2, "2")), true);
  assertEquals(passes(at(1, "1"), at(1, "2")), false);
  assertEquals(passes(at(1, "1"), at(1, "1")), true);
});
