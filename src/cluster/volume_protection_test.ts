import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { TestCluster } from "./testing/test_cluster.ts";

const claim = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };

const podWith = (claimName: string) => ({
  spec: {
    containers: [{ name: "main", image: "example.invalid/main" }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
  },
});

test("a claim that no Pod uses is deleted at once", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(builtin.PersistentVolumeClaim, "a", claim);
  await cluster.delete(builtin.PersistentVolumeClaim, "default/a");
  await cluster.settled();
  assertEquals(cluster.names(builtin.PersistentVolumeClaim), []);
});

test("a claim that a Pod uses stays until the Pod is deleted", async () => {
  await using cluster = await TestCluster.start();
  for (const name of ["a", "b"]) await cluster.create(builtin.PersistentVolumeClaim, name, claim);
  await cluster.create(builtin.Pod, "user", podWith("a"));
  await cluster.settled();
  for (const name of ["a", "b"]) await cluster.delete(builtin.PersistentVolumeClaim, `default/${name}`);
  await cluster.settled();
  assertEquals(cluster.names(builtin.PersistentVolumeClaim), ["a"]);
  await cluster.delete(builtin.Pod, "default/user");
  await cluster.settled();
  assertEquals(cluster.names(builtin.PersistentVolumeClaim), []);
});

test("a namespace with a claim in use can be deleted", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(builtin.Namespace, "n", {});
  await cluster.settled();
  await cluster.create(builtin.PersistentVolumeClaim, "a", claim, { namespace: "n" });
  await cluster.create(builtin.Pod, "user", podWith("a"), { namespace: "n" });
  await cluster.settled();
  await cluster.delete(builtin.Namespace, "n");
  await cluster.settled();
  assertEquals(cluster.find(builtin.Namespace, "n"), undefined);
});

test("a deleted volume stays while a claim is bound to it", async () => {
  await using cluster = await TestCluster.start();
  const spec = {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    hostPath: { path: "/a" },
    persistentVolumeReclaimPolicy: "Retain",
  };
  for (const name of ["bound", "free"]) await cluster.create(builtin.PersistentVolume, name, { spec });
  const named = { ...claim.spec, storageClassName: "", volumeName: "bound" };
  await cluster.create(builtin.PersistentVolumeClaim, "a", { spec: named });
  await cluster.settled();
  for (const name of ["bound", "free"]) await cluster.delete(builtin.PersistentVolume, name);
  await cluster.settled();
  const present = ["bound", "free"].filter((name) => cluster.find(builtin.PersistentVolume, name) !== undefined);
  assertEquals(present, ["bound"]);
  await cluster.delete(builtin.PersistentVolumeClaim, "default/a");
  await cluster.settled();
  assertEquals(cluster.find(builtin.PersistentVolume, "bound"), undefined);
});

test("a deleted class of attributes stays while a claim names it", async () => {
  await using cluster = await TestCluster.start();
  for (const name of ["used", "free"]) {
    await cluster.create(builtin.VolumeAttributesClass, name, { driverName: "a.example", parameters: { a: "b" } });
  }
  const named = { ...claim.spec, volumeAttributesClassName: "used" };
  await cluster.create(builtin.PersistentVolumeClaim, "a", { spec: named });
  await cluster.settled();
  for (const name of ["used", "free"]) await cluster.delete(builtin.VolumeAttributesClass, name);
  await cluster.settled();
  const present = ["used", "free"].filter((name) => cluster.find(builtin.VolumeAttributesClass, name) !== undefined);
  assertEquals(present, ["used"]);
  await cluster.delete(builtin.PersistentVolumeClaim, "default/a");
  await cluster.settled();
  assertEquals(cluster.find(builtin.VolumeAttributesClass, "used"), undefined);
});
