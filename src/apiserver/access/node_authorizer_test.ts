import { assertEquals, test } from "../../../tests/testing.ts";
import type { Attributes, JsonObject, User } from "../model/mod.ts";
import { NodeAuthorizer } from "./mod.ts";

const kubelet: User = { name: "system:node:a", uid: "", groups: ["system:nodes"], extra: new Map() };

/** An authorizer of a server with a Pod on the Node `a` that uses a claim, whose volume has a Secret. */
function setUp(podMetadata: JsonObject = {}) {
  const volume = { persistentVolumeClaim: { claimName: "data" }, name: "data" };
  const env = [{ name: "KEY", valueFrom: { secretKeyRef: { name: "key", key: "k" } } }];
  const pod = {
    metadata: { name: "web", namespace: "x", ...podMetadata },
    spec: { nodeName: "a", serviceAccountName: "robot", volumes: [volume], containers: [{ env }] },
  };
  const csi = { driver: "d", nodeStageSecretRef: { namespace: "y", name: "stage" } };
  const pv = { metadata: { name: "pv" }, spec: { claimRef: { namespace: "x", name: "data" }, csi } };
  const stored: Readonly<Record<string, JsonObject>> = { "pods/x/web": pod, "persistentvolumes//pv": pv };
  const authorizer = new NodeAuthorizer({
    get: (collection, namespace, name) => stored[`${collection}/${namespace}/${name}`],
    list: (collection, namespace = "") =>
      Object.entries(stored).filter(([key]) => key.startsWith(`${collection}/${namespace}`)).map(([, object]) =>
        object
      ),
  });
  return (user: User, verb: string, resource: string, target: Partial<Attributes> = {}) =>
    authorizer.authorize({
      user,
      verb,
      isResourceRequest: true,
      group: "",
      version: "v1",
      resource,
      subresource: "",
      namespace: "x",
      name: "",
      path: "",
      ...target,
    });
}

const cases: readonly (readonly [verb: string, resource: string, target: Partial<Attributes>, isAllowed: boolean])[] = [
  ["get", "secrets", { name: "key" }, true],
  ["get", "secrets", { name: "other" }, false],
  ["get", "secrets", { name: "stage", namespace: "y" }, true],
  ["list", "secrets", {}, false],
  ["update", "secrets", { name: "key" }, false],
  ["get", "persistentvolumeclaims", { name: "data" }, true],
  ["get", "persistentvolumes", { name: "pv", namespace: "" }, true],
  ["create", "serviceaccounts", { name: "robot", subresource: "token" }, true],
  ["create", "serviceaccounts", { name: "default", subresource: "token" }, false],
  ["list", "pods", { namespace: "", requiredFields: [{ field: "spec.nodeName", value: "a" }] }, true],
  ["list", "pods", { namespace: "", requiredFields: [{ field: "spec.nodeName", value: "b" }] }, false],
  ["get", "nodes", { name: "a", namespace: "" }, true],
  ["get", "nodes", { name: "b", namespace: "" }, false],
  ["list", "services", {}, true],
  ["list", "namespaces", { namespace: "" }, false],
];

for (const [verb, resource, target, isAllowed] of cases) {
  const { name = "", namespace = "x" } = target;
  test(`a kubelet ${isAllowed ? "may" : "may not"} ${verb} ${resource} ${namespace}/${name}`, () => {
    const authorize = setUp();
    assertEquals(authorize(kubelet, verb, resource, target).isAllowed, isAllowed);
    assertEquals(authorize({ ...kubelet, groups: [] }, verb, resource, target), { isAllowed: false, reason: "" });
    const other = { ...kubelet, name: "system:node:" };
    assertEquals(authorize(other, verb, resource, target).reason, 'unknown node for user "system:node:"');
  });
}

test("a mirror Pod gives its kubelet nothing", () => {
  const authorize = setUp({ annotations: { "kubernetes.io/config.mirror": "x" } });
  assertEquals(
    authorize(kubelet, "get", "secrets", { name: "key" }).reason,
    "no relationship found between node 'a' and this object",
  );
});
