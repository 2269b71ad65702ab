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
import { Rig } from "./_rig.ts";
import { nodepoolController } from "./controller.ts";
import { NodePool } from "./resource.ts";

const role = "node-role.kubernetes.io/gpu";
const claim = "nodepool.nodes.lailin.xyz/gpu";
const dedicated = { key: "example.dev/dedicated", value: "gpu", effect: "NoSchedule" };
const foreign = { key: "somebody.dev/else", value: "x", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" };

/** A rig with one pool and one member, both settled. */
async function settled(spec: { labels?: Record<string, string>; taints?: readonly object[] }): Promise<Rig> {
  const rig = new Rig();
  rig.pool("gpu", spec);
  rig.node("n1", { [role]: "" });
  await rig.settle("gpu");
  return rig;
}

function reasons(rig: Rig): readonly string[] {
  return rig.events.map(({ reason }) => reason);
}

function ready(rig: Rig) {
  return findCondition(rig.get(NodePool, "gpu").status?.conditions, "Ready");
}

test("a member gets the pool's labels and taints in one request, beside those it has", async () => {
  const rig = new Rig();
  rig.pool("gpu", { labels: { disk: "ssd" }, taints: [dedicated] });
  rig.node("n1", { [role]: "true", own: "x" }, { spec: { podCIDR: "10.0.0.0/24", taints: [foreign] } });
  await rig.reconcile("gpu");
  const node = rig.get(Node, "n1");
  assertEquals(node.metadata.labels, { [role]: "true", own: "x", disk: "ssd" });
  assertEquals(node.spec, { podCIDR: "10.0.0.0/24", taints: [foreign, dedicated] });
  assertEquals(rig.writes.filter((write) => write.includes("/nodes/")), ["PATCH /api/v1/nodes/n1"]);
});

test("a Node that is no member is not touched, nor is one of another pool", async () => {
  const rig = await settled({ labels: { disk: "ssd" } });
  rig.node("n2", { "node-role.kubernetes.io/other": "" });
  rig.node("n3", {}, { metadata: { name: "n3", annotations: { [claim]: "not ours to read" } } });
  const before = rig.get(Node, "n2");
  await rig.settle("gpu");
  assertEquals(rig.get(Node, "n2"), before);
});

test("[65] a settled pool writes nothing and tells nothing, however often it is looked at", async () => {
  const rig = await settled({ labels: { disk: "ssd" }, taints: [dedicated] });
  const [requests, events] = [rig.handled.length, rig.events.length];
  for (let again = 0; again < 3; again++) await rig.reconcile("gpu");
  assertEquals([rig.handled.length, rig.events.length], [requests, events]);
  assertEquals(reasons(rig), ["NodeJoined", "RuntimeClassCreated"]);
});

test("what the pool drops goes from its members, what it changes is changed", async () => {
  const rig = await settled({ labels: { disk: "ssd", zone: "a" }, taints: [dedicated] });
  rig.edit(Node, "n1", { metadata: { labels: { own: "x" } } });
  rig.edit(NodePool, "gpu", { spec: { labels: { disk: "nvme", zone: null }, taints: [] } });
  await rig.settle("gpu");
  const node = rig.get(Node, "n1");
  assertEquals(node.metadata.labels, { [role]: "", own: "x", disk: "nvme" });
  assertEquals(node.spec.taints, undefined);
  assertEquals(reasons(rig).slice(2), ["NodeUpdated"]);
});

test("a Node that leaves loses what the pool gave it and nothing else", async () => {
  const rig = await settled({ labels: { disk: "ssd" }, taints: [dedicated] });
  rig.edit(Node, "n1", { metadata: { labels: { [role]: null, own: "x" } }, spec: { taints: [foreign, dedicated] } });
  await rig.settle("gpu");
  const node = rig.get(Node, "n1");
  assertEquals(node.metadata.labels, { own: "x" });
  assertEquals(node.metadata.annotations, {});
  assertEquals(node.spec.taints, [foreign]);
  assertEquals(reasons(rig).at(-1), "NodeLeft");
  assertEquals(rig.get(NodePool, "gpu").status?.nodeCount, 0);
});

test("a Node that leaves keeps a label and a taint that somebody changed meanwhile", async () => {
  const rig = await settled({ labels: { disk: "ssd" }, taints: [dedicated] });
  const theirs = { ...dedicated, value: "theirs" };
  rig.edit(Node, "n1", { metadata: { labels: { [role]: null, disk: "hdd" } }, spec: { taints: [theirs] } });
  await rig.settle("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels, { disk: "hdd" });
  assertEquals(rig.get(Node, "n1").spec.taints, [theirs]);
});

test("a label that somebody else applied, too, stays when the pool drops it", async () => {
  const rig = await settled({ labels: { disk: "ssd" } });
  rig.edit(Node, "n1", { metadata: { labels: { disk: "ssd" } } }, "gitops");
  rig.edit(NodePool, "gpu", { spec: { labels: { disk: null, zone: "a" } } });
  await rig.settle("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels, { [role]: "", disk: "ssd", zone: "a" });
});

test("what somebody else set first is reported once and left alone, until they let go of it", async () => {
  const rig = new Rig();
  rig.pool("gpu", { labels: { disk: "ssd", zone: "a" }, taints: [dedicated] });
  rig.node("n1", { [role]: "", disk: "hdd" }, { spec: { taints: [{ ...dedicated, value: "theirs" }] } });
  await rig.settle("gpu");
  await rig.settle("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels, { [role]: "", disk: "hdd", zone: "a" });
  assertEquals(rig.get(Node, "n1").spec.taints, [{ ...dedicated, value: "theirs" }]);
  assertEquals([ready(rig)?.status, ready(rig)?.reason], ["False", "Conflict"]);
  assertEquals(
    ready(rig)?.message,
    'label "disk" of Node "n1" is "hdd" by somebody else, "ssd" is not given; ' +
      'taint "example.dev/dedicated:NoSchedule" of Node "n1" is "theirs" by somebody else, "gpu" is not given',
  );
  assertEquals(reasons(rig).filter((reason) => reason === "Conflict").length, 1);
  rig.edit(Node, "n1", { metadata: { labels: { disk: null } }, spec: { taints: null } });
  await rig.settle("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels, { [role]: "", zone: "a", disk: "ssd" });
  assertEquals([ready(rig)?.status, ready(rig)?.reason], ["True", "Settled"]);
});

test("a label that somebody takes off a member comes back", async () => {
  const rig = await settled({ labels: { disk: "ssd" }, taints: [dedicated] });
  rig.edit(Node, "n1", { metadata: { labels: { disk: null } }, spec: { taints: [foreign] } });
  await rig.settle("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels?.disk, "ssd");
  assertEquals(rig.get(Node, "n1").spec.taints, [foreign, dedicated]);
});

test("of two pools that give the same, the last to leave takes it away; the first to come decides a dispute", async () => {
  const rig = new Rig();
  rig.pool("gpu", { labels: { disk: "ssd", zone: "a" }, taints: [dedicated] });
  rig.pool("big", { labels: { disk: "ssd", zone: "b" }, taints: [dedicated] });
  rig.node("n1", { [role]: "", "node-role.kubernetes.io/big": "" });
  await rig.settle("gpu");
  await rig.settle("big");
  await rig.settle("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels?.zone, "a");
  rig.edit(Node, "n1", { metadata: { labels: { [role]: null } } });
  await rig.settle("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels, { "node-role.kubernetes.io/big": "", disk: "ssd" });
  assertEquals(rig.get(Node, "n1").spec.taints, [dedicated]);
  await rig.settle("big");
  assertEquals(rig.get(Node, "n1").metadata.labels?.zone, "b");
  rig.edit(Node, "n1", { metadata: { labels: { "node-role.kubernetes.io/big": null } } });
  await rig.settle("big");
  assertEquals([rig.get(Node, "n1").metadata.labels, rig.get(Node, "n1").spec.taints], [{}, undefined]);
});

test("[security 22] what the webhook would refuse is never written to a Node, and the pool says so", async () => {
  const rig = new Rig();
  rig.pool("gpu", {
    labels: { "node-restriction.kubernetes.io/x": "y", "not legal": "z", disk: "ssd" },
    taints: [{ key: "node.kubernetes.io/unreachable", effect: "NoExecute" }, dedicated],
  });
  rig.node("n1", { [role]: "" });
  await rig.settle("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels, { [role]: "", disk: "ssd" });
  assertEquals(rig.get(Node, "n1").spec.taints, [dedicated]);
  assertEquals([ready(rig)?.status, ready(rig)?.reason], ["False", "InvalidSpec"]);
  assertMatch(ready(rig)?.message ?? "", /left out: spec\.labels: Forbidden: "node-restriction\.kubernetes\.io\/x"/);
});

test("status counts the members and adds up what they offer, and forgets what no member has any more", async () => {
  const rig = new Rig();
  rig.pool("gpu", {});
  const allocatable = { cpu: "3920m", memory: "16Gi", pods: "110", "example.dev/gpu": "2" };
  rig.node("n1", { [role]: "" }, { status: { allocatable } });
  rig.node("n2", { [role]: "" }, { status: { allocatable: { cpu: "4", memory: "32851196Ki", pods: "110" } } });
  rig.node("n3", { [role]: "" });
  rig.node("n4", {}, { status: { allocatable } });
  await rig.settle("gpu");
  const { status, metadata } = rig.get(NodePool, "gpu");
  assertEquals([status?.nodeCount, status?.observedGeneration], [3, metadata.generation]);
  assertEquals(status?.allocatable, { cpu: "7920m", memory: "49628412Ki", pods: "220", "example.dev/gpu": "2" });
  rig.remove(Node, "n1");
  await rig.settle("gpu");
  assertEquals(rig.get(NodePool, "gpu").status?.allocatable, { cpu: "4", memory: "32851196Ki", pods: "110" });
});

test("the finalizer is there before the first Node is touched, and goes after the last", async () => {
  const rig = await settled({ labels: { disk: "ssd" }, taints: [dedicated] });
  assertEquals(nodepoolController.finalizer, "nodes.lailin.xyz/nodepool");
  assertMatch(rig.writes[0] ?? "", /PATCH .*\/nodepools\/gpu$/);
  assertEquals(rig.get(NodePool, "gpu").metadata.finalizers, ["nodes.lailin.xyz/nodepool"]);
  rig.edit(NodePool, "gpu", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
  const before = rig.writes.length;
  await rig.reconcile("gpu");
  assertEquals(rig.writes.slice(before).map((write) => write.replace(/.*\//, "")), ["n1", "gpu"]);
  assertEquals(rig.find(NodePool, "gpu"), undefined);
  const node = rig.get(Node, "n1");
  assertEquals([node.metadata.labels, node.metadata.annotations, node.spec.taints], [{ [role]: "" }, {}, undefined]);
});

test("a pool that is deleted stays until each Node has given everything back", async () => {
  const rig = await settled({ labels: { disk: "ssd" } });
  rig.edit(NodePool, "gpu", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
  rig.fault = ({ method, path }) => method === "PATCH" && path.endsWith("/n1") ? statusResponse(500, "Broken") : undefined;
  await assertRejects(() => rig.reconcile("gpu"), /Cannot bring Node "n1" to what NodePool "gpu" wants/);
  assert(rig.find(NodePool, "gpu") !== undefined);
  rig.fault = undefined;
  await rig.reconcile("gpu");
  assertEquals(rig.find(NodePool, "gpu"), undefined);
  assertEquals(rig.get(Node, "n1").metadata.labels, { [role]: "" });
});

test("a Node that the cache does not know yet gives back what it has, too, when the pool is deleted", async () => {
  const rig = await settled({ labels: { disk: "ssd" } });
  const annotations = { [claim]: '{"labels":{"disk":"ssd"},"taints":[]}' };
  rig.edit(NodePool, "gpu", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
  rig.sync();
  rig.put({ kind: "Node", metadata: { name: "n2", labels: { disk: "ssd" }, annotations }, spec: {} });
  await rig.attempt("gpu");
  assertEquals(rig.get(Node, "n2").metadata.labels, {});
});

test("a cache that does not know the pool's end yet gives nothing in its name", async () => {
  const rig = new Rig();
  rig.put({
    kind: "NodePool",
    metadata: { name: "gpu", finalizers: ["nodes.lailin.xyz/nodepool"] },
    spec: { labels: { disk: "ssd" }, taints: [dedicated], handler: "runc" },
  });
  rig.node("n1", { [role]: "" });
  rig.sync();
  for (const end of ["marked", "gone"]) {
    if (end === "marked") rig.edit(NodePool, "gpu", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    else rig.remove(NodePool, "gpu");
    await rig.attempt("gpu");
    assertEquals(rig.writes, [], end);
  }
});

test("a cache that lags behind the pool gives what the pool says now", async () => {
  const rig = await settled({ labels: { disk: "ssd" } });
  rig.node("n2", { [role]: "" });
  rig.sync();
  rig.edit(NodePool, "gpu", { spec: { labels: { disk: "nvme" } } });
  await rig.attempt("gpu");
  assertEquals(rig.get(Node, "n2").metadata.labels?.disk, "nvme");
});

test("[75] a Node that changed meanwhile is read and planned anew, and what changed is kept", async () => {
  const rig = new Rig();
  rig.pool("gpu", { labels: { disk: "ssd" }, taints: [dedicated] });
  rig.node("n1", { [role]: "" });
  rig.sync();
  rig.edit(Node, "n1", { metadata: { labels: { own: "x" } }, spec: { taints: [foreign] } });
  await rig.attempt("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels, { [role]: "", own: "x", disk: "ssd" });
  assertEquals(rig.get(Node, "n1").spec.taints, [foreign, dedicated]);
});

test("[75] a Node that changes all the time is given up after five tries, and retried later", async () => {
  const rig = new Rig();
  rig.pool("gpu", { labels: { disk: "ssd" } });
  rig.node("n1", { [role]: "" });
  rig.node("n2", { [role]: "" });
  rig.fault = ({ method, path }) => method === "PATCH" && path.endsWith("/n1") ? statusResponse(409, "Conflict") : undefined;
  await assertRejects(() => rig.reconcile("gpu"), /Cannot bring Node "n1"/);
  assertEquals(rig.writes.filter((write) => write.endsWith("/n1")).length, 5);
  assertEquals(rig.get(Node, "n2").metadata.labels?.disk, "ssd");
  assertEquals([ready(rig)?.reason, ready(rig)?.message], ["NodesFailed", 'cannot write Node "n1"']);
});

test("a Node that left while it was being written is not written as a member", async () => {
  const rig = new Rig();
  rig.pool("gpu", { labels: { disk: "ssd" } });
  rig.node("n1", { [role]: "" });
  rig.sync();
  rig.edit(Node, "n1", { metadata: { labels: { [role]: null } } });
  await rig.attempt("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels, {});
});

test("a Node that is gone is nobody's trouble", async () => {
  const rig = await settled({ labels: { disk: "ssd" } });
  rig.node("n2", { [role]: "" });
  rig.sync();
  rig.remove(Node, "n2");
  await rig.attempt("gpu");
  await rig.settle("gpu");
  assertEquals(rig.get(NodePool, "gpu").status?.nodeCount, 1);
});

test("many Nodes are told of in one Event", async () => {
  const rig = new Rig();
  rig.pool("gpu", {});
  for (let at = 1; at <= 20; at++) rig.node(`n${String(at).padStart(2, "0")}`, { [role]: "" });
  await rig.settle("gpu");
  assertEquals(rig.events.map(({ type, reason, note }) => [type, reason, note]), [
    ["Normal", "NodeJoined", 'Nodes "n01", "n02", "n03", "n04", "n05" and 15 more joined'],
    ["Normal", "RuntimeClassCreated", 'RuntimeClass "node-pool-gpu" created'],
  ]);
});

test("the RuntimeClass belongs to the pool and follows its spec, labels that were dropped included", async () => {
  const rig = await settled({ labels: { disk: "ssd", zone: "a" }, taints: [dedicated] });
  const { uid } = rig.get(NodePool, "gpu").metadata;
  const made = rig.get(RuntimeClass, "node-pool-gpu");
  assertEquals(made.metadata.ownerReferences?.map((one) => [one.kind, one.uid, one.controller]), [[
    "NodePool",
    uid,
    true,
  ]]);
  assertEquals([made.handler, made.scheduling?.nodeSelector], ["runc", { disk: "ssd", zone: "a" }]);
  rig.edit(NodePool, "gpu", { spec: { labels: { zone: null }, taints: [] } });
  await rig.settle("gpu");
  assertEquals(rig.get(RuntimeClass, "node-pool-gpu").scheduling, { nodeSelector: { disk: "ssd" }, tolerations: [] });
});

test("[75] a RuntimeClass of that name that belongs to somebody else is left alone and reported", async () => {
  const rig = new Rig();
  rig.put({ kind: "RuntimeClass", metadata: { name: "node-pool-gpu" }, handler: "theirs" });
  rig.pool("gpu", { labels: { disk: "ssd" } });
  rig.node("n1", { [role]: "" });
  for (let again = 0; again < 2; again++) {
    await assertRejects(() => rig.reconcile("gpu"), /it has no controller/);
  }
  assertEquals(rig.get(RuntimeClass, "node-pool-gpu").handler, "theirs");
  assertEquals(rig.get(Node, "n1").metadata.labels?.disk, "ssd");
  assertEquals([ready(rig)?.status, ready(rig)?.reason], ["False", "ErrResourceExists"]);
  assertEquals(reasons(rig), ["NodeJoined", "ErrResourceExists"]);
});

test("the handler of a pool without members is changed by a new RuntimeClass", async () => {
  const rig = new Rig();
  rig.pool("gpu", {});
  await rig.settle("gpu");
  rig.edit(NodePool, "gpu", { spec: { handler: "kata" } });
  await rig.settle("gpu");
  assertEquals(rig.get(RuntimeClass, "node-pool-gpu").handler, "kata");
  assertEquals(ready(rig)?.status, "True");
});

test("the handler of a pool with members stays, whatever got past the webhook, until they have left", async () => {
  const rig = await settled({ labels: { disk: "ssd" } });
  rig.edit(NodePool, "gpu", { spec: { handler: "kata", labels: { disk: "nvme" } } });
  await rig.settle("gpu");
  const held = rig.get(RuntimeClass, "node-pool-gpu");
  assertEquals([held.handler, held.scheduling?.nodeSelector], ["runc", { disk: "nvme" }]);
  assertEquals([ready(rig)?.status, ready(rig)?.reason], ["False", "HandlerInUse"]);
  assertStringIncludes(ready(rig)?.message ?? "", 'the handler is "runc" and cannot change to "kata"');
  rig.edit(Node, "n1", { metadata: { labels: { [role]: null } } });
  await rig.settle("gpu");
  assertEquals(rig.get(RuntimeClass, "node-pool-gpu").handler, "kata");
});

test("an annotation that somebody spoilt takes nothing away and is written anew", async () => {
  const rig = await settled({ labels: { disk: "ssd" } });
  rig.edit(Node, "n1", { metadata: { annotations: { [claim]: "{" } } });
  rig.edit(NodePool, "gpu", { spec: { labels: { disk: null, zone: "a" } } });
  await rig.settle("gpu");
  assertEquals(rig.get(Node, "n1").metadata.labels, { [role]: "", disk: "ssd", zone: "a" });
  assertEquals(rig.get(Node, "n1").metadata.annotations, { [claim]: '{"labels":{"zone":"a"},"taints":[]}' });
});

test("a change of a Node concerns its pools, a heartbeat concerns none", () => {
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

test("a pool is looked at when its spec changes and at each resync, not when its status is written", () => {
  const watch = nodepoolController.watches[0];
  const at = (generation: number, version: string) =>
    NodePool.make({ metadata: { name: "gpu", generation, resourceVersion: version as never }, spec: {} });
  const passes = (old: NodePool, object: NodePool) => watch?.when?.({ kind: "updated", old, object });
  assertEquals(passes(at(1, "1"), at(2, "2")), true);
  assertEquals(passes(at(1, "1"), at(1, "2")), false);
  assertEquals(passes(at(1, "1"), at(1, "1")), true);
});
