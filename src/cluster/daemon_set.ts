/** The DaemonSet controller: one Pod on each eligible node; a rolling update replaces Pods within maxUnavailable. */
import { builtin, type Infer, keyOf } from "../api/mod.ts";
import { controller, type ControllerDefinition, done, type ReconcileContext, type Result } from "../controller/mod.ts";
import { createPod, deletePod, isActive, isAvailable, isFinished, isReady, type Pod, podsOf } from "./_pods.ts";
import { deleteOldRevisions, ensureRevision, revisionLabel } from "./_revisions.ts";
import { scaledValue } from "./_values.ts";
import { unschedulableReason } from "./scheduler.ts";

type DaemonSet = Infer<typeof builtin.DaemonSet>;
type Node = Infer<typeof builtin.Node>;
type Context = ReconcileContext<
  typeof builtin.DaemonSet,
  typeof builtin.DaemonSet | typeof builtin.Pod | typeof builtin.Node
>;

/** Taints that Pods of DaemonSets tolerate, as in kube-controller-manager: they stay on unhealthy nodes. */
const tolerations = ([
  ["node.kubernetes.io/not-ready", "NoExecute"],
  ["node.kubernetes.io/unreachable", "NoExecute"],
  ["node.kubernetes.io/disk-pressure", "NoSchedule"],
  ["node.kubernetes.io/memory-pressure", "NoSchedule"],
  ["node.kubernetes.io/pid-pressure", "NoSchedule"],
  ["node.kubernetes.io/unschedulable", "NoSchedule"],
] as const).map(([key, effect]) => ({ key, operator: "Exists", effect }) as const);

/** Keeps the Pods of DaemonSets. A change of a node requeues every DaemonSet. */
export function daemonSetController(): ControllerDefinition {
  const known = new Set<string>();
  return controller("daemonset-controller", { maxConcurrentReconciles: 2 })
    .for(builtin.DaemonSet)
    .owns(builtin.Pod)
    .watches(builtin.Node, { to: () => [...known] })
    .reconcile(async (ctx) => {
      known.add(keyOf(ctx.object));
      return await reconcileSet(ctx);
    });
}

async function reconcileSet(ctx: Context): Promise<Result> {
  const set = ctx.object;
  const owner = { resource: builtin.DaemonSet, object: set };
  const hash = await ensureRevision(ctx.client, owner, set.spec.template, ctx.signal);
  const pods = await podsOf(ctx.client, owner, set.spec.selector, ctx.signal);
  const { items: nodes } = await ctx.client.list(builtin.Node, { signal: ctx.signal });
  const nodeNames = eligibleNodes(nodes, asPod(set));
  await managePods(ctx, pods, nodeNames, hash);
  await ctx.patchStatus(statusOf(ctx, pods, nodeNames, hash));
  const inUse = [hash, ...pods.map((pod) => pod.metadata.labels?.[revisionLabel])];
  const live = new Set(inUse.map((one) => `${set.metadata.name}-${one}`));
  await deleteOldRevisions(ctx.client, owner, { live, limit: set.spec.revisionHistoryLimit ?? 10 }, ctx.signal);
  return done;
}

/** Names of nodes. */
interface EligibleNodes {
  /** Nodes that must have a Pod. */
  readonly desired: ReadonlySet<string>;
  /** Nodes whose Pod may stay: a NoSchedule taint that was added later does not remove it. */
  readonly tolerated: ReadonlySet<string>;
}

function eligibleNodes(nodes: readonly Node[], pod: Pod): EligibleNodes {
  const names = (fitting: readonly Node[]) => new Set(fitting.map((node) => node.metadata.name ?? ""));
  const withEvictingTaints = (node: Node): Node => ({
    ...node,
    spec: { ...node.spec, taints: node.spec.taints?.filter(({ effect }) => effect === "NoExecute") },
  });
  return {
    desired: names(nodes.filter((node) => unschedulableReason(node, pod) === undefined)),
    tolerated: names(nodes.filter((node) => unschedulableReason(withEvictingTaints(node), pod) === undefined)),
  };
}

async function managePods(
  ctx: Context,
  pods: readonly Pod[],
  { desired, tolerated }: EligibleNodes,
  hash: string,
): Promise<void> {
  const owner = { resource: builtin.DaemonSet, object: ctx.object };
  const evicted = pods.filter((pod) => isActive(pod) && !tolerated.has(nodeOf(pod) ?? ""));
  const isRolling = ctx.object.spec.updateStrategy?.type !== "OnDelete";
  const replaced = isRolling ? podsToReplace(ctx, pods, desired, hash) : [];
  const finished = pods.filter((pod) => isFinished(pod));
  for (const pod of [...evicted, ...replaced, ...finished]) await deletePod(ctx.client, pod, ctx.signal);
  const covered = new Set(pods.map(nodeOf));
  for (const name of desired) {
    if (covered.has(name)) continue;
    const spec = {
      affinity: pinnedTo(name),
      tolerations: [...ctx.object.spec.template.spec?.tolerations ?? [], ...tolerations],
    };
    const pod = await createPod(ctx.client, owner, ctx.object.spec.template, {
      labels: { [revisionLabel]: hash },
      spec,
    }, ctx.signal);
    ctx.event("Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`);
  }
}

/** The Pods of an older template to delete now: all unavailable ones, and as many others as maxUnavailable allows. */
function podsToReplace(ctx: Context, pods: readonly Pod[], desired: ReadonlySet<string>, hash: string): readonly Pod[] {
  const { minReadySeconds = 0, updateStrategy } = ctx.object.spec;
  const eligible = pods.filter((pod) => isActive(pod) && desired.has(nodeOf(pod) ?? ""));
  const isPodAvailable = (pod: Pod) => isAvailable(pod, minReadySeconds, ctx.clock.now());
  const old = eligible.filter((pod) => pod.metadata.labels?.[revisionLabel] !== hash);
  const unavailable = desired.size - new Set(eligible.filter(isPodAvailable).map(nodeOf)).size;
  const maxUnavailable = scaledValue(updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, desired.size, Math.ceil);
  const room = Math.max(0, maxUnavailable - unavailable);
  return [...old.filter((pod) => !isPodAvailable(pod)), ...old.filter(isPodAvailable).slice(0, room)];
}

function pinnedTo(node: string) {
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: [node] }] }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}

/** The node that a Pod is bound to, or will be by its affinity. */
function nodeOf(pod: Pod): string | undefined {
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return pod.spec.nodeName ?? terms?.[0]?.matchFields?.[0]?.values?.[0];
}

/** A Pod of the set as the scheduler would see it, to find the eligible nodes. */
function asPod(set: DaemonSet): Pod {
  const { template } = set.spec;
  const spec = { containers: [], ...template.spec, tolerations: [...template.spec?.tolerations ?? [], ...tolerations] };
  return { apiVersion: "v1", kind: "Pod", metadata: {}, spec };
}

function statusOf(ctx: Context, pods: readonly Pod[], { desired: nodeNames }: EligibleNodes, hash: string) {
  const { minReadySeconds = 0 } = ctx.object.spec;
  const desired = nodeNames.size;
  const active = pods.filter((pod) => isActive(pod) && nodeNames.has(nodeOf(pod) ?? ""));
  const available = active.filter((pod) => isAvailable(pod, minReadySeconds, ctx.clock.now())).length;
  return {
    currentNumberScheduled: active.length,
    desiredNumberScheduled: desired,
    numberMisscheduled: pods.filter(isActive).length - active.length,
    numberReady: active.filter(isReady).length,
    updatedNumberScheduled: active.filter((pod) => pod.metadata.labels?.[revisionLabel] === hash).length || null,
    numberAvailable: available || null,
    numberUnavailable: desired - available || null,
    observedGeneration: ctx.object.metadata.generation,
  };
}
