/**
 * MutatingAdmissionPolicies and their bindings: both kinds of mutations, their errors, and their validation. Each case has one
 * policy: a real server runs several in a random order.
 */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body, configMap, deployment, secret, service } from "./_objects.ts";
import { paramKind, prepareParams } from "./_policy_params.ts";

const root = "/apis/admissionregistration.k8s.io/v1";
const policies = `${root}/mutatingadmissionpolicies`;
const bindings = `${root}/mutatingadmissionpolicybindings`;

const apply = (expression: string): Body => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
const patch = (expression: string): Body => ({ patchType: "JSONPatch", jsonPatch: { expression } });

/** The spec of a policy for ConfigMaps, Deployments and Services of the case's namespace. */
function specOf(run: CaseRun, spec: Body): Body {
  const rules = [["", "configmaps"], ["apps", "deployments"], ["", "services"]].map(([group, resource]) => ({
    apiGroups: [group],
    apiVersions: ["v1"],
    resources: [resource],
    operations: ["CREATE", "UPDATE"],
  }));
  return {
    reinvocationPolicy: "Never",
    failurePolicy: "Fail",
    matchConstraints: {
      resourceRules: rules,
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": run.namespace } },
    },
    ...spec,
  };
}

/**
 * The spec of the policy by which a case sees that the server has read all policies, and their params: it labels Secrets.
 *
 * @param label an expression that is "seen"
 */
function probeOf(run: CaseRun, label: string, rest: Body): Body {
  return {
    ...specOf(run, {
      ...rest,
      mutations: [apply(`Object{metadata: Object.metadata{labels: {"probe": ${label}}}}`)],
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"], operations: ["CREATE"] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": run.namespace } },
      },
    }),
  };
}

/** A case with policies, in the order of their names, and a binding for each. */
function withPolicies(
  name: string,
  specs: readonly Body[],
  act: (run: CaseRun) => Promise<void>,
  binding: Body = {},
): ConformanceCase {
  return scenario(name, async (run) => {
    const usesParams = specs.some((spec) => spec.paramKind !== undefined);
    if (usesParams) await prepareParams(run, [{ metadata: { name: "params" }, data: { text: "seen" } }]);
    const probe = usesParams ? probeOf(run, "params.data.text", { paramKind }) : probeOf(run, '"seen"', {});
    const probeBinding = usesParams ? { paramRef: { name: "params", parameterNotFoundAction: "Deny" } } : {};
    const names = [...specs.map((_, index) => run.name(`policy-${index}`)), run.name("probe")];
    for (const [index, policy] of names.entries()) {
      const spec = specs[index] === undefined ? probe : specOf(run, specs[index]);
      await run.prepare({ path: policies, body: { metadata: { name: policy }, spec } });
      const rest = specs[index] === undefined ? probeBinding : binding;
      await run.prepare({
        path: bindings,
        body: { metadata: { name: policy }, spec: { policyName: policy, ...rest } },
      });
    }
    try {
      const request = { path: `${at(run, "secrets")}?dryRun=All`, body: secret("probe") };
      await run.until(request, ({ metadata }) => metadata?.labels?.probe === "seen");
      await act(run);
    } finally {
      for (const policy of names) {
        await run.prepare({ method: "DELETE", path: `${bindings}/${policy}` });
        await run.prepare({ method: "DELETE", path: `${policies}/${policy}` });
      }
    }
  });
}

const createConfigMap = (data?: Body, metadata?: Body) => async (run: CaseRun) => {
  await run.call({ path: at(run, "configmaps"), body: configMap("a", data, metadata) });
};

const createDeployment = async (run: CaseRun) => {
  await run.call({ path: at(run, "deployments"), body: deployment("a") });
};

const createService = async (run: CaseRun) => {
  await run.call({ path: at(run, "services"), body: service("a") });
};

type Act = (run: CaseRun) => Promise<void>;

/** One policy with one mutation, and what it meets. */
const single: readonly (readonly [name: string, mutation: Body, act: Act])[] = [
  ["adds a label", apply('Object{metadata: Object.metadata{labels: {"team": "a"}}}'), createConfigMap()],
  ["keeps other labels", apply('Object{metadata: Object.metadata{labels: {"team": "a"}}}'), async (run) => {
    await createConfigMap({}, { labels: { other: "b", team: "c" } })(run);
  }],
  ["sets data of a map", apply('Object{data: {"added": object.metadata.name}}'), createConfigMap({ x: "1" })],
  ["sets a number", apply("Object{spec: Object.spec{replicas: object.spec.replicas + 2}}"), createDeployment],
  [
    "adds a container",
    apply(
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "sidecar", image: "proxy:1"}]}}}}',
    ),
    createDeployment,
  ],
  [
    "changes the image of each container",
    apply(
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{name: c.name, image: "mirror/" + c.image})}}}}',
    ),
    createDeployment,
  ],
  [
    "sets an atomic map",
    apply('Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"a": "b"}}}}'),
    createDeployment,
  ],
  ["sets a field that does not exist", apply('Object{spec: Object.spec{nothing: "a"}}'), createDeployment],
  ["sets a field of another type", apply('Object{spec: Object.spec{replicas: "many"}}'), createDeployment],
  ["names a type at the wrong place", apply("Object{spec: Object.metadata{}}"), createDeployment],
  ["changes the name", apply('Object{metadata: Object.metadata{name: "b"}}'), createConfigMap()],
  ["fails", apply('Object{data: {"a": object.data.absent}}'), createConfigMap()],
  [
    "merges ports of a Service",
    apply('Object{spec: Object.spec{ports: [Object.spec.ports{port: 81, protocol: "TCP", name: "more"}]}}'),
    createService,
  ],
  [
    "patches a label",
    patch('[JSONPatch{op: "add", path: "/metadata/labels", value: {"team": "a"}}]'),
    createConfigMap(),
  ],
  [
    "escapes a key",
    patch('[JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("a/b~c"), value: "x"}]'),
    createConfigMap({ x: "1" }),
  ],
  [
    "patches with a condition",
    patch(
      'has(object.data.x) ? [JSONPatch{op: "replace", path: "/data/x", value: "changed"}] : []',
    ),
    createConfigMap({ x: "1" }),
  ],
  [
    "tests before it changes",
    patch(
      '[JSONPatch{op: "test", path: "/data/x", value: "2"}, JSONPatch{op: "replace", path: "/data/x", value: "3"}]',
    ),
    createConfigMap({ x: "1" }),
  ],
  [
    "moves, copies and removes",
    patch(
      '[JSONPatch{op: "copy", from: "/data/x", path: "/data/y"}, JSONPatch{op: "move", from: "/data/x", path: "/data/z"}, JSONPatch{op: "remove", path: "/data/w"}]',
    ),
    createConfigMap({ x: "1", w: "2" }),
  ],
  ["removes what is not there", patch('[JSONPatch{op: "remove", path: "/data/none"}]'), createConfigMap()],
  [
    "adds an object of a type",
    patch(
      '[JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{name: "late", image: "late:1"}}]',
    ),
    createDeployment,
  ],
  [
    "sets a field that does not exist by a patch",
    patch('[JSONPatch{op: "add", path: "/spec/nothing", value: 1}]'),
    createDeployment,
  ],
  [
    "makes an object invalid",
    patch('[JSONPatch{op: "replace", path: "/spec/replicas", value: -1}]'),
    createDeployment,
  ],
];

const label = (value: string): Body =>
  apply(`Object{metadata: Object.metadata{labels: {"${value}": string(object.metadata.?labels.orValue({}).size())}}}`);

const evaluations: readonly ConformanceCase[] = [
  ...single.map(([name, mutation, act]) => withPolicies(`a mutation ${name}`, [{ mutations: [mutation] }], act)),
  withPolicies(
    "the mutations of a policy see each other",
    [{ mutations: [label("one"), label("two")] }],
    createConfigMap(),
  ),
  withPolicies("the failure of a mutation is ignored", [{
    failurePolicy: "Ignore",
    mutations: [apply('Object{data: {"a": object.data.absent}}'), apply('Object{data: {"b": "c"}}')],
  }], createConfigMap()),
  withPolicies("a policy with match conditions and variables", [{
    matchConditions: [{ name: "named", expression: "object.metadata.name == 'a'" }],
    variables: [{ name: "text", expression: "object.metadata.name + '-' + request.operation" }],
    mutations: [apply('Object{data: {"text": variables.text}}')],
  }], async (run) => {
    await createConfigMap()(run);
    await run.call({ path: at(run, "configmaps"), body: configMap("b") });
  }),
  withPolicies("a match condition of a mutating policy fails", [{
    matchConditions: [{ name: "absent", expression: "object.data.absent == 'a'" }],
    mutations: [apply('Object{data: {"a": "b"}}')],
  }], createConfigMap()),
  withPolicies(
    "a policy with params",
    [{
      paramKind,
      mutations: [apply('Object{data: {"from": params.data.text}}')],
    }],
    createConfigMap(),
    { paramRef: { name: "params", parameterNotFoundAction: "Deny" } },
  ),
  withPolicies(
    "a policy without its params",
    [{
      paramKind,
      mutations: [apply('Object{data: {"from": params.data.text}}')],
    }],
    createConfigMap(),
    { paramRef: { name: "none", parameterNotFoundAction: "Deny" } },
  ),
  withPolicies("updates, patches, applies and dry runs are mutated", [{
    mutations: [apply('Object{data: {"by": request.operation + string(request.dryRun)}}')],
  }], async (run) => {
    const path = at(run, "configmaps", "a");
    await createConfigMap({ x: "1" })(run);
    await run.call({ method: "PUT", path, body: configMap("a", { y: "1" }) });
    const merge = {
      method: "PATCH",
      path,
      type: "application/merge-patch+json",
      body: { data: { z: "2" } },
    } as const;
    await run.call(merge);
    await run.call({ ...merge, path: `${path}?dryRun=All` });
    const applied = { apiVersion: "v1", kind: "ConfigMap", ...configMap("b", { x: "1" }) };
    await run.call({
      method: "PATCH",
      path: `${at(run, "configmaps", "b")}?fieldManager=me`,
      type: "application/apply-patch+yaml",
      body: applied,
    });
  }),
];

/** Specs that the server rejects. */
const invalid: readonly (readonly [name: string, spec: Body])[] = [
  ["no mutations", { mutations: [] }],
  ["an unknown type of patch", { mutations: [{ patchType: "Other", jsonPatch: { expression: "[]" } }] }],
  ["no expression", { mutations: [{ patchType: "JSONPatch" }] }],
  ["both kinds of patch", { mutations: [{ ...patch("[]"), ...apply("Object{}"), patchType: "JSONPatch" }] }],
  ["an expression that does not parse", { mutations: [apply("Object{"), patch("[JSONPatch{]")] }],
  ["more expressions that do not parse", {
    mutations: ["Object{a: 1,", "Object{?]", "Object{a}", "Object{a: }", "Object{1: 2}"].map(apply),
  }],
  ["expressions of other types", { mutations: [apply("'a'"), patch("1"), patch("['a']"), apply("[Object{}]")] }],
  ["fields of a patch that do not exist", { mutations: [patch('[JSONPatch{op: "add", where: "/a"}]')] }],
  ["fields of a patch of another type", { mutations: [patch("[JSONPatch{op: 1}]")] }],
  ["an unknown type", { mutations: [apply("Thing{}")] }],
  ["an unknown variable", { mutations: [apply('Object{data: {"a": params.x}}')] }],
  ["an unknown reinvocationPolicy", { reinvocationPolicy: "Always", mutations: [apply("Object{}")] }],
  ["variables and conditions", {
    variables: [{ name: "a", expression: "1 +" }],
    matchConditions: [{ name: "b", expression: "'text'" }],
    mutations: [apply("Object{}")],
  }],
];

/** The cases of MutatingAdmissionPolicies. */
export const mutatingCases: readonly ConformanceCase[] = [
  ...evaluations,
  ...invalid.map(([name, spec]) =>
    scenario(`a mutating policy with ${name}`, async (run) => {
      await run.call({ path: policies, body: { metadata: { name: run.name("policy") }, spec: specOf(run, spec) } });
    })
  ),
];
