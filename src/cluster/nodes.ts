/** The simulated nodes: made once at the start; from then on anybody's to label, taint, cordon and delete. */
import { builtin } from "../api/mod.ts";
import { type Client, isAlreadyExists } from "../client/mod.ts";

/** The label of nodes whose Pods are simulated. */
export const simulatedLabel = "pintle.dev/simulated";

/** Which nodes to make. */
export interface NodesOptions {
  /** @default 3 */
  readonly count?: number;
  /** Milliseconds since 1970, for the time of their conditions. */
  readonly now: number;
}

const capacity = { cpu: "8", memory: "32Gi", pods: "110", "ephemeral-storage": "100Gi" };

/** Creates `node-1`, `node-2`, ... as far as they are not there. */
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
  try {
    await client.create(builtin.Node, { metadata: { name, labels }, spec: {} }, { signal });
  } catch (error) {
    if (isAlreadyExists(error)) return;
    throw error;
  }
  const status = { capacity, allocatable: capacity, conditions: conditionsAt(now), nodeInfo: nodeInfo(name) };
  await client.patch(builtin.Node, name, { kind: "merge", value: { status } }, { subresource: "status", signal });
  // Admission gives every new node the taint of one that is not ready; this one is.
  await client.patch(builtin.Node, name, { kind: "merge", value: { spec: { taints: null } } }, { signal });
}

function conditionsAt(now: number) {
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  const said = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  });
  return [
    said("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    said("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    said("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    said("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
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
