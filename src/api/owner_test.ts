import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { Deployment } from "./builtin.ts";
import type { KubeObject } from "./object.ts";
import { controllerReference, isControlledBy } from "./owner.ts";

const owner: KubeObject = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", uid: "u1" } };

function child(uid: string, controller: boolean): KubeObject {
  const reference = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid, controller };
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p", ownerReferences: [reference] } };
}

test("the UID decides who controls an object, not the name", () => {
  assertEquals(isControlledBy(child("u1", true), owner), true);
  assertEquals(isControlledBy(child("u2", true), owner), false);
  assertEquals(isControlledBy(child("u1", false), owner), false);
});

test("an owner that was never stored controls nothing, not even what has no UID either", () => {
  const unborn: KubeObject = { ...owner, metadata: { name: "web" } };
  assertEquals(isControlledBy({ metadata: {} }, unborn), false);
  assertThrows(() => controllerReference(unborn, Deployment), /was never stored/);
});

test("a reference names the owner in full", () => {
  assertEquals(controllerReference(owner, Deployment), {
    apiVersion: "apps/v1",
    kind: "Deployment",
    name: "web",
    uid: "u1",
    controller: true,
    blockOwnerDeletion: true,
  });
});
