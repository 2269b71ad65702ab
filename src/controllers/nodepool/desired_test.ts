import { assertEquals, test } from "../../../tests/testing.ts";
import { desiredRuntimeClass, isMember, nodeSettingsOf } from "./desired.ts";
import { NodePool, withDefaults } from "./resource.ts";

const dedicated = { key: "example.dev/dedicated", value: "gpu", effect: "NoSchedule" as const };

function pool(spec: Parameters<typeof NodePool.make>[0]["spec"], name = "gpu"): NodePool {
  return NodePool.make({ metadata: { name, uid: "u" }, spec });
}

test("withDefaults() adds a label to a pool without labels, and is idempotent", () => {
  const bare = withDefaults(pool({}));
  assertEquals(bare.spec, { labels: { "node-pool.lailin.xyz/gpu": "" }, taints: [], handler: "runc" });
  assertEquals(withDefaults(bare), bare);
});

test("withDefaults() keeps labels and handler of a pool", () => {
  const full = pool({ labels: { disk: "ssd" }, handler: "kata" });
  assertEquals(withDefaults(full), full);
});

test("withDefaults() adds no label to a pool without a name", () => {
  const nameless = NodePool.make({ metadata: { generateName: "gpu-" }, spec: {} });
  assertEquals(withDefaults(nameless).spec.labels, {});
});

test("withDefaults() adds the defaults of the schema, too", () => {
  const { apiVersion, kind, metadata } = pool({});
  const raw = JSON.parse(JSON.stringify({ apiVersion, kind, metadata, spec: {} }));
  assertEquals(withDefaults(raw).spec, { labels: { "node-pool.lailin.xyz/gpu": "" }, taints: [], handler: "runc" });
});

test("nodeSettingsOf() returns only valid labels and taints, and the first of two equal taints", () => {
  const settings = nodeSettingsOf(pool({
    labels: { disk: "ssd", "node-restriction.kubernetes.io/x": "y", "a b": "c", ok: "not ok!", constructor: "c" },
    taints: [dedicated, { key: "k8s.io/x", effect: "NoExecute" }, { ...dedicated, value: "other" }],
  }));
  assertEquals([...settings.labels], [["disk", "ssd"], ["constructor", "c"]]);
  assertEquals([...settings.taints], [["example.dev/dedicated:NoSchedule", dedicated]]);
});

test("a Node with the label of the pool is a member, whatever the value is", () => {
  assertEquals(isMember({ metadata: { labels: { "node-role.kubernetes.io/gpu": "true" } } }, "gpu"), true);
  assertEquals(isMember({ metadata: { labels: { "node-role.kubernetes.io/gpus": "" } } }, "gpu"), false);
  assertEquals(isMember({ metadata: {} }, "gpu"), false);
});

test("the RuntimeClass selects the labels of the pool and tolerates its taints", () => {
  const desired = desiredRuntimeClass(
    pool({ labels: { disk: "ssd" }, taints: [dedicated, { key: "spot", effect: "NoExecute" }], handler: "kata" }),
  );
  assertEquals(desired.metadata, { name: "node-pool-gpu" });
  assertEquals(desired.handler, "kata");
  assertEquals(desired.scheduling, {
    nodeSelector: { disk: "ssd" },
    tolerations: [
      { key: "example.dev/dedicated", operator: "Equal", value: "gpu", effect: "NoSchedule" },
      { key: "spot", operator: "Equal", effect: "NoExecute" },
    ],
  });
});

test("a RuntimeClass never selects all Nodes of the cluster", () => {
  const bare = desiredRuntimeClass(pool({}));
  assertEquals(bare.scheduling?.nodeSelector, { "node-pool.lailin.xyz/gpu": "" });
  const withInvalidLabels = desiredRuntimeClass(pool({ labels: { "kubernetes.io/x": "" } }));
  assertEquals(withInvalidLabels.scheduling?.nodeSelector, { "node-role.kubernetes.io/gpu": "" });
});
