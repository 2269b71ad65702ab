/**
 * AccessGrant: an access rule and where it is granted. This is the one list of what controllers and their process may do:
 * `manifests` prints it as Roles and ClusterRoles, `doctor` reviews it, and the API servers of World, `dev` and the
 * simulation decide on it.
 */
import type { PolicyRule } from "../../api/mod.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";
import {
  type AccessPlace,
  type AccessRule,
  controllerAccess,
  electionAccess,
  mergedAccess,
  namespaceSelectorAccess,
  reviewAccess,
  shardAccess,
  webhookAccess,
  type WebhookObjects,
} from "./access_rules.ts";

/** A rule, and where it is granted. */
export interface AccessGrant {
  /** The name of a controller, or what of the process needs the rule. */
  readonly neededBy: string;
  readonly rule: AccessRule;
  /** @default the whole cluster */
  readonly namespace?: string;
}

/** Options of {@link controllerGrants}. */
export interface GrantOptions {
  /** Those of the Manager; empty: those of the controller's options, else all. @default none */
  readonly namespaces?: readonly string[];
  /** In a Fleet, the grants in the members or in the hub. @default "cluster" */
  readonly place?: AccessPlace;
}

/**
 * Returns the grants of one controller: in the namespaces that it works on, or, for rules that are not about objects in
 * namespaces and for controllers of all namespaces, in the whole cluster.
 */
export function controllerGrants(
  definition: ControllerDefinition,
  { namespaces = [], place }: GrantOptions = {},
): readonly AccessGrant[] {
  const { name: neededBy, options } = definition;
  return controllerAccess(definition, place).flatMap((rule) => {
    if (rule.scope === "Cluster") return [{ neededBy, rule }];
    if (rule.namespace !== undefined) return [{ neededBy, rule, namespace: rule.namespace }];
    const within = namespaces.length > 0 ? namespaces : [options.namespace];
    return within.map((namespace) => ({ neededBy, rule, namespace }));
  });
}

/** What the process of controllers does itself. */
export interface ProcessNeeds {
  /** The namespace of its Lease and of its Secret. */
  readonly namespace: string;
  /** The name of the Lease. @default no leader election */
  readonly lease?: string;
  /** Its keys are divided between replicas. @default false */
  readonly isSharded?: boolean;
  /** Its namespaces are selected by labels. @default false */
  readonly selectsNamespaces?: boolean;
  /** @default no webhooks */
  readonly webhooks?: WebhookObjects;
  /** Reviews the permissions of those who read its metrics. @default false */
  readonly reviewsRequests?: boolean;
}

/** Returns the grants of the process of controllers, besides those of the controllers. */
export function processGrants(needs: ProcessNeeds): readonly AccessGrant[] {
  const { namespace, lease, isSharded = false, webhooks, reviewsRequests } = needs;
  const granted = (neededBy: string, rules: readonly AccessRule[]) =>
    rules.map((rule) => rule.scope === "Cluster" ? { neededBy, rule } : { neededBy, rule, namespace });
  return [
    ...(lease === undefined ? [] : granted("--leader-elect", electionAccess(lease))),
    ...(needs.selectsNamespaces === true ? granted("--namespace-selector", namespaceSelectorAccess) : []),
    ...(isSharded ? granted("--shards", shardAccess) : []),
    ...(webhooks === undefined ? [] : granted("webhooks", webhookAccess(webhooks))),
    ...(reviewsRequests === true ? granted("metrics", reviewAccess) : []),
  ];
}

/** Returns the rules of Roles, by namespace; those of "" are the rules of a ClusterRole. */
export function policyRules(grants: readonly AccessGrant[]): ReadonlyMap<string, readonly PolicyRule[]> {
  const byNamespace = new Map<string, AccessRule[]>();
  for (const { namespace = "", rule } of grants) {
    byNamespace.set(namespace, [...byNamespace.get(namespace) ?? [], rule]);
  }
  return new Map([...byNamespace].map(([namespace, rules]) => [namespace, joinedRules(mergedAccess(rules))]));
}

/** Joins resources of one group with the same verbs into one rule. */
function joinedRules(rules: readonly AccessRule[]): readonly PolicyRule[] {
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
