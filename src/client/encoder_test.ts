/** Tests of paths and queries of requests. */
import { builtin } from "../api/mod.ts";
import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { objectPath, resourcePath, selectionQuery, withQuery } from "./encoder.ts";

const { ClusterRole, ConfigMap, Deployment } = builtin;

test("paths have the form of the Kubernetes API", () => {
  assertEquals(resourcePath(ConfigMap, {}), "/api/v1/configmaps");
  assertEquals(resourcePath(ConfigMap, { namespace: "a" }), "/api/v1/namespaces/a/configmaps");
  assertEquals(objectPath(Deployment, "a/b"), "/apis/apps/v1/namespaces/a/deployments/b");
  assertEquals(objectPath(Deployment, "a/b", "scale"), "/apis/apps/v1/namespaces/a/deployments/b/scale");
  assertEquals(
    objectPath(ClusterRole, "system:node"),
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
  );
});

test("[80, security 18] names that would change the path are refused in each of its parts", () => {
  const hostile = ["", ".", "..", "a/b", "/", "%2f", "..%2f..", "a%00", "\u0000", "a\nb", "\ud800"];
  for (const bad of hostile) {
    assertThrows(() => objectPath(ConfigMap, `a/${bad}`), /^Cannot address ConfigMap: name /);
    assertThrows(() => objectPath(ConfigMap, "a/b", bad), /^Cannot address ConfigMap: subresource /);
    if (!bad.includes("/")) {
      assertThrows(() => objectPath(ConfigMap, `${bad}/b`), /^Cannot address ConfigMap: namespace /);
    }
    assertThrows(() => resourcePath({ ...Deployment, plural: bad }, {}), /^Cannot address Deployment: plural /);
    assertThrows(() => resourcePath({ ...Deployment, version: bad }, {}), /^Cannot address Deployment: version /);
    if (bad !== "") {
      assertThrows(() => resourcePath({ ...Deployment, group: bad }, {}), /^Cannot address Deployment: group /);
      assertThrows(() => resourcePath(Deployment, { namespace: bad }), /^Cannot address Deployment: namespace /);
    }
  }
});

test("[94] names that are properties of Object in JavaScript are names", () => {
  for (const name of ["__proto__", "constructor", "toString"]) {
    assertEquals(objectPath(ConfigMap, `a/${name}`), `/api/v1/namespaces/a/configmaps/${name}`);
  }
});

test("[security 18] special characters of a URL are encoded within their part", () => {
  assertEquals(
    objectPath(ConfigMap, "a/b?c=d&e#f +ö"),
    "/api/v1/namespaces/a/configmaps/b%3Fc%3Dd%26e%23f%20%2B%C3%B6",
  );
});

test("a key must match the scope of its kind", () => {
  assertThrows(() => objectPath(ConfigMap, "b"), /^Cannot address ConfigMap "b": the key must be "namespace\/name"$/);
  assertThrows(() => objectPath(ClusterRole, "a/b"), /^Cannot address ClusterRole "a\/b": the kind has no namespaces$/);
});

test("a query contains only values that differ from the default", () => {
  assertEquals(withQuery("/x", { a: undefined, b: "", c: false }), "/x");
  assertEquals(
    withQuery("/x", { watch: true, limit: 0, version: "0", s: "a=b,c in (d)" }),
    "/x?watch=true&limit=0&version=0&s=a%3Db%2Cc%20in%20(d)",
  );
});

test("selectors may be strings or objects", () => {
  assertEquals(
    selectionQuery({ labelSelector: { matchLabels: { app: "web" } }, fieldSelector: { "spec.nodeName": "a" } }),
    {
      labelSelector: "app=web",
      fieldSelector: "spec.nodeName=a",
    },
  );
  assertEquals(selectionQuery({ labelSelector: "a!=b" }), { labelSelector: "a!=b", fieldSelector: undefined });
});
