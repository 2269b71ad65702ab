import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { ClusterRig } from "./cluster_rig.ts";

const claim = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };

const podWith = (claimName: string) => ({
  spec: {
    containers: [{ name: "main", image: "example.invalid/main" }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
  },
});

test("a claim that no Pod uses is gone when it is deleted", async () => {
  await using rig = await ClusterRig.start();
  await rig.create(builtin.PersistentVolumeClaim, "a", claim);
  await rig.delete(builtin.PersistentVolumeClaim, "default/a");
  await rig.settled();
  assertEquals(rig.names(builtin.PersistentVolumeClaim), []);
});

test("a claim that a Pod uses stays until the Pod is gone", async () => {
  await using rig = await ClusterRig.start();
  for (const name of ["a", "b"]) await rig.create(builtin.PersistentVolumeClaim, name, claim);
  await rig.create(builtin.Pod, "user", podWith("a"));
  await rig.settled();
  for (const name of ["a", "b"]) await rig.delete(builtin.PersistentVolumeClaim, `default/${name}`);
  await rig.settled();
  assertEquals(rig.names(builtin.PersistentVolumeClaim), ["a"]);
  await rig.delete(builtin.Pod, "default/user");
  await rig.settled();
  assertEquals(rig.names(builtin.PersistentVolumeClaim), []);
});

test("a namespace with a claim in use ends all the same", async () => {
  await using rig = await ClusterRig.start();
  await rig.create(builtin.Namespace, "n", {});
  await rig.settled();
  await rig.create(builtin.PersistentVolumeClaim, "a", claim, { namespace: "n" });
  await rig.create(builtin.Pod, "user", podWith("a"), { namespace: "n" });
  await rig.settled();
  await rig.delete(builtin.Namespace, "n");
  await rig.settled();
  assertEquals(rig.find(builtin.Namespace, "n"), undefined);
});

test("a volume goes when nothing is bound to it", async () => {
  await using rig = await ClusterRig.start();
  const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/a" } };
  for (const name of ["bound", "free"]) await rig.create(builtin.PersistentVolume, name, { spec });
  await rig.patch(builtin.PersistentVolume, "bound", { status: { phase: "Bound" } }, "status");
  for (const name of ["bound", "free"]) await rig.delete(builtin.PersistentVolume, name);
  await rig.settled();
  const held = ["bound", "free"].filter((name) => rig.find(builtin.PersistentVolume, name) !== undefined);
  assertEquals(held, ["bound"]);
  await rig.patch(builtin.PersistentVolume, "bound", { status: { phase: "Released" } }, "status");
  await rig.settled();
  assertEquals(rig.find(builtin.PersistentVolume, "bound"), undefined);
});
