/**
 * AccessRule: what a controller, or a part of its Manager, may do to the API server: read off declarations, for RBAC
 * manifests, for checks, and for refusing everything else in tests.
 *
 * Guarantees: no wildcard; nothing that the code here does not do; names wherever RBAC can hold to them.
 */
import { builtin, type Resource, type Scope } from "../api/mod.ts";
import { type ControllerDefinition, type Verb, verbs, type WatchDefinition } from "../controller/mod.ts";
import type { ConfigurationTarget } from "../webhook/mod.ts";

/** Verbs on one resource. */
export interface AccessRule {
  /** "" for core. */
  readonly group: string;
  /** The plural, with the subresource where there is one: `foos/status`. */
  readonly resource: string;
  /** Whether its objects live in namespaces. */
  readonly scope: Scope;
  /** The one namespace whose objects are meant. @default those that the controller works on */
  readonly namespace?: string;
  /** In the order of `verbs`. */
  readonly verbs: readonly Verb[];
  /** The objects that are meant. @default all */
  readonly names?: readonly string[];
}

/**
 * What a controller may do: its declarations, spelled out.
 *
 * @example
 * ```ts
 * import { ConfigMap, controller, controllerAccess, done, Namespace } from "@pintle/controller";
 *
 * const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(() => Promise.resolve(done));
 * const rule = controllerAccess(greeter).find(({ resource }) => resource === "configmaps");
 * console.assert(rule?.verbs.join() === "get,list,watch,create,patch");
 * ```
 */
export function controllerAccess(definition: ControllerDefinition): readonly AccessRule[] {
  const { primary, watches, permissions, writesStatus, finalizer, options } = definition;
  return mergedAccess([
    ...watches.flatMap((watch) => watchAccess(watch, primary)),
    ...(writesStatus ? [access(primary, ["patch"], "status")] : []),
    // Read live before it is cleaned up after; the finalizer comes and goes by patch.
    ...(finalizer === undefined ? [] : [access(primary, ["get", "patch"])]),
    ...permissions.map(({ resource, verbs, subresource }) => access(resource, verbs, subresource)),
    ...(options.recordsEvents ?? true ? [eventAccess(primary)] : []),
  ]);
}

/** Events about what lives in no namespace lie in `default`. */
function eventAccess(primary: Resource): AccessRule {
  const rule = access(builtin.Event, ["create", "patch"]);
  return primary.scope === "Cluster" ? { ...rule, namespace: "default" } : rule;
}

function watchAccess(watch: WatchDefinition, primary: Resource): readonly AccessRule[] {
  const { resource, role, writes, deletes } = watch;
  return [
    access(resource, ["list", "watch"]),
    ...(writes ? [access(resource, ["patch"])] : []),
    // The owner is read live before a lost child is made again, and before one is deleted. An apply that creates needs both verbs; the child is read where somebody else may have made it meanwhile. Where
    // the admission plugin OwnerReferencesPermissionEnforcement is on, children with owners need the last one.
    ...(role === "owns"
      ? [
        access(resource, ["get", "create", "patch"]),
        access(primary, ["get"]),
        access(primary, ["update"], "finalizers"),
      ]
      : []),
    ...(deletes ? [access(resource, ["delete"]), access(primary, ["get"])] : []),
  ];
}

/** What an elector does to its Lease. */
export function electionAccess(lease: string): readonly AccessRule[] {
  return [
    // No create by name: the server knows no name yet when it authorizes one.
    access(builtin.Lease, ["create"]),
    { ...access(builtin.Lease, ["get", "update"]), names: [lease] },
  ];
}

/** Names the objects that serving webhooks touches. */
export interface WebhookObjects {
  /** See `configurationTargets`. */
  readonly targets: readonly ConfigurationTarget[];
  /** Name of the Secret that holds the certificates; it must exist. @default certificates come from elsewhere */
  readonly secret?: string;
}

/** What `managedCertificates` does: keep a Secret, and publish its authorities. */
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

/** What `accessReview` asks of the API server. */
export const reviewAccess: readonly AccessRule[] = [
  { group: "authentication.k8s.io", resource: "tokenreviews", scope: "Cluster", verbs: ["create"] },
  { group: "authorization.k8s.io", resource: "subjectaccessreviews", scope: "Cluster", verbs: ["create"] },
];

function access(resource: Resource, verbs: readonly Verb[], subresource?: string): AccessRule {
  const { group, plural, scope } = resource;
  return { group, resource: subresource === undefined ? plural : `${plural}/${subresource}`, scope, verbs };
}

/** One rule per resource and names, the verbs of all in order. */
export function mergedAccess(rules: readonly AccessRule[]): readonly AccessRule[] {
  const byTarget = new Map<string, AccessRule>();
  for (const rule of rules) {
    const id = JSON.stringify([rule.group, rule.resource, rule.namespace ?? null, rule.names ?? null]);
    const before = byTarget.get(id);
    const wanted = new Set([...before?.verbs ?? [], ...rule.verbs]);
    byTarget.set(id, { ...rule, verbs: verbs.filter((verb) => wanted.has(verb)) });
  }
  return [...byTarget.values()];
}
