import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { TestCluster } from "./testing/test_cluster.ts";

const { PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet, StorageClass } = builtin;

interface ClaimOptions {
  readonly size?: string;
  readonly modes?: readonly string[];
  readonly spec?: object;
}

/** A claim; without a class unless `spec` has one. */
function claim({ size = "1Gi", modes = ["ReadWriteOnce"], spec = {} }: ClaimOptions = {}) {
  return { spec: { accessModes: modes, resources: { requests: { storage: size } }, storageClassName: "", ...spec } };
}

function volume({ size = "1Gi", modes = ["ReadWriteOnce"], spec = {} }: ClaimOptions = {}) {
  return { spec: { accessModes: modes, capacity: { storage: size }, hostPath: { path: "/srv/data" }, ...spec } };
}

function podWith(...claims: readonly string[]) {
  const volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
  return { spec: { containers: [{ name: "main", image: "app:1" }], volumes } };
}

/** The phase of a claim and the volume that it has. */
function boundTo(cluster: TestCluster, name: string): string {
  const { spec, status } = cluster.get(PersistentVolumeClaim, `default/${name}`);
  return `${status?.phase} ${spec.volumeName ?? "-"}`;
}

function phaseOf(cluster: TestCluster, name: string): string | undefined {
  return cluster.find(PersistentVolume, name)?.status?.phase;
}

function reasonsFor(cluster: TestCluster, name: string): readonly string[] {
  return cluster.list(builtin.Event).filter(({ regarding }) => regarding?.name === name)
    .map(({ reason, note }) => `${reason}: ${note}`);
}

test("a claim is bound to the smallest volume that fits, and both name each other", async () => {
  await using cluster = await TestCluster.start();
  const volumes = {
    "a-large": volume({ size: "10Gi" }),
    "b-fits": volume({ size: "2048Mi" }),
    "c-small": volume({ size: "1Gi" }),
    "d-shared": volume({ size: "2Gi", modes: ["ReadOnlyMany", "ReadWriteOnce"] }),
    "e-class": volume({ size: "2Gi", spec: { storageClassName: "fast" } }),
    "f-block": volume({ size: "2Gi", spec: { volumeMode: "Block" } }),
  };
  for (const [name, body] of Object.entries(volumes)) await cluster.create(PersistentVolume, name, body);
  await cluster.settled();
  assertEquals(phaseOf(cluster, "a-large"), "Available");
  await cluster.create(PersistentVolumeClaim, "a", claim({ size: "1500Mi" }));
  await cluster.settled();
  const bound = cluster.get(PersistentVolumeClaim, "default/a");
  assertEquals(boundTo(cluster, "a"), "Bound b-fits");
  assertEquals(bound.status?.capacity, { storage: "2Gi" });
  assertEquals(bound.status?.accessModes, ["ReadWriteOnce"]);
  assertEquals(bound.metadata.annotations, {
    "pv.kubernetes.io/bind-completed": "yes",
    "pv.kubernetes.io/bound-by-controller": "yes",
  });
  const { metadata, spec, status } = cluster.get(PersistentVolume, "b-fits");
  assertEquals([spec.claimRef?.name, spec.claimRef?.uid, status?.phase], ["a", bound.metadata.uid, "Bound"]);
  assertEquals(metadata.annotations, { "pv.kubernetes.io/bound-by-controller": "yes" });
  await cluster.create(PersistentVolumeClaim, "b", claim({ modes: ["ReadOnlyMany"] }));
  await cluster.create(PersistentVolumeClaim, "c", claim({ spec: { storageClassName: "fast" } }));
  await cluster.create(PersistentVolumeClaim, "d", claim({ modes: ["ReadWriteMany"] }));
  await cluster.settled();
  assertEquals(["b", "c", "d"].map((name) => boundTo(cluster, name)), ["Bound d-shared", "Bound e-class", "Pending -"]);
});

test("a claim waits for a volume that its selector selects", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(PersistentVolume, "a", volume());
  await cluster.create(PersistentVolumeClaim, "a", claim({ spec: { selector: { matchLabels: { disk: "ssd" } } } }));
  await cluster.settled();
  assertEquals(boundTo(cluster, "a"), "Pending -");
  assertEquals(reasonsFor(cluster, "a"), [
    "FailedBinding: no persistent volumes available for this claim and no storage class is set",
  ]);
  await cluster.create(PersistentVolume, "b", volume(), { labels: { disk: "ssd" } });
  await cluster.settled();
  assertEquals(boundTo(cluster, "a"), "Bound b");
});

test("a claim gets the volume that it names, or that is reserved for it, and no other", async () => {
  await using cluster = await TestCluster.start();
  const claimRef = { namespace: "default", name: "reserved" };
  await cluster.create(PersistentVolume, "a", volume({ size: "9Gi", spec: { claimRef } }));
  await cluster.create(PersistentVolume, "b", volume());
  await cluster.create(PersistentVolumeClaim, "named", claim({ spec: { volumeName: "b" } }));
  await cluster.settled();
  await cluster.create(PersistentVolumeClaim, "late", claim({ spec: { volumeName: "b" } }));
  await cluster.create(PersistentVolumeClaim, "missing", claim({ spec: { volumeName: "none" } }));
  await cluster.create(PersistentVolumeClaim, "reserved", claim());
  await cluster.settled();
  assertEquals(boundTo(cluster, "named"), "Bound b");
  assertEquals(boundTo(cluster, "late"), "Pending b");
  assertEquals(boundTo(cluster, "missing"), "Pending none");
  assertEquals(boundTo(cluster, "reserved"), "Bound a");
  // The user chose them, not the controller.
  assertEquals(cluster.get(PersistentVolume, "a").metadata.annotations, undefined);
  const { annotations } = cluster.get(PersistentVolumeClaim, "default/named").metadata;
  assertEquals(annotations, { "pv.kubernetes.io/bind-completed": "yes" });
  assertEquals(
    reasonsFor(cluster, "late").includes('FailedBinding: volume "b" already bound to a different claim.'),
    true,
  );
});

test("a volume that is too small for the claim that names it is not bound", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(PersistentVolume, "a", volume());
  await cluster.create(PersistentVolumeClaim, "a", claim({ size: "2Gi", spec: { volumeName: "a" } }));
  await cluster.settled();
  assertEquals(boundTo(cluster, "a"), "Pending a");
  assertEquals(reasonsFor(cluster, "a"), [
    'VolumeMismatch: Cannot bind to requested volume "a": requested PV is too small',
  ]);
});

test("the volume of a deleted claim is reclaimed by its policy", async () => {
  await using cluster = await TestCluster.start();
  const policies = {
    retained: { persistentVolumeReclaimPolicy: "Retain" },
    deleted: { persistentVolumeReclaimPolicy: "Delete", hostPath: { path: "/tmp/data" } },
    failed: { persistentVolumeReclaimPolicy: "Delete" },
    recycled: { persistentVolumeReclaimPolicy: "Recycle" },
  };
  for (const [name, spec] of Object.entries(policies)) {
    await cluster.create(PersistentVolume, name, volume({ spec }));
    await cluster.create(PersistentVolumeClaim, name, claim({ spec: { volumeName: name } }));
  }
  await cluster.settled();
  assertEquals(Object.keys(policies).map((name) => boundTo(cluster, name)), [
    "Bound retained",
    "Bound deleted",
    "Bound failed",
    "Bound recycled",
  ]);
  for (const name of Object.keys(policies)) await cluster.delete(PersistentVolumeClaim, `default/${name}`);
  await cluster.settled();
  const phases = Object.keys(policies).map((name) => phaseOf(cluster, name));
  assertEquals(phases, ["Released", undefined, "Failed", "Available"]);
  await cluster.create(PersistentVolumeClaim, "next", claim());
  await cluster.settled();
  assertEquals(boundTo(cluster, "next"), "Bound recycled");
});

test("a claim whose volume is gone is lost", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(PersistentVolume, "a", volume());
  await cluster.create(PersistentVolumeClaim, "a", claim());
  await cluster.settled();
  await cluster.delete(PersistentVolume, "a");
  await cluster.settled();
  assertEquals([boundTo(cluster, "a"), phaseOf(cluster, "a")], ["Bound a", "Bound"]);
  await cluster.patch(PersistentVolume, "a", { metadata: { finalizers: null } });
  await cluster.settled();
  assertEquals(boundTo(cluster, "a"), "Lost a");
  const lost = "ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!";
  assertEquals(reasonsFor(cluster, "a").includes(lost), true);
});

test("a claim of a class that binds at once is provisioned, and its volume is deleted with it", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(PersistentVolumeClaim, "a", claim({ spec: { storageClassName: "fast" } }));
  await cluster.settled();
  assertEquals(reasonsFor(cluster, "a"), ['ProvisioningFailed: storageclass.storage.k8s.io "fast" not found']);
  await cluster.create(StorageClass, "fast", { provisioner: "rancher.io/local-path", volumeBindingMode: "Immediate" });
  await cluster.settled();
  const { uid } = cluster.get(PersistentVolumeClaim, "default/a").metadata;
  assertEquals(boundTo(cluster, "a"), `Bound pvc-${uid}`);
  const { metadata, spec } = cluster.get(PersistentVolume, `pvc-${uid}`);
  assertEquals(metadata.annotations?.["pv.kubernetes.io/provisioned-by"], "rancher.io/local-path");
  assertEquals([spec.capacity, spec.storageClassName, spec.persistentVolumeReclaimPolicy], [
    { storage: "1Gi" },
    "fast",
    "Delete",
  ]);
  await cluster.delete(PersistentVolumeClaim, "default/a");
  await cluster.settled();
  assertEquals(cluster.find(PersistentVolume, `pvc-${uid}`), undefined);
});

test("a claim of another provisioner is left to it", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(StorageClass, "other", { provisioner: "example.com/disk" });
  await cluster.create(PersistentVolumeClaim, "a", claim({ spec: { storageClassName: "other" } }));
  await cluster.create(Pod, "a", podWith("a"));
  await cluster.settled();
  assertEquals(boundTo(cluster, "a"), "Pending -");
  const { annotations } = cluster.get(PersistentVolumeClaim, "default/a").metadata;
  assertEquals(annotations?.["volume.kubernetes.io/storage-provisioner"], "example.com/disk");
  const { conditions } = cluster.get(Pod, "default/a").status ?? {};
  assertEquals(
    conditions?.find(({ type }) => type === "PodScheduled")?.message,
    "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
  );
});

test("a claim of the default class gets a volume on the node of its first Pod", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(PersistentVolumeClaim, "a", claim({ spec: { storageClassName: undefined } }));
  await cluster.settled();
  assertEquals(cluster.get(PersistentVolumeClaim, "default/a").spec.storageClassName, "standard");
  assertEquals(boundTo(cluster, "a"), "Pending -");
  await cluster.create(Pod, "a", podWith("a"));
  await cluster.settled();
  const { metadata: { uid, annotations } } = cluster.get(PersistentVolumeClaim, "default/a");
  assertEquals(boundTo(cluster, "a"), `Bound pvc-${uid}`);
  const { spec: { nodeName }, status } = cluster.get(Pod, "default/a");
  assertEquals([annotations?.["volume.kubernetes.io/selected-node"], status?.phase], [`${nodeName}`, "Running"]);
  // Another Pod with the claim runs where the volume is.
  await cluster.create(Pod, "b", podWith("a"));
  await cluster.settled();
  assertEquals(cluster.get(Pod, "default/b").spec.nodeName, nodeName);
  await cluster.patch(builtin.Node, `${nodeName}`, { spec: { unschedulable: true } });
  await cluster.create(Pod, "c", podWith("a"));
  await cluster.settled();
  assertEquals(
    cluster.get(Pod, "default/c").status?.conditions?.find(({ type }) => type === "PodScheduled")?.message,
    "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match PersistentVolume's node affinity.",
  );
});

test("a Pod gets the volumes of one node, if its claims wait for it and nothing provisions them", async () => {
  await using cluster = await TestCluster.start();
  const local = { provisioner: "kubernetes.io/no-provisioner", volumeBindingMode: "WaitForFirstConsumer" };
  await cluster.create(StorageClass, "local", local);
  for (const [name, node] of [["a", "node-1"], ["b", "node-2"], ["c", "node-2"]] as const) {
    const terms = [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] }];
    const spec = { storageClassName: "local", nodeAffinity: { required: { nodeSelectorTerms: terms } } };
    await cluster.create(PersistentVolume, name, volume({ spec }));
  }
  for (const name of ["x", "y"]) {
    await cluster.create(PersistentVolumeClaim, name, claim({ spec: { storageClassName: "local" } }));
  }
  await cluster.settled();
  assertEquals(["x", "y"].map((name) => boundTo(cluster, name)), ["Pending -", "Pending -"]);
  await cluster.create(Pod, "a", podWith("x", "y"));
  await cluster.settled();
  assertEquals(["x", "y"].map((name) => boundTo(cluster, name)), ["Bound b", "Bound c"]);
  assertEquals(cluster.get(Pod, "default/a").spec.nodeName, "node-2");
});

test("a Pod waits for a claim that does not exist yet", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(Pod, "a", podWith("a"));
  await cluster.settled();
  const condition = () => cluster.get(Pod, "default/a").status?.conditions?.find(({ type }) => type === "PodScheduled");
  assertEquals(condition()?.message, '0/3 nodes are available: persistentvolumeclaim "a" not found.');
  await cluster.create(PersistentVolumeClaim, "a", claim({ spec: { storageClassName: undefined } }));
  await cluster.settled();
  assertEquals(condition()?.status, "True");
});

test("a StatefulSet with claims comes up, and keeps its volumes when its Pods are created again", async () => {
  await using cluster = await TestCluster.start();
  const labels = { app: "db" };
  const { storageClassName: _none, ...spec } = claim().spec;
  await cluster.create(StatefulSet, "db", {
    spec: {
      serviceName: "db",
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "db:1" }] } },
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec }],
    },
  });
  await cluster.settled();
  assertEquals(cluster.get(StatefulSet, "default/db").status?.readyReplicas, 2);
  const claims = () => ["data-db-0", "data-db-1"].map((name) => boundTo(cluster, name));
  const before = claims();
  assertEquals(before.map((text) => text.slice(0, 9)), ["Bound pvc", "Bound pvc"]);
  const { nodeName } = cluster.get(Pod, "default/db-0").spec;
  await cluster.delete(Pod, "default/db-0");
  await cluster.settled();
  assertEquals(claims(), before);
  assertEquals(cluster.get(Pod, "default/db-0").spec.nodeName, nodeName);
});
