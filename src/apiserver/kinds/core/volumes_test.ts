import { assertEquals, test } from "../../../../tests/testing.ts";
import { created, kindNamed, updated } from "../testing/kinds_testing.ts";

const claims = kindNamed("PersistentVolumeClaim", "v1");

const volumes = kindNamed("PersistentVolume", "v1");

const classes = kindNamed("StorageClass", "storage.k8s.io/v1");

const claim = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };

const volume = { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/a" } } };

test("a new PersistentVolumeClaim is Pending and gets its protection finalizer once", () => {
  const { object, problems } = created(claims, claim);
  assertEquals(problems, []);
  assertEquals([object.status.phase, object.metadata.finalizers], ["Pending", ["kubernetes.io/pvc-protection"]]);
  assertEquals(created(claims, object).object.metadata.finalizers, ["kubernetes.io/pvc-protection"]);
});

test("dataSource and dataSourceRef of a PersistentVolumeClaim are set from each other", () => {
  const source = { kind: "PersistentVolumeClaim", name: "b" };
  const old = created(claims, { spec: { ...claim.spec, dataSource: source } }).object.spec;
  const now = created(claims, { spec: { ...claim.spec, dataSourceRef: source } }).object.spec;
  const shown = { apiGroup: null, ...source };
  assertEquals([old.dataSourceRef, now.dataSource], [shown, shown]);
  const unknown = created(claims, { spec: { ...claim.spec, dataSource: { kind: "Shelf", name: "x" } } }).object.spec;
  assertEquals(unknown.dataSource, undefined);
});

const changes: readonly (readonly [what: string, phase: string, change: object, fields: readonly string[]])[] = [
  ["a name of a volume", "Pending", { volumeName: "b" }, []],
  ["a class where there was none", "Pending", { storageClassName: "fast" }, []],
  ["another mode", "Pending", { volumeMode: "Block" }, ["spec", "volumeMode"]],
  ["more, before it is bound", "Pending", { resources: { requests: { storage: "2Gi" } } }, ["spec"]],
  ["more", "Bound", { resources: { requests: { storage: "2Gi" } } }, []],
  ["less than it has", "Bound", { resources: { requests: { storage: "1Mi" } } }, [
    "spec.resources.requests.storage",
  ]],
];

for (const [what, phase, change, fields] of changes) {
  test(`an update of a ${phase} PersistentVolumeClaim to ${what} has ${fields.length} errors`, () => {
    const { object } = created(claims, claim);
    const old = { ...object, status: { phase, capacity: { storage: "1Gi" } } };
    const { problems } = updated(claims, { ...old, spec: { ...old.spec, ...change } }, old);
    assertEquals(problems.map((problem) => problem.slice(0, problem.indexOf(":"))), fields);
  });
}

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

test("an update of a StorageClass must not change its parameters and its reclaim policy", () => {
  const { object } = created(classes, { provisioner: "a.example/x", parameters: { a: "b" } });
  const next = { ...object, parameters: {}, allowVolumeExpansion: true, reclaimPolicy: "Retain" };
  assertEquals(updated(classes, next, object).problems.map((problem) => problem.split(":")[0]), [
    "parameters",
    "reclaimPolicy",
  ]);
});
