import { assert, assertEquals, test } from "../../tests/testing.ts";
import type { KubeObject, ManagedFieldsEntry } from "../api/mod.ts";
import { keepManagers } from "./mod.ts";

const ours: ManagedFieldsEntry = { manager: "foo", operation: "Apply" };
const theirs: ManagedFieldsEntry = { manager: "kubectl", operation: "Update" };

function object(managedFields?: readonly ManagedFieldsEntry[]): KubeObject {
  const metadata = managedFields === undefined ? { name: "a" } : { name: "a", managedFields };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

const keepOurs = keepManagers(new Set(["foo"]));

test("keepManagers() keeps the entries of the given managers only", () => {
  assertEquals(keepOurs(object([ours, theirs])), object([ours]));
  assertEquals(keepOurs(object([theirs])), object());
});

test("keepManagers() keeps no names with UIDs: two dependents have equal entries", () => {
  const dependent = (uid: string) => {
    const owners = { ".": {}, [`k:{"uid":"${uid}"}`]: {} };
    const fieldsV1 = { "f:metadata": { "f:labels": { "f:app": {} }, "f:ownerReferences": owners }, "f:spec": {} };
    return keepOurs(object([{ ...ours, fieldsV1 }]));
  };
  assertEquals(dependent("a"), dependent("b"));
  const fieldsV1 = { "f:metadata": { "f:labels": { "f:app": {} }, "f:ownerReferences": {} }, "f:spec": {} };
  assertEquals(dependent("a"), object([{ ...ours, fieldsV1 }]));
});

test("keepManagers() returns the same object when it has no managedFields", () => {
  const plain = object();
  assert(keepOurs(plain) === plain);
});
