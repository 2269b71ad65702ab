import { assertEquals, test } from "../../../../tests/testing.ts";
import { created, kindNamed, updated } from "../testing/kinds_testing.ts";

const volumes = kindNamed("PersistentVolume", "v1");
const volume = { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/a" } } };

test("the status of a PersistentVolume records when the phase changed last", () => {
  const { object } = created(volumes, volume);
  assertEquals(object.status, { phase: "Pending", lastPhaseTransitionTime: "2026-01-01T00:00:00Z" });
  const before = { ...object, status: { ...object.status, lastPhaseTransitionTime: "2025-01-01T00:00:00Z" } };
  const same = updated(volumes, { ...before, status: { phase: "Pending" } }, before, "status");
  assertEquals(same.object.status.lastPhaseTransitionTime, "2025-01-01T00:00:00Z");
  const next = updated(volumes, { ...before, status: { ...before.status, phase: "Bound" } }, before, "status");
  assertEquals(next.object.status.lastPhaseTransitionTime, "2026-01-01T00:00:00Z");
});

const wrong: readonly (readonly [what: string, spec: object, problems: readonly string[]])[] = [
  ["two sources", { nfs: { server: "a", path: "/b" } }, [
    "spec.nfs: Forbidden: may not specify more than 1 volume type",
  ]],
  ["its root to be wiped", { hostPath: { path: "/" }, persistentVolumeReclaimPolicy: "Recycle" }, [
    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
  ]],
  ["a secret without a namespace", {
    hostPath: undefined,
    csi: { driver: "a.example", volumeHandle: "x", nodeStageSecretRef: {}, nodeExpandSecretRef: { name: "b" } },
  }, ["spec.csi.nodeExpandSecretRef.namespace: Required value"]],
];

for (const [what, spec, problems] of wrong) {
  test(`a PersistentVolume with ${what} is rejected`, () => {
    const made = Object.fromEntries(Object.entries({ ...volume.spec, ...spec }).filter(([, value]) => value));
    assertEquals(created(volumes, { spec: made }).problems, problems);
  });
}

test("an update of a volume's source is rejected, and the message names the changed field", () => {
  const { object } = created(volumes, volume);
  const { problems } = updated(volumes, { ...object, spec: { ...object.spec, hostPath: { path: "/b" } } }, object);
  assertEquals(problems, [
    "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation; " +
    'this update changes "spec.hostPath.path"',
  ]);
});
