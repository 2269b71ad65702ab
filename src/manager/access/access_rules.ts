/**
 * AccessRule: what a controller, or a part of its Manager, may do on the API server. The rules are derived from the
 * declarations; RBAC manifests, permission checks and the strict Manager of tests use them.
 *
 * Guarantees: no wildcard; no verb that the code here does not use; resource names wherever RBAC can enforce them.
 */
import { builtin, type Resource, type Scope, splitKey } from "../../api/mod.ts";
import {
  type ActivationCondition,
  type ControllerDefinition,
  type ImpersonationRules,
  isBounded,
  isInHub,
  type Verb,
  verbs,
  type WatchDefinition,
} from "../../controller/mod.ts";
import type { ConfigurationTarget } from "../../webhook/mod.ts";

/** Verbs on one resource; one rule of {@link controllerAccess}. */
export interface AccessRule {
  /** The API group; "" for core. */
  readonly group: string;
  /** The plural, with the subresource where there is one: `foos/status`. */
  readonly resource: string;
  /** Whether its objects live in namespaces. */
  readonly scope: Scope;
  /** The only namespace the rule is about. @default the namespaces that the controller works on */
  readonly namespace?: string;
  /** In the order of `verbs`, then `impersonate`. */
  readonly verbs: readonly (Verb | "impersonate")[];
  /** The names of the objects the rule is about. @default all objects */
  readonly names?: readonly string[];
}

/**
 * Where a rule is needed: "cluster" without a Fleet, where one cluster has everything; in a Fleet, in the "members" or in the
 * "hub".
 */
export type AccessPlace = "cluster" | "members" | "hub";

/**
 * The access rules that follow from the declarations of a controller: the permissions that its ServiceAccount needs. A test
 * can hold them against a list.
 *
 * @param place In a Fleet, the rules for the members or for the hub. @default "cluster"
 * @returns One rule per resource.
 * @example
 * ```ts
 * import { ConfigMap, controller, done, Namespace } from "@pintle/controller";
 * import { controllerAccess } from "@pintle/controller/testing";
 *
 * const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(() => Promise.resolve(done));
 * const rule = controllerAccess(greeter).find(({ resource }) => resource === "configmaps");
 * console.assert(rule?.verbs.join() === "get,list,watch,create,patch");
 * ```
 */
export function controllerAccess(
  definition: ControllerDefinition,
  place: AccessPlace = "cluster",
): readonly AccessRule[] {
  const { primary, writesStatus, finalizer, externals, deleted, options } = definition;
  const { runsIn = "members", recordsEvents = true } = options;
  if (place !== "cluster" && runsIn === "hub") return place === "hub" ? controllerAccess(definition) : [];
  const isMeant = ({ resource }: { readonly resource: Resource }) =>
    place === "cluster" || isInHub(resource) === (place === "hub");
  const watched = definition.watches.filter(isMeant).flatMap((watch) => watchAccess(watch, primary));
  const declared = definition.permissions.filter(isMeant)
    .map(({ resource, verbs, subresource }) => access(resource, verbs, subresource));
  if (place === "hub") return mergedAccess([...watched, ...declared]);
  return mergedAccess([
    ...watched,
    ...(writesStatus ? [access(primary, ["patch"], "status")] : []),
    // The object is read live before `finalize`; patches add and remove the finalizer.
    ...(finalizer === undefined ? [] : [access(primary, ["get", "patch"])]),
    // The object is read live before an external resource is created.
    ...((externals?.length ?? 0) > 0 ? [access(primary, ["get"])] : []),
    // The object is read live before its deletion is reported.
    ...(deleted === undefined ? [] : [access(primary, ["get"])]),
    ...declared,
    ...impersonationAccess(definition.impersonates),
    ...(recordsEvents ? [eventAccess(primary)] : []),
  ]);
}

/** Events about cluster-scoped objects are in the namespace `default`. */
function eventAccess(primary: Resource): AccessRule {
  const rule = access(builtin.Event, ["create", "patch"]);
  return primary.scope === "Cluster" ? { ...rule, namespace: "default" } : rule;
}

/** The API group of the parts of users that are neither names nor groups. */
const partsGroup = "authentication.k8s.io";

function impersonationAccess(rules: ImpersonationRules = {}): readonly AccessRule[] {
  const { serviceAccounts = [], users = [], groups = [], uids = [], extra = {} } = rules;
  const parts = (resource: string, values: readonly string[] | "all", group = ""): readonly AccessRule[] =>
    values.length === 0
      ? []
      : [{ group, resource, scope: "Cluster", verbs: ["impersonate"], ...(values === "all" ? {} : { names: values }) }];
  return [
    ...serviceAccountAccess(serviceAccounts),
    ...parts("users", users),
    ...parts("groups", groups),
    ...parts("uids", uids, partsGroup),
    ...Object.entries(extra).flatMap(([key, values]) => parts(`userextras/${key.toLowerCase()}`, values, partsGroup)),
  ];
}

/** One rule for each namespace. */
function serviceAccountAccess(accounts: readonly string[] | "all"): readonly AccessRule[] {
  const { plural: resource } = builtin.ServiceAccount;
  const rule = { group: "", resource, scope: "Namespaced", verbs: ["impersonate"] } as const;
  if (accounts === "all") return [rule];
  const byNamespace = Map.groupBy(accounts.map(splitKey), ({ namespace }) => namespace);
  return [...byNamespace].map(([namespace, keys]) => ({ ...rule, namespace, names: keys.map(({ name }) => name) }));
}

function watchAccess(watch: WatchDefinition, primary: Resource): readonly AccessRule[] {
  const { resource, role, writes, deletes, track, activation } = watch;
  return [
    ...(activation === undefined ? [] : [conditionAccess(activation)]),
    access(resource, isBounded(resource) ? ["get", "list", "watch"] : ["list", "watch"]),
    ...(writes ? [access(resource, ["patch"])] : []),
    // An apply that creates needs both verbs. A dependent is read live after a conflict, and its owner before a deleted
    // dependent is created again and before a delete. The admission plugin OwnerReferencesPermissionEnforcement requires
    // `update` on the finalizers of the owner.
    ...(role === "owns"
      ? [
        access(resource, ["get", "create", "patch"]),
        access(primary, ["get"]),
        // Labels instead of owner references need no permission on the owner.
        ...(track === "labels" ? [] : [access(primary, ["update"], "finalizers")]),
      ]
      : []),
    ...(deletes ? [access(resource, ["delete"]), access(primary, ["get"])] : []),
  ];
}

/** The rule for the object that decides whether a kind is watched: its cache lists and watches by the name. */
function conditionAccess({ resource, key }: ActivationCondition): AccessRule {
  const { namespace, name } = splitKey(key);
  return { ...access(resource, ["list", "watch"]), ...(namespace === undefined ? {} : { namespace }), names: [name] };
}

/** The rules for leader election with a Lease, and for the Event about each new leader. */
export function electionAccess(lease: string): readonly AccessRule[] {
  return [
    // A rule for `create` cannot have names: the server authorizes a create before it reads the name.
    access(builtin.Lease, ["create"]),
    { ...access(builtin.Lease, ["get", "update"]), names: [lease] },
    access(builtin.Event, ["create"]),
  ];
}

/** The rules for `namespaceSelector`: the labels of all Namespaces are followed. */
export const namespaceSelectorAccess: readonly AccessRule[] = [access(builtin.Namespace, ["list", "watch"])];

/** The rules for `sharding`: each replica has a Lease, and looks at those of the others. Their names are not known before. */
export const shardAccess: readonly AccessRule[] = [
  access(builtin.Lease, ["create", "delete", "get", "list", "update"]),
];

/** The objects that are read and written for serving webhooks. */
export interface WebhookObjects {
  /** See `configurationTargets`. */
  readonly targets: readonly ConfigurationTarget[];
  /** Name of the existing Secret with the certificates. @default certificates come from elsewhere */
  readonly secret?: string;
}

/** The rules for `managedCertificates`: it writes a Secret and publishes its certificate authorities. */
export function webhookAccess({ targets, secret }: WebhookObjects): readonly AccessRule[] {
  if (secret === undefined) return [];
  return mergedAccess([
    { ...access(builtin.Secret, ["get", "update"]), names: [secret] },
    ...targets.map(({ kind, name }) => ({ ...access(configurationKinds[kind], ["get", "patch"]), names: [name] })),
  ]);
}

const configurationKinds = {
  mutating: builtin.MutatingWebhookConfiguration,
  validating: builtin.ValidatingWebhookConfiguration,
  converting: builtin.CustomResourceDefinition,
} as const satisfies Record<ConfigurationTarget["kind"], Resource>;

/** The rules for `accessReview`. */
export const reviewAccess: readonly AccessRule[] = [
  { group: "authentication.k8s.io", resource: "tokenreviews", scope: "Cluster", verbs: ["create"] },
  { group: "authorization.k8s.io", resource: "subjectaccessreviews", scope: "Cluster", verbs: ["create"] },
];

/** The rule for a cache of a kind. */
export function readAccess(resource: Resource): AccessRule {
  return access(resource, ["list", "watch"]);
}

function access(resource: Resource, verbs: readonly Verb[], subresource?: string): AccessRule {
  const { group, plural, scope } = resource;
  return { group, resource: subresource === undefined ? plural : `${plural}/${subresource}`, scope, verbs };
}

/** Merges rules about the same resource, namespace and names into one, with the verbs in order. */
export function mergedAccess(rules: readonly AccessRule[]): readonly AccessRule[] {
  const byTarget = new Map<string, AccessRule>();
  for (const rule of rules) {
    const id = JSON.stringify([rule.group, rule.resource, rule.namespace ?? null, rule.names ?? null]);
    const before = byTarget.get(id);
    const merged = new Set([...before?.verbs ?? [], ...rule.verbs]);
    byTarget.set(id, { ...rule, verbs: [...verbs, "impersonate" as const].filter((verb) => merged.has(verb)) });
  }
  return [...byTarget.values()];
}
