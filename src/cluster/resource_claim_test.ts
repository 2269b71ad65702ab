import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { TestCluster } from "./testing/test_cluster.ts";

const driver = "gpu.example.com";

function slice(nodeName: string, devices: readonly object[]) {
  return { spec: { driver, nodeName, pool: { name: nodeName, generation: 1, resourceSliceCount: 1 }, devices } };
}

function request(rest: object = {}) {
  return { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu", ...rest } }] } };
}

function pod(source: object, spec: object = {}) {
  return {
    spec: {
      containers: [{ name: "main", image: "example.invalid/main", resources: { claims: [{ name: "gpu" }] } }],
      resourceClaims: [{ name: "gpu", ...source }],
      ...spec,
    },
  };
}

const made = { resourceClaimTemplateName: "gpu" };

async function start(devices: readonly object[] = [{ name: "gpu-0" }]): Promise<TestCluster> {
  const cluster = await TestCluster.start();
  const expression = `device.driver == "${driver}"`;
  await cluster.create(builtin.DeviceClass, "gpu", { spec: { selectors: [{ cel: { expression } }] } });
  const node = cluster.names(builtin.Node, "")[1] ?? "";
  if (devices.length > 0) await cluster.create(builtin.ResourceSlice, "gpus", slice(node, devices));
  await cluster.create(builtin.ResourceClaimTemplate, "gpu", {
    spec: { metadata: { labels: { app: "ai" } }, spec: request() },
  });
  return cluster;
}

function unscheduled(cluster: TestCluster, name: string): string | undefined {
  const { conditions = [] } = cluster.get(builtin.Pod, `default/${name}`).status ?? {};
  return conditions.find(({ type, status }) => type === "PodScheduled" && status === "False")?.message;
}

test("a Pod gets a claim from a template, a device, and runs on the node of the device", async () => {
  await using cluster = await start();
  await cluster.create(builtin.Pod, "a", pod(made));
  await cluster.settled();
  const [claim] = cluster.list(builtin.ResourceClaim);
  assert(claim !== undefined);
  const { metadata: { name = "", labels, annotations, ownerReferences = [], finalizers }, status } = claim;
  assertMatch(name, /^a-gpu-[a-z0-9]{5}$/);
  assertEquals([labels, annotations, finalizers], [
    { app: "ai" },
    { "resource.kubernetes.io/pod-claim-name": "gpu" },
    ["resource.kubernetes.io/delete-protection"],
  ]);
  const { metadata, spec, status: podStatus } = cluster.get(builtin.Pod, "default/a");
  assertEquals(ownerReferences.map(({ uid, controller }) => [uid, controller]), [[metadata.uid, true]]);
  assertEquals(podStatus?.resourceClaimStatuses, [{ name: "gpu", resourceClaimName: name }]);
  assertEquals(status?.reservedFor, [{ resource: "pods", name: "a", uid: `${metadata.uid}` }]);
  const node = cluster.names(builtin.Node, "")[1] ?? "";
  assertEquals(status?.allocation?.devices?.results, [{ request: "gpu", driver, pool: node, device: "gpu-0" }]);
  assertEquals(status?.allocation?.nodeSelector?.nodeSelectorTerms, [
    { matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] },
  ]);
  assertEquals([spec.nodeName, podStatus?.phase], [node, "Running"]);
});

test("a Pod waits for devices, and for its class and its template", async () => {
  await using cluster = await start([]);
  await cluster.create(builtin.ResourceClaim, "other", { spec: request({ deviceClassName: "none" }) });
  await cluster.create(builtin.Pod, "a", pod(made));
  await cluster.create(builtin.Pod, "b", pod({ resourceClaimName: "other" }));
  await cluster.create(builtin.Pod, "c", pod({ resourceClaimName: "gone" }));
  await cluster.create(builtin.Pod, "d", pod({ resourceClaimTemplateName: "late" }));
  await cluster.settled();
  assertEquals(["a", "b", "c", "d"].map((name) => unscheduled(cluster, name)), [
    "0/3 nodes are available: 3 cannot allocate all claims.",
    "0/3 nodes are available: 3 request gpu: device class none does not exist.",
    '0/3 nodes are available: resourceclaim "gone" not found.',
    '0/3 nodes are available: pod "default/d": ResourceClaim not created yet.',
  ]);
  const node = cluster.names(builtin.Node, "")[2] ?? "";
  const devices = [0, 1, 2].map((index) => ({ name: `gpu-${index}` }));
  await cluster.create(builtin.ResourceSlice, "gpus", slice(node, devices));
  await cluster.create(builtin.DeviceClass, "none", { spec: {} });
  await cluster.create(builtin.ResourceClaimTemplate, "late", { spec: { spec: request() } });
  await cluster.settled();
  const nodes = ["a", "b", "d"].map((name) => cluster.get(builtin.Pod, `default/${name}`).spec.nodeName);
  assertEquals(nodes, [node, node, node]);
});

test("a device goes to the next Pod when the first one is deleted, and its claim with it", async () => {
  await using cluster = await start();
  await cluster.create(builtin.Pod, "a", pod(made));
  await cluster.settled();
  await cluster.create(builtin.Pod, "b", pod(made));
  await cluster.settled();
  assertEquals(unscheduled(cluster, "b"), "0/3 nodes are available: 3 cannot allocate all claims.");
  await cluster.delete(builtin.Pod, "default/a");
  await cluster.settled();
  assertEquals(cluster.get(builtin.Pod, "default/b").status?.phase, "Running");
  assertEquals(cluster.list(builtin.ResourceClaim).map(({ metadata }) => metadata.ownerReferences?.[0]?.name), ["b"]);
});

test("Pods share a claim that a user made, and the last of them frees its device", async () => {
  await using cluster = await start();
  await cluster.create(builtin.ResourceClaim, "shared", { spec: request() });
  for (const name of ["a", "b"]) await cluster.create(builtin.Pod, name, pod({ resourceClaimName: "shared" }));
  await cluster.settled();
  const users = () =>
    (cluster.get(builtin.ResourceClaim, "default/shared").status?.reservedFor ?? []).map(({ name }) => name);
  assertEquals(users().toSorted(), ["a", "b"]);
  await cluster.delete(builtin.Pod, "default/a");
  await cluster.settled();
  assertEquals(users(), ["b"]);
  await cluster.delete(builtin.Pod, "default/b");
  await cluster.settled();
  const { metadata, status } = cluster.get(builtin.ResourceClaim, "default/shared");
  assertEquals([metadata.finalizers, status?.allocation, status?.reservedFor], [undefined, undefined, undefined]);
});

test("a claim that was made for a Pod is deleted when the Pod has completed", async () => {
  await using cluster = await start();
  await cluster.create(builtin.Job, "once", {
    spec: { template: { spec: { ...pod(made).spec, restartPolicy: "Never" } } },
  });
  await cluster.settled();
  await cluster.pass(60_000);
  assertEquals(cluster.list(builtin.Pod).map(({ status }) => status?.phase), ["Succeeded"]);
  assertEquals(cluster.names(builtin.ResourceClaim), []);
});

test("a claim in use is deleted when no Pod uses it any more", async () => {
  await using cluster = await start();
  await cluster.create(builtin.ResourceClaim, "shared", { spec: request() });
  await cluster.create(builtin.Pod, "a", pod({ resourceClaimName: "shared" }));
  await cluster.settled();
  await cluster.delete(builtin.ResourceClaim, "default/shared");
  await cluster.settled();
  assertEquals(cluster.names(builtin.ResourceClaim), ["shared"]);
  await cluster.delete(builtin.Pod, "default/a");
  await cluster.settled();
  assertEquals(cluster.names(builtin.ResourceClaim), []);
});
