/**
 * The scheduler: binds each Pod to the eligible node that has the fewest Pods. It checks readiness, cordons, taints, node
 * selectors, node affinity, the volumes of the Pod's claims, and allocates devices for its ResourceClaims. It does not count
 * other resources.
 */
import { builtin, type Infer, keyOf } from "../api/mod.ts";
import { controller, type ControllerDefinition, done, type ReconcileContext, type Result } from "../controller/mod.ts";
import { matchesAnyTerm } from "./_node_selector.ts";
import { isFinished, type Pod } from "./_pods.ts";
import { timeText } from "./_values.ts";
import { type DeviceSources, podDevices } from "./pod_devices.ts";
import { podVolumes, type VolumeCaches } from "./pod_volumes.ts";

type Node = Infer<typeof builtin.Node>;
type Context = ReconcileContext<
  typeof builtin.Pod,
  | typeof builtin.Pod
  | typeof builtin.Node
  | typeof builtin.PersistentVolumeClaim
  | typeof builtin.PersistentVolume
  | typeof builtin.StorageClass
  | typeof builtin.ResourceClaim
  | typeof builtin.ResourceSlice
  | typeof builtin.DeviceClass
>;

/** Pods by the name of their node. */
const nodeIndex = "node";

/** Options of {@link schedulerController}. */
export interface SchedulerOptions {
  /** "assumed": Pods do not wait for their claims. @default "simulated" */
  readonly volumes?: "simulated" | "assumed";
}

/** Schedules Pods. A change of a node, a volume or a device requeues the Pods that no node was eligible for. */
export function schedulerController({ volumes = "simulated" }: SchedulerOptions = {}): ControllerDefinition {
  const waiting = new Set<string>();
  const requeued = { to: () => [...waiting] };
  return controller("default-scheduler", { queueName: "scheduler" })
    .for(builtin.Pod, {
      when: ({ object }) => object.spec.nodeName === undefined,
      indices: { [nodeIndex]: ({ spec: { nodeName } }) => nodeName === undefined ? [] : [nodeName] },
    })
    .watches(builtin.Node, requeued)
    .watches(builtin.PersistentVolumeClaim, requeued)
    .watches(builtin.PersistentVolume, requeued)
    .watches(builtin.StorageClass, requeued)
    .watches(builtin.ResourceClaim, requeued)
    .watches(builtin.ResourceSlice, requeued)
    .watches(builtin.DeviceClass, requeued)
    .reconcile(async (ctx) => {
      const key = keyOf(ctx.object);
      waiting.delete(key);
      const { nodeName, schedulerName = "default-scheduler", schedulingGates = [] } = ctx.object.spec;
      const isResponsible = nodeName === undefined && schedulerName === "default-scheduler" &&
        schedulingGates.length === 0;
      if (!isResponsible || isFinished(ctx.object)) return done;
      const nodes = ctx.list(builtin.Node);
      const mounts = podVolumes(ctx.object, volumes === "assumed" ? undefined : volumeCaches(ctx));
      const devices = await podDevices(ctx.object, deviceSources(ctx));
      const problem = mounts.problem ?? devices.problem;
      const reasons = nodes.map((node) =>
        problem === undefined
          ? unschedulableReason(node, ctx.object) ?? mounts.reasonAgainst(node) ?? devices.reasonAgainst(node)
          : ""
      );
      const node = leastUsed(nodes.filter((_, index) => reasons[index] === undefined), ctx);
      // Devices last: what they write is undone only when the Pod ends.
      const isPrepared = node !== undefined && await mounts.prepare(node, ctx) && await devices.prepare(node, ctx);
      if (isPrepared) return await bind(ctx, node);
      waiting.add(key);
      // With a node, the Pod is scheduled when its volumes are bound.
      return node === undefined ? await reportUnschedulable(ctx, reasons, problem) : done;
    });
}

function volumeCaches(ctx: Context): VolumeCaches {
  return {
    claim: (key) => ctx.find(builtin.PersistentVolumeClaim, key),
    volume: (name) => ctx.find(builtin.PersistentVolume, name),
    volumes: () => ctx.list(builtin.PersistentVolume),
    storageClass: (name) => ctx.find(builtin.StorageClass, name),
  };
}

function deviceSources(ctx: Context): DeviceSources {
  return {
    client: ctx.client,
    signal: ctx.signal,
    now: () => ctx.clock.now(),
    slices: () => ctx.list(builtin.ResourceSlice),
    deviceClass: (name) => ctx.find(builtin.DeviceClass, name),
  };
}

function leastUsed(nodes: readonly Node[], ctx: Context): Node | undefined {
  const counts = new Map(nodes.map((node) => {
    const name = node.metadata.name ?? "";
    return [name, ctx.list(builtin.Pod, { index: { name: nodeIndex, value: name } }).length];
  }));
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

/** @param problem why the Pod fits no node, whatever the nodes are */
async function reportUnschedulable(
  ctx: Context,
  reasons: readonly (string | undefined)[],
  problem?: string,
): Promise<Result> {
  const counts = new Map<string, number>();
  for (const reason of reasons) if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const summary = [...counts].map(([reason, count]) => `${count} ${reason}`).toSorted().join(", ");
  const message = reasons.length === 0
    ? "no nodes available to schedule pods"
    : `0/${reasons.length} nodes are available: ${problem ?? summary}.`;
  const current = ctx.object.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (current?.message !== message) {
    ctx.event("Warning", "FailedScheduling", message);
    const others = (ctx.object.status?.conditions ?? []).filter(({ type }) => type !== "PodScheduled");
    const lastTransitionTime = timeText(ctx.clock.now());
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message, lastTransitionTime };
    await ctx.patchStatus({ conditions: [...others, condition] });
  }
  return done;
}

type Taint = NonNullable<Node["spec"]["taints"]>[number];

/** Why a Pod cannot run on a node, in the text of kube-scheduler; undefined when the node is eligible. */
export function unschedulableReason(node: Node, pod: Pod): string | undefined {
  const taint = node.spec.taints?.find((one) => one.effect !== "PreferNoSchedule" && !isTolerated(one, pod));
  if (node.spec.unschedulable === true && !isTolerated(cordon, pod)) return "node(s) were unschedulable";
  if (taint !== undefined) return `node(s) had untolerated taint(s) {${taint.key}: ${taint.value ?? ""}}`;
  if (!isReadyNode(node)) return "node(s) were not ready";
  return matchesNode(node, pod) ? undefined : "node(s) didn't match Pod's node affinity/selector";
}

const cordon: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** True for a node with the condition Ready. */
function isReadyNode(node: Node): boolean {
  return node.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
}

function isTolerated(taint: Taint, pod: Pod): boolean {
  return (pod.spec.tolerations ?? []).some(({ key = "", operator = "Equal", value = "", effect = "" }) =>
    (effect === "" || effect === taint.effect) &&
    (key === "" ? operator === "Exists" : key === taint.key && (operator === "Exists" || value === (taint.value ?? "")))
  );
}

function matchesNode(node: Node, pod: Pod): boolean {
  const labels = new Map(Object.entries(node.metadata.labels ?? {}));
  const selected = Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labels.get(key) === value);
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return selected && (terms === undefined || matchesAnyTerm(terms, node));
}
