/**
 * Simulated nodes and their kubelets: Pods start, become ready, complete if they are not restarted, and disappear when they
 * are deleted. No container runs: only the API objects change, which is all that a controller sees.
 */
import { builtin, type KubeObject } from "../api/mod.ts";
import {
  controller,
  type ControllerDefinition,
  done,
  requeueAfter,
  type Result,
  type Toolbox,
} from "../controller/mod.ts";
import { type Client, isAlreadyExists, isNotFound } from "../client/mod.ts";
import { deletePod, isFinished, isReady, type Pod } from "./_pods.ts";
import { timeText } from "./_values.ts";

/** The label of simulated nodes: Pods on other nodes are left alone. */
const simulatedLabel = "pintle.dev/simulated";

/** How long simulated Pods take to start and to complete, in milliseconds. */
export interface KubeletPace {
  /** From bound to ready. @default 0 */
  readonly startMs?: number;
  /** From ready to completed, for Pods whose restartPolicy is not Always. @default 0 */
  readonly runMs?: number;
}

/** Runs the Pods that are bound to simulated nodes, or to any node. */
export function kubeletController(
  pace: KubeletPace = {},
  { nodes = "simulated" }: { readonly nodes?: "simulated" | "all" } = {},
): ControllerDefinition {
  return controller("kubelet", { maxConcurrentReconciles: 5 })
    .for(builtin.Pod, { when: ({ object }) => object.spec.nodeName !== undefined || isTerminating(object) })
    .watches(builtin.Node, { to: () => [] })
    .reconcileKey(async ({ key }, toolbox) => {
      const pod = toolbox.find(builtin.Pod, key);
      if (pod === undefined) return done;
      if (isTerminating(pod)) return await remove(pod, toolbox);
      if (pod.spec.nodeName === undefined || isFinished(pod)) return done;
      const node = toolbox.find(builtin.Node, pod.spec.nodeName) ?? await liveNode(pod.spec.nodeName, toolbox);
      // The node was deleted, so nothing can run the Pod.
      if (node === undefined) return await remove(pod, toolbox);
      if (nodes === "simulated" && node.metadata.labels?.[simulatedLabel] === undefined) return done;
      return isReady(pod) ? await finish(pod, toolbox, pace.runMs ?? 0) : await start(pod, toolbox, pace.startMs ?? 0);
    });
}

function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

async function liveNode(name: string, toolbox: Toolbox) {
  return await toolbox.client.find(builtin.Node, name, { signal: toolbox.signal });
}

/** Deletes a Pod without a grace period: there is no container to stop. */
async function remove(pod: Pod, toolbox: Toolbox): Promise<Result> {
  await deletePod(toolbox.client, pod, toolbox.signal, 0);
  return done;
}

async function start(pod: Pod, toolbox: Toolbox, startMs: number): Promise<Result> {
  const bound = pod.status?.conditions?.find(({ type }) => type === "PodScheduled")?.lastTransitionTime;
  const since = bound === undefined ? toolbox.clock.now() : Date.parse(`${bound}`);
  const leftMs = since + startMs - toolbox.clock.now();
  if (leftMs > 0) return requeueAfter(leftMs);
  const status = runningStatus(pod, toolbox.clock.now());
  return await report(pod, status, toolbox);
}

/** Completes a Pod that is not restarted, such as a Pod of a Job. */
async function finish(pod: Pod, toolbox: Toolbox, runMs: number): Promise<Result> {
  if ((pod.spec.restartPolicy ?? "Always") === "Always") return done;
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
  const leftMs = Date.parse(`${ready}`) + runMs - toolbox.clock.now();
  if (leftMs > 0) return requeueAfter(leftMs);
  return await report(pod, completedStatus(pod, toolbox.clock.now()), toolbox);
}

async function report(pod: Pod, status: object, toolbox: Toolbox): Promise<Result> {
  try {
    await toolbox.patchStatus(builtin.Pod, pod, status);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return done;
}

type Container = Pod["spec"]["containers"][number];

/** The status of a Pod whose containers all run and are ready. @param now milliseconds since 1970 */
function runningStatus(pod: Pod, now: number) {
  const at = timeText(now);
  const ip = addressOf(pod);
  const hostIP = hostAddressOf(pod.spec.nodeName ?? "");
  return {
    phase: "Running",
    startTime: pod.status?.startTime ?? at,
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP: ip,
    podIPs: [{ ip }],
    conditions: conditionsOf(pod, at, "True"),
    initContainerStatuses: pod.spec.initContainers?.map((container) => statusOf(pod, container, terminated(at))),
    containerStatuses: pod.spec.containers.map((container) =>
      statusOf(pod, container, { ready: true, started: true, state: { running: { startedAt: at } } })
    ),
  };
}

/** The status of a Pod whose containers have completed. @param now milliseconds since 1970 */
function completedStatus(pod: Pod, now: number) {
  const at = timeText(now);
  return {
    phase: "Succeeded",
    conditions: conditionsOf(pod, at, "False", "PodCompleted"),
    containerStatuses: pod.spec.containers.map((container) => statusOf(pod, container, terminated(at))),
  };
}

function terminated(at: string) {
  const state = { exitCode: 0, reason: "Completed", startedAt: at, finishedAt: at };
  return { ready: false, started: false, state: { terminated: state } };
}

function statusOf(pod: Pod, container: Container, rest: object) {
  const { name, image = "" } = container;
  const containerID = `simulated://${pod.metadata.uid}-${name}`;
  return { name, image, imageID: `simulated://${image}`, restartCount: 0, containerID, ...rest };
}

function conditionsOf(pod: Pod, at: string, ready: "True" | "False", reason?: string) {
  const condition = (type: string, status: "True" | "False", why?: string) => {
    const current = pod.status?.conditions?.find((one) => one.type === type);
    const lastTransitionTime = current?.status === status ? current.lastTransitionTime : at;
    return { type, status, lastTransitionTime, ...(why === undefined ? {} : { reason: why }) };
  };
  return [
    condition("PodReadyToStartContainers", ready),
    condition("Initialized", "True", reason),
    condition("Ready", ready, reason),
    condition("ContainersReady", ready, reason),
    condition("PodScheduled", "True"),
  ];
}

/** An address derived from the Pod's UID: always the same, and rarely that of another Pod. */
function addressOf(pod: Pod): string {
  const digits = `${pod.metadata.uid}`.replaceAll("-", "");
  const part = (from: number) => Number.parseInt(digits.slice(from, from + 2), 16) || 1;
  return pod.spec.hostNetwork === true
    ? hostAddressOf(pod.spec.nodeName ?? "")
    : `10.244.${part(0)}.${1 + part(2) % 254}`;
}

function hostAddressOf(node: string): string {
  let sum = 0;
  for (const letter of node) sum = (sum * 31 + letter.charCodeAt(0)) % 254;
  return `192.168.0.${sum + 1}`;
}

/** Options of {@link createNodes}. */
interface NodesOptions {
  /** @default 3 */
  readonly count?: number;
  /** Milliseconds since 1970, the time of the conditions. */
  readonly now: number;
}

const capacity = { cpu: "8", memory: "32Gi", pods: "110", "ephemeral-storage": "100Gi" };

/** Creates `node-1`, `node-2`, and so on. Existing nodes are not changed: users may label, taint and delete them. */
export async function createNodes(client: Client, options: NodesOptions, signal: AbortSignal): Promise<void> {
  for (let number = 1; number <= (options.count ?? 3); number++) {
    await createNode(client, `node-${number}`, options.now, signal);
  }
}

async function createNode(client: Client, name: string, now: number, signal: AbortSignal): Promise<void> {
  const labels = {
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    [simulatedLabel]: "true",
  };
  // A kubelet registers its node with the status, too.
  const status = { capacity, allocatable: capacity, conditions: conditionsAt(now), nodeInfo: nodeInfo(name) };
  const node = { metadata: { name, labels }, spec: {}, status };
  const { spec } = await client.create(builtin.Node, node, { signal }).catch((error: unknown) => {
    if (isAlreadyExists(error)) return client.get(builtin.Node, name, { signal });
    throw error;
  });
  // Admission adds the not-ready taint to every new node; this node is ready. A process that ended may have left it.
  const taints = spec?.taints?.filter(({ key }) => key !== "node.kubernetes.io/not-ready") ?? [];
  if (taints.length === (spec?.taints?.length ?? 0)) return;
  const value = { spec: { taints: taints.length === 0 ? null : taints } };
  await client.patch(builtin.Node, name, { kind: "merge", value }, { signal });
}

function conditionsAt(now: number) {
  const time = timeText(now);
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  });
  return [
    condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
  ];
}

function nodeInfo(name: string) {
  return {
    machineID: name,
    systemUUID: name,
    bootID: name,
    kernelVersion: "simulated",
    osImage: "simulated",
    containerRuntimeVersion: "simulated://1",
    kubeletVersion: "v1.36.3",
    kubeProxyVersion: "",
    operatingSystem: "linux",
    architecture: "amd64",
  };
}
