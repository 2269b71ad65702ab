/**
 * The account of the controllers and its permissions: ServiceAccount, Roles and ClusterRoles with their bindings. They
 * follow from the declarations of the controllers (`controllerAccess`) and from what their process needs itself.
 *
 * Guarantees: a rule is granted only where it is needed: in the watched namespaces, in the namespace of the operator, or,
 * where neither is enough, in the whole cluster.
 */
import { apiVersionOf, builtin, type KubeObject, type PolicyRule, type Resource } from "../../api/mod.ts";
import { type AccessGrant, controllerGrants, policyRules, processGrants } from "../../manager/mod.ts";
import { configurationTargets } from "../../webhook/mod.ts";
import { providerGrants } from "../clusters/mod.ts";
import { type InstallPlan, runsWith } from "./install_plan.ts";
import { exposesMetrics, labelsOf, metadataOf } from "./workload.ts";
import { webhookServiceName } from "../command/mod.ts";

/** Returns the ServiceAccount and its permissions. */
export function accessObjects(plan: InstallPlan): readonly KubeObject[] {
  const account = objectOf(builtin.ServiceAccount, metadataOf(plan), {
    // The Pods of the Deployment request the token themselves.
    automountServiceAccountToken: false,
  });
  return [
    account,
    ...rulesOf(plan).flatMap(([namespace, rules]) => roleWithBinding(plan, namespace, rules)),
    ...metricsReader(plan),
  ];
}

/** Returns the rules by namespace; those of the whole cluster, with the name "", are the last ones. */
export function rulesOf(plan: InstallPlan): readonly (readonly [namespace: string, rules: readonly PolicyRule[]])[] {
  return [...policyRules(grantsOf(plan))].sort(([left], [right]) => compareNamespaces(left, right));
}

/** The whole cluster comes last. */
function compareNamespaces(left: string, right: string): number {
  if (left === "" || right === "") return left === "" ? 1 : -1;
  return left < right ? -1 : 1;
}

/** Returns what the controllers need, and what their process needs besides. */
function grantsOf(plan: InstallPlan) {
  const { name, namespace, operator, controllers, watched, webhooks, webhookConfiguration, certSecret, clusters } =
    plan;
  // In a fleet, these are the permissions in the hub; those in the members are given to the users of the kubeconfigs.
  const place = clusters === undefined ? "cluster" : "hub";
  const isManaged = certSecret === undefined && plan.mountedCertDir === undefined;
  const secret = isManaged ? webhookServiceName(operator.name) : undefined;
  const targets = configurationTargets(webhooks, webhookConfiguration);
  return [
    ...controllers.flatMap((controller): readonly AccessGrant[] =>
      controllerGrants(controller, { namespaces: watched, place })
    ),
    ...(clusters === undefined ? [] : providerGrants(clusters)),
    ...processGrants({
      namespace,
      lease: name,
      isSharded: runsWith(plan, "--shards", "shards"),
      selectsNamespaces: runsWith(plan, "--namespace-selector", "namespaceSelector"),
      webhooks: webhooks.length === 0 ? undefined : { targets, secret },
      reviewsRequests: exposesMetrics(plan),
    }),
  ];
}

/** Returns a role and its binding; those of the whole cluster when the namespace is "". */
function roleWithBinding(plan: InstallPlan, namespace: string, rules: readonly PolicyRule[]): readonly KubeObject[] {
  const [role, binding, name] = namespace === ""
    ? [builtin.ClusterRole, builtin.ClusterRoleBinding, plan.clusterName]
    : [builtin.Role, builtin.RoleBinding, plan.namespace === namespace ? plan.name : plan.clusterName];
  const metadata = { name, ...(namespace === "" ? {} : { namespace }), labels: labelsOf(plan) };
  return [objectOf(role, metadata, { rules }), objectOf(binding, metadata, bindingOf(plan, role, name))];
}

function bindingOf({ name, namespace }: InstallPlan, role: Resource, roleName: string): object {
  return {
    roleRef: { apiGroup: role.group, kind: role.kind, name: roleName },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  };
}

/** A ClusterRole to bind to the account that collects metrics. */
export function metricsReader(plan: InstallPlan): readonly KubeObject[] {
  if (!exposesMetrics(plan)) return [];
  const { metricsPath = "/metrics" } = plan.operator.endpoints ?? {};
  const metadata = { name: `${plan.name}-metrics-reader.${plan.namespace}`, labels: labelsOf(plan) };
  return [objectOf(builtin.ClusterRole, metadata, { rules: [{ nonResourceURLs: [metricsPath], verbs: ["get"] }] })];
}

function objectOf(resource: Resource, metadata: KubeObject["metadata"], body: object): KubeObject {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, ...body };
}
