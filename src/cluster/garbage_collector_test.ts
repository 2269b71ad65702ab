import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { selectorFor, templateOf, TestCluster } from "./testing/test_cluster.ts";

const { ConfigMap, Deployment, Namespace, Pod, ReplicaSet, Secret } = builtin;

async function startWithDeployment(): Promise<TestCluster> {
  const cluster = await TestCluster.start();
  const spec = { replicas: 2, selector: selectorFor("web"), template: templateOf("web") };
  await cluster.create(Deployment, "web", { spec });
  await cluster.settled();
  assertEquals([cluster.list(ReplicaSet).length, cluster.list(Pod).length], [1, 2]);
  return cluster;
}

interface OwnerOptions {
  readonly blocks?: boolean;
  readonly uid?: string;
}

/** An owner reference to a ConfigMap. */
function ownedBy(cluster: TestCluster, name: string, { blocks = false, uid }: OwnerOptions = {}) {
  const found = uid ?? cluster.get(ConfigMap, `default/${name}`).metadata.uid;
  return { apiVersion: "v1", kind: "ConfigMap", name, uid: found, ...(blocks ? { blockOwnerDeletion: true } : {}) };
}

test("background deletion removes the owner at once, then all dependents", async () => {
  await using cluster = await startWithDeployment();
  await cluster.delete(Deployment, "default/web", { propagationPolicy: "Background" });
  assertEquals(cluster.find(Deployment, "default/web"), undefined);
  await cluster.settled();
  assertEquals([cluster.list(ReplicaSet), cluster.list(Pod)], [[], []]);
});

test("foreground deletion removes the Pods first, then the ReplicaSet, then the Deployment", async () => {
  await using cluster = await startWithDeployment();
  await cluster.delete(Deployment, "default/web", { propagationPolicy: "Foreground" });
  assertEquals(cluster.get(Deployment, "default/web").metadata.finalizers, ["foregroundDeletion"]);
  await cluster.settled(() => {
    const [hasOwner, sets, pods] = [
      cluster.find(Deployment, "default/web"),
      cluster.list(ReplicaSet),
      cluster.list(Pod),
    ];
    assert(hasOwner !== undefined || sets.length === 0, "the Deployment was deleted before its ReplicaSet");
    assert(sets.length > 0 || pods.length === 0, "the ReplicaSet was deleted before its Pods");
  });
  assertEquals(cluster.find(Deployment, "default/web"), undefined);
});

test("foreground deletion waits only for dependents with blockOwnerDeletion", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(ConfigMap, "owner", {});
  const held = { finalizers: ["example.dev/held"] };
  await cluster.create(Secret, "blocks", {}, {
    ...held,
    ownerReferences: [ownedBy(cluster, "owner", { blocks: true })],
  });
  await cluster.create(Secret, "lets", {}, { ...held, ownerReferences: [ownedBy(cluster, "owner")] });
  await cluster.delete(ConfigMap, "default/owner", { propagationPolicy: "Foreground" });
  await cluster.settled();
  assert(cluster.find(ConfigMap, "default/owner") !== undefined);
  await cluster.patch(Secret, "default/blocks", { metadata: { finalizers: null } });
  await cluster.settled();
  assertEquals(cluster.find(ConfigMap, "default/owner"), undefined);
  assert(cluster.find(Secret, "default/lets")?.metadata.deletionTimestamp !== undefined);
});

test("orphaning deletion keeps the dependents without an owner", async () => {
  await using cluster = await startWithDeployment();
  await cluster.delete(Deployment, "default/web", { propagationPolicy: "Orphan" });
  await cluster.settled();
  assertEquals(cluster.find(Deployment, "default/web"), undefined);
  assertEquals(cluster.list(ReplicaSet).map(({ metadata }) => metadata.ownerReferences ?? []), [[]]);
  assertEquals(cluster.list(Pod).length, 2);
});

test("an object with another owner stays and loses the reference to the deleted owner", async () => {
  await using cluster = await TestCluster.start();
  for (const name of ["one", "two"]) await cluster.create(ConfigMap, name, {});
  const ownerReferences = [ownedBy(cluster, "one"), ownedBy(cluster, "two")];
  await cluster.create(Secret, "shared", {}, { ownerReferences });
  await cluster.delete(ConfigMap, "default/one");
  await cluster.settled();
  assertEquals(cluster.get(Secret, "default/shared").metadata.ownerReferences?.map(({ name }) => name), ["two"]);
  await cluster.delete(ConfigMap, "default/two");
  await cluster.settled();
  assertEquals(cluster.find(Secret, "default/shared"), undefined);
});

test("a dependent is deleted when the object with the owner's name has another UID", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(ConfigMap, "owner", {});
  const uid = "11111111-2222-3333-4444-555555555555";
  await cluster.create(Secret, "stale", {}, { ownerReferences: [ownedBy(cluster, "owner", { uid })] });
  await cluster.settled();
  assertEquals(cluster.find(Secret, "default/stale"), undefined);
});

test("an owner in another namespace does not count", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(Namespace, "other", {});
  await cluster.create(ConfigMap, "owner", {});
  const ownerReferences = [ownedBy(cluster, "owner")];
  await cluster.create(Secret, "far", {}, { namespace: "other", ownerReferences });
  await cluster.settled();
  assertEquals(cluster.find(Secret, "other/far"), undefined);
});

test("a circle of owners stays until one of them is deleted, then all are deleted", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(ConfigMap, "a", {});
  await cluster.create(ConfigMap, "b", {}, { ownerReferences: [ownedBy(cluster, "a")] });
  await cluster.patch(ConfigMap, "default/a", { metadata: { ownerReferences: [ownedBy(cluster, "b")] } });
  await cluster.settled();
  assert(cluster.find(ConfigMap, "default/a") !== undefined);
  await cluster.delete(ConfigMap, "default/b", { propagationPolicy: "Foreground" });
  await cluster.settled();
  assertEquals([cluster.find(ConfigMap, "default/a"), cluster.find(ConfigMap, "default/b")], [undefined, undefined]);
});

test("custom resources are collected too, when their CRD is created later", async () => {
  await using cluster = await TestCluster.start();
  const names = { kind: "Toy", plural: "toys", singular: "toy", listKind: "ToyList" };
  const schema = { openAPIV3Schema: { type: "object" } };
  const versions = [{ name: "v1", served: true, storage: true, schema }];
  await cluster.create(builtin.CustomResourceDefinition, "toys.example.dev", {
    spec: { group: "example.dev", scope: "Namespaced", names, versions },
  });
  await cluster.settled();
  const Toy = { group: "example.dev", version: "v1", kind: "Toy", plural: "toys", scope: "Namespaced" } as const;
  await cluster.create(ConfigMap, "box", {});
  await cluster.create(Toy, "car", {}, { ownerReferences: [ownedBy(cluster, "box")] });
  await cluster.settled();
  assertEquals(cluster.names(Toy), ["car"]);
  await cluster.delete(ConfigMap, "default/box");
  await cluster.settled();
  assertEquals(cluster.names(Toy), []);
});
