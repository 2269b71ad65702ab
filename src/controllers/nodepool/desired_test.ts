import { assertEquals, test } from "../../../tests/testing.ts";
import { withDefaults } from "./defaults.ts";
import { desiredRuntimeClass, giftOf, isMember } from "./desired.ts";
import { NodePool } from "./resource.ts";

const dedicated = { key: "example.dev/dedicated", value: "gpu", effect: "NoSchedule" as const };

function pool(spec: Parameters<typeof NodePool.make>[0]["spec"], name = "gpu"): NodePool {
  return NodePool.make({ metadata: { name, uid: "u" }, spec });
}

test("a pool without labels gives the label of its name, and applied twice is applied once", () => {
  const bare = withDefaults(pool({}));
  assertEquals(bare.spec, { labels: { "node-pool.lailin.xyz/gpu": "" }, taints: [], handler: "runc" });
  assertEquals(withDefaults(bare), bare);
});

test("a pool with labels keeps them as they are, its handler too", () => {
  const full = pool({ labels: { disk: "ssd" }, handler: "kata" });
  assertEquals(withDefaults(full), full);
});

test("a pool that the server is yet to name gets no label", () => {
  const nameless = NodePool.make({ metadata: { generateName: "gpu-" }, spec: {} });
  assertEquals(withDefaults(nameless).spec.labels, {});
});

test("a pool that has not met the schema's defaults yet gets them", () => {
  const { apiVersion, kind, metadata } = pool({});
  const raw = JSON.parse(JSON.stringify({ apiVersion, kind, metadata, spec: {} }));
  assertEquals(withDefaults(raw).spec, { labels: { "node-pool.lailin.xyz/gpu": "" }, taints: [], handler: "runc" });
});

test("what is not legal is not given, and of two taints alike the first is", () => {
  const gift = giftOf(pool({
    labels: { disk: "ssd", "node-restriction.kubernetes.io/x": "y", "a b": "c", ok: "not ok!", constructor: "c" },
    taints: [dedicated, { key: "k8s.io/x", effect: "NoExecute" }, { ...dedicated, value: "other" }],
  }));
  assertEquals([...gift.labels], [["disk", "ssd"], ["constructor", "c"]]);
  assertEquals([...gift.taints], [["example.dev/dedicated:NoSchedule", dedicated]]);
});

test("members are the Nodes with the pool's label, whatever its value", () => {
  assertEquals(isMember({ metadata: { labels: { "node-role.kubernetes.io/gpu": "true" } } }, "gpu"), true);
  assertEquals(isMember({ metadata: { labels: { "node-role.kubernetes.io/gpus": "" } } }, "gpu"), false);
  assertEquals(isMember({ metadata: {} }, "gpu"), false);
});

test("the RuntimeClass selects the pool's labels and tolerates its taints", () => {
  const wanted = desiredRuntimeClass(
    pool({ labels: { disk: "ssd" }, taints: [dedicated, { key: "spot", effect: "NoExecute" }], handler: "kata" }),
  );
  assertEquals(wanted.metadata, { name: "node-pool-gpu" });
  assertEquals(wanted.handler, "kata");
  assertEquals(wanted.scheduling, {
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
  const refused = desiredRuntimeClass(pool({ labels: { "kubernetes.io/x": "" } }));
  assertEquals(refused.scheduling?.nodeSelector, { "node-role.kubernetes.io/gpu": "" });
});
