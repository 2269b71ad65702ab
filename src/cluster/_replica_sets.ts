/** The ReplicaSets of a Deployment: which is the new one, which are old, and what they are allowed to hold. */
import { builtin, controllerOf, controllerReference, type Infer, isControlledBy, keyOf } from "../api/mod.ts";
import { type Client, isAlreadyExists } from "../client/mod.ts";
import { adopt, selectorOf } from "./_pods.ts";
import { canonicalText, templateHash } from "./_template_hash.ts";

export type Deployment = Infer<typeof builtin.Deployment>;
export type ReplicaSet = Infer<typeof builtin.ReplicaSet>;

/** The label that tells the Pods of one template from those of another. */
export const hashLabel = "pod-template-hash";

/** The annotation that counts a Deployment's templates. */
export const revisionAnnotation = "deployment.kubernetes.io/revision";

/** The ReplicaSets that belong to a Deployment, read live; those that nobody controls are adopted. */
export async function replicaSetsOf(
  client: Client,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<readonly ReplicaSet[]> {
  const { namespace } = deployment.metadata;
  const labelSelector = selectorOf(deployment.spec.selector);
  const { items } = await client.list(builtin.ReplicaSet, { namespace, labelSelector, signal });
  const owner = { resource: builtin.Deployment, object: deployment };
  const sets = await Promise.all(items.map(async (set) => {
    if (isControlledBy(set, deployment)) return set;
    const isFree = controllerOf(set) === undefined && set.metadata.deletionTimestamp === undefined;
    return isFree ? await adopt(client, builtin.ReplicaSet, set, owner, signal) : undefined;
  }));
  return sets.filter((set) => set !== undefined);
}

/** The oldest ReplicaSet that has the Deployment's present template. */
export function newestOf(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const wanted = canonicalText(deployment.spec.template);
  return sets
    .toSorted((left, right) =>
      `${left.metadata.creationTimestamp}`.localeCompare(`${right.metadata.creationTimestamp}`)
    )
    .find((set) => canonicalText(withoutHash(set)) === wanted);
}

/** The number of a ReplicaSet's template, 0 for none. */
export function revisionOf(set: ReplicaSet): number {
  return Number(set.metadata.annotations?.[revisionAnnotation] ?? 0) || 0;
}

/** Replicas that are wanted of several ReplicaSets. */
export function wantedOf(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + (set.spec.replicas ?? 1), 0);
}

/**
 * Creates the ReplicaSet of the present template.
 *
 * @returns undefined when another template has taken its name: the Deployment counts the collision and tries again.
 */
export async function createReplicaSet(
  client: Client,
  deployment: Deployment,
  plan: { readonly replicas: number; readonly revision: number },
  signal: AbortSignal,
): Promise<ReplicaSet | undefined> {
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = templateHash(template, deployment.status?.collisionCount ?? 0);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const metadata = {
    name: `${deployment.metadata.name}-${hash}`,
    namespace: deployment.metadata.namespace,
    labels,
    annotations: { ...inherited(deployment), [revisionAnnotation]: `${plan.revision}` },
    ownerReferences: [controllerReference(deployment, builtin.Deployment)],
  };
  const spec = {
    replicas: plan.replicas,
    minReadySeconds,
    selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
    template: { ...template, metadata: { ...template.metadata, labels } },
  };
  try {
    return await client.create(builtin.ReplicaSet, { metadata, spec }, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const held = await client.find(builtin.ReplicaSet, keyOf({ metadata }), { signal });
    const isOurs = held !== undefined && isControlledBy(held, deployment) && newestOf(deployment, [held]) === held;
    return isOurs ? held : undefined;
  }
}

/** What a ReplicaSet takes over from its Deployment's annotations: all but those that are the Deployment's own. */
export function inherited(deployment: Deployment): Record<string, string> {
  const skipped = new Set([
    revisionAnnotation,
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
  ]);
  const { replicas = 1 } = deployment.spec;
  return {
    ...Object.fromEntries(Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !skipped.has(key))),
    "deployment.kubernetes.io/desired-replicas": `${replicas}`,
    "deployment.kubernetes.io/max-replicas": `${replicas + limitsOf(deployment).surge}`,
  };
}

/** How many Pods a rolling update may have too many and too few. */
export function limitsOf(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { strategy, replicas = 1 } = deployment.spec;
  if (strategy?.type === "Recreate") return { surge: 0, unavailable: 0 };
  const surge = share(strategy?.rollingUpdate?.maxSurge ?? "25%", replicas, Math.ceil);
  const unavailable = share(strategy?.rollingUpdate?.maxUnavailable ?? "25%", replicas, Math.floor);
  // Both 0 would let nothing move.
  return surge === 0 && unavailable === 0
    ? { surge, unavailable: 1 }
    : { surge, unavailable: Math.min(unavailable, replicas) };
}

function share(value: string | number, of: number, round: (value: number) => number): number {
  if (typeof value === "number") return value;
  return value.endsWith("%") ? round(Number(value.slice(0, -1)) * of / 100) : Number(value) || 0;
}

function withoutHash(set: ReplicaSet): unknown {
  const { template } = set.spec;
  const { [hashLabel]: _, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } };
}
