import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { isForbidden } from "../client/mod.ts";
import { selectorFor, templateOf, TestCluster } from "./testing/test_cluster.ts";

const { ConfigMap, Deployment, Namespace, Pod, ServiceAccount } = builtin;

async function withTeam(): Promise<TestCluster> {
  const cluster = await TestCluster.start();
  await cluster.create(Namespace, "team", {});
  await cluster.settled();
  return cluster;
}

function conditions(cluster: TestCluster): ReadonlyMap<string, string> {
  const { status } = cluster.get(Namespace, "team");
  return new Map(status?.conditions?.map(({ type, status, message }) => [type, `${status} ${message}`]));
}

test("a namespace gets a ServiceAccount and the cluster's certificate authority, and gets them again after their deletion", async () => {
  await using cluster = await withTeam();
  const both = () => [cluster.names(ServiceAccount, "team"), cluster.names(ConfigMap, "team")];
  assertEquals(both(), [["default"], ["kube-root-ca.crt"]]);
  await cluster.delete(ServiceAccount, "team/default");
  await cluster.delete(ConfigMap, "team/kube-root-ca.crt");
  await cluster.settled();
  assertEquals(both(), [["default"], ["kube-root-ca.crt"]]);
});

test("a deleted namespace is emptied first and removed last", async () => {
  await using cluster = await withTeam();
  const spec = { replicas: 2, selector: selectorFor("web"), template: templateOf("web") };
  await cluster.create(Deployment, "web", { spec }, { namespace: "team" });
  await cluster.settled();
  assertEquals(cluster.list(Pod, "team").length, 2);
  await cluster.delete(Namespace, "team");
  await cluster.settled(() => {
    if (cluster.find(Namespace, "team") !== undefined) return;
    for (const resource of [ConfigMap, Deployment, Pod, ServiceAccount]) {
      assertEquals(cluster.names(resource, "team"), []);
    }
  });
  assertEquals(cluster.find(Namespace, "team"), undefined);
  assertEquals(cluster.names(Pod, "team"), []);
});

test("a terminating namespace reports what remains, and is removed when nothing remains", async () => {
  await using cluster = await withTeam();
  await cluster.create(ConfigMap, "kept", {}, { namespace: "team", finalizers: ["example.dev/held"] });
  await cluster.delete(Namespace, "team");
  await cluster.pass(10_000, undefined, 500);
  assertEquals(cluster.get(Namespace, "team").status?.phase, "Terminating");
  assertMatch(
    conditions(cluster).get("NamespaceContentRemaining") ?? "",
    /^True .*configmaps\. has 1 resource instances/,
  );
  assertMatch(conditions(cluster).get("NamespaceFinalizersRemaining") ?? "", /^True .*example\.dev\/held in 1 /);
  await cluster.patch(ConfigMap, "team/kept", { metadata: { finalizers: null } });
  await cluster.settled();
  assertEquals(cluster.find(Namespace, "team"), undefined);
});

test("nothing can be created in a terminating namespace", async () => {
  await using cluster = await withTeam();
  await cluster.create(ConfigMap, "kept", {}, { namespace: "team", finalizers: ["example.dev/held"] });
  await cluster.delete(Namespace, "team");
  const error = await cluster.create(ConfigMap, "late", {}, { namespace: "team" }).catch((error: unknown) => error);
  assert(isForbidden(error));
  await cluster.pass(5_000, undefined, 500);
  assertEquals(
    cluster.names(ConfigMap, "team"),
    ["kept"],
    "the ServiceAccount and the certificate authority are not created either",
  );
});
