/**
 * The controllers of ReplicaSets and ReplicationControllers: they keep the desired number of Pods, and count them in the
 * status. They need no expectations as in kube-controller-manager, because they read the Pods from the server.
 */
import { builtin, type Infer } from "../api/mod.ts";
import { controller, done, type ReconcileContext, requeueAfter, type Result } from "../controller/mod.ts";
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
  type PodOwner,
  podsOf,
  type selectorOf,
} from "./_pods.ts";
import { messageOf, timeText } from "./_values.ts";

type ReplicaSet = Infer<typeof builtin.ReplicaSet>;
type Context = Pick<
  ReconcileContext<typeof builtin.ReplicaSet, typeof builtin.ReplicaSet | typeof builtin.Pod>,
  "client" | "clock" | "signal" | "event" | "patchStatus"
>;

/** A ReplicaSet or a ReplicationController, in the words of the first. */
interface Replicas {
  readonly owner: PodOwner;
  readonly spec: Omit<ReplicaSet["spec"], "selector">;
  readonly status: ReplicaSet["status"];
  readonly selector: Parameters<typeof selectorOf>[0];
}

/** Pods that one reconcile creates or deletes at most, as kube-controller-manager's BurstReplicas. */
const maxBurst = 500;

/** Keeps the number of Pods of ReplicaSets. */
export const replicaSetController = controller("replicaset-controller", { maxConcurrentReconciles: 5 })
  .for(builtin.ReplicaSet)
  .owns(builtin.Pod)
  .reconcile((ctx) => {
    const { spec, status } = ctx.object;
    const owner = { resource: builtin.ReplicaSet, object: ctx.object };
    return reconcileReplicas(ctx, { owner, spec, status, selector: spec.selector });
  });

/** Keeps the number of Pods of ReplicationControllers. */
export const replicationController = controller("replicationcontroller-controller", { maxConcurrentReconciles: 5 })
  .for(builtin.ReplicationController)
  .owns(builtin.Pod)
  .reconcile((ctx) => {
    const { spec = {}, status } = ctx.object;
    const owner = { resource: builtin.ReplicationController, object: ctx.object };
    return reconcileReplicas(ctx, { owner, spec, status, selector: { matchLabels: spec.selector } });
  });

async function reconcileReplicas(ctx: Context, replicas: Replicas): Promise<Result> {
  const { owner, spec: { minReadySeconds = 0 }, selector } = replicas;
  const pods = (await podsOf(ctx.client, owner, selector, ctx.signal)).filter(isActive);
  const { present, failure } = await scalePods(ctx, replicas, pods);
  await ctx.patchStatus(statusOf(replicas, present, { failure, now: ctx.clock.now() }));
  if (failure !== undefined) throw failure.error; // retried with backoff
  const waits = present.map((pod) => msUntilAvailable(pod, minReadySeconds, ctx.clock.now()));
  const next = Math.min(...waits.filter((ms) => ms > 0));
  return Number.isFinite(next) ? requeueAfter(next) : done;
}

/** Why Pods are missing, or are too many. */
interface Failure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly error: unknown;
}

interface Scaled {
  /** The Pods afterwards. */
  readonly present: readonly Pod[];
  readonly failure?: Failure;
}

/** Creates missing Pods or deletes surplus ones. */
async function scalePods(ctx: Context, replicas: Replicas, pods: readonly Pod[]): Promise<Scaled> {
  const missing = (replicas.spec.replicas ?? 1) - pods.length;
  return missing > 0
    ? await createMissing(ctx, replicas, { pods, count: Math.min(missing, maxBurst) })
    : await deleteSurplus(ctx, pods, Math.min(-missing, maxBurst));
}

async function createMissing(
  ctx: Context,
  { owner, spec }: Replicas,
  { pods, count }: { readonly pods: readonly Pod[]; readonly count: number },
): Promise<Scaled> {
  const present = [...pods];
  for (let index = 0; index < count; index++) {
    try {
      const pod = await createPod(ctx.client, owner, spec.template, {}, ctx.signal);
      present.push(pod);
      ctx.event("Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`);
    } catch (error) {
      if (isNamespaceTerminating(error)) break;
      ctx.event("Warning", "FailedCreate", `Error creating: ${messageOf(error)}`);
      return { present, failure: { reason: "FailedCreate", error } };
    }
  }
  return { present };
}

async function deleteSurplus(ctx: Context, pods: readonly Pod[], count: number): Promise<Scaled> {
  const surplus = inOrderOfDeletion(pods).slice(0, count);
  const failures = await Promise.all(surplus.map(async (pod): Promise<Failure | undefined> => {
    try {
      await deletePod(ctx.client, pod, ctx.signal);
      ctx.event("Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
      return undefined;
    } catch (error) {
      ctx.event("Warning", "FailedDelete", `Error deleting: ${messageOf(error)}`);
      return { reason: "FailedDelete", error };
    }
  }));
  const present = pods.filter((pod) => !surplus.some((one, index) => one === pod && failures[index] === undefined));
  return { present, failure: failures.find((failure) => failure !== undefined) };
}

function statusOf(
  { owner, spec, status }: Replicas,
  pods: readonly Pod[],
  { failure, now }: { readonly failure?: Failure; readonly now: number },
) {
  const labels = Object.entries(spec.template?.metadata?.labels ?? {});
  const hasLabels = (pod: Pod) => labels.every(([key, value]) => pod.metadata.labels?.[key] === value);
  const count = (counts: (pod: Pod) => boolean) => pods.filter(counts).length || null;
  return {
    replicas: pods.length,
    fullyLabeledReplicas: count(hasLabels),
    readyReplicas: count(isReady),
    availableReplicas: count((pod) => isAvailable(pod, spec.minReadySeconds ?? 0, now)),
    observedGeneration: owner.object.metadata.generation,
    ...conditionsOf(status, failure, now),
  };
}

/** Adds or removes the condition ReplicaFailure. The first failure stays until there is none, as in Kubernetes. */
function conditionsOf(status: ReplicaSet["status"], failure: Failure | undefined, now: number) {
  const before = status?.conditions ?? [];
  const isReported = before.some(({ type }) => type === "ReplicaFailure");
  if (isReported === (failure !== undefined)) return {};
  const others = before.filter(({ type }) => type !== "ReplicaFailure");
  if (failure === undefined) return { conditions: others.length === 0 ? null : others };
  const condition = {
    type: "ReplicaFailure",
    status: "True",
    reason: failure.reason,
    message: messageOf(failure.error),
    lastTransitionTime: timeText(now),
  };
  return { conditions: [...others, condition] };
}
