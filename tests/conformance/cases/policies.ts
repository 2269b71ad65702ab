/** ValidatingAdmissionPolicies and their bindings: what they see, what they refuse, and how they may be wrong themselves. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { Site } from "../site.ts";
import { validation, wrongPolicies } from "./_wrong_policies.ts";
import { at, type Body, configMap, secret, template } from "./_objects.ts";

const root = "/apis/admissionregistration.k8s.io/v1";
const policies = `${root}/validatingadmissionpolicies`;
const bindings = `${root}/validatingadmissionpolicybindings`;

const configMapRule = {
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: ["configmaps"],
  operations: ["CREATE", "UPDATE", "DELETE"],
};

/** A policy for the ConfigMaps of the case's namespace, or for what else is there. */
function policy(site: Site, spec: Body, resource = "configmaps"): Body {
  return {
    metadata: { name: site.name("policy") },
    spec: {
      matchConstraints: {
        resourceRules: [{ ...configMapRule, resources: [resource] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": site.namespace } },
      },
      ...spec,
    },
  };
}

/**
 * A case with one policy and its binding; a second policy, for Secrets, shows when the real server knows of both.
 * @param before what is there before the policy
 */
function withPolicy(
  name: string,
  spec: Body,
  run: (site: Site) => Promise<void>,
  binding: Body | ((site: Site) => Body) = {},
  before: (site: Site) => Promise<void> = () => Promise.resolve(),
): ConformanceCase {
  return scenario(name, async (site) => {
    const names = { policy: site.name("policy"), binding: site.name("binding"), probe: site.name("probe") };
    const probe = policy(site, { validations: [{ expression: "false" }] }, "secrets");
    const bound = typeof binding === "function" ? binding(site) : binding;
    await before(site);
    await site.prepare({ path: policies, body: policy(site, spec) });
    await site.prepare({
      path: bindings,
      body: {
        metadata: { name: names.binding },
        spec: { policyName: names.policy, validationActions: ["Deny"], ...bound },
      },
    });
    await site.prepare({ path: policies, body: { ...probe, metadata: { name: names.probe } } });
    await site.prepare({
      path: bindings,
      body: { metadata: { name: names.probe }, spec: { policyName: names.probe, validationActions: ["Deny"] } },
    });
    try {
      await untilRefused(site);
      await run(site);
    } finally {
      for (const path of [bindings, policies]) await site.prepare({ method: "DELETE", path: `${path}/${names.probe}` });
      await site.prepare({ method: "DELETE", path: `${bindings}/${names.binding}` });
      await site.prepare({ method: "DELETE", path: `${policies}/${names.policy}` });
    }
  });
}

/** Policies are among the real server's caches: waits until the probe's, which came last, is followed. */
async function untilRefused(site: Site): Promise<void> {
  for (let count = 0; count < 200; count++) {
    const body = secret("probe");
    const made = await site.prepare({ path: `${at(site, "secrets")}?dryRun=All`, body }).catch((error) => `${error}`);
    if (typeof made === "string" && made.includes("'probe-")) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("Cannot wait for the policy any longer");
}

const make = (name: string, data?: Body, metadata?: Body) => async (site: Site) => {
  await site.call({ path: at(site, "configmaps"), body: configMap(name, data, metadata) });
};

const hasFew = "size(object.data) <= int(params.data.most)";

/** Makes the params of a case. */
const makeParams = async (site: Site) => {
  for (const [name, most] of [["few", "1"], ["many", "3"]] as const) {
    await site.prepare({
      path: at(site, "configmaps"),
      body: configMap(name, { most }, { labels: { params: "yes" } }),
    });
  }
};

const withParams = { paramKind: { apiVersion: "v1", kind: "ConfigMap" } };

/** The constraints of a policy for something else. */
const matching = (rule: Body): Body => ({ resourceRules: [{ ...configMapRule, ...rule }] });

/** A binding for the case's namespace: the policy's own constraints do not name it. */
const inNamespace = (site: Site): Body => ({
  matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": site.namespace } } },
});

const acting: readonly ConformanceCase[] = [
  withPolicy("a policy refuses", validation("object.metadata.name != 'a'"), async (site) => {
    await make("a")(site);
    await make("b")(site);
  }),
  withPolicy(
    "a policy refuses with a message and a reason",
    validation("size(object.data) < 1", { message: " too many ", reason: "Forbidden" }),
    make("a"),
  ),
  withPolicy(
    "a policy refuses with a message it makes",
    validation("size(object.data) < 1", {
      message: "not this",
      messageExpression: "'has ' + string(size(object.data)) + ' in ' + namespaceObject.metadata.name",
      reason: "RequestEntityTooLarge",
    }),
    make("a"),
  ),
  withPolicy(
    "a policy's message is empty, has lines, cannot be made",
    {
      validations: [
        { expression: "object.metadata.name != 'a'", message: "first", messageExpression: "'  '" },
        { expression: "object.metadata.name != 'b'", message: "second", messageExpression: "'x\\ny'" },
        { expression: "object.metadata.name != 'c'", messageExpression: "object.absent" + " + ''" },
      ],
    },
    async (site) => {
      for (const name of ["a", "b", "c"]) await make(name)(site);
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
    make("a"),
    { validationActions: ["Warn", "Audit"] },
  ),
  withPolicy(
    "a policy sees changes",
    validation("oldObject == null || object.data == oldObject.data"),
    async (site) => {
      await make("a")(site);
      await site.call({ method: "PUT", path: at(site, "configmaps", "a"), body: configMap("a", { other: "x" }) });
      await site.call({
        method: "PATCH",
        path: at(site, "configmaps", "a"),
        type: "application/merge-patch+json",
        body: { metadata: { labels: { a: "b" } } },
      });
    },
  ),
  withPolicy("a policy sees deletions", validation("request.operation != 'DELETE'"), async (site) => {
    await make("a")(site);
    await site.call({ method: "DELETE", path: at(site, "configmaps", "a") });
    await site.call({ method: "DELETE", path: at(site, "configmaps") });
  }),
  withPolicy(
    "a policy's expression fails",
    validation("object.data.absent == 'x'"),
    make("a"),
  ),
  withPolicy(
    "a policy's expression fails and may",
    { ...validation("object.data.absent == 'x'"), failurePolicy: "Ignore" },
    make("a"),
  ),
  withPolicy("a policy's expression costs too much", {
    ...validation(
      "object.data.text.matches('^(a+)+$') && [1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, true))",
    ),
    variables: [],
  }, make("a", { text: "a".repeat(2000) })),
  withPolicy("a policy's rule runs out of its budget", {
    validations: [{
      expression: `object.data.all(a, object.data.all(b, object.data.all(c, object.data.all(d, a.size() > 0))))`,
    }],
  }, make("a", Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key-${index}`, "x"])))),
  withPolicy("match conditions keep a policy out", {
    ...validation("false"),
    matchConditions: [
      { name: "named", expression: "object.metadata.name == 'a'" },
      { name: "user", expression: "'system:authenticated' in request.userInfo.groups" },
    ],
  }, async (site) => {
    await make("a")(site);
    await make("b")(site);
  }),
  withPolicy("a match condition fails", {
    ...validation("true"),
    matchConditions: [
      { name: "absent", expression: "object.data.absent == 'x'" },
      { name: "other", expression: "object.data.other == 'x'" },
      { name: "named", expression: "object.metadata.name != 'b'" },
    ],
  }, async (site) => {
    await make("a")(site);
    await make("b")(site);
  }),
  withPolicy("a match condition fails and may", {
    ...validation("false"),
    failurePolicy: "Ignore",
    matchConditions: [{ name: "absent", expression: "object.data.absent == 'x'" }],
  }, make("a")),
  withPolicy("variables build on each other", {
    variables: [
      { name: "keys", expression: "object.data.map(key, key)" },
      { name: "count", expression: "size(variables.keys)" },
      { name: "broken", expression: "object.data['absent']" },
    ],
    validations: [
      { expression: "variables.count < 2", messageExpression: "'keys: ' + variables.keys.sort().join(',')" },
      { expression: "object.metadata.name != 'c' || variables.broken == ''" },
    ],
  }, async (site) => {
    await make("a", { x: "1", y: "2" })(site);
    await make("b")(site);
    await make("c")(site);
  }),
  withPolicy("a policy asks an authorizer", {
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
  }, make("a")),
  withPolicy("a policy sees the request", {
    validations: [{
      expression: "object.metadata.name != 'a'",
      messageExpression: "request.operation + ' ' + request.kind.kind + ' ' + request.resource.resource + ' ' + " +
        "request.name + ' ' + string(request.dryRun) + ' ' + request.userInfo.groups[0] + ' ' + " +
        "string(has(request.subResource)) + ' ' + request.options.kind + ' ' + namespaceObject.status.phase",
    }],
  }, make("a")),
  withPolicy(
    "params by name",
    { ...withParams, ...validation(hasFew) },
    async (site) => {
      await make("a", { x: "1", y: "2" })(site);
      await make("b")(site);
    },
    { paramRef: { name: "few", parameterNotFoundAction: "Deny" } },
    makeParams,
  ),
  withPolicy(
    "params by label",
    { ...withParams, ...validation(hasFew) },
    async (site) => {
      await make("a", { x: "1", y: "2" })(site);
      await make("b")(site);
    },
    { paramRef: { selector: { matchLabels: { params: "yes" } }, parameterNotFoundAction: "Deny" } },
    makeParams,
  ),
  withPolicy("params that are absent", { ...withParams, ...validation(hasFew) }, make("a"), {
    paramRef: { name: "absent", parameterNotFoundAction: "Deny" },
  }),
  withPolicy("params that are absent and may be", { ...withParams, ...validation(hasFew) }, make("a"), {
    paramRef: { name: "absent", parameterNotFoundAction: "Allow" },
  }),
  withPolicy(
    "a policy with params and a binding without",
    { ...withParams, ...validation("params != null") },
    make("a"),
  ),
  withPolicy("a binding for some objects", validation("false"), async (site) => {
    await make("a", {}, { labels: { strict: "yes" } })(site);
    await make("b")(site);
  }, { matchResources: { objectSelector: { matchLabels: { strict: "yes" } } } }),
  withPolicy("a binding for some names, and not for others", validation("false"), async (site) => {
    for (const name of ["a", "b", "c"]) await make(name)(site);
  }, {
    matchResources: {
      resourceRules: [{ ...configMapRule, resourceNames: ["a", "b"] }],
      excludeResourceRules: [{ ...configMapRule, resourceNames: ["b"] }],
    },
  }),
  withPolicy("a binding for another namespace", validation("false"), make("a"), {
    matchResources: { namespaceSelector: { matchLabels: { some: "other" } } },
  }),
  withPolicy("an audit annotation that fails", {
    auditAnnotations: [{ key: "size", valueExpression: "object.data.absent" + " + ''" }],
  }, make("a")),
  withPolicy(
    "an audit annotation",
    {
      auditAnnotations: [
        { key: "size", valueExpression: "string(size(object.data))" },
        { key: "none", valueExpression: "null" },
      ],
    },
    make("a"),
    { validationActions: ["Audit"] },
  ),
  withPolicy("a policy for an older version", {
    ...validation("object.spec.targetCPUUtilizationPercentage < 50", {
      messageExpression: "request.kind.version + ' for ' + request.requestKind.version",
    }),
    matchConstraints: matching({ apiGroups: ["autoscaling"], resources: ["horizontalpodautoscalers"] }),
  }, async (site) => {
    const target = { type: "Utilization", averageUtilization: 80 };
    const metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
    const spec = { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" }, maxReplicas: 3, metrics };
    await site.call({
      path: at(site, "autoscaling/v2/horizontalpodautoscalers"),
      body: { metadata: { name: "a" }, spec },
    });
  }, inNamespace),
  withPolicy("a policy for the scale of Deployments", {
    ...validation("object.spec.replicas < 3", {
      messageExpression: "request.kind.kind + ' of ' + request.resource.resource + '/' + request.subResource + " +
        "' was ' + string(oldObject.spec.replicas)",
    }),
    matchConstraints: matching({ apiGroups: ["apps"], resources: ["deployments/scale"] }),
  }, async (site) => {
    const body = {
      metadata: { name: "a" },
      spec: { selector: { matchLabels: { app: "a" } }, template: template("a") },
    };
    await site.prepare({ path: at(site, "apps/v1/deployments"), body });
    for (const replicas of [2, 5]) {
      const path = `${at(site, "apps/v1/deployments", "a")}/scale`;
      await site.call({ method: "PATCH", path, type: "application/merge-patch+json", body: { spec: { replicas } } });
    }
  }, inNamespace),
  withPolicy("a name that the server makes", validation("false"), async (site) => {
    await site.call({
      path: at(site, "configmaps"),
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
  ...acting,
  ...wrongPolicies.map(([what, spec]) =>
    requests(`a policy that is wrong: ${what}`, (site) => [{ path: policies, body: policy(site, spec) }])
  ),
  requests("a webhook's match condition that is wrong", (site) => [{
    path: `${root}/validatingwebhookconfigurations`,
    body: { metadata: { name: site.name("hook") }, webhooks: [webhook("object."), webhook("true")] },
  }, {
    path: `${root}/mutatingwebhookconfigurations`,
    body: { metadata: { name: site.name("hook") }, webhooks: [webhook("params == null")] },
  }]),
  scenario("a policy and its binding, read back", async (site) => {
    const name = site.name("policy");
    await site.call({ path: policies, body: policy(site, validation("true")) });
    await site.call({
      path: bindings,
      body: { metadata: { name }, spec: { policyName: name, validationActions: ["Deny"] } },
    });
    await site.call({ method: "DELETE", path: `${bindings}/${name}` });
    await site.call({ method: "DELETE", path: `${policies}/${name}` });
  }),
];
