import { assertEquals, test } from "../../../tests/testing.ts";
import type { Json, JsonObject } from "../model/mod.ts";
import { managedFieldsAfterScale, type ReplicasPaths, scaleManagedFields } from "./scale_fields.ts";

const paths: ReplicasPaths = new Map([["apps/v1", ["f:spec", "f:replicas"]], ["apps/v0", undefined]]);

function entry(manager: string, operation: string, fieldsV1: JsonObject, apiVersion = "apps/v1"): JsonObject {
  return { manager, operation, apiVersion, fieldsType: "FieldsV1", fieldsV1 };
}

const replicas = { "f:spec": { "f:replicas": {} } };
const more = { "f:spec": { "f:paused": {}, "f:replicas": {} } };
const other = { "f:spec": { "f:paused": {} } };

function plain(list: Json | undefined): Json {
  const copy: Json = JSON.parse(JSON.stringify(list ?? null));
  return copy;
}

test("a Scale has only the managers that own the replicas", () => {
  const list = [entry("a", "Apply", more), entry("b", "Update", other), entry("c", "Update", replicas, "apps/v0")];
  assertEquals(plain(scaleManagedFields(list, paths)), [entry("a", "Apply", replicas, "autoscaling/v1")]);
  assertEquals(plain(scaleManagedFields(undefined, paths)), null);
});

test("a write to a Scale takes the replicas of the object from their owner", () => {
  const managedFields = [
    entry("a", "Apply", more),
    entry("b", "Update", replicas),
    entry("x", "Update", other, "apps/v9"),
  ];
  const scale = [{ ...entry("s", "Update", replicas, "autoscaling/v1"), subresource: "scale" }];
  assertEquals(plain(managedFieldsAfterScale({ managedFields, scale, apiVersion: "apps/v1", paths })), [
    entry("a", "Apply", other),
    { ...entry("s", "Update", replicas), subresource: "scale" },
  ]);
});

test("a manager that still owns the replicas of the Scale keeps those of the object", () => {
  const managedFields = [entry("a", "Apply", more), entry("b", "Update", other)];
  const scale = [
    entry("a", "Apply", replicas, "autoscaling/v1"),
    entry("n", "Update", { "f:metadata": {} }, "autoscaling/v1"),
  ];
  assertEquals(plain(managedFieldsAfterScale({ managedFields, scale, apiVersion: "apps/v1", paths })), managedFields);
});
