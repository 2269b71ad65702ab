/** DaemonSets: one Pod on each node that takes it; Pods of an older template are replaced as far as maxUnavailable allows. */
import { builtin, type Infer, keyOf } from "../api/mod.ts";
import { controller, type ControllerDefinition, done, type ReconcileContext, type Result } from "../controller/mod.ts";
import { refusalOf } from "./_node_fit.ts";
import { createPod, deletePod, isActive, isAvailable, isFinished, isReady, type Pod, podsOf } from "./_pods.ts";
import { revisionFor, revisionLabel } from "./_revisions.ts";

type DaemonSet = Infer<typeof builtin.DaemonSet>;
type Node = Infer<typeof builtin.Node>;
type Context = ReconcileContext<
  typeof builtin.DaemonSet,
  typeof builtin.DaemonSet | typeof builtin.Pod | typeof builtin.Node
>;

/** Pods of DaemonSets stay on nodes in trouble. */
const tolerations = [
  ["node.kubernetes.io/not-ready", "NoExecute"],
  ["node.kubernetes.io/unreachable", "NoExecute"],
  ["node.kubernetes.io/disk-pressure", "NoSchedule"],
  ["node.kubernetes.io/memory-pressure", "NoSchedule"],
  ["node.kubernetes.io/pid-pressure", "NoSchedule"],
  ["node.kubernetes.io/unschedulable", "NoSchedule"],
].map(([key, effect]) => ({ key, operator: "Exists", effect }));

/** A change of a node concerns every DaemonSet. */
export function daemonSetController(): ControllerDefinition {
  const known = new Set<string>();
  return controller("daemonset-controller", { maxConcurrentReconciles: 2 })
    .for(builtin.DaemonSet)
    .owns(builtin.Pod)
    .watches(builtin.Node, { to: () => [...known] })
    .reconcile(async (ctx) => {
      known.add(keyOf(ctx.object));
      return await bringSet(ctx);
    });
}

async function bringSet(ctx: Context): Promise<Result> {
  const set = ctx.object;
  const owner = { resource: builtin.DaemonSet, object: set };
  const hash = await revisionFor(ctx.client, owner, set.spec.template, ctx.signal);
  const pods = await podsOf(ctx.client, owner, set.spec.selector, ctx.signal);
  const { items: nodes } = await ctx.client.list(builtin.Node, { signal: ctx.signal });
  const places = placesOf(nodes, asPod(set));
  await bring(ctx, pods, places, hash);
  await ctx.patchStatus(statusOf(ctx, pods, places, hash));
  return done;
}

/** Names of nodes. */
interface Places {
  /** Those that are to have a Pod. */
  readonly wanted: ReadonlySet<string>;
  /** Those whose Pod is left where it is: a taint that only keeps new ones away came later. */
  readonly borne: ReadonlySet<string>;
}

function placesOf(nodes: readonly Node[], pod: Pod): Places {
  const names = (fitting: readonly Node[]) => new Set(fitting.map((node) => node.metadata.name ?? ""));
  const evicting = (node: Node): Node => ({
    ...node,
    spec: { ...node.spec, taints: node.spec.taints?.filter(({ effect }) => effect === "NoExecute") },
  });
  return {
    wanted: names(nodes.filter((node) => refusalOf(node, pod) === undefined)),
    borne: names(nodes.filter((node) => refusalOf(evicting(node), pod) === undefined)),
  };
}

async function bring(ctx: Context, pods: readonly Pod[], { wanted, borne }: Places, hash: string): Promise<void> {
  const owner = { resource: builtin.DaemonSet, object: ctx.object };
  const doomed = pods.filter((pod) => isActive(pod) && !borne.has(nodeOf(pod) ?? ""));
  const isRolling = ctx.object.spec.updateStrategy?.type !== "OnDelete";
  const replaced = isRolling ? outdatedOf(ctx, pods, wanted, hash) : [];
  const finished = pods.filter((pod) => isFinished(pod));
  for (const pod of [...doomed, ...replaced, ...finished]) await deletePod(ctx.client, pod, ctx.signal);
  const covered = new Set(pods.map(nodeOf));
  for (const name of wanted) {
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

/** The Pods of an older template that make room now: those that do not work, and as many others as may be missing. */
function outdatedOf(ctx: Context, pods: readonly Pod[], wanted: ReadonlySet<string>, hash: string): readonly Pod[] {
  const { minReadySeconds = 0, updateStrategy } = ctx.object.spec;
  const here = pods.filter((pod) => isActive(pod) && wanted.has(nodeOf(pod) ?? ""));
  const works = (pod: Pod) => isAvailable(pod, minReadySeconds, ctx.clock.now());
  const old = here.filter((pod) => pod.metadata.labels?.[revisionLabel] !== hash);
  const missing = wanted.size - new Set(here.filter(works).map(nodeOf)).size;
  const most = share(updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, wanted.size);
  return [...old.filter((pod) => !works(pod)), ...old.filter(works).slice(0, Math.max(0, most - missing))];
}

function share(value: string | number, of: number): number {
  return typeof value === "number" ? value : Math.ceil((Number.parseFloat(value) || 0) * of / 100);
}

function pinnedTo(node: string) {
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}

/** The node a Pod runs on, or is meant for. */
function nodeOf(pod: Pod): string | undefined {
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return pod.spec.nodeName ?? terms?.[0]?.matchFields?.[0]?.values?.[0];
}

/** A Pod of the set as the scheduler would see it, for the question which nodes take it. */
function asPod(set: DaemonSet): Pod {
  const { template } = set.spec;
  const spec = { containers: [], ...template.spec, tolerations: [...template.spec?.tolerations ?? [], ...tolerations] };
  return { apiVersion: "v1", kind: "Pod", metadata: {}, spec };
}

function statusOf(ctx: Context, pods: readonly Pod[], { wanted }: Places, hash: string) {
  const { minReadySeconds = 0 } = ctx.object.spec;
  const desired = wanted.size;
  const active = pods.filter((pod) => isActive(pod) && wanted.has(nodeOf(pod) ?? ""));
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
