import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import type { Attributes, JsonObject, ObjectReader, User } from "../model/mod.ts";
import { RbacAuthorizer } from "./rbac.ts";

const group = "rbac.authorization.k8s.io";

/** What is stored, by collection. */
function reader(stored: Readonly<Record<string, readonly JsonObject[]>>): ObjectReader {
  const named = (object: JsonObject) => Object(object["metadata"]);
  const list = (collection: string, namespace?: string) =>
    (stored[collection.replace(`.${group}`, "")] ?? []).filter((object) =>
      namespace === undefined || named(object).namespace === namespace
    );
  return {
    list,
    get: (collection, namespace, name) =>
      list(collection).find((object) => named(object).name === name && (named(object).namespace ?? "") === namespace),
  };
}

function user(name: string, groups: readonly string[] = []): User {
  return { name, uid: "", groups, extra: new Map() };
}

function requestOf(who: User, verb: string, what: Partial<Attributes>): Attributes {
  const nothing = { group: "", version: "v1", resource: "", subresource: "", namespace: "", name: "", path: "" };
  return { user: who, verb, isResourceRequest: what.path === undefined, ...nothing, ...what };
}

const stored = reader({
  clusterroles: [
    {
      metadata: { name: "reader" },
      rules: [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "pods/log"] }],
    },
    { metadata: { name: "metrics" }, rules: [{ verbs: ["get"], nonResourceURLs: ["/metrics", "/debug/*"] }] },
    { metadata: { name: "scaler" }, rules: [{ verbs: ["*"], apiGroups: ["apps"], resources: ["*/scale"] }] },
    { metadata: { name: "all" }, rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] },
  ],
  clusterrolebindings: [
    {
      metadata: { name: "m" },
      subjects: [{ kind: "Group", name: "ops" }],
      roleRef: { kind: "ClusterRole", name: "metrics" },
    },
    {
      metadata: { name: "s" },
      subjects: [{ kind: "User", name: "sam" }],
      roleRef: { kind: "ClusterRole", name: "scaler" },
    },
    {
      metadata: { name: "lost" },
      subjects: [{ kind: "User", name: "sam" }],
      roleRef: { kind: "ClusterRole", name: "gone" },
    },
  ],
  roles: [
    {
      metadata: { name: "one", namespace: "a" },
      rules: [{ verbs: ["update"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["lock"] }],
    },
  ],
  rolebindings: [
    {
      metadata: { name: "r", namespace: "a" },
      subjects: [{ kind: "ServiceAccount", name: "robot", namespace: "b" }],
      roleRef: { kind: "ClusterRole", name: "reader" },
    },
    {
      metadata: { name: "o", namespace: "a" },
      subjects: [{ kind: "User", name: "jane" }],
      roleRef: { kind: "Role", name: "one" },
    },
  ],
});

const robot = user("system:serviceaccount:b:robot", ["system:serviceaccounts"]);

const table: readonly (readonly [what: string, attributes: Attributes, isAllowed: boolean])[] = [
  [
    "a ClusterRole that is bound in the namespace",
    requestOf(robot, "list", { resource: "pods", namespace: "a" }),
    true,
  ],
  [
    "a ClusterRole that is bound in another namespace",
    requestOf(robot, "list", { resource: "pods", namespace: "b" }),
    false,
  ],
  [
    "a ClusterRole that is bound in a namespace, for the whole cluster",
    requestOf(robot, "list", { resource: "pods" }),
    false,
  ],
  ["a verb without a rule", requestOf(robot, "delete", { resource: "pods", namespace: "a" }), false],
  [
    "a subresource with a rule",
    requestOf(robot, "get", { resource: "pods", subresource: "log", namespace: "a" }),
    true,
  ],
  [
    "a subresource without a rule",
    requestOf(robot, "get", { resource: "pods", subresource: "status", namespace: "a" }),
    false,
  ],
  ["another group", requestOf(robot, "list", { resource: "pods", group: "x", namespace: "a" }), false],
  [
    "a name that is listed",
    requestOf(user("jane"), "update", { resource: "configmaps", namespace: "a", name: "lock" }),
    true,
  ],
  [
    "a name without a rule",
    requestOf(user("jane"), "update", { resource: "configmaps", namespace: "a", name: "x" }),
    false,
  ],
  ["a path", requestOf(user("x", ["ops"]), "get", { path: "/metrics" }), true],
  ["a path below one with a star", requestOf(user("x", ["ops"]), "get", { path: "/debug/pprof" }), true],
  ["a path that only begins alike", requestOf(user("x", ["ops"]), "get", { path: "/metrics/more" }), false],
  [
    "the same part of any resource",
    requestOf(user("sam"), "patch", { group: "apps", resource: "x", subresource: "scale" }),
    true,
  ],
  ["but not the resource", requestOf(user("sam"), "patch", { group: "apps", resource: "x" }), false],
  ["a master", requestOf(user("root", ["system:masters"]), "delete", { resource: "nodes" }), true],
  ["nobody", requestOf(user("nobody"), "get", { resource: "pods", namespace: "a" }), false],
];

test("RBAC allows only what a rule of a bound role covers", () => {
  const authorizer = new RbacAuthorizer(stored);
  for (const [what, attributes, isAllowed] of table) {
    assertEquals(authorizer.authorize(attributes).isAllowed, isAllowed, what);
  }
});

test("the reason names the binding", () => {
  const { reason } = new RbacAuthorizer(stored).authorize(
    requestOf(robot, "get", { resource: "pods", namespace: "a" }),
  );
  assertMatch(reason, /^RBAC: allowed by RoleBinding "r\/a" of ClusterRole "reader" to ServiceAccount "robot\/b"$/);
});
