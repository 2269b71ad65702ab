import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin, type Infer } from "../api/mod.ts";
import { templateOf, TestCluster } from "./testing/test_cluster.ts";

const { Job, Pod } = builtin;
const key = "default/sum";

async function run(cluster: TestCluster, spec: object = {}): Promise<void> {
  const template = templateOf("sum", "app:1", { restartPolicy: "Never" });
  await cluster.create(Job, "sum", { spec: { template, ...spec } });
}

function condition(cluster: TestCluster, type: string): string | undefined {
  return cluster.get(Job, key).status?.conditions?.find((one) => one.type === type && one.status === "True")?.reason;
}

const isRunning = ({ status }: Infer<typeof Pod>) => status?.phase !== "Succeeded" && status?.phase !== "Failed";

/** Sets every running Pod to Failed. */
async function failAll(cluster: TestCluster): Promise<void> {
  const finishedAt = new Date(cluster.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  const containerStatuses = [{
    name: "main",
    image: "app:1",
    imageID: "",
    ready: false,
    restartCount: 0,
    state: { terminated: { exitCode: 1, finishedAt } },
  }];
  for (const { metadata: { name } } of cluster.list(Pod).filter(isRunning)) {
    await cluster.patch(Pod, `default/${name}`, { status: { phase: "Failed", containerStatuses } }, "status");
  }
}

test("a Job runs at most parallelism Pods at a time, until completions is reached", async () => {
  await using cluster = await TestCluster.start({ pace: { runMs: 1_000 } });
  await run(cluster, { completions: 5, parallelism: 2 });
  let max = 0;
  await cluster.settled(() => max = Math.max(max, cluster.list(Pod).filter(isRunning).length));
  assertEquals([max, cluster.list(Pod).length], [2, 5]);
  const { status } = cluster.get(Job, key);
  assertEquals([status?.succeeded, status?.active], [5, undefined]);
  assert(status?.completionTime !== undefined);
  assertEquals([condition(cluster, "Complete"), condition(cluster, "SuccessCriteriaMet")], [
    "CompletionsReached",
    "CompletionsReached",
  ]);
});

test("an Indexed Job gives each completion its own index", async () => {
  await using cluster = await TestCluster.start();
  await run(cluster, { completions: 3, parallelism: 3, completionMode: "Indexed" });
  await cluster.settled();
  const indices = cluster.list(Pod).map(({ metadata }) =>
    metadata.annotations?.["batch.kubernetes.io/job-completion-index"]
  );
  assertEquals(indices.toSorted(), ["0", "1", "2"]);
  assertEquals(condition(cluster, "Complete"), "CompletionsReached");
});

test("a failed Pod is replaced after 10 s, the next one after 20 s; backoffLimit ends the retries", async () => {
  await using cluster = await TestCluster.start({ pace: { runMs: 3_600_000 } });
  await run(cluster, { backoffLimit: 2 });
  const pods = () => cluster.list(Pod).length;
  for (const [count, waitMs] of [[1, 10_000], [2, 20_000]] as const) {
    await cluster.pass(1_000);
    await failAll(cluster);
    await cluster.pass(waitMs - 2_000, undefined, 1_000);
    assertEquals(pods(), count);
    await cluster.pass(4_000, undefined, 1_000);
    assertEquals(pods(), count + 1);
  }
  await failAll(cluster);
  await cluster.pass(100_000, undefined, 1_000);
  assertEquals([pods(), condition(cluster, "Failed")], [3, "BackoffLimitExceeded"]);
  assertEquals(cluster.get(Job, key).status?.failed, 3);
});

test("a suspended Job has no Pods until it is resumed", async () => {
  await using cluster = await TestCluster.start();
  await run(cluster, { suspend: true });
  await cluster.settled();
  assertEquals(cluster.list(Pod).length, 0);
  await cluster.patch(Job, key, { spec: { suspend: false } });
  await cluster.settled();
  assertEquals(condition(cluster, "Complete"), "CompletionsReached");
});

test("ttlSecondsAfterFinished deletes a finished Job and its Pods", async () => {
  await using cluster = await TestCluster.start();
  await run(cluster, { ttlSecondsAfterFinished: 60 });
  await cluster.pass(50_000, undefined, 1_000);
  assertEquals(condition(cluster, "Complete"), "CompletionsReached");
  await cluster.pass(30_000, undefined, 1_000);
  assertEquals([cluster.find(Job, key), cluster.list(Pod)], [undefined, []]);
});

test("activeDeadlineSeconds fails a Job that runs too long, and deletes its Pods", async () => {
  await using cluster = await TestCluster.start({ pace: { runMs: 3_600_000 } });
  await run(cluster, { activeDeadlineSeconds: 30 });
  await cluster.pass(20_000, undefined, 1_000);
  assertEquals([cluster.list(Pod).length, condition(cluster, "Failed")], [1, undefined]);
  await cluster.pass(20_000, undefined, 1_000);
  assertEquals([cluster.list(Pod).length, condition(cluster, "Failed")], [0, "DeadlineExceeded"]);
});

test("a Pod of an Indexed Job knows its index, and the status has the completed ones", async () => {
  await using cluster = await TestCluster.start();
  await run(cluster, { completions: 5, parallelism: 5, completionMode: "Indexed" });
  await cluster.settled();
  assertEquals(cluster.get(Job, key).status?.completedIndexes, "0-4");
  const pod = cluster.list(Pod).find(({ metadata }) => metadata.name?.startsWith("sum-3-"));
  assertEquals(pod?.spec.hostname, "sum-3");
  const fieldRef = { apiVersion: "v1", fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" };
  assertEquals(pod?.spec.containers[0]?.env, [{ name: "JOB_COMPLETION_INDEX", valueFrom: { fieldRef } }]);
});

test("the Pod that replaces a terminating one of an Indexed Job has the same index", async () => {
  await using cluster = await TestCluster.start({ pace: { runMs: 3_600_000 } });
  await run(cluster, { completions: 2, parallelism: 2, completionMode: "Indexed" });
  await cluster.pass(5_000, undefined, 1_000);
  const first = cluster.list(Pod).find(({ metadata }) => metadata.name?.startsWith("sum-0-"))?.metadata.name;
  await cluster.patch(Pod, `default/${first}`, { metadata: { finalizers: ["example.dev/kept"] } });
  await cluster.delete(Pod, `default/${first}`, { gracePeriodSeconds: 600 });
  await cluster.pass(5_000, undefined, 1_000);
  const indices = cluster.list(Pod).map(({ metadata }) =>
    metadata.annotations?.["batch.kubernetes.io/job-completion-index"]
  );
  assertEquals(indices.toSorted(), ["0", "0", "1"]);
});

test("a lower parallelism deletes running Pods", async () => {
  await using cluster = await TestCluster.start({ pace: { runMs: 3_600_000 } });
  await run(cluster, { completions: 5, parallelism: 3 });
  await cluster.pass(5_000, undefined, 1_000);
  await cluster.patch(Job, key, { spec: { parallelism: 1 } });
  await cluster.pass(5_000, undefined, 1_000);
  assertEquals([cluster.list(Pod).length, cluster.get(Job, key).status?.active], [1, 1]);
});

test("the condition Suspended follows suspend, and a resumed Job starts anew", async () => {
  await using cluster = await TestCluster.start({ pace: { runMs: 3_600_000 } });
  await run(cluster);
  await cluster.pass(5_000, undefined, 1_000);
  const suspended = () => {
    const one = cluster.get(Job, key).status?.conditions?.find(({ type }) => type === "Suspended");
    return one === undefined ? undefined : [one.status, one.reason];
  };
  const firstStart = cluster.get(Job, key).status?.startTime;
  assertEquals(suspended(), undefined);
  await cluster.patch(Job, key, { spec: { suspend: true } });
  await cluster.pass(5_000, undefined, 1_000);
  assertEquals([suspended(), cluster.get(Job, key).status?.startTime], [["True", "JobSuspended"], undefined]);
  await cluster.patch(Job, key, { spec: { suspend: false } });
  await cluster.pass(5_000, undefined, 1_000);
  assertEquals(suspended(), ["False", "JobResumed"]);
  assert(cluster.get(Job, key).status?.startTime !== firstStart);
});

test("a Job that another controller manages is left alone", async () => {
  await using cluster = await TestCluster.start();
  await run(cluster, { managedBy: "example.dev/queue" });
  await cluster.settled();
  assertEquals([cluster.list(Pod), cluster.get(Job, key).status?.startTime], [[], undefined]);
});
