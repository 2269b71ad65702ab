import { assertEquals, test } from "../../../../tests/testing.ts";
import { created, kindNamed, updated } from "../testing/kinds_testing.ts";

const claims = kindNamed("PersistentVolumeClaim", "v1");
const claim = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };

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
