import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin, type Infer } from "../api/mod.ts";
import { readyOf, selectorFor, templateOf, TestCluster } from "./testing/test_cluster.ts";

const { Deployment, Event, Pod, ReplicaSet, ReplicationController, ResourceQuota } = builtin;
const key = "default/web";

async function replicate(cluster: TestCluster, spec: object = {}): Promise<void> {
  await cluster.create(ReplicationController, "web", { spec: { replicas: 2, template: templateOf("web"), ...spec } });
  await cluster.settled();
}

function failureOf(
  status: Pick<NonNullable<Infer<typeof ReplicaSet>["status"]>, "conditions"> | undefined,
): readonly (string | undefined)[] | undefined {
  const found = status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  return found && [found.status, found.reason, found.message];
}

test("a ReplicationController gets Pods, counts them, and replaces a deleted one", async () => {
  await using cluster = await TestCluster.start();
  await replicate(cluster);
  const { status, metadata } = cluster.get(ReplicationController, key);
  assertEquals([status?.replicas, status?.readyReplicas, status?.availableReplicas], [2, 2, 2]);
  assertEquals([status?.fullyLabeledReplicas, status?.observedGeneration], [2, metadata.generation]);
  const [first] = cluster.list(Pod);
  assertEquals(first?.metadata.ownerReferences?.map(({ kind, name, controller }) => [kind, name, controller]), [
    ["ReplicationController", "web", true],
  ]);
  await cluster.delete(Pod, `default/${first?.metadata.name}`);
  await cluster.settled();
  assertEquals([readyOf(cluster.list(Pod)), cluster.names(Pod).includes(first?.metadata.name ?? "")], [2, false]);
});

test("a ReplicationController deletes surplus Pods, and all of them are deleted with it", async () => {
  await using cluster = await TestCluster.start();
  await replicate(cluster);
  await cluster.patch(ReplicationController, key, { spec: { replicas: 1 } });
  await cluster.settled();
  assertEquals([cluster.list(Pod).length, cluster.get(ReplicationController, key).status?.replicas], [1, 1]);
  await cluster.delete(ReplicationController, key, { propagationPolicy: "Background" });
  await cluster.settled();
  assertEquals(cluster.names(Pod), []);
});

test("the controller of ReplicationControllers reads nothing before there is one", async () => {
  await using cluster = await TestCluster.start({ collected: [Pod] });
  const path = "/api/v1/replicationcontrollers";
  assert(cluster.reads.has("/api/v1/services") && !cluster.reads.has(path));
  await replicate(cluster);
  assert(cluster.reads.has(path));
  await cluster.delete(ReplicationController, key, { propagationPolicy: "Background" });
  await cluster.settled();
  assertEquals(cluster.names(Pod), []);
});

test("a ReplicaSet and its Deployment report that a quota refuses Pods, until it no longer does", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(ResourceQuota, "q", { spec: { hard: { pods: "1" } } });
  await cluster.settled();
  const spec = { replicas: 2, selector: selectorFor("web"), template: templateOf("web") };
  await cluster.create(Deployment, "web", { spec });
  await cluster.settled();
  const [set] = cluster.list(ReplicaSet);
  const [status, reason, message] = failureOf(set?.status) ?? [];
  assertEquals([status, reason], ["True", "FailedCreate"]);
  assertMatch(
    message ?? "",
    /^pods "web-\w+-\w+" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, li/,
  );
  assertEquals(failureOf(cluster.get(Deployment, key).status), [status, reason, message]);
  assert(cluster.list(Event).some(({ note }) => note?.startsWith("Error creating: pods ")));

  await cluster.patch(ResourceQuota, "default/q", { spec: { hard: { pods: "9" } } });
  await cluster.pass(400_000, undefined, 1_000);
  assertEquals(readyOf(cluster.list(Pod)), 2);
  assertEquals(cluster.list(ReplicaSet).map((one) => failureOf(one.status)), [undefined]);
  assertEquals(failureOf(cluster.get(Deployment, key).status), undefined);
});
