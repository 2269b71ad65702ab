/** The type checks of ValidatingAdmissionPolicies, which kube-controller-manager writes into their status. */
import type { CaseRun } from "../case_run.ts";
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { Body } from "./_objects.ts";

const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";

/** A rule for all operations. */
const rule = (apiGroups: readonly string[], resources: readonly string[], apiVersions: readonly string[] = ["v1"]) => ({
  apiGroups,
  apiVersions,
  resources,
  operations: ["*"],
});

const deployments = rule(["apps"], ["deployments"]);
const pods = rule([""], ["pods"]);

/** The spec of a policy with one validation for each expression. */
const checking = (expressions: readonly string[], rules: readonly Body[], rest: Body = {}): Body => ({
  matchConstraints: { resourceRules: rules },
  validations: expressions.map((expression) => ({ expression })),
  ...rest,
});

/** Types of objects have a number in their names, which is another one in each run. */
const withoutNumbers = (text: string) => text.replaceAll(/\b([A-Z]\w*?)\d+(?=[.,)])/g, "$1<number>");

// deno-lint-ignore no-explicit-any
const pickStatus = ({ status }: any) => JSON.parse(withoutNumbers(JSON.stringify(status)));

/** Creates a policy, and reads its status when it was checked. Errors that need no schema are those of the create. */
async function check(run: CaseRun, spec: Body): Promise<void> {
  const path = `${policies}/${run.name("typed")}`;
  const body = { metadata: { name: run.name("typed") }, spec };
  const { kind } = await run.call({ path: policies, body, pick: () => "created" });
  if (kind === "Status") return;
  try {
    await run.until(path, ({ status }) => status?.observedGeneration === 1);
    await run.call({ path, pick: pickStatus });
  } finally {
    await run.prepare({ method: "DELETE", path });
  }
}

/** What a policy has, and its spec. */
const specs: readonly (readonly [what: string, spec: Body])[] = [
  ["right fields", checking(["object.spec.replicas > 1", "object.metadata.namespace == 'a'"], [deployments])],
  ["an unknown field", checking(["object.spec.replicaz > 1"], [deployments])],
  ["an unknown field of metadata", checking(["object.metadata.labelz == {}"], [deployments])],
  ["a comparison of a number with a text", checking(["object.spec.replicas > '1'"], [deployments])],
  ["a comparison of an object with a number", checking(["object.spec == 1"], [deployments])],
  ["a list of objects that is compared", checking(["object.spec.template.spec.containers == 1"], [deployments])],
  ["a map that is compared", checking(["object.metadata.labels == ['a']"], [deployments])],
  ["several errors in one expression", checking(["object.a == object.b || object.spec.c == 1"], [deployments])],
  ["an error in the second line", checking(["object.spec.replicas > 1 &&\n  object.spec.replicaz > 1"], [deployments])],
  ["errors in several validations", checking(["object.a == 1", "true", "object.b == 1"], [deployments])],
  ["an unknown field of oldObject", checking(["oldObject.spec.replicaz == 1"], [deployments])],
  ["an unknown field of request", checking(["request.usr == 'a'"], [deployments])],
  ["an unknown field of the namespace", checking(["namespaceObject.spec.a == 'a'"], [deployments])],
  ["an int-or-string", checking(["object.spec.strategy.rollingUpdate.maxSurge == 1"], [deployments])],
  [
    "quantities",
    checking(["object.spec.containers.all(c, c.resources.limits['cpu'] == '1')"], [pods]),
  ],
  ["times", checking(["object.metadata.creationTimestamp < timestamp('2026-01-01T00:00:00Z')"], [pods])],
  ["a time and a text", checking(["object.metadata.creationTimestamp == 'a'"], [pods])],
  ["bytes", checking(["object.data['a'] == 'b'"], [rule([""], ["secrets"])])],
  ["a map of texts", checking(["object.data['a'] == 1"], [rule([""], ["configmaps"])])],
  ["raw fields", checking(["object.data.a == 1"], [rule(["apps"], ["controllerrevisions"])])],
  ["managedFields", checking(["object.metadata.managedFields[0].fieldsV1.a == 1"], [pods])],
  ["has() of an unknown field", checking(["has(object.spec.foo)"], [pods])],
  ["a macro with an unknown field", checking(["object.spec.containers.exists(c, c.img == 'a')"], [pods])],
  [
    "two kinds, one of which lacks the field",
    checking(["object.spec.replicas > 1"], [
      rule(["apps"], ["deployments", "daemonsets"]),
    ]),
  ],
  ["two kinds that both lack the field", checking(["object.x == 1"], [deployments, pods])],
  ["a resource in all groups", checking(["object.x == 1"], [rule([""], ["events"])])],
  ["a resource in singular", checking(["object.x == 1"], [rule(["apps"], ["deployment"])])],
  ["a resource in capitals", checking(["object.x == 1"], [rule(["apps"], ["Deployments"])])],
  ["a subresource", checking(["object.x == 1"], [rule(["apps"], ["deployments/scale"])])],
  ["a wildcard for groups", checking(["object.x == 1"], [rule(["*"], ["deployments"])])],
  ["a wildcard for versions", checking(["object.x == 1"], [rule(["apps"], ["deployments"], ["*"])])],
  ["a wildcard for resources", checking(["object.x == 1"], [rule(["apps"], ["*"])])],
  ["an unknown resource", checking(["object.x == 1"], [rule(["apps"], ["ghosts"])])],
  ["an unknown group", checking(["object.x == 1"], [rule(["ghosts.example"], ["ghosts"])])],
  [
    "more kinds than are checked",
    checking(["object.x == 1"], [
      rule(["apps", "batch", ""], [
        "pods",
        "services",
        "secrets",
        "configmaps",
        "jobs",
        "cronjobs",
        "deployments",
        "statefulsets",
        "daemonsets",
        "replicasets",
        "nodes",
        "namespaces",
      ]),
    ]),
  ],
  [
    "a kind that contains itself",
    checking(["object.spec.versions[0].schema.openAPIV3Schema.not.x == 1"], [
      rule(["apiextensions.k8s.io"], ["customresourcedefinitions"]),
    ]),
  ],
  [
    "a kind of another API server",
    checking(["object.spec.x == 1"], [
      rule(["apiregistration.k8s.io"], ["apiservices"]),
    ]),
  ],
  ["an authorizer", checking(["authorizer.group('').resource('pods').check('get').allowed()"], [pods])],
  ["the resource of the request", checking(["authorizer.requestResource.check('get').allowed()"], [pods])],
  ["an unknown field of an authorizer", checking(["authorizer.foo == 1"], [pods])],
  ["an unknown field of a quantity", checking(["quantity('1').foo == 1"], [pods])],
  ["an unknown field of a URL", checking(["url('http://a').foo == 1 || ip('1.1.1.1').foo == 1"], [pods])],
  ["a message", {
    matchConstraints: { resourceRules: [pods] },
    validations: [{ expression: "true", messageExpression: "'a' + string(object.spec.x)" }],
  }],
  ["a message without errors", {
    matchConstraints: { resourceRules: [pods] },
    validations: [{ expression: "object.y == 1", messageExpression: "string(object.spec.nodeName)" }],
  }],
  [
    "variables",
    checking(["variables.a > 1", "variables.b > '1'", "variables.c.x == 1"], [deployments], {
      variables: [
        { name: "a", expression: "object.spec.replicas" },
        { name: "b", expression: "variables.a + 1" },
        { name: "c", expression: "object.spec" },
      ],
    }),
  ],
  [
    "a variable that does not compile",
    checking(["variables.a > 1", "variables.z == 1"], [deployments], {
      variables: [{ name: "a", expression: "object.spec.replicaz" }],
    }),
  ],
  [
    "variables of lists and maps",
    checking(["variables.a['x'] == 1", "variables.b[0].x == 1", "variables.b == 1"], [pods], {
      variables: [
        { name: "a", expression: "object.metadata.labels" },
        { name: "b", expression: "object.spec.containers" },
      ],
    }),
  ],
  [
    "params of a kind",
    checking(["params.data['a'] == 1", "params.x == 1"], [pods], {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    }),
  ],
  [
    "params of a group",
    checking(["params.spec.x == 1"], [pods], {
      paramKind: { apiVersion: "apps/v1", kind: "Deployment" },
    }),
  ],
  [
    "params of an unknown kind",
    checking(["params.x == 1"], [pods], {
      paramKind: { apiVersion: "ghosts.example/v1", kind: "Ghost" },
    }),
  ],
  ["audit annotations only", {
    matchConstraints: { resourceRules: [pods] },
    auditAnnotations: [{ key: "a", valueExpression: "string(object.x)" }],
  }],
  ["match conditions", checking(["true"], [pods], { matchConditions: [{ name: "a", expression: "object.x == 1" }] })],
];

/** A definition with fields of several types. */
function definition(run: CaseRun): Body {
  const group = `${run.unique}.example`;
  const names = { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" };
  const spec = {
    type: "object",
    properties: {
      size: { type: "integer" },
      when: { type: "string", format: "date-time" },
      either: { "x-kubernetes-int-or-string": true },
      any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      inner: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      "dashed-name": { type: "string" },
      parts: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
      free: { type: "object", additionalProperties: { type: "number" } },
    },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      names,
      scope: "Namespaced",
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
      }],
    },
  };
}

/** Checks a policy for a custom resource whose schema is published. */
async function checkCustom(run: CaseRun, expressions: readonly string[], rest: Body = {}): Promise<void> {
  const group = `${run.unique}.example`;
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await run.prepare({ path, body: definition(run) });
  try {
    await run.until(`/apis/${group}/v1`, ({ resources = [] }) => resources.length > 0);
    await run.until(
      `/openapi/v3/apis/${group}/v1`,
      (body, code) => code === 200 && JSON.stringify(body).includes("dashed"),
    );
    await check(run, checking(expressions, [rule([group], ["gadgets"])], rest));
  } finally {
    await run.prepare({ method: "DELETE", path: `${path}/gadgets.${group}` });
  }
}

/** Expressions about custom resources. */
const ofCustomResources: readonly (readonly [what: string, expressions: readonly string[]])[] = [
  ["right fields", ["object.spec.size > 1", "object.spec.either == 1", "object.spec.dashed__dash__name == 'a'"]],
  ["unknown fields", ["object.spec.sizes > 1", "object.status == 1", "object.spec.any.x == 1"]],
  ["wrong types", ["object.spec.size == 'a'", "object.spec.when > 1", "object.spec.parts[0].name == 1"]],
  ["an embedded object", ["object.spec.inner.metadata.name == 1", "object.spec.inner.spec == 1"]],
  ["objects in messages", ["object.spec.parts == 1", "object.spec.free == 1", "object == 1", "object.spec == 2"]],
];

const traits = { needsControllers: true, needsNamespace: false };

export const typeCheckCases: readonly ConformanceCase[] = [
  ...specs.map(([what, spec]) => scenario(`a policy with ${what}`, (run) => check(run, spec), traits)),
  ...ofCustomResources.map(([what, expressions]) =>
    scenario(`custom resources: ${what}`, (run) => checkCustom(run, expressions), traits)
  ),
  scenario("a changed policy is checked again", async (run) => {
    const path = `${policies}/${run.name("typed")}`;
    const body = { metadata: { name: run.name("typed") }, spec: checking(["object.x == 1"], [pods]) };
    await run.prepare({ path: policies, body });
    try {
      for (const [generation, expression] of ["object.x == 1", "object.spec.nodeName == 'a'"].entries()) {
        const type = "application/merge-patch+json";
        const validations = [{ expression }];
        await run.prepare({ method: "PATCH", path, type, body: { spec: { validations } } });
        await run.until(path, ({ status }) => status?.observedGeneration === generation + 1);
        await run.call({ path, pick: pickStatus });
      }
    } finally {
      await run.prepare({ method: "DELETE", path });
    }
  }, traits),
];
