import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { selectorFor, templateOf, TestCluster } from "./testing/test_cluster.ts";

const { Deployment, Job, Node, PodDisruptionBudget, Pod } = builtin;
const key = "default/web";

async function start(budget: object, replicas = 4): Promise<TestCluster> {
  const cluster = await TestCluster.start();
  const spec = { replicas, selector: selectorFor("web"), template: templateOf("web") };
  await cluster.create(Deployment, "web", { spec });
  await cluster.create(PodDisruptionBudget, "web", { spec: { selector: selectorFor("web"), ...budget } });
  await cluster.settled();
  return cluster;
}

/** The budget's counts: healthy Pods, required healthy Pods, expected Pods, allowed disruptions. */
function countsOf(cluster: TestCluster): readonly (number | undefined)[] {
  const { status } = cluster.get(PodDisruptionBudget, key);
  return [status?.currentHealthy, status?.desiredHealthy, status?.expectedPods, status?.disruptionsAllowed];
}

function condition(cluster: TestCluster) {
  const [one] = cluster.get(PodDisruptionBudget, key).status?.conditions ?? [];
  return [one?.type, one?.status, one?.reason];
}

const table: readonly (readonly [budget: object, expected: readonly number[]])[] = [
  [{ minAvailable: 3 }, [4, 3, 4, 1]],
  [{ minAvailable: "50%" }, [4, 2, 4, 2]],
  [{ minAvailable: "51%" }, [4, 3, 4, 1]],
  [{ maxUnavailable: 1 }, [4, 3, 4, 1]],
  [{ maxUnavailable: "30%" }, [4, 2, 4, 2]],
  [{ minAvailable: 9 }, [4, 9, 4, 0]],
  [{ maxUnavailable: 0 }, [4, 4, 4, 0]],
];

test("the status of a budget says how many of its Pods may be evicted", async () => {
  for (const [budget, expected] of table) {
    await using cluster = await start(budget);
    assertEquals(countsOf(cluster), expected, JSON.stringify(budget));
    const allowed = expected[3] === 0 ? ["False", "InsufficientPods"] : ["True", "SufficientPods"];
    assertEquals(condition(cluster), ["DisruptionAllowed", ...allowed]);
  }
});

test("Pods that cannot be scheduled count as missing", async () => {
  await using cluster = await start({ maxUnavailable: 1 });
  for (const node of ["node-1", "node-2", "node-3"]) {
    await cluster.patch(Node, node, { spec: { unschedulable: true } });
  }
  const [first, second] = cluster.names(Pod);
  await cluster.delete(Pod, `default/${first}`);
  await cluster.settled();
  assertEquals(countsOf(cluster), [3, 3, 4, 0]);
  await cluster.delete(Pod, `default/${second}`);
  await cluster.settled();
  assertEquals(countsOf(cluster), [2, 3, 4, 0]);
});

test("evictions are admitted as far as the budget allows", async () => {
  await using cluster = await start({ minAvailable: 3 });
  for (const node of ["node-1", "node-2", "node-3"]) {
    await cluster.patch(Node, node, { spec: { unschedulable: true } });
  }
  const evict = async (name: string | undefined) => {
    const body = JSON.stringify({
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name, namespace: "default" },
    });
    const path = `/api/v1/namespaces/default/pods/${name}/eviction`;
    const code = await cluster.client.raw(path, { method: "POST", body }).then(() => 201, (error) => error.code);
    await cluster.settled();
    return code;
  };
  const [first, second] = cluster.names(Pod);
  assertEquals([await evict(first), await evict(second)], [201, 429]);
});

test("Pods that were not created yet count as missing", async () => {
  await using cluster = await start({ maxUnavailable: 1 });
  const [first] = cluster.names(Pod);
  // The API server rejects the Pod that would replace the deleted one.
  await cluster.create(builtin.ResourceQuota, "full", { spec: { hard: { pods: "3" } } });
  await cluster.settled();
  await cluster.delete(Pod, `default/${first}`);
  await cluster.settled();
  assertEquals(cluster.list(Pod).length, 3);
  await cluster.patch(Deployment, key, { spec: { replicas: 6 } });
  const [second] = cluster.names(Pod);
  await cluster.patch(Pod, `default/${second}`, { metadata: { labels: { seen: "true" } } });
  await cluster.settled();
  assertEquals(countsOf(cluster), [3, 5, 6, 0]);
});

test("Pods without a scale allow no eviction under a budget that needs one", async () => {
  await using cluster = await TestCluster.start({ pace: { runMs: 3_600_000 } });
  const template = templateOf("web", "app:1", { restartPolicy: "Never" });
  await cluster.create(Job, "web", { spec: { template } });
  await cluster.create(PodDisruptionBudget, "web", { spec: { selector: selectorFor("web"), maxUnavailable: 1 } });
  await cluster.settled();
  assertEquals(countsOf(cluster).at(-1), 0);
  assertEquals(condition(cluster), ["DisruptionAllowed", "False", "SyncFailed"]);
});

test("Pods without a controller count only for a number in minAvailable", async () => {
  const budgets: typeof table = [[{ maxUnavailable: 1 }, [1, 0, 0, 0]], [{ minAvailable: 0 }, [1, 0, 1, 1]]];
  for (const [budget, expected] of budgets) {
    await using cluster = await TestCluster.start();
    const spec = { containers: [{ name: "main", image: "app:1" }] };
    await cluster.create(Pod, "lone", { spec }, { labels: { app: "web" } });
    await cluster.create(PodDisruptionBudget, "web", { spec: { selector: selectorFor("web"), ...budget } });
    await cluster.settled();
    assertEquals(countsOf(cluster), expected);
  }
});
