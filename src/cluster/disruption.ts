/** The disruption controller: writes into each PodDisruptionBudget how many of its Pods may be evicted now. */
import {
  builtin,
  type Condition,
  controllerOf,
  type Infer,
  keyOf,
  type KubeObject,
  type OwnerReference,
  type Resource,
  withCondition,
} from "../api/mod.ts";
import { Discovery } from "../client/mod.ts";
import { controller, type ControllerDefinition, done, type ReconcileContext, type Result } from "../controller/mod.ts";
import { isReady, type Pod, selectorOf } from "./_pods.ts";
import { scaledValue } from "./_values.ts";

type Budget = Infer<typeof builtin.PodDisruptionBudget>;
type Context = ReconcileContext<
  typeof builtin.PodDisruptionBudget,
  typeof builtin.PodDisruptionBudget | typeof builtin.Pod
>;

interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

/** Counts the Pods of PodDisruptionBudgets. A change of a Pod requeues the budgets of its namespace. */
export function disruptionController(): ControllerDefinition {
  const known = new Set<string>();
  return controller("disruption-controller")
    .for(builtin.PodDisruptionBudget)
    .watches(builtin.Pod, {
      to: ({ metadata: { namespace } }) => [...known].filter((key) => key.startsWith(`${namespace}/`)),
    })
    .reconcile(async (ctx) => {
      const budget = ctx.object;
      known.add(keyOf(budget));
      const labelSelector = selectorOf(budget.spec.selector);
      const { namespace, generation } = budget.metadata;
      const pods = ctx.list(builtin.Pod, { namespace, labelSelector });
      const expected = await expectedPods(ctx, pods);
      if (typeof expected === "string") return await reportFailure(ctx, expected);
      const healthy = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && isReady(pod)).length;
      const desired = desiredHealthy(budget, expected);
      const allowed = expected === 0 ? 0 : Math.max(0, healthy - desired);
      await ctx.patchStatus({
        currentHealthy: healthy,
        desiredHealthy: desired,
        expectedPods: expected,
        disruptionsAllowed: allowed,
        observedGeneration: generation,
        // Evicted Pods have a deletionTimestamp, so they are not counted above.
        disruptedPods: null,
        conditions: [...withCondition(conditionsOf(budget), allowedCondition(allowed, generation), ctx.clock.now())],
      });
      return done;
    });
}

/**
 * How many Pods there should be; a text when that is unknown. Only a number in minAvailable needs no more than the Pods that
 * there are. Else the scales of their controllers count, so that a Pod that was deleted is missing before it is replaced.
 */
async function expectedPods(ctx: Context, pods: readonly Pod[]): Promise<number | string> {
  const { minAvailable, maxUnavailable } = ctx.object.spec;
  if (maxUnavailable === undefined && typeof minAvailable !== "string") return pods.length;
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const reference = controllerOf(pod);
    if (reference === undefined || scales.has(reference.uid)) continue;
    const scale = await scaleOf(ctx, reference);
    if (typeof scale === "string") return scale;
    if (scale === undefined) return `found no controllers for pod ${JSON.stringify(pod.metadata.name)}`;
    scales.set(scale.uid, scale.replicas);
  }
  return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
}

interface ControllerScale {
  readonly uid: string;
  readonly replicas: number;
}

/** The scale of a controller: of the Deployment, for its ReplicaSets. Undefined when it does not exist. */
async function scaleOf(ctx: Context, reference: OwnerReference): Promise<ControllerScale | string | undefined> {
  const { client, signal } = ctx;
  const group = reference.apiVersion.includes("/") ? reference.apiVersion.replace(/\/.*/, "") : "";
  const found = await new Discovery(client).findKind({ group, kind: reference.kind }, signal);
  if (found === undefined) return `no matches for kind "${reference.kind}" in version "${reference.apiVersion}"`;
  const key = `${ctx.object.metadata.namespace}/${reference.name}`;
  const owner = await client.find(found.resource, key, { signal });
  if (owner === undefined || owner.metadata.uid !== reference.uid) return undefined;
  const parent = controllerOf(owner);
  if (reference.kind === "ReplicaSet" && parent?.kind === "Deployment") return await scaleOf(ctx, parent);
  // The type of a generic Resource says nothing of its subresource.
  const scale = await client.find(found.resource as Resource<Scale>, key, { subresource: "scale", signal });
  if (scale === undefined) {
    const { plural } = found.resource;
    return `${group === "" ? plural : `${plural}.${group}`} does not implement the scale subresource`;
  }
  return { uid: reference.uid, replicas: scale.spec?.replicas ?? 0 };
}

/** Allows no eviction while the expected number of Pods is unknown. */
async function reportFailure(ctx: Context, message: string): Promise<Result> {
  const { status } = ctx.object;
  ctx.event(
    "Warning",
    "CalculateExpectedPodCountFailed",
    `Failed to calculate the number of expected pods: ${message}`,
  );
  const condition = {
    type: "DisruptionAllowed",
    status: "False",
    reason: "SyncFailed",
    message,
    observedGeneration: status?.observedGeneration,
  } as const;
  await ctx.patchStatus({
    currentHealthy: status?.currentHealthy ?? 0,
    desiredHealthy: status?.desiredHealthy ?? 0,
    expectedPods: status?.expectedPods ?? 0,
    disruptionsAllowed: 0,
    conditions: [...withCondition(conditionsOf(ctx.object), condition, ctx.clock.now())],
  });
  return done;
}

/** The server validates conditions, so the fields that the published types leave optional are set. */
function conditionsOf({ status }: Budget): readonly Condition[] {
  return (status?.conditions ?? []) as readonly Condition[];
}

/** The condition that `kubectl wait` reads. */
function allowedCondition(allowed: number, observedGeneration: number | undefined) {
  const state = allowed > 0
    ? { status: "True", reason: "SufficientPods" } as const
    : { status: "False", reason: "InsufficientPods" } as const;
  return { type: "DisruptionAllowed", ...state, message: "", observedGeneration };
}

function desiredHealthy({ spec: { minAvailable, maxUnavailable } }: Budget, expected: number): number {
  if (maxUnavailable !== undefined) return Math.max(0, expected - scaledValue(maxUnavailable, expected, Math.ceil));
  return minAvailable === undefined ? 0 : scaledValue(minAvailable, expected, Math.ceil);
}
