import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { TestCluster } from "./testing/test_cluster.ts";

const { PersistentVolume, PersistentVolumeClaim, StorageClass } = builtin;

function classWith(provisioner: string, allowVolumeExpansion: boolean) {
  return { provisioner, allowVolumeExpansion, volumeBindingMode: "Immediate" as const };
}

function claimOf(storageClassName: string, storage = "1Gi") {
  return { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, storageClassName } };
}

const larger = { spec: { resources: { requests: { storage: "2Gi" } } } };

test("a claim that requests more gets a larger volume, if its class allows it", async () => {
  await using cluster = await TestCluster.start();
  const sizeOf = (name: string) => {
    const { spec, status } = cluster.get(PersistentVolumeClaim, `default/${name}`);
    return [
      cluster.get(PersistentVolume, spec.volumeName ?? "").spec.capacity?.["storage"],
      status?.capacity?.["storage"],
    ];
  };
  for (const [name, isAllowed] of [["grows", true], ["stays", false]] as const) {
    await cluster.create(StorageClass, name, classWith("rancher.io/local-path", isAllowed));
    await cluster.create(PersistentVolumeClaim, name, claimOf(name));
  }
  await cluster.settled();
  assertEquals(sizeOf("grows"), ["1Gi", "1Gi"]);
  for (const name of ["grows", "stays"]) await cluster.patch(PersistentVolumeClaim, `default/${name}`, larger);
  await cluster.settled();
  assertEquals(sizeOf("grows"), ["2Gi", "2Gi"]);
  assertEquals(sizeOf("stays"), ["1Gi", "1Gi"]);
});

test("a volume of another provisioner is left to its own resizer", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(StorageClass, "other", classWith("disks.example.com", true));
  await cluster.create(PersistentVolume, "disk", {
    spec: {
      ...{ accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, storageClassName: "other" },
      hostPath: { path: "/srv/data" },
    },
  });
  await cluster.create(PersistentVolumeClaim, "a", claimOf("other"));
  await cluster.settled();
  await cluster.patch(PersistentVolumeClaim, "default/a", larger);
  await cluster.settled();
  assertEquals(cluster.get(PersistentVolumeClaim, "default/a").status?.capacity, { storage: "1Gi" });
});
