import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { ClusterRig, selectorFor, templateOf } from "./cluster_rig.ts";

const { ConfigMap, Deployment, Namespace, Pod, ReplicaSet, Secret } = builtin;

async function deployed(): Promise<ClusterRig> {
  const cluster = await ClusterRig.start();
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

/** A reference to a ConfigMap. */
function ownedBy(cluster: ClusterRig, name: string, { blocks = false, uid }: OwnerOptions = {}) {
  const found = uid ?? cluster.get(ConfigMap, `default/${name}`).metadata.uid;
  return { apiVersion: "v1", kind: "ConfigMap", name, uid: found, ...(blocks ? { blockOwnerDeletion: true } : {}) };
}

test("in the background the owner goes at once, and all below it follows", async () => {
  await using cluster = await deployed();
  await cluster.delete(Deployment, "default/web", { propagationPolicy: "Background" });
  assertEquals(cluster.find(Deployment, "default/web"), undefined);
  await cluster.settled();
  assertEquals([cluster.list(ReplicaSet), cluster.list(Pod)], [[], []]);
});

test("in the foreground the Pods go first, then the ReplicaSet, then the Deployment", async () => {
  await using cluster = await deployed();
  await cluster.delete(Deployment, "default/web", { propagationPolicy: "Foreground" });
  assertEquals(cluster.get(Deployment, "default/web").metadata.finalizers, ["foregroundDeletion"]);
  await cluster.settled(() => {
    const [hasOwner, sets, pods] = [
      cluster.find(Deployment, "default/web"),
      cluster.list(ReplicaSet),
      cluster.list(Pod),
    ];
    assert(hasOwner !== undefined || sets.length === 0, "the Deployment went before its ReplicaSet");
    assert(sets.length > 0 || pods.length === 0, "the ReplicaSet went before its Pods");
  });
  assertEquals(cluster.find(Deployment, "default/web"), undefined);
});

test("in the foreground only dependents that block are waited for", async () => {
  await using cluster = await ClusterRig.start();
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

test("orphaned, what was below the owner stays and belongs to nobody", async () => {
  await using cluster = await deployed();
  await cluster.delete(Deployment, "default/web", { propagationPolicy: "Orphan" });
  await cluster.settled();
  assertEquals(cluster.find(Deployment, "default/web"), undefined);
  assertEquals(cluster.list(ReplicaSet).map(({ metadata }) => metadata.ownerReferences ?? []), [[]]);
  assertEquals(cluster.list(Pod).length, 2);
});

test("what has another owner left stays, and loses the reference to the one that went", async () => {
  await using cluster = await ClusterRig.start();
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

test("an owner of the same name but another UID is another one: what was the first one's goes", async () => {
  await using cluster = await ClusterRig.start();
  await cluster.create(ConfigMap, "owner", {});
  const uid = "11111111-2222-3333-4444-555555555555";
  await cluster.create(Secret, "stale", {}, { ownerReferences: [ownedBy(cluster, "owner", { uid })] });
  await cluster.settled();
  assertEquals(cluster.find(Secret, "default/stale"), undefined);
});

test("an owner in another namespace does not count: there is none of that name here", async () => {
  await using cluster = await ClusterRig.start();
  await cluster.create(Namespace, "other", {});
  await cluster.create(ConfigMap, "owner", {});
  const ownerReferences = [ownedBy(cluster, "owner")];
  await cluster.create(Secret, "far", {}, { namespace: "other", ownerReferences });
  await cluster.settled();
  assertEquals(cluster.find(Secret, "other/far"), undefined);
});

test("a circle of owners hangs together until one of them is deleted, then all of it goes", async () => {
  await using cluster = await ClusterRig.start();
  await cluster.create(ConfigMap, "a", {});
  await cluster.create(ConfigMap, "b", {}, { ownerReferences: [ownedBy(cluster, "a")] });
  await cluster.patch(ConfigMap, "default/a", { metadata: { ownerReferences: [ownedBy(cluster, "b")] } });
  await cluster.settled();
  assert(cluster.find(ConfigMap, "default/a") !== undefined);
  await cluster.delete(ConfigMap, "default/b", { propagationPolicy: "Foreground" });
  await cluster.settled();
  assertEquals([cluster.find(ConfigMap, "default/a"), cluster.find(ConfigMap, "default/b")], [undefined, undefined]);
});

test("objects of a kind that came with a CRD are collected too", async () => {
  await using cluster = await ClusterRig.start();
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
