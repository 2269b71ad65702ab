/**
 * The ReplicaSet controller: keeps the desired number of Pods, and counts them in the status. It needs no expectations as
 * in kube-controller-manager, because it reads the Pods from the server.
 */
import { builtin, type Infer } from "../api/mod.ts";
import { controller, done, type ReconcileContext, requeueAfter } from "../controller/mod.ts";
import {
  createPod,
  deletePod,
  inOrderOfDeletion,
  isActive,
  isAvailable,
  isNamespaceTerminating,
  isReady,
  msUntilAvailable,
  type Pod,
  podsOf,
} from "./_pods.ts";

type ReplicaSet = Infer<typeof builtin.ReplicaSet>;
type Context = ReconcileContext<typeof builtin.ReplicaSet, typeof builtin.ReplicaSet | typeof builtin.Pod>;

/** Pods that one reconcile creates or deletes at most, as kube-controller-manager's BurstReplicas. */
const maxBurst = 500;

/** Keeps the number of Pods of ReplicaSets. */
export const replicaSetController = controller("replicaset-controller", { maxConcurrentReconciles: 5 })
  .for(builtin.ReplicaSet)
  .owns(builtin.Pod)
  .reconcile(async (ctx) => {
    const set = ctx.object;
    const owner = { resource: builtin.ReplicaSet, object: set };
    const pods = (await podsOf(ctx.client, owner, set.spec.selector, ctx.signal)).filter(isActive);
    const present = await scalePods(ctx, pods);
    await ctx.patchStatus(statusOf(set, present, ctx.clock.now()));
    const waits = present.map((pod) => msUntilAvailable(pod, set.spec.minReadySeconds ?? 0, ctx.clock.now()));
    const next = Math.min(...waits.filter((ms) => ms > 0));
    return Number.isFinite(next) ? requeueAfter(next) : done;
  });

/** Creates missing Pods or deletes surplus ones. @returns the Pods after that */
async function scalePods(ctx: Context, pods: readonly Pod[]): Promise<readonly Pod[]> {
  const missing = (ctx.object.spec.replicas ?? 1) - pods.length;
  if (missing > 0) return [...pods, ...await createMissing(ctx, Math.min(missing, maxBurst))];
  const surplus = inOrderOfDeletion(pods).slice(0, Math.min(-missing, maxBurst));
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
      if (isNamespaceTerminating(error)) return created;
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
