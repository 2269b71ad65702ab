import { assert, assertEquals, test } from "../../tests/testing.ts";
import type { KubeObject, ManagedFieldsEntry } from "../api/mod.ts";
import { keepManagers } from "./transform.ts";

const ours: ManagedFieldsEntry = { manager: "foo", operation: "Apply" };
const theirs: ManagedFieldsEntry = { manager: "kubectl", operation: "Update" };

function object(managedFields?: readonly ManagedFieldsEntry[]): KubeObject {
  const metadata = managedFields === undefined ? { name: "a" } : { name: "a", managedFields };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

const keep = keepManagers(new Set(["foo"]));

test("of managedFields only the entries of our managers stay", () => {
  assertEquals(keep(object([ours, theirs])), object([ours]));
  assertEquals(keep(object([theirs])), object());
});

test("an object without managedFields stays the same object", () => {
  const plain = object();
  assert(keep(plain) === plain);
});
