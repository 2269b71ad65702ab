import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type OwnerReference } from "../api/mod.ts";
import { keyOfController, keyOfObject } from "./controller_definition.ts";

const owner: OwnerReference = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "u1", controller: true };

function dependent(...ownerReferences: readonly OwnerReference[]): KubeObject {
  return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "web-1", namespace: "shop", ownerReferences } };
}

const keyOfDeployment = keyOfController(builtin.Deployment);

test("keyOfController() maps a dependent to the owner that controls it, in the dependent's namespace", () => {
  assertEquals([...keyOfDeployment(dependent(owner))].map(String), ["shop/web"]);
});

test("keyOfController() ignores an owner that does not control the dependent", () => {
  assertEquals(keyOfDeployment(dependent({ ...owner, controller: false })), []);
});

test("keyOfController() ignores an owner of another kind, or of the same kind in another group", () => {
  assertEquals(keyOfDeployment(dependent({ ...owner, kind: "Rollout" })), []);
  assertEquals(keyOfDeployment(dependent({ ...owner, apiVersion: "example.dev/v1" })), []);
});

test("keyOfController() accepts an owner reference with an older version of the API", () => {
  assertEquals([...keyOfDeployment(dependent({ ...owner, apiVersion: "apps/v1beta1" }))].map(String), ["shop/web"]);
});

test("keyOfController() returns a key without namespace for a cluster-scoped owner", () => {
  const node: OwnerReference = { apiVersion: "v1", kind: "Node", name: "n1", uid: "u2", controller: true };
  assertEquals([...keyOfController(builtin.Node)(dependent(node))].map(String), ["n1"]);
});

test("keyOfObject() maps an object to its own key", () => {
  assertEquals([...keyOfObject(dependent())].map(String), ["shop/web-1"]);
});
