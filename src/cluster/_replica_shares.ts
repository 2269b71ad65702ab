/**
 * How many replicas the ReplicaSets of a Deployment have when the number of the Deployment changes, also in the middle of a
 * rollout, as kube-controller-manager's deployment/sync.go.
 */
import type { builtin, Infer } from "../api/mod.ts";
import { scaledValue } from "./_values.ts";

type Deployment = Infer<typeof builtin.Deployment>;
type ReplicaSet = Infer<typeof builtin.ReplicaSet>;

/** The annotations with the replicas of the Deployment, and those with surge, when the ReplicaSet was last scaled. */
export const desiredAnnotation = "deployment.kubernetes.io/desired-replicas";
export const maxAnnotation = "deployment.kubernetes.io/max-replicas";

/** The ReplicaSets of a Deployment at one moment. */
export interface ReplicaSets {
  /** The one with the Deployment's current template. */
  readonly newest: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

/** True when the number of replicas has changed since the ReplicaSets were scaled. */
export function isResized({ spec: { replicas = 1 } }: Deployment, { newest, old }: ReplicaSets): boolean {
  const known = (set: ReplicaSet) => set.metadata.annotations?.[desiredAnnotation] ?? `${replicas}`;
  return [...old, ...newest === undefined ? [] : [newest]].some((set) =>
    hasReplicas(set) && known(set) !== `${replicas}`
  );
}

/** The sizes of the ReplicaSets that have Pods, as `scale` in kube-controller-manager's deployment/sync.go. */
export function sizesOf(deployment: Deployment, { newest, old }: ReplicaSets): ReadonlyMap<ReplicaSet, number> {
  const { replicas: desired = 1, strategy } = deployment.spec;
  const all = [...newest === undefined ? [] : [newest], ...old.toSorted((left, right) => byAge(right, left))];
  const active = all.filter(hasReplicas);
  const [only = all[0]] = active;
  if (active.length <= 1) return new Map(only === undefined ? [] : [[only, desired]]);
  if (newest !== undefined && isSaturated(deployment, newest)) {
    return new Map(active.filter((set) => set !== newest).map((set) => [set, 0]));
  }
  if (strategy?.type === "Recreate") return new Map();
  const max = desired === 0 ? 0 : desired + limitsOf(deployment).surge;
  const added = max - desiredReplicas(active);
  const ordered = active.toSorted((left, right) =>
    sizeOf(right) - sizeOf(left) || (added > 0 ? byAge(right, left) : byAge(left, right))
  );
  let rest = added;
  const sizes = new Map<ReplicaSet, number>();
  for (const set of ordered) {
    const share = shareOf(deployment, set, max);
    const part = added > 0 ? Math.min(share, rest) : Math.max(share, rest);
    sizes.set(set, sizeOf(set) + (rest === 0 ? 0 : part));
    if (rest !== 0) rest -= part;
  }
  const [largest] = ordered;
  if (largest !== undefined) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + rest));
  return sizes;
}

/** By how much a ReplicaSet would grow if all grew as the limit of the Deployment has. */
function shareOf({ status }: Deployment, set: ReplicaSet, max: number): number {
  const before = Number(set.metadata.annotations?.[maxAnnotation]) || (status?.replicas ?? 0);
  if (max === 0) return -sizeOf(set);
  return before === 0 ? 0 : Math.round(sizeOf(set) * max / before) - sizeOf(set);
}

function isSaturated({ spec: { replicas = 1 } }: Deployment, set: ReplicaSet): boolean {
  return sizeOf(set) === replicas && set.metadata.annotations?.[desiredAnnotation] === `${replicas}` &&
    set.status?.availableReplicas === replicas;
}

function sizeOf(set: ReplicaSet): number {
  return set.spec.replicas ?? 1;
}

function hasReplicas(set: ReplicaSet): boolean {
  return sizeOf(set) > 0;
}

/** Oldest first. */
export function byAge(left: ReplicaSet, right: ReplicaSet): number {
  return `${left.metadata.creationTimestamp}`.localeCompare(`${right.metadata.creationTimestamp}`);
}

/** The replicas that ReplicaSets together should have. */
export function desiredReplicas(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + (set.spec.replicas ?? 1), 0);
}

/** How many Pods beyond the desired number a rolling update may create, and how many may be unavailable. */
export function limitsOf(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { strategy, replicas = 1 } = deployment.spec;
  if (strategy?.type === "Recreate") return { surge: 0, unavailable: 0 };
  const surge = scaledValue(strategy?.rollingUpdate?.maxSurge ?? "25%", replicas, Math.ceil);
  const unavailable = scaledValue(strategy?.rollingUpdate?.maxUnavailable ?? "25%", replicas, Math.floor);
  // With both at 0, the rollout could not make a step.
  return surge === 0 && unavailable === 0
    ? { surge, unavailable: 1 }
    : { surge, unavailable: Math.min(unavailable, replicas) };
}
