/** ReplicaSets: as many Pods as are wanted, and the count of them. As kube-controller-manager's, without expectations. */
import { builtin, type Infer } from "../api/mod.ts";
import { controller, done, type ReconcileContext, requeueAfter } from "../controller/mod.ts";
import {
  createPod,
  deletePod,
  inOrderOfDeletion,
  isActive,
  isAvailable,
  isNamespaceGoing,
  isReady,
  msUntilAvailable,
  type Pod,
  podsOf,
} from "./_pods.ts";

type ReplicaSet = Infer<typeof builtin.ReplicaSet>;
type Context = ReconcileContext<typeof builtin.ReplicaSet, typeof builtin.ReplicaSet | typeof builtin.Pod>;

/** As kube-controller-manager: how many Pods one look creates or deletes at most. */
const burst = 500;

export const replicaSetController = controller("replicaset-controller", { maxConcurrentReconciles: 5 })
  .for(builtin.ReplicaSet)
  .owns(builtin.Pod)
  .reconcile(async (ctx) => {
    const set = ctx.object;
    const owner = { resource: builtin.ReplicaSet, object: set };
    const pods = (await podsOf(ctx.client, owner, set.spec.selector, ctx.signal)).filter(isActive);
    const kept = await bring(ctx, pods);
    await ctx.patchStatus(statusOf(set, kept, ctx.clock.now()));
    const waits = kept.map((pod) => msUntilAvailable(pod, set.spec.minReadySeconds ?? 0, ctx.clock.now()));
    const next = Math.min(...waits.filter((ms) => ms > 0));
    return Number.isFinite(next) ? requeueAfter(next) : done;
  });

/** Creates or deletes what is missing or too much. @returns the Pods as they are then */
async function bring(ctx: Context, pods: readonly Pod[]): Promise<readonly Pod[]> {
  const missing = (ctx.object.spec.replicas ?? 1) - pods.length;
  if (missing > 0) return [...pods, ...await createMissing(ctx, Math.min(missing, burst))];
  const surplus = inOrderOfDeletion(pods).slice(0, Math.min(-missing, burst));
  await Promise.all(surplus.map(async (pod) => {
    await deletePod(ctx.client, pod, ctx.signal);
    ctx.event("Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
  }));
  return pods.filter((pod) => !surplus.includes(pod));
}

async function createMissing(ctx: Context, count: number): Promise<readonly Pod[]> {
  const owner = { resource: builtin.ReplicaSet, object: ctx.object };
  const created: Pod[] = [];
  for (let index = 0; index < count; index++) {
    try {
      const pod = await createPod(ctx.client, owner, ctx.object.spec.template, {}, ctx.signal);
      created.push(pod);
      ctx.event("Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`);
    } catch (error) {
      if (isNamespaceGoing(error)) return created;
      ctx.event("Warning", "FailedCreate", `Error creating: ${error instanceof Error ? error.message : error}`);
      throw error;
    }
  }
  return created;
}

function statusOf(set: ReplicaSet, pods: readonly Pod[], now: number) {
  const labels = Object.entries(set.spec.template?.metadata?.labels ?? {});
  const hasLabels = (pod: Pod) => labels.every(([key, value]) => pod.metadata.labels?.[key] === value);
  const count = (counts: (pod: Pod) => boolean) => pods.filter(counts).length || null;
  return {
    replicas: pods.length,
    fullyLabeledReplicas: count(hasLabels),
    readyReplicas: count(isReady),
    availableReplicas: count((pod) => isAvailable(pod, set.spec.minReadySeconds ?? 0, now)),
    observedGeneration: set.metadata.generation,
  };
}
