/**
 * Who the controllers are and what they may do: ServiceAccount, Roles and ClusterRoles with their bindings, derived from
 * the controllers' declarations (`controllerAccess`) and from what their process does besides.
 *
 * Guarantees: a rule stands where it is needed and nowhere else: in the namespaces that are worked on, in the operator's
 * own, or, where neither will do, in the cluster.
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

/** A namespace, or undefined for the whole cluster. */
type Place = string | undefined;

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** The ServiceAccount and all that it is given. */
export function accessObjects(plan: InstallPlan): readonly KubeObject[] {
  const account = objectOf(builtin.ServiceAccount, metadataOf(plan), {
    // The Pods ask for the token themselves; nobody else needs one.
    automountServiceAccountToken: false,
  });
  const grants = grantsOf(plan);
  const places = [...grants.keys()].sort((left = "", right = "") => left < right ? -1 : 1);
  return [
    account,
    ...places.flatMap((place) => grant(plan, place, policyRules(mergedAccess(grants.get(place) ?? [])))),
    ...metricsReader(plan),
  ];
}

/** All rules, by where they are needed. */
function grantsOf(plan: InstallPlan): ReadonlyMap<Place, readonly AccessRule[]> {
  const grants = new Map<Place, readonly AccessRule[]>();
  const add = (places: readonly Place[], rule: AccessRule) => {
    for (const place of places) grants.set(place, [...grants.get(place) ?? [], rule]);
  };
  for (const controller of plan.controllers) {
    for (const rule of controllerAccess(controller)) add(placesOf(rule, controller, plan), rule);
  }
  for (const rule of ownAccess(plan)) add(rule.scope === "Cluster" ? [undefined] : [plan.namespace], rule);
  return grants;
}

function placesOf(rule: AccessRule, controller: OperatorController, { watched }: InstallPlan): readonly Place[] {
  if (rule.scope === "Cluster") return [undefined];
  if (rule.namespace !== undefined) return [rule.namespace];
  return watched.length > 0 ? watched : [controller.options.namespace];
}

/** What the process does besides running controllers. */
function ownAccess({ name, operator, webhooks, certSecret }: InstallPlan): readonly AccessRule[] {
  const secret = certSecret === undefined ? webhookServiceName(operator.name) : undefined;
  return [
    ...electionAccess(name),
    ...(webhooks.length === 0 ? [] : webhookAccess({ targets: configurationTargets(webhooks, operator.name), secret })),
    ...(certSecret === undefined ? [] : reviewAccess),
  ];
}

/** A role and its binding. */
function grant(plan: InstallPlan, place: Place, rules: readonly PolicyRule[]): readonly KubeObject[] {
  const { name } = plan;
  const [role, binding] = place === undefined
    ? [builtin.ClusterRole, builtin.ClusterRoleBinding]
    : [builtin.Role, builtin.RoleBinding];
  const metadata = { name, ...(place === undefined ? {} : { namespace: place }), labels: labelsOf(plan) };
  return [objectOf(role, metadata, { rules }), objectOf(binding, metadata, bindingOf(plan, role, name))];
}

function bindingOf({ name, namespace }: InstallPlan, role: Resource, roleName: string): object {
  return {
    roleRef: { apiGroup: role.group, kind: role.kind, name: roleName },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  };
}

/** For whoever collects metrics: bind it to them. */
function metricsReader(plan: InstallPlan): readonly KubeObject[] {
  if (plan.certSecret === undefined) return [];
  const { metricsPath = "/metrics" } = plan.operator.endpoints ?? {};
  const metadata = { name: `${plan.name}-metrics-reader`, labels: labelsOf(plan) };
  return [objectOf(builtin.ClusterRole, metadata, { rules: [{ nonResourceURLs: [metricsPath], verbs: ["get"] }] })];
}

/** Resources of one group with the same verbs share a rule. */
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
