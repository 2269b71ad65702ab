/** The scheduler: gives each Pod the node that has the fewest, among those that take it. */
import { builtin, type Infer, keyOf } from "../api/mod.ts";
import { controller, type ControllerDefinition, done, type ReconcileContext, type Result } from "../controller/mod.ts";
import { isFinished, type Pod } from "./_pods.ts";
import { refusalOf } from "./_node_fit.ts";

type Node = Infer<typeof builtin.Node>;
type Context = ReconcileContext<typeof builtin.Pod, typeof builtin.Pod | typeof builtin.Node>;

/** A change of a node wakes the Pods that fitted nowhere. */
export function schedulerController(): ControllerDefinition {
  const waiting = new Set<string>();
  return controller("default-scheduler", { queueName: "scheduler" })
    .for(builtin.Pod, { when: ({ object }) => object.spec.nodeName === undefined })
    .watches(builtin.Node, { to: () => [...waiting] })
    .reconcile(async (ctx) => {
      const key = keyOf(ctx.object);
      waiting.delete(key);
      const { nodeName, schedulerName = "default-scheduler", schedulingGates = [] } = ctx.object.spec;
      const isOurs = nodeName === undefined && schedulerName === "default-scheduler" && schedulingGates.length === 0;
      if (!isOurs || isFinished(ctx.object)) return done;
      const nodes = ctx.list(builtin.Node);
      const refusals = nodes.map((node) => refusalOf(node, ctx.object));
      const node = leastUsed(nodes.filter((_, index) => refusals[index] === undefined), ctx.list(builtin.Pod));
      if (node !== undefined) return await bind(ctx, node);
      waiting.add(key);
      return await tellNowhere(ctx, refusals);
    });
}

function leastUsed(nodes: readonly Node[], pods: readonly Pod[]): Node | undefined {
  const counts = new Map<string, number>();
  for (const { spec: { nodeName } } of pods) {
    if (nodeName !== undefined) counts.set(nodeName, (counts.get(nodeName) ?? 0) + 1);
  }
  const used = (node: Node) => counts.get(node.metadata.name ?? "") ?? 0;
  return nodes.toSorted((left, right) =>
    used(left) - used(right) || `${left.metadata.name}`.localeCompare(`${right.metadata.name}`)
  )[0];
}

async function bind(ctx: Context, node: Node): Promise<Result> {
  const { name, namespace, uid } = ctx.object.metadata;
  const target = { apiVersion: "v1", kind: "Node", name: node.metadata.name };
  const body = JSON.stringify({ apiVersion: "v1", kind: "Binding", metadata: { name, namespace, uid }, target });
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/binding`;
  await ctx.client.raw(path, { method: "POST", body, signal: ctx.signal });
  ctx.event("Normal", "Scheduled", `Successfully assigned ${namespace}/${name} to ${node.metadata.name}`);
  return done;
}

async function tellNowhere(ctx: Context, refusals: readonly (string | undefined)[]): Promise<Result> {
  const counts = new Map<string, number>();
  for (const refusal of refusals) if (refusal !== undefined) counts.set(refusal, (counts.get(refusal) ?? 0) + 1);
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).toSorted().join(", ");
  const message = refusals.length === 0
    ? "no nodes available to schedule pods"
    : `0/${refusals.length} nodes are available: ${reasons}.`;
  const held = ctx.object.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (held?.message !== message) {
    ctx.event("Warning", "FailedScheduling", message);
    const others = (ctx.object.status?.conditions ?? []).filter(({ type }) => type !== "PodScheduled");
    const lastTransitionTime = new Date(ctx.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message, lastTransitionTime };
    await ctx.patchStatus({ conditions: [...others, condition] });
  }
  return done;
}
