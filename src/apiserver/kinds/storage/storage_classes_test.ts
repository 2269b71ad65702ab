import { assertEquals, test } from "../../../../tests/testing.ts";
import { created, kindNamed, updated } from "../testing/kinds_testing.ts";

const classes = kindNamed("StorageClass", "storage.k8s.io/v1");

test("an update of a StorageClass must not change its parameters and its reclaim policy", () => {
  const { object } = created(classes, { provisioner: "a.example/x", parameters: { a: "b" } });
  const next = { ...object, parameters: {}, allowVolumeExpansion: true, reclaimPolicy: "Retain" };
  assertEquals(updated(classes, next, object).problems.map((problem) => problem.split(":")[0]), [
    "parameters",
    "reclaimPolicy",
  ]);
});
