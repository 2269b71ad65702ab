import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { readyOf, selectorFor, templateOf, TestCluster } from "./testing/test_cluster.ts";

const { Deployment, ReplicaSet, Pod } = builtin;
const key = "default/web";

async function deploy(cluster: TestCluster, spec: object = {}): Promise<void> {
  const whole = { replicas: 4, selector: selectorFor("web"), template: templateOf("web"), ...spec };
  await cluster.create(Deployment, "web", { spec: whole });
  await cluster.settled();
}

const imageOf = (image: string) => ({ spec: { template: { spec: { containers: [{ name: "main", image }] } } } });

/** The desired replicas of each ReplicaSet, by revision. */
function replicasByRevision(cluster: TestCluster): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries(
    cluster.list(ReplicaSet)
      .map((set) => [set.metadata.annotations?.["deployment.kubernetes.io/revision"] ?? "", set.spec.replicas] as const)
      .toSorted(),
  );
}

test("a Deployment gets a ReplicaSet and Pods, and counts them in its status", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster);
  assertEquals([replicasByRevision(cluster), readyOf(cluster.list(Pod))], [{ 1: 4 }, 4]);
  const { status, metadata } = cluster.get(Deployment, key);
  assertEquals([status?.replicas, status?.updatedReplicas, status?.availableReplicas], [4, 4, 4]);
  assertEquals(status?.observedGeneration, metadata.generation);
  assertEquals(status?.conditions?.map(({ type, reason }) => `${type} ${reason}`).toSorted(), [
    "Available MinimumReplicasAvailable",
    "Progressing NewReplicaSetAvailable",
  ]);
});

test("a rolling update never has more Pods than maxSurge allows, nor fewer ready Pods than maxUnavailable allows", async () => {
  await using cluster = await TestCluster.start({ pace: { startMs: 2_000 } });
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 1 };
  await deploy(cluster, { strategy: { type: "RollingUpdate", rollingUpdate } });
  await cluster.patch(Deployment, key, imageOf("app:2"));
  const seen = new Set<string>();
  await cluster.settled(() => {
    const pods = cluster.list(Pod).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const { replicas = 0, availableReplicas = 0 } = cluster.get(Deployment, key).status ?? {};
    assert(pods.length <= 5, `${pods.length} Pods`);
    assert(readyOf(pods) >= 3, `${readyOf(pods)} ready`);
    assert(replicas <= 5 && availableReplicas >= 3);
    seen.add(JSON.stringify(replicasByRevision(cluster)));
  });
  assertEquals(replicasByRevision(cluster), { 1: 0, 2: 4 });
  assert(seen.size > 2, `it made several steps: ${[...seen].join(" ")}`);
  assert(cluster.list(Pod).every(({ spec }) => spec.containers[0]?.image === "app:2"));
});

test("an update whose Pods never become ready keeps enough old Pods, and reports the exceeded deadline", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster, { progressDeadlineSeconds: 30 });
  // No node has this label.
  await cluster.patch(Deployment, key, { spec: { template: { spec: { nodeSelector: { disk: "none" } } } } });
  await cluster.settled();
  assertEquals(readyOf(cluster.list(Pod)), 3);
  const reason = () =>
    cluster.get(Deployment, key).status?.conditions?.find(({ type }) => type === "Progressing")?.reason;
  assertEquals(reason(), "ReplicaSetUpdated");
  await cluster.pass(60_000, undefined, 1_000);
  const progressing = cluster.get(Deployment, key).status?.conditions?.find(({ type }) => type === "Progressing");
  assertEquals([progressing?.status, progressing?.reason], ["False", "ProgressDeadlineExceeded"]);
});

test("Recreate creates no new Pod before the last old one is deleted", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster, { strategy: { type: "Recreate" } });
  await cluster.patch(Deployment, key, imageOf("app:2"));
  await cluster.settled(() => {
    const images = new Set(cluster.list(Pod).map(({ spec }) => spec.containers[0]?.image));
    assert(images.size <= 1, "Pods of two templates exist");
  });
  assertEquals([replicasByRevision(cluster), readyOf(cluster.list(Pod))], [{ 1: 0, 2: 4 }, 4]);
});

test("scaling changes neither template nor revision; scaling to 0 leaves an empty ReplicaSet", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster);
  await cluster.patch(Deployment, key, { spec: { replicas: 6 } });
  await cluster.settled();
  assertEquals([replicasByRevision(cluster), readyOf(cluster.list(Pod))], [{ 1: 6 }, 6]);
  await cluster.patch(Deployment, key, { spec: { replicas: 0 } });
  await cluster.settled();
  assertEquals([replicasByRevision(cluster), cluster.list(Pod).length], [{ 1: 0 }, 0]);
});

test("an undo uses the old ReplicaSet again, with a new revision", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster);
  const [first] = cluster.names(ReplicaSet);
  await cluster.patch(Deployment, key, imageOf("app:2"));
  await cluster.settled();
  await cluster.patch(Deployment, key, imageOf("app:1"));
  await cluster.settled();
  assertEquals(replicasByRevision(cluster), { 2: 0, 3: 4 });
  assertEquals(cluster.get(ReplicaSet, `default/${first}`).spec.replicas, 4);
  assertEquals(cluster.get(Deployment, key).metadata.annotations?.["deployment.kubernetes.io/revision"], "3");
});

test("the ReplicaSet of an undo keeps its earlier revisions in an annotation", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster);
  for (const image of ["app:2", "app:1", "app:2", "app:1"]) {
    await cluster.patch(Deployment, key, imageOf(image));
    await cluster.settled();
  }
  const histories = cluster.list(ReplicaSet).map(({ metadata }) =>
    metadata.annotations?.["deployment.kubernetes.io/revision-history"]
  );
  assertEquals(histories.toSorted(), ["1,3", "2"]);
});

/** Begins a rollout whose Pods no node takes: 3 old Pods and 2 new ones remain. */
async function startStuckRollout(cluster: TestCluster): Promise<void> {
  await deploy(cluster);
  await cluster.patch(Deployment, key, { spec: { template: { spec: { nodeSelector: { disk: "none" } } } } });
  await cluster.settled();
  assertEquals(replicasByRevision(cluster), { 1: 3, 2: 2 });
}

test("scaling during a rollout gives each ReplicaSet its share, whether paused or not", async () => {
  for (const paused of [false, true]) {
    await using cluster = await TestCluster.start();
    await startStuckRollout(cluster);
    await cluster.patch(Deployment, key, { spec: { paused, replicas: 8 } });
    await cluster.settled();
    assertEquals(replicasByRevision(cluster), { 1: 6, 2: 4 });
  }
});

test("a pause during a rollout changes no ReplicaSet", async () => {
  await using cluster = await TestCluster.start();
  await startStuckRollout(cluster);
  await cluster.patch(Deployment, key, { spec: { paused: true } });
  await cluster.settled();
  assertEquals(replicasByRevision(cluster), { 1: 3, 2: 2 });
});

test("revisionHistoryLimit limits the number of old ReplicaSets", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster, { revisionHistoryLimit: 1 });
  for (const image of ["app:2", "app:3", "app:4"]) {
    await cluster.patch(Deployment, key, imageOf(image));
    await cluster.settled();
  }
  assertEquals(replicasByRevision(cluster), { 3: 0, 4: 4 });
});

test("a paused Deployment scales but does not roll out", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster);
  await cluster.patch(Deployment, key, { spec: { paused: true, replicas: 5, ...imageOf("app:2").spec } });
  await cluster.settled();
  assertEquals([replicasByRevision(cluster), readyOf(cluster.list(Pod))], [{ 1: 5 }, 5]);
  await cluster.patch(Deployment, key, { spec: { paused: false } });
  await cluster.settled();
  assertEquals(replicasByRevision(cluster), { 1: 0, 2: 5 });
});

test("a ReplicaSet without a controller is adopted and scaled down", async () => {
  await using cluster = await TestCluster.start();
  const labels = { app: "web", tier: "old" };
  const template = { ...templateOf("web"), metadata: { labels } };
  await cluster.create(ReplicaSet, "stray", { spec: { replicas: 1, selector: { matchLabels: labels }, template } }, {
    labels,
  });
  await cluster.settled();
  await deploy(cluster);
  const [owner] = cluster.get(ReplicaSet, "default/stray").metadata.ownerReferences ?? [];
  assertEquals([owner?.kind, owner?.name, owner?.controller], ["Deployment", "web", true]);
  assertEquals(cluster.get(ReplicaSet, "default/stray").spec.replicas, 0);
});

test("a settled cluster writes nothing for 10 minutes", async () => {
  await using cluster = await TestCluster.start();
  await deploy(cluster);
  const { revision } = cluster;
  await cluster.pass(600_000, undefined, 10_000);
  assertEquals(cluster.revision, revision);
});
