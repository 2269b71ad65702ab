/**
 * The account of the controllers and its permissions: ServiceAccount, Roles and ClusterRoles with their bindings. They
 * follow from the declarations of the controllers (`controllerAccess`) and from what their process needs itself.
 *
 * Guarantees: a rule is granted only where it is needed: in the watched namespaces, in the namespace of the operator, or,
 * where neither is enough, in the whole cluster.
 */
import { apiVersionOf, builtin, type KubeObject, type Resource } from "../../api/mod.ts";
import {
  type AccessRule,
  controllerAccess,
  electionAccess,
  mergedAccess,
  type OperatorController,
  reviewAccess,
  webhookAccess,
} from "../../manager/mod.ts";
import { configurationTargets } from "../../webhook/mod.ts";
import type { InstallPlan } from "./install_plan.ts";
import { labelsOf, metadataOf } from "./workload.ts";
import { webhookServiceName } from "../command/mod.ts";

/** The scope of a rule: a namespace, or undefined for the whole cluster. */
type RuleScope = string | undefined;

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Returns the ServiceAccount and its permissions. */
export function accessObjects(plan: InstallPlan): readonly KubeObject[] {
  const account = objectOf(builtin.ServiceAccount, metadataOf(plan), {
    // The Pods of the Deployment request the token themselves.
    automountServiceAccountToken: false,
  });
  const grants = grantsOf(plan);
  const scopes = [...grants.keys()].sort((left = "", right = "") => left < right ? -1 : 1);
  return [
    account,
    ...scopes.flatMap((scope) => grant(plan, scope, policyRules(mergedAccess(grants.get(scope) ?? [])))),
    ...metricsReader(plan),
  ];
}

/** Returns all rules, by the scope that they are needed in. */
function grantsOf(plan: InstallPlan): ReadonlyMap<RuleScope, readonly AccessRule[]> {
  const grants = new Map<RuleScope, readonly AccessRule[]>();
  const add = (scopes: readonly RuleScope[], rule: AccessRule) => {
    for (const scope of scopes) grants.set(scope, [...grants.get(scope) ?? [], rule]);
  };
  for (const controller of plan.controllers) {
    for (const rule of controllerAccess(controller)) add(scopesOf(rule, controller, plan), rule);
  }
  for (const rule of ownAccess(plan)) add(rule.scope === "Cluster" ? [undefined] : [plan.namespace], rule);
  return grants;
}

function scopesOf(rule: AccessRule, controller: OperatorController, { watched }: InstallPlan): readonly RuleScope[] {
  if (rule.scope === "Cluster") return [undefined];
  if (rule.namespace !== undefined) return [rule.namespace];
  return watched.length > 0 ? watched : [controller.options.namespace];
}

/** What the process needs besides the rules of the controllers. */
function ownAccess({ name, operator, webhooks, certSecret }: InstallPlan): readonly AccessRule[] {
  const secret = certSecret === undefined ? webhookServiceName(operator.name) : undefined;
  return [
    ...electionAccess(name),
    ...(webhooks.length === 0 ? [] : webhookAccess({ targets: configurationTargets(webhooks, operator.name), secret })),
    ...(certSecret === undefined ? [] : reviewAccess),
  ];
}

/** Returns a role and its binding. */
function grant(plan: InstallPlan, scope: RuleScope, rules: readonly PolicyRule[]): readonly KubeObject[] {
  const { name } = plan;
  const [role, binding] = scope === undefined
    ? [builtin.ClusterRole, builtin.ClusterRoleBinding]
    : [builtin.Role, builtin.RoleBinding];
  const metadata = { name, ...(scope === undefined ? {} : { namespace: scope }), labels: labelsOf(plan) };
  return [objectOf(role, metadata, { rules }), objectOf(binding, metadata, bindingOf(plan, role, name))];
}

function bindingOf({ name, namespace }: InstallPlan, role: Resource, roleName: string): object {
  return {
    roleRef: { apiGroup: role.group, kind: role.kind, name: roleName },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  };
}

/** A ClusterRole to bind to the account that collects metrics. */
function metricsReader(plan: InstallPlan): readonly KubeObject[] {
  if (plan.certSecret === undefined) return [];
  const { metricsPath = "/metrics" } = plan.operator.endpoints ?? {};
  const metadata = { name: `${plan.name}-metrics-reader`, labels: labelsOf(plan) };
  return [objectOf(builtin.ClusterRole, metadata, { rules: [{ nonResourceURLs: [metricsPath], verbs: ["get"] }] })];
}

/** Joins resources of one group with the same verbs into one rule. */
function policyRules(rules: readonly AccessRule[]): readonly PolicyRule[] {
  const byVerbs = new Map<string, PolicyRule>();
  const ordered = [...rules].sort((left, right) => orderOf(left) < orderOf(right) ? -1 : 1);
  for (const { group, resource, verbs, names } of ordered) {
    const id = JSON.stringify([group, verbs, names ?? null]);
    const resources = [...byVerbs.get(id)?.resources ?? [], resource];
    byVerbs.set(id, {
      apiGroups: [group],
      resources,
      ...(names === undefined ? {} : { resourceNames: names }),
      verbs,
    });
  }
  return [...byVerbs.values()];
}

function orderOf({ group, resource, names = [] }: AccessRule): string {
  return `${group}|${resource}|${names.join()}`;
}

function objectOf(resource: Resource, metadata: KubeObject["metadata"], body: object): KubeObject {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, ...body };
}
