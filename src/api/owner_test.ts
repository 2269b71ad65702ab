import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { Deployment } from "./generated/kinds.ts";
import type { KubeObject } from "./object.ts";
import { controllerReference, isControlledBy } from "./owner.ts";

const owner: KubeObject = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", uid: "u1" } };

function dependent(uid: string, controller: boolean): KubeObject {
  const reference = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid, controller };
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p", ownerReferences: [reference] } };
}

test("isControlledBy() compares UIDs, not names", () => {
  assertEquals(isControlledBy(dependent("u1", true), owner), true);
  assertEquals(isControlledBy(dependent("u2", true), owner), false);
  assertEquals(isControlledBy(dependent("u1", false), owner), false);
});

test("an owner without a UID controls no object, and controllerReference() refuses it", () => {
  const unstored: KubeObject = { ...owner, metadata: { name: "web" } };
  assertEquals(isControlledBy({ metadata: {} }, unstored), false);
  assertThrows(() => controllerReference(unstored, Deployment), /was never stored/);
});

test("controllerReference() contains all fields of the owner", () => {
  assertEquals(controllerReference(owner, Deployment), {
    apiVersion: "apps/v1",
    kind: "Deployment",
    name: "web",
    uid: "u1",
    controller: true,
    blockOwnerDeletion: true,
  });
});
