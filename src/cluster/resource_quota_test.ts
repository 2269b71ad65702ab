import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type Resource } from "../api/mod.ts";
import { ClusterRig, selectorFor, templateOf } from "./cluster_rig.ts";

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

async function start(hard: Readonly<Record<string, string>>): Promise<ClusterRig> {
  const cluster = await ClusterRig.start();
  await cluster.create(ConfigMap, "first", {});
  await cluster.create(ResourceQuota, "q", { spec: { hard } });
  await cluster.settled();
  return cluster;
}

const used = (cluster: ClusterRig) => cluster.get(ResourceQuota, "default/q").status?.used;

test("a quota says what its namespace holds, whatever was there before", async () => {
  await using cluster = await start({ pods: "5", "count/configmaps": "9", "count/jobs.batch": "1" });
  // The other one is the certificate authority that every namespace has.
  assertEquals(used(cluster), { pods: "0", "count/configmaps": "2", "count/jobs.batch": "0" });
});

test("what goes is given back, and a Deployment fills a quota up to its last Pod", async () => {
  await using cluster = await start({ pods: "2" });
  const spec = { replicas: 4, selector: selectorFor("web"), template: templateOf("web") };
  await cluster.create(Deployment, "web", { spec });
  await cluster.settled();
  assertEquals([cluster.list(Pod).length, used(cluster)], [2, { pods: "2" }]);
  await cluster.patch(Deployment, "default/web", { spec: { replicas: 1 } });
  await cluster.settled();
  assertEquals([cluster.list(Pod).length, used(cluster)], [1, { pods: "1" }]);
});
