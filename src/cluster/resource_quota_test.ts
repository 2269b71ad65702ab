import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type Resource } from "../api/mod.ts";
import { selectorFor, templateOf, TestCluster } from "./testing/test_cluster.ts";

const { ConfigMap, Deployment, Pod } = builtin;

interface Quota extends KubeObject {
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>;
    readonly used?: Readonly<Record<string, string>>;
  };
}

const ResourceQuota: Resource<Quota, "ResourceQuota"> = {
  group: "",
  version: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  scope: "Namespaced",
};

async function start(hard: Readonly<Record<string, string>>): Promise<TestCluster> {
  const cluster = await TestCluster.start();
  await cluster.create(ConfigMap, "first", {});
  await cluster.create(ResourceQuota, "q", { spec: { hard } });
  await cluster.settled();
  return cluster;
}

const used = (cluster: TestCluster) => cluster.get(ResourceQuota, "default/q").status?.used;

test("the status of a quota counts the objects of its namespace, also older ones", async () => {
  await using cluster = await start({ pods: "5", "count/configmaps": "9", "count/jobs.batch": "1" });
  // The second ConfigMap is the certificate authority of every namespace.
  assertEquals(used(cluster), { pods: "0", "count/configmaps": "2", "count/jobs.batch": "0" });
});

test("a Deployment uses a quota up to its last Pod, and a deleted Pod is no longer counted", async () => {
  await using cluster = await start({ pods: "2" });
  const spec = { replicas: 4, selector: selectorFor("web"), template: templateOf("web") };
  await cluster.create(Deployment, "web", { spec });
  await cluster.settled();
  assertEquals([cluster.list(Pod).length, used(cluster)], [2, { pods: "2" }]);
  await cluster.patch(Deployment, "default/web", { spec: { replicas: 1 } });
  await cluster.settled();
  assertEquals([cluster.list(Pod).length, used(cluster)], [1, { pods: "1" }]);
});
