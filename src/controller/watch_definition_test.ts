import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type OwnerReference } from "../api/mod.ts";
import { itsController, itself } from "./watch_definition.ts";

const owner: OwnerReference = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "u1", controller: true };

function child(...ownerReferences: readonly OwnerReference[]): KubeObject {
  return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "web-1", namespace: "shop", ownerReferences } };
}

const toDeployment = itsController(builtin.Deployment);

test("a child concerns the owner that controls it, in its own namespace", () => {
  assertEquals([...toDeployment(child(owner))].map(String), ["shop/web"]);
});

test("an owner that does not control the child is not concerned", () => {
  assertEquals(toDeployment(child({ ...owner, controller: false })), []);
});

test("an owner of another kind, or of the same kind in another group, is not concerned", () => {
  assertEquals(toDeployment(child({ ...owner, kind: "Rollout" })), []);
  assertEquals(toDeployment(child({ ...owner, apiVersion: "example.dev/v1" })), []);
});

test("an owner reference written with an older version of the API still counts", () => {
  assertEquals([...toDeployment(child({ ...owner, apiVersion: "apps/v1beta1" }))].map(String), ["shop/web"]);
});

test("a cluster-scoped owner has a key without namespace", () => {
  const node: OwnerReference = { apiVersion: "v1", kind: "Node", name: "n1", uid: "u2", controller: true };
  assertEquals([...itsController(builtin.Node)(child(node))].map(String), ["n1"]);
});

test("an object concerns itself", () => {
  assertEquals([...itself(child())].map(String), ["shop/web-1"]);
});
