/** ValidatingAdmissionPolicies and their bindings: evaluation, params, match conditions, and validation of the policies. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body, configMap, secret, template } from "./_objects.ts";
import { paramKind, prepareParams } from "./_policy_params.ts";

const root = "/apis/admissionregistration.k8s.io/v1";
const policies = `${root}/validatingadmissionpolicies`;
const bindings = `${root}/validatingadmissionpolicybindings`;

const configMapRule = {
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: ["configmaps"],
  operations: ["CREATE", "UPDATE", "DELETE"],
};

/** A policy for one resource in the case's namespace. */
function policy(run: CaseRun, spec: Body, resource = "configmaps"): Body {
  return {
    metadata: { name: run.name("policy") },
    spec: {
      matchConstraints: {
        resourceRules: [{ ...configMapRule, resources: [resource] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": run.namespace } },
      },
      ...spec,
    },
  };
}

/**
 * A case with one policy and its binding. A second policy, which rejects Secrets, shows when the real server has both
 * policies in its cache.
 * @param before runs before the policy is created; creates params and returns an expression that is false for the last one
 */
function withPolicy(
  name: string,
  spec: Body,
  act: (run: CaseRun) => Promise<void>,
  binding: Body | ((run: CaseRun) => Body) = {},
  before: (run: CaseRun) => Promise<string> = () => Promise.resolve(""),
): ConformanceCase {
  return scenario(name, async (run) => {
    const names = { policy: run.name("policy"), binding: run.name("binding"), probe: run.name("probe") };
    const usesParams = spec.paramKind !== undefined;
    if (usesParams) await prepareParams(run);
    const ofParams = await before(run);
    const probe = policy(run, {
      ...(usesParams ? { paramKind } : {}),
      validations: [{ expression: ofParams === "" ? "false" : ofParams }],
    }, "secrets");
    const bound = typeof binding === "function" ? binding(run) : binding;
    const { paramRef } = Object(bound);
    // A missing param that is allowed would let the Secret pass.
    const probeParams = paramRef === undefined ? {} : { paramRef: { ...paramRef, parameterNotFoundAction: "Deny" } };
    await run.prepare({ path: policies, body: policy(run, spec) });
    await run.prepare({
      path: bindings,
      body: {
        metadata: { name: names.binding },
        spec: { policyName: names.policy, validationActions: ["Deny"], ...bound },
      },
    });
    await run.prepare({ path: policies, body: { ...probe, metadata: { name: names.probe } } });
    await run.prepare({
      path: bindings,
      body: {
        metadata: { name: names.probe },
        spec: { policyName: names.probe, validationActions: ["Deny"], ...probeParams },
      },
    });
    try {
      await untilEnforced(run, ofParams);
      await act(run);
    } finally {
      for (const path of [bindings, policies]) await run.prepare({ method: "DELETE", path: `${path}/${names.probe}` });
      await run.prepare({ method: "DELETE", path: `${bindings}/${names.binding}` });
      await run.prepare({ method: "DELETE", path: `${policies}/${names.policy}` });
    }
  });
}

/**
 * Waits until the server enforces the policy for Secrets. It was created last, so the other one is enforced too.
 *
 * @param ofParams What it rejects with when the server knows the params; before it rejects because they are missing.
 */
async function untilEnforced(run: CaseRun, ofParams: string): Promise<void> {
  await run.until({ path: `${at(run, "secrets")}?dryRun=All`, body: secret("probe") }, ({ message = "" }) => {
    const isUnready = ["not yet synced", "failed to find resource"].some((reason) => message.includes(reason));
    return message.includes("'probe-") && message.includes(ofParams) && !isUnready;
  });
}

const createConfigMap = (name: string, data?: Body, metadata?: Body) => async (run: CaseRun) => {
  await run.call({ path: at(run, "configmaps"), body: configMap(name, data, metadata) });
};

const hasFew = "size(object.data) <= int(params.data.most)";

/** Creates the params of a case. */
const createParams = async (run: CaseRun): Promise<string> => {
  const params = ([["many", "3"], ["few", "1"]] as const).map(([name, most]) => ({
    metadata: { name, labels: { params: "yes" } },
    data: { most },
  }));
  await prepareParams(run, params);
  return "params.data.most != '1'";
};

const withParams = { paramKind };

/** The match constraints of a policy for another resource. */
const matching = (rule: Body): Body => ({ resourceRules: [{ ...configMapRule, ...rule }] });

/** A binding for the case's namespace, for a policy whose match constraints do not limit the namespace. */
const inNamespace = (run: CaseRun): Body => ({
  matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": run.namespace } } },
});

/** The spec of a policy with one validation. */
const validation = (expression: string, rest: Body = {}): Body => ({ validations: [{ expression, ...rest }] });

/** Specs that the server rejects. */
const invalidPolicies: readonly (readonly [string, Body])[] = [
  ["an expression that does not parse", validation("object.data +")],
  ["expressions that do not parse", {
    validations: [
      "object.in == 1",
      "object.(x)",
      "object.?",
      "object.if",
      "object.1",
      "object.'x'",
      "object..x",
      "1 + * 2",
      "[1, 2",
      "size(",
      "{1: }",
      "{1}",
      "true ? 1",
      "'open",
      "object[",
      "object[1",
      "1 2",
      "(1",
      "if == 1",
      "object.all(x, )",
      "object.all(x.y, true)",
      "has(object)",
    ].map((expression) => ({ expression })),
  }],
  ["an expression that is not a condition", validation("object.metadata.name")],
  ["an expression of another type", validation("1 + 1")],
  ["an unknown variable", validation("params.x == 1")],
  ["an unknown field of the request", validation("request.nothing == ''")],
  ["a message of another type", validation("true", { messageExpression: "1" })],
  [
    "a message that calls the authorizer",
    validation("true", {
      messageExpression: "authorizer.path('/').check('get').reason()",
    }),
  ],
  ["variables", {
    variables: [{ name: "a", expression: "variables.b" }, { name: "b", expression: "1 +" }],
    ...validation("variables.a == 1 && variables.c"),
  }],
  ["match conditions", {
    ...validation("true"),
    matchConditions: [
      { name: "a", expression: "variables.x" },
      { name: "a", expression: "'text'" },
      { name: "b", expression: " object.x ==  " },
    ],
  }],
  ["audit annotations", { auditAnnotations: [{ key: "a", valueExpression: " 1 " }] }],
];

const evaluations: readonly ConformanceCase[] = [
  withPolicy("a policy rejects an object", validation("object.metadata.name != 'a'"), async (run) => {
    await createConfigMap("a")(run);
    await createConfigMap("b")(run);
  }),
  withPolicy(
    "a policy rejects an object with a message and a reason",
    validation("size(object.data) < 1", { message: " too many ", reason: "Forbidden" }),
    createConfigMap("a"),
  ),
  withPolicy(
    "a policy rejects an object with a message expression",
    validation("size(object.data) < 1", {
      message: "not this",
      messageExpression: "'has ' + string(size(object.data)) + ' in ' + namespaceObject.metadata.name",
      reason: "RequestEntityTooLarge",
    }),
    createConfigMap("a"),
  ),
  withPolicy(
    "a policy's message expression is empty, has two lines, or fails",
    {
      validations: [
        { expression: "object.metadata.name != 'a'", message: "first", messageExpression: "'  '" },
        { expression: "object.metadata.name != 'b'", message: "second", messageExpression: "'x\\ny'" },
        { expression: "object.metadata.name != 'c'", messageExpression: "object.absent" + " + ''" },
      ],
    },
    async (run) => {
      for (const name of ["a", "b", "c"]) await createConfigMap(name)(run);
    },
  ),
  withPolicy(
    "a policy warns",
    {
      validations: [
        { expression: "size(object.data) > 1", message: "more, please" },
        { expression: "object.metadata.name == 'b'" },
      ],
    },
    createConfigMap("a"),
    { validationActions: ["Warn", "Audit"] },
  ),
  withPolicy(
    "a policy checks updates",
    validation("oldObject == null || object.data == oldObject.data"),
    async (run) => {
      await createConfigMap("a")(run);
      await run.call({ method: "PUT", path: at(run, "configmaps", "a"), body: configMap("a", { other: "x" }) });
      await run.call({
        method: "PATCH",
        path: at(run, "configmaps", "a"),
        type: "application/merge-patch+json",
        body: { metadata: { labels: { a: "b" } } },
      });
    },
  ),
  withPolicy("a policy checks deletions", validation("request.operation != 'DELETE'"), async (run) => {
    await createConfigMap("a")(run);
    await run.call({ method: "DELETE", path: at(run, "configmaps", "a") });
    await run.call({ method: "DELETE", path: at(run, "configmaps") });
  }),
  withPolicy(
    "a policy's expression fails",
    validation("object.data.absent == 'x'"),
    createConfigMap("a"),
  ),
  withPolicy(
    "the failure of a policy's expression is ignored",
    { ...validation("object.data.absent == 'x'"), failurePolicy: "Ignore" },
    createConfigMap("a"),
  ),
  withPolicy("a policy's expression with a high cost", {
    ...validation(
      "object.data.text.matches('^(a+)+$') && [1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, true))",
    ),
    variables: [],
  }, createConfigMap("a", { text: "a".repeat(2000) })),
  withPolicy("a policy's expression exceeds the cost budget", {
    validations: [{
      expression: `object.data.all(a, object.data.all(b, object.data.all(c, object.data.all(d, a.size() > 0))))`,
    }],
  }, createConfigMap("a", Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key-${index}`, "x"])))),
  withPolicy("a policy with match conditions", {
    ...validation("false"),
    matchConditions: [
      { name: "named", expression: "object.metadata.name == 'a'" },
      { name: "user", expression: "'system:authenticated' in request.userInfo.groups" },
    ],
  }, async (run) => {
    await createConfigMap("a")(run);
    await createConfigMap("b")(run);
  }),
  withPolicy("a match condition fails", {
    ...validation("true"),
    matchConditions: [
      { name: "absent", expression: "object.data.absent == 'x'" },
      { name: "other", expression: "object.data.other == 'x'" },
      { name: "named", expression: "object.metadata.name != 'b'" },
    ],
  }, async (run) => {
    await createConfigMap("a")(run);
    await createConfigMap("b")(run);
  }),
  withPolicy("the failure of a match condition is ignored", {
    ...validation("false"),
    failurePolicy: "Ignore",
    matchConditions: [{ name: "absent", expression: "object.data.absent == 'x'" }],
  }, createConfigMap("a")),
  withPolicy("variables use other variables", {
    variables: [
      { name: "keys", expression: "object.data.map(key, key)" },
      { name: "count", expression: "size(variables.keys)" },
      { name: "broken", expression: "object.data['absent']" },
    ],
    validations: [
      { expression: "variables.count < 2", messageExpression: "'keys: ' + variables.keys.sort().join(',')" },
      { expression: "object.metadata.name != 'c' || variables.broken == ''" },
    ],
  }, async (run) => {
    await createConfigMap("a", { x: "1", y: "2" })(run);
    await createConfigMap("b")(run);
    await createConfigMap("c")(run);
  }),
  withPolicy("a policy calls the authorizer", {
    validations: [
      { expression: "authorizer.group('').resource('pods').namespace('default').name('x').check('get').allowed()" },
      { expression: "authorizer.path('/healthz').check('get').allowed()" },
      { expression: "authorizer.requestResource.check('create').allowed()" },
      {
        expression: "authorizer.serviceAccount('default', 'nobody').group('apps').resource('deployments')" +
          ".subresource('status').check('patch').allowed()",
        message: "nobody may not",
      },
    ],
  }, createConfigMap("a")),
  withPolicy("a policy reads the request", {
    validations: [{
      expression: "object.metadata.name != 'a'",
      messageExpression: "request.operation + ' ' + request.kind.kind + ' ' + request.resource.resource + ' ' + " +
        "request.name + ' ' + string(request.dryRun) + ' ' + request.userInfo.groups[0] + ' ' + " +
        "string(has(request.subResource)) + ' ' + request.options.kind + ' ' + namespaceObject.status.phase",
    }],
  }, createConfigMap("a")),
  withPolicy(
    "params by name",
    { ...withParams, ...validation(hasFew) },
    async (run) => {
      await createConfigMap("a", { x: "1", y: "2" })(run);
      await createConfigMap("b")(run);
    },
    { paramRef: { name: "few", parameterNotFoundAction: "Deny" } },
    createParams,
  ),
  withPolicy(
    "params by label",
    { ...withParams, ...validation(hasFew) },
    async (run) => {
      await createConfigMap("a", { x: "1", y: "2" })(run);
      await createConfigMap("b")(run);
    },
    { paramRef: { selector: { matchLabels: { params: "yes" } }, parameterNotFoundAction: "Deny" } },
    createParams,
  ),
  withPolicy("missing params", { ...withParams, ...validation(hasFew) }, createConfigMap("a"), {
    paramRef: { name: "absent", parameterNotFoundAction: "Deny" },
  }),
  withPolicy("missing params that are allowed", { ...withParams, ...validation(hasFew) }, createConfigMap("a"), {
    paramRef: { name: "absent", parameterNotFoundAction: "Allow" },
  }),
  withPolicy(
    "a policy with params and a binding without params",
    { ...withParams, ...validation("params != null") },
    createConfigMap("a"),
  ),
  withPolicy("a binding for some objects", validation("false"), async (run) => {
    await createConfigMap("a", {}, { labels: { strict: "yes" } })(run);
    await createConfigMap("b")(run);
  }, { matchResources: { objectSelector: { matchLabels: { strict: "yes" } } } }),
  withPolicy("a binding that includes and excludes names", validation("false"), async (run) => {
    for (const name of ["a", "b", "c"]) await createConfigMap(name)(run);
  }, {
    matchResources: {
      resourceRules: [{ ...configMapRule, resourceNames: ["a", "b"] }],
      excludeResourceRules: [{ ...configMapRule, resourceNames: ["b"] }],
    },
  }),
  withPolicy("a binding for another namespace", validation("false"), createConfigMap("a"), {
    matchResources: { namespaceSelector: { matchLabels: { some: "other" } } },
  }),
  withPolicy("an audit annotation that fails", {
    auditAnnotations: [{ key: "size", valueExpression: "object.data.absent" + " + ''" }],
  }, createConfigMap("a")),
  withPolicy(
    "an audit annotation",
    {
      auditAnnotations: [
        { key: "size", valueExpression: "string(size(object.data))" },
        { key: "none", valueExpression: "null" },
      ],
    },
    createConfigMap("a"),
    { validationActions: ["Audit"] },
  ),
  withPolicy("a policy for an older version", {
    ...validation("object.spec.targetCPUUtilizationPercentage < 50", {
      messageExpression: "request.kind.version + ' for ' + request.requestKind.version",
    }),
    matchConstraints: matching({ apiGroups: ["autoscaling"], resources: ["horizontalpodautoscalers"] }),
  }, async (run) => {
    const target = { type: "Utilization", averageUtilization: 80 };
    const metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
    const spec = { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" }, maxReplicas: 3, metrics };
    await run.call({
      path: at(run, "autoscaling/v2/horizontalpodautoscalers"),
      body: { metadata: { name: "a" }, spec },
    });
  }, inNamespace),
  withPolicy("a policy for the scale of Deployments", {
    ...validation("object.spec.replicas < 3", {
      messageExpression: "request.kind.kind + ' of ' + request.resource.resource + '/' + request.subResource + " +
        "' was ' + string(oldObject.spec.replicas)",
    }),
    matchConstraints: matching({ apiGroups: ["apps"], resources: ["deployments/scale"] }),
  }, async (run) => {
    const body = {
      metadata: { name: "a" },
      // Paused before it has a ReplicaSet, so its status stays as it is.
      spec: { replicas: 0, paused: true, selector: { matchLabels: { app: "a" } }, template: template("a") },
    };
    await run.prepare({ path: at(run, "apps/v1/deployments"), body });
    for (const replicas of [2, 5]) {
      const path = `${at(run, "apps/v1/deployments", "a")}/scale`;
      await run.call({ method: "PATCH", path, type: "application/merge-patch+json", body: { spec: { replicas } } });
    }
  }, inNamespace),
  withPolicy("an object with a generated name", validation("false"), async (run) => {
    await run.call({
      path: at(run, "configmaps"),
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } },
    });
  }),
];

const webhook = (expression: string): Body => ({
  name: "hook.example.com",
  clientConfig: { url: "https://127.0.0.1:9/" },
  rules: [],
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  matchConditions: [{ name: "a", expression }],
});

export const policyCases: readonly ConformanceCase[] = [
  ...evaluations,
  ...invalidPolicies.map(([what, spec]) =>
    requests(`an invalid policy: ${what}`, (run) => [{ path: policies, body: policy(run, spec) }])
  ),
  requests("an invalid match condition of a webhook", (run) => [{
    path: `${root}/validatingwebhookconfigurations`,
    body: { metadata: { name: run.name("hook") }, webhooks: [webhook("object."), webhook("true")] },
  }, {
    path: `${root}/mutatingwebhookconfigurations`,
    body: { metadata: { name: run.name("hook") }, webhooks: [webhook("params == null")] },
  }]),
  scenario("create and delete of a policy and its binding", async (run) => {
    const name = run.name("policy");
    await run.call({ path: policies, body: policy(run, validation("true")) });
    await run.call({
      path: bindings,
      body: { metadata: { name }, spec: { policyName: name, validationActions: ["Deny"] } },
    });
    await run.call({ method: "DELETE", path: `${bindings}/${name}` });
    await run.call({ method: "DELETE", path: `${policies}/${name}` });
  }),
];
