import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { ClusterRig, readyOf, selectorFor, templateOf } from "./cluster_rig.ts";

const { StatefulSet, Pod, PersistentVolumeClaim } = builtin;
const key = "default/db";

async function deploy(cluster: ClusterRig, spec: object = {}): Promise<void> {
  const whole = { replicas: 3, serviceName: "db", selector: selectorFor("db"), template: templateOf("db"), ...spec };
  await cluster.create(StatefulSet, "db", { spec: whole });
}

test("Pods of a StatefulSet come one after the other, each when the one before is ready", async () => {
  await using cluster = await ClusterRig.start({ pace: { startMs: 1_000 } });
  await deploy(cluster);
  const unready: number[] = [];
  await cluster.settled(() => unready.push(cluster.list(Pod).length - readyOf(cluster.list(Pod))));
  assertEquals(cluster.names(Pod), ["db-0", "db-1", "db-2"]);
  assert(Math.max(...unready) === 1, "one at a time");
  const pod = cluster.get(Pod, "default/db-1");
  assertEquals([pod.spec.hostname, pod.spec.subdomain], ["db-1", "db"]);
  assertEquals(pod.metadata.labels?.["apps.kubernetes.io/pod-index"], "1");
});

test("scaled down, the Pod with the highest number goes first, and a claim stays", async () => {
  await using cluster = await ClusterRig.start();
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

test("an update replaces Pods from the highest number down, and stops at the partition", async () => {
  await using cluster = await ClusterRig.start({ pace: { startMs: 500 } });
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

test("with OnDelete a Pod is of the new template only when somebody deletes it", async () => {
  await using cluster = await ClusterRig.start();
  await deploy(cluster, { updateStrategy: { type: "OnDelete" } });
  await cluster.settled();
  await cluster.patch(StatefulSet, key, { spec: { template: templateOf("db", "app:2") } });
  await cluster.settled();
  await cluster.delete(Pod, "default/db-1");
  await cluster.settled();
  assertEquals(cluster.list(Pod).map(({ spec }) => spec.containers[0]?.image), ["app:1", "app:2", "app:1"]);
});

test("with podManagementPolicy Parallel nobody waits for the one before", async () => {
  await using cluster = await ClusterRig.start({ pace: { startMs: 1_000 } });
  await deploy(cluster, { podManagementPolicy: "Parallel" });
  let most = 0;
  await cluster.settled(() => most = Math.max(most, cluster.list(Pod).length - readyOf(cluster.list(Pod))));
  assertEquals([most, readyOf(cluster.list(Pod))], [3, 3]);
});

test("a Pod that was deleted comes back under its own name", async () => {
  await using cluster = await ClusterRig.start();
  await deploy(cluster);
  await cluster.settled();
  const { uid } = cluster.get(Pod, "default/db-1").metadata;
  await cluster.delete(Pod, "default/db-1");
  await cluster.settled();
  assert(cluster.get(Pod, "default/db-1").metadata.uid !== uid);
});
