import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { readyOf, selectorFor, templateOf, TestCluster } from "./testing/test_cluster.ts";

const { StatefulSet, Pod, PersistentVolumeClaim } = builtin;
const key = "default/db";

async function deploy(cluster: TestCluster, spec: object = {}): Promise<void> {
  const whole = { replicas: 3, serviceName: "db", selector: selectorFor("db"), template: templateOf("db"), ...spec };
  await cluster.create(StatefulSet, "db", { spec: whole });
}

test("a StatefulSet creates its Pods in order, each when the previous one is ready", async () => {
  await using cluster = await TestCluster.start({ pace: { startMs: 1_000 } });
  await deploy(cluster);
  const unready: number[] = [];
  await cluster.settled(() => unready.push(cluster.list(Pod).length - readyOf(cluster.list(Pod))));
  assertEquals(cluster.names(Pod), ["db-0", "db-1", "db-2"]);
  assert(Math.max(...unready) === 1, "one at a time");
  const pod = cluster.get(Pod, "default/db-1");
  assertEquals([pod.spec.hostname, pod.spec.subdomain], ["db-1", "db"]);
  assertEquals(pod.metadata.labels?.["apps.kubernetes.io/pod-index"], "1");
});

test("scaling down deletes the Pods with the highest numbers first and keeps their claims", async () => {
  await using cluster = await TestCluster.start();
  const claim = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  await deploy(cluster, { volumeClaimTemplates: [claim] });
  await cluster.settled();
  await cluster.patch(StatefulSet, key, { spec: { replicas: 1 } });
  await cluster.settled();
  assertEquals(cluster.deleted(Pod), ["db-2", "db-1"]);
  assertEquals(cluster.names(PersistentVolumeClaim), ["data-db-0", "data-db-1", "data-db-2"]);
  assertEquals(cluster.get(StatefulSet, key).status?.replicas, 1);
});

test("an update replaces Pods from the highest number down to the partition", async () => {
  await using cluster = await TestCluster.start({ pace: { startMs: 500 } });
  await deploy(cluster, { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } } });
  await cluster.settled();
  await cluster.patch(StatefulSet, key, { spec: { template: templateOf("db", "app:2") } });
  await cluster.settled();
  assertEquals(cluster.deleted(Pod), ["db-2", "db-1"]);
  const images = () => cluster.list(Pod).map(({ spec }) => spec.containers[0]?.image);
  assertEquals(images(), ["app:1", "app:2", "app:2"]);
  const { currentRevision, updateRevision, updatedReplicas } = cluster.get(StatefulSet, key).status ?? {};
  assertEquals([currentRevision === updateRevision, updatedReplicas], [false, 2]);
  await cluster.patch(StatefulSet, key, { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
  await cluster.settled();
  assertEquals(images(), ["app:2", "app:2", "app:2"]);
  const { status } = cluster.get(StatefulSet, key);
  assertEquals(status?.currentRevision, status?.updateRevision);
});

test("with OnDelete a Pod gets the new template only after a user has deleted it", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster, { updateStrategy: { type: "OnDelete" } });
  await cluster.settled();
  await cluster.patch(StatefulSet, key, { spec: { template: templateOf("db", "app:2") } });
  await cluster.settled();
  await cluster.delete(Pod, "default/db-1");
  await cluster.settled();
  assertEquals(cluster.list(Pod).map(({ spec }) => spec.containers[0]?.image), ["app:1", "app:2", "app:1"]);
});

test("with podManagementPolicy Parallel all Pods are created at once", async () => {
  await using cluster = await TestCluster.start({ pace: { startMs: 1_000 } });
  await deploy(cluster, { podManagementPolicy: "Parallel" });
  let max = 0;
  await cluster.settled(() => max = Math.max(max, cluster.list(Pod).length - readyOf(cluster.list(Pod))));
  assertEquals([max, readyOf(cluster.list(Pod))], [3, 3]);
});

test("a deleted Pod is created again with the same name", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster);
  await cluster.settled();
  const { uid } = cluster.get(Pod, "default/db-1").metadata;
  await cluster.delete(Pod, "default/db-1");
  await cluster.settled();
  assert(cluster.get(Pod, "default/db-1").metadata.uid !== uid);
});

const partitioned = (partition: number) => ({
  updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition } },
});

test("a deleted Pod below the partition is created again with the template of before the update", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster, partitioned(2));
  await cluster.settled();
  await cluster.patch(StatefulSet, key, { spec: { template: templateOf("db", "app:2") } });
  await cluster.settled();
  await cluster.delete(Pod, "default/db-0");
  await cluster.settled();
  assertEquals(cluster.list(Pod).map(({ spec }) => spec.containers[0]?.image), ["app:1", "app:1", "app:2"]);
  const { currentReplicas, updatedReplicas } = cluster.get(StatefulSet, key).status ?? {};
  assertEquals([currentReplicas, updatedReplicas], [2, 1]);
});

test("with OnDelete the current revision stays, as no update is carried out", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster, { replicas: 1, updateStrategy: { type: "OnDelete" } });
  await cluster.settled();
  await cluster.patch(StatefulSet, key, { spec: { template: templateOf("db", "app:2") } });
  await cluster.delete(Pod, "default/db-0");
  await cluster.settled();
  const { currentRevision, updateRevision, currentReplicas, updatedReplicas } = cluster.get(StatefulSet, key).status ??
    {};
  assertEquals([currentRevision === updateRevision, currentReplicas, updatedReplicas], [false, undefined, 1]);
});

test("with podManagementPolicy Parallel a correct template replaces Pods that never become ready", async () => {
  await using cluster = await TestCluster.start();
  const unschedulable = templateOf("db", "app:1", { nodeSelector: { disk: "none" } });
  await deploy(cluster, { podManagementPolicy: "Parallel", template: unschedulable });
  await cluster.settled();
  assertEquals(readyOf(cluster.list(Pod)), 0);
  await cluster.patch(StatefulSet, key, { spec: { template: { spec: { nodeSelector: null } } } });
  await cluster.settled();
  assertEquals(readyOf(cluster.list(Pod)), 3);
});

test("minReadySeconds delays the next Pod", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster, { replicas: 2, minReadySeconds: 30 });
  await cluster.pass(20_000, undefined, 1_000);
  assertEquals([cluster.names(Pod), cluster.get(StatefulSet, key).status?.availableReplicas], [["db-0"], 0]);
  await cluster.pass(60_000, undefined, 1_000);
  assertEquals([cluster.names(Pod), cluster.get(StatefulSet, key).status?.availableReplicas], [["db-0", "db-1"], 2]);
});

test("a Pod that matches the selector under another name is neither adopted nor deleted", async () => {
  await using cluster = await TestCluster.start();
  for (const name of ["other-7", "lone"]) {
    await cluster.create(Pod, name, { spec: { containers: [{ name: "main", image: "app:1" }] } }, {
      labels: { app: "db" },
    });
  }
  await deploy(cluster, { replicas: 1 });
  await cluster.settled();
  assertEquals(cluster.names(Pod), ["db-0", "lone", "other-7"]);
  assertEquals(cluster.get(Pod, "default/other-7").metadata.ownerReferences, undefined);
  assertEquals(cluster.get(StatefulSet, key).status?.replicas, 1);
});

test("revisionHistoryLimit limits the number of old ControllerRevisions", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster, { replicas: 1, revisionHistoryLimit: 1 });
  for (const image of ["app:2", "app:3", "app:4"]) {
    await cluster.settled();
    await cluster.patch(StatefulSet, key, { spec: { template: templateOf("db", image) } });
  }
  await cluster.settled();
  const { items } = await cluster.client.list(builtin.ControllerRevision, { namespace: "default" });
  assertEquals(items.map(({ revision }) => revision).toSorted(), [3, 4]);
});
