/** Errors of ValidatingAdmissionPolicies and of their bindings: a valid object with one change each. */
import type { CaseRun } from "../case_run.ts";
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { many, type MutatedKind, mutationCases } from "./_mutations.ts";
import type { Body } from "./_objects.ts";

const root = "/apis/admissionregistration.k8s.io/v1";
const rbac = "/apis/rbac.authorization.k8s.io/v1";

const rule = { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], operations: ["CREATE"] };
const validation = { expression: "object.spec.replicas < 5" };

/** Rules with one change. */
const ruled = (change: Body): Body => ({ resourceRules: [{ ...rule, ...change }] });

const policy: MutatedKind = {
  what: "a ValidatingAdmissionPolicy",
  path: () => `${root}/validatingadmissionpolicies`,
  good: (run) => ({
    metadata: { name: run.name("policy") },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [validation] },
  }),
  creates: [
    { spec: undefined },
    { "spec.failurePolicy": "Panic" },
    { "spec.failurePolicy": "" },
    { "spec.matchConstraints": undefined },
    { "spec.matchConstraints": {} },
    { "spec.matchConstraints.matchPolicy": "Roughly" },
    { "spec.matchConstraints.namespaceSelector": { matchLabels: { "bad key": "x" } } },
    { "spec.matchConstraints.objectSelector": { matchExpressions: [{ key: "a", operator: "In" }] } },
    { "spec.matchConstraints": ruled({ apiGroups: [] }) },
    { "spec.matchConstraints": ruled({ apiGroups: ["*", "apps"] }) },
    { "spec.matchConstraints": ruled({ apiVersions: [] }) },
    { "spec.matchConstraints": ruled({ apiVersions: ["", "*"] }) },
    { "spec.matchConstraints": ruled({ resources: [] }) },
    { "spec.matchConstraints": ruled({ resources: ["a/*", "a/b", "*/b", "*"] }) },
    { "spec.matchConstraints": ruled({ operations: [] }) },
    { "spec.matchConstraints": ruled({ operations: ["*", "CREATE", "WATCH"] }) },
    { "spec.matchConstraints": ruled({ scope: "Galaxy" }) },
    { "spec.matchConstraints": ruled({ resourceNames: ["a", "a", "b/c", ".."] }) },
    { "spec.matchConstraints": { ...ruled({}), excludeResourceRules: [{ ...rule, resources: [""] }] } },
    { "spec.paramKind": {} },
    { "spec.paramKind": { apiVersion: "a/b/c", kind: "A" } },
    { "spec.paramKind": { apiVersion: "/", kind: "A" } },
    { "spec.paramKind": { apiVersion: "Bad_Group/V1", kind: "a b" } },
    { "spec.paramKind": { apiVersion: "apps/", kind: "" } },
    { "spec.matchConditions": [{ name: "", expression: "" }] },
    { "spec.matchConditions": [{ name: "a b", expression: "1" }, { name: "c", expression: "params.x" }] },
    { "spec.matchConditions": [{ name: "a", expression: "true" }, { name: "a", expression: "object.x" }] },
    ["65 match conditions", {
      "spec.matchConditions": many(65, (index) => ({ name: `c${index}`, expression: "true" })),
    }],
    { "spec.variables": [{ name: "", expression: "" }] },
    { "spec.variables": [{ name: "a-b", expression: "object.x +" }, { name: "in", expression: "1" }] },
    { "spec.variables": [{ name: "a", expression: "variables.b" }, { name: "b", expression: "1" }] },
    { "spec.variables": [{ name: "a", expression: "1" }, { name: "a", expression: "'x'" }] },
    {
      "spec.variables": [
        { name: "a", expression: "request.userInfo" },
        { name: "b", expression: "variables.a.x == 1" },
      ],
    },
    { "spec.validations": [] },
    { "spec.validations": [{ expression: "" }] },
    { "spec.validations": [{ expression: " \n" }] },
    { "spec.validations": [{ expression: "1" }] },
    { "spec.validations": [{ ...validation, message: " " }] },
    { "spec.validations": [{ ...validation, message: "a\nb" }] },
    { "spec.validations": [{ ...validation, messageExpression: " " }] },
    { "spec.validations": [{ ...validation, messageExpression: "1" }] },
    { "spec.validations": [{ ...validation, messageExpression: "authorizer.foo" }] },
    { "spec.validations": [{ ...validation, reason: "Whim" }] },
    { "spec.validations": [{ ...validation, reason: "" }] },
    { "spec.validations": [{ expression: "params.x == 1" }] },
    { "spec.auditAnnotations": [{ key: "", valueExpression: "" }] },
    { "spec.auditAnnotations": [{ key: "a b", valueExpression: "1" }, { key: "a b", valueExpression: "null" }] },
    ["21 audit annotations", {
      "spec.auditAnnotations": many(21, (index) => ({ key: `k${index}`, valueExpression: "'a'" })),
    }],
    ["a long audit annotation", {
      "spec.auditAnnotations": [{ key: "a", valueExpression: `'${"a".repeat(5 * 1024)}'` }],
    }],
    { "metadata.name": "a.static.k8s.io" },
    { "metadata.name": "Bad_Name" },
    { status: { observedGeneration: 7 } },
  ],
  updates: [
    { "spec.failurePolicy": "Panic" },
    { "spec.validations": [{ expression: "object.x +" }] },
    { "spec.matchConditions": [{ name: "a", expression: "1" }] },
    { "spec.variables": [{ name: "b", expression: "z" }] },
    { "spec.paramKind": { apiVersion: "v1", kind: "ConfigMap" } },
    { "spec.matchConstraints": {} },
    { "metadata.resourceVersion": undefined },
    { "metadata.labels": { a: "b" } },
  ],
  statusUpdates: [
    { status: { typeChecking: { expressionWarnings: [{}] } } },
    { status: { typeChecking: { expressionWarnings: [{ fieldRef: " ", warning: "x" }] } } },
    { status: { typeChecking: { expressionWarnings: [{ fieldRef: "spec.a[0].b", warning: "x" }] } } },
    { status: { typeChecking: { expressionWarnings: [{ fieldRef: "spec.a[", warning: "x" }] } } },
    { status: { typeChecking: { expressionWarnings: [{ fieldRef: "spec.a[x]", warning: "" }] } } },
    { status: { typeChecking: { expressionWarnings: [{ fieldRef: "spec['a", warning: "x" }] } } },
    { status: { typeChecking: { expressionWarnings: [{ fieldRef: "spec.#a", warning: "x" }] } } },
    { status: { typeChecking: { expressionWarnings: [{ fieldRef: "}{", warning: "x" }] } } },
    { status: { conditions: [{ type: "", status: "Maybe" }] } },
    { status: { conditions: [condition("A"), condition("A")] } },
    { status: { conditions: [{ ...condition("A"), reason: "", observedGeneration: -1 }] } },
    { status: { observedGeneration: -5 } },
    { "spec.failurePolicy": "Ignore" },
    { "metadata.labels": { a: "b" } },
  ],
  // The checks of types come once for each generation.
  isSettled: ({ status }) => Object(status).observedGeneration === 1,
  traits: { needsControllers: true, needsNamespace: false },
};

function condition(type: string): Body {
  return { type, status: "True", reason: "Because", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
}

const binding: MutatedKind = {
  what: "a ValidatingAdmissionPolicyBinding",
  path: () => `${root}/validatingadmissionpolicybindings`,
  good: (run) => ({
    metadata: { name: run.name("binding") },
    spec: { policyName: "absent", validationActions: ["Deny"] },
  }),
  creates: [
    { spec: undefined },
    { "spec.policyName": "" },
    { "spec.policyName": "Bad_Name" },
    { "spec.validationActions": undefined },
    { "spec.validationActions": ["Deny", "Warn"] },
    { "spec.validationActions": ["Deny", "Deny", "Shout"] },
    { "spec.paramRef": {} },
    { "spec.paramRef": { name: "a", selector: {}, parameterNotFoundAction: "Deny" } },
    { "spec.paramRef": { name: "a/b", parameterNotFoundAction: "Wonder" } },
    { "spec.paramRef": { selector: { matchLabels: { "bad key": "x" } }, parameterNotFoundAction: "Allow" } },
    { "spec.matchResources": { matchPolicy: "Roughly" } },
    { "spec.matchResources": { resourceRules: [{}] } },
  ],
  updates: [
    { "spec.policyName": "other" },
    { "spec.validationActions": [] },
    { "metadata.resourceVersion": undefined },
  ],
  traits: { needsNamespace: false },
};

/** A user who may write policies and read ConfigMaps in one namespace. */
async function withWriter(run: CaseRun, rules: readonly Body[], act: (name: string) => Promise<void>): Promise<void> {
  const name = run.name("writer");
  const own = { apiGroups: ["admissionregistration.k8s.io"], resources: ["*"], verbs: ["*"] };
  await run.prepare({ path: `${rbac}/clusterroles`, body: { metadata: { name }, rules: [own, ...rules] } });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }];
  await run.prepare({ path: `${rbac}/clusterrolebindings`, body: { metadata: { name }, roleRef, subjects } });
  try {
    await run.until({ path: `${policy.path(run)}?limit=1`, subject: subjectOf(name) }, (_, code) => code === 200);
    await act(name);
  } finally {
    for (const kind of ["clusterrolebindings", "clusterroles"]) {
      await run.prepare({ method: "DELETE", path: `${rbac}/${kind}/${name}` });
    }
  }
}

const subjectOf = (commonName: string) => ({ commonName, organizations: ["writers"] });

/** What a writer may read, and the kind of the params. */
const readers: readonly (readonly [what: string, rules: readonly Body[], paramKind: Body])[] = [
  ["nothing", [], { apiVersion: "v1", kind: "ConfigMap" }],
  ["another kind", [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }], {
    apiVersion: "v1",
    kind: "ConfigMap",
  }],
  ["the kind", [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }], {
    apiVersion: "v1",
    kind: "ConfigMap",
  }],
  ["one object", [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"], verbs: ["get"] }], {
    apiVersion: "v1",
    kind: "ConfigMap",
  }],
  ["a kind that does not exist", [{ apiGroups: ["ghosts.example"], resources: ["ghosts"], verbs: ["get"] }], {
    apiVersion: "ghosts.example/v1",
    kind: "Ghost",
  }],
  ["all of a group", [{ apiGroups: ["ghosts.example"], resources: ["*"], verbs: ["*"] }], {
    apiVersion: "ghosts.example/v1",
    kind: "Ghost",
  }],
];

const paramAccess = readers.map(([what, rules, paramKind]) =>
  scenario(`params of a policy by a user who may read ${what}`, (run) =>
    withWriter(run, rules, async (name) => {
      const good: Body = policy.good(run);
      const body = { ...good, spec: { ...Object(good.spec), paramKind } };
      await run.call({ path: `${policy.path(run)}?dryRun=All`, body, subject: subjectOf(name), pick: () => "created" });
    }), { needsNamespace: false })
);

const bindingAccess = readers.map(([what, rules, paramKind]) =>
  scenario(`params of a binding by a user who may read ${what}`, (run) =>
    withWriter(run, rules, async (name) => {
      const good: Body = policy.good(run);
      const spec = { ...Object(good.spec), paramKind };
      const path = `${policy.path(run)}/${run.name("policy")}`;
      await run.prepare({ path: policy.path(run), body: { ...good, spec } });
      try {
        const paramRef = { name: "a", namespace: "default", parameterNotFoundAction: "Deny" };
        for (const policyName of [run.name("policy"), "absent"]) {
          const bound = { policyName, validationActions: ["Deny"], paramRef };
          const body = { metadata: { name: run.name("binding") }, spec: bound };
          await run.call({
            path: `${binding.path(run)}?dryRun=All`,
            body,
            subject: subjectOf(name),
            pick: () => "created",
          });
        }
      } finally {
        await run.prepare({ method: "DELETE", path });
      }
    }), { needsNamespace: false })
);

export const invalidPolicyCases: readonly ConformanceCase[] = [
  ...mutationCases(policy),
  ...mutationCases(binding),
  ...paramAccess,
  ...bindingAccess,
];
