import { assertEquals, test } from "../../tests/testing.ts";
import { type AccessRequest, isAllowedBy, type PolicyRule } from "./policy_rule.ts";

const pods: AccessRequest = {
  verb: "get",
  isResourceRequest: true,
  group: "",
  resource: "pods",
  subresource: "",
  name: "a",
  path: "",
};
const rule: PolicyRule = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] };

const cases: readonly (readonly [what: string, rule: PolicyRule, request: AccessRequest, isAllowed: boolean])[] = [
  ["a verb of the rule", rule, pods, true],
  ["another verb", rule, { ...pods, verb: "delete" }, false],
  ["deletecollection is not delete", { ...rule, verbs: ["delete"] }, { ...pods, verb: "deletecollection" }, false],
  ["another group", rule, { ...pods, group: "apps" }, false],
  ["a rule for objects does not cover their subresources", rule, { ...pods, subresource: "status" }, false],
  ["a subresource", { ...rule, resources: ["pods/log"] }, { ...pods, subresource: "log" }, true],
  ["a rule for a subresource does not cover the objects", { ...rule, resources: ["pods/log"] }, pods, false],
  ["one subresource of all kinds", { ...rule, resources: ["*/log"] }, { ...pods, subresource: "log" }, true],
  ["all resources", { ...rule, resources: ["*"] }, { ...pods, subresource: "log" }, true],
  ["all verbs and groups", { ...rule, verbs: ["*"], apiGroups: ["*"] }, { ...pods, verb: "patch", group: "x" }, true],
  ["one of the names", { ...rule, resourceNames: ["b", "a"] }, pods, true],
  ["another name", { ...rule, resourceNames: ["b"] }, pods, false],
  ["a rule with names does not cover a collection", { ...rule, resourceNames: ["a"] }, { ...pods, name: "" }, false],
  ["a rule for resources does not cover a path", rule, { ...pods, isResourceRequest: false, path: "/version" }, false],
  [
    "a path",
    { verbs: ["get"], nonResourceURLs: ["/healthz", "/api/*"] },
    { ...pods, isResourceRequest: false, path: "/api/v1" },
    true,
  ],
  [
    "a rule for a path does not cover longer paths",
    { verbs: ["get"], nonResourceURLs: ["/healthz"] },
    { ...pods, isResourceRequest: false, path: "/healthz/etcd" },
    false,
  ],
];

for (const [what, ruleOfCase, request, isAllowed] of cases) {
  test(`isAllowedBy() ${isAllowed ? "allows" : "denies"}: ${what}`, () => {
    assertEquals(isAllowedBy(ruleOfCase, request), isAllowed);
  });
}
