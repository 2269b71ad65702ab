import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { selectorFor, TestCluster } from "./testing/test_cluster.ts";

const { Deployment, Event, HorizontalPodAutoscaler, ReplicationController } = builtin;
const key = "default/web";
const annotation = "pintle.dev/metrics";

const cpuHalf = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
};

async function start(
  { metrics, replicas = 1, ...spec }: {
    readonly metrics?: object;
    readonly replicas?: number;
    readonly [field: string]: unknown;
  },
): Promise<TestCluster> {
  const cluster = await TestCluster.start();
  const containers = [{ name: "main", image: "app:1", resources: { requests: { cpu: "100m", memory: "100Mi" } } }];
  const template = { metadata: { labels: { app: "web" } }, spec: { containers } };
  await cluster.create(Deployment, "web", { spec: { replicas, selector: selectorFor("web"), template } });
  await cluster.settled();
  const annotations = metrics === undefined ? {} : { annotations: { [annotation]: JSON.stringify(metrics) } };
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  const whole = { scaleTargetRef, maxReplicas: 10, metrics: [cpuHalf], ...spec };
  await cluster.create(HorizontalPodAutoscaler, "web", { spec: whole }, annotations);
  await cluster.settled();
  return cluster;
}

async function load(cluster: TestCluster, metrics: object): Promise<void> {
  await cluster.patch(HorizontalPodAutoscaler, key, {
    metadata: { annotations: { [annotation]: JSON.stringify(metrics) } },
  });
  await cluster.settled();
}

async function seconds(cluster: TestCluster, count: number): Promise<void> {
  await cluster.pass(count * 1_000, undefined, 1_000);
}

const replicasOf = (cluster: TestCluster) => cluster.get(Deployment, key).spec.replicas;

const conditionsOf = (cluster: TestCluster, name = "web") =>
  Object.fromEntries(
    (cluster.get(HorizontalPodAutoscaler, `default/${name}`).status?.conditions ?? []).map((one) => [
      one.type,
      `${one.status} ${one.reason}`,
    ]),
  );

const messageOf = (cluster: TestCluster, type: string) =>
  cluster.get(HorizontalPodAutoscaler, key).status?.conditions?.find((one) => one.type === type)?.message;

const notesOf = (cluster: TestCluster, reason: string) =>
  cluster.list(Event).filter((event) => event.reason === reason).map(({ note }) => note);

test("an autoscaler scales up in steps of the original until its metric is at the target, and reports it", async () => {
  await using cluster = await start({ metrics: { cpu: "300m" } });
  assertEquals(replicasOf(cluster), 4);
  assertEquals(conditionsOf(cluster)["ScalingLimited"], "True ScaleUpLimit");
  await seconds(cluster, 60);
  assertEquals(replicasOf(cluster), 6);
  const { status } = cluster.get(HorizontalPodAutoscaler, key);
  assertEquals([status?.currentReplicas, status?.desiredReplicas], [6, 6]);
  assertEquals(status?.currentMetrics, [{
    type: "Resource",
    resource: { name: "cpu", current: { averageUtilization: 50, averageValue: "50m" } },
  }]);
  assertEquals(conditionsOf(cluster), {
    AbleToScale: "True ReadyForNewScale",
    ScalingActive: "True ValidMetricFound",
    ScalingLimited: "False DesiredWithinRange",
  });
  assertEquals(notesOf(cluster, "SuccessfulRescale").toSorted(), [
    "New size: 4; reason: cpu resource utilization (percentage of request) above target",
    "New size: 6; reason: cpu resource utilization (percentage of request) above target",
  ]);
});

test("an autoscaler scales down when the highest recommendation is five minutes old", async () => {
  await using cluster = await start({ metrics: { cpu: "300m" } });
  await seconds(cluster, 60);
  await load(cluster, { cpu: "100m" });
  assertEquals(conditionsOf(cluster)["AbleToScale"], "True ScaleDownStabilized");
  await seconds(cluster, 200);
  assertEquals(replicasOf(cluster), 6);
  await seconds(cluster, 150);
  assertEquals([
    replicasOf(cluster),
    notesOf(cluster, "SuccessfulRescale").includes("New size: 2; reason: All metrics below target"),
  ], [2, true]);
});

test("a metric within the tolerance of 10 percent changes nothing, and behavior sets another tolerance", async () => {
  await using cluster = await start({ metrics: { cpu: "108m" }, replicas: 2 });
  await seconds(cluster, 30);
  assertEquals(replicasOf(cluster), 2);
  await cluster.patch(HorizontalPodAutoscaler, key, { spec: { behavior: { scaleUp: { tolerance: "0.01" } } } });
  await cluster.settled();
  assertEquals(replicasOf(cluster), 3);
});

test("policies limit the rate, and the window for more takes the lowest recommendation", async () => {
  const scaleUp = { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }], stabilizationWindowSeconds: 0 };
  const scaleDown = { policies: [{ type: "Percent", value: 50, periodSeconds: 60 }], stabilizationWindowSeconds: 0 };
  await using cluster = await start({ metrics: { cpu: "1" }, behavior: { scaleUp, scaleDown } });
  assertEquals([replicasOf(cluster), conditionsOf(cluster)["ScalingLimited"]], [2, "True ScaleUpLimit"]);
  await seconds(cluster, 50);
  assertEquals(replicasOf(cluster), 2);
  await seconds(cluster, 200);
  const before = replicasOf(cluster) ?? 0;
  assert(before === 5 || before === 6, `${before}`);
  await load(cluster, { cpu: "10m" });
  assertEquals([replicasOf(cluster), conditionsOf(cluster)["ScalingLimited"]], [
    2,
    "True ScaleDownLimit",
  ]);
  await seconds(cluster, 200);
  assertEquals([replicasOf(cluster), conditionsOf(cluster)["ScalingLimited"]], [1, "False DesiredWithinRange"]);
  await cluster.patch(HorizontalPodAutoscaler, key, {
    spec: { behavior: { scaleUp: { stabilizationWindowSeconds: 120 } } },
  });
  await load(cluster, { cpu: "1" });
  assertEquals([replicasOf(cluster), conditionsOf(cluster)["AbleToScale"]], [1, "True ScaleUpStabilized"]);
});

test("without the annotation an autoscaler reports what one without a metrics server reports", async () => {
  await using cluster = await start({});
  const why = "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from " +
    "resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)";
  assertEquals(conditionsOf(cluster), {
    AbleToScale: "True SucceededGetScale",
    ScalingActive: "False FailedGetResourceMetric",
  });
  assertEquals(messageOf(cluster, "ScalingActive"), `the HPA was unable to compute the replica count: ${why}`);
  assertEquals(notesOf(cluster, "FailedGetResourceMetric"), [why]);
  assertEquals(notesOf(cluster, "FailedComputeMetricsReplicas"), [
    `invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: ${why}`,
  ]);
  assertEquals([replicasOf(cluster), cluster.get(HorizontalPodAutoscaler, key).status?.currentReplicas], [1, 1]);
});

test("metrics of Pods, objects and outside, and of containers, are read from the annotation too", async () => {
  const target = { type: "AverageValue", averageValue: "10" };
  const describedObject = { apiVersion: "v1", kind: "Service", name: "web" };
  await using cluster = await start({
    metrics: { requests: "20", queue: "25", hits: "30", "main/memory": "100Mi" },
    replicas: 2,
  });
  const metrics = [
    { type: "Pods", pods: { metric: { name: "requests" }, target } },
    { type: "External", external: { metric: { name: "queue" }, target } },
    { type: "Object", object: { metric: { name: "hits" }, describedObject, target: { type: "Value", value: "15" } } },
    {
      type: "ContainerResource",
      containerResource: { name: "memory", container: "main", target: { type: "AverageValue", averageValue: "50Mi" } },
    },
  ];
  await cluster.patch(HorizontalPodAutoscaler, key, { spec: { metrics } });
  await cluster.settled();
  const { status } = cluster.get(HorizontalPodAutoscaler, key);
  assertEquals(
    status?.currentMetrics?.map((one) => (one.pods ?? one.external ?? one.object ?? one.containerResource)?.current),
    [{ averageValue: "10" }, { averageValue: "12500m" }, { value: "30" }, { averageValue: "50Mi" }],
  );
  // Two ready Pods and twice the value of the object ask for most.
  assertEquals(replicasOf(cluster), 4);
  assertEquals(notesOf(cluster, "SuccessfulRescale"), ["New size: 4; reason: Service metric hits above target"]);
});

test("while one metric cannot be read, the others may scale up but not down", async () => {
  const missing = { type: "External", external: { metric: { name: "queue" }, target: { type: "Value", value: "1" } } };
  await using cluster = await start({ replicas: 4, metrics: { cpu: "20m" } });
  await cluster.patch(HorizontalPodAutoscaler, key, { spec: { metrics: [cpuHalf, missing] } });
  await seconds(cluster, 400);
  assertEquals([replicasOf(cluster), conditionsOf(cluster)["ScalingActive"]], [4, "False FailedGetExternalMetric"]);
  assertMatch(
    messageOf(cluster, "ScalingActive") ?? "",
    /failed to get external metric queue: unable to get external metric default\/queue\/nil: no metrics returned from ext/,
  );
  await load(cluster, { cpu: "300m" });
  assertEquals([replicasOf(cluster), conditionsOf(cluster)["ScalingActive"]], [6, "True ValidMetricFound"]);
});

test("limits count without a metric, zero replicas disable scaling, and a missing target is reported", async () => {
  await using cluster = await start({ replicas: 5, maxReplicas: 3 });
  assertEquals([replicasOf(cluster), notesOf(cluster, "SuccessfulRescale")], [3, [
    "New size: 3; reason: Current number of replicas above Spec.MaxReplicas",
  ]]);
  await cluster.patch(Deployment, key, { spec: { replicas: 0 } });
  await seconds(cluster, 20);
  assertEquals([replicasOf(cluster), conditionsOf(cluster)["ScalingActive"]], [0, "False ScalingDisabled"]);
  await cluster.delete(Deployment, key);
  await seconds(cluster, 20);
  assertEquals(conditionsOf(cluster)["AbleToScale"], "False FailedGetScale");
  assertMatch(
    messageOf(cluster, "AbleToScale") ?? "",
    /unable to get the target's current scale: deployments.* not found$/,
  );
});

test("a ReplicationController is a target, and Pods of two autoscalers are ambiguous", async () => {
  await using cluster = await start({ metrics: { cpu: "50m" } });
  const spec = {
    scaleTargetRef: { kind: "ReplicationController", name: "old", apiVersion: "v1" },
    maxReplicas: 5,
    minReplicas: 2,
  };
  const template = { metadata: { labels: { app: "old" } }, spec: { containers: [{ name: "main", image: "app:1" }] } };
  await cluster.create(ReplicationController, "old", { spec: { replicas: 1, template } });
  await cluster.create(HorizontalPodAutoscaler, "old", { spec });
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  await cluster.create(HorizontalPodAutoscaler, "twin", {
    spec: { scaleTargetRef, maxReplicas: 5, metrics: [cpuHalf] },
  });
  await seconds(cluster, 20);
  assertEquals(cluster.get(ReplicationController, "default/old").spec?.replicas, 2);
  assertEquals(conditionsOf(cluster, "twin")["ScalingActive"], "False AmbiguousSelector");
  assertEquals(conditionsOf(cluster)["ScalingActive"], "False AmbiguousSelector");
  assert(
    notesOf(cluster, "AmbiguousSelector").includes(
      "pods by selector app=web are controlled by multiple HPAs: [default/twin default/web]",
    ),
  );
});
