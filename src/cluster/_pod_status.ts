/** What a kubelet says of a Pod: running and ready, or ended. */
import type { Pod } from "./_pods.ts";

type Container = Pod["spec"]["containers"][number];

/** The status of a Pod whose containers all run and are ready. @param now milliseconds since 1970 */
export function runningStatus(pod: Pod, now: number) {
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
    initContainerStatuses: pod.spec.initContainers?.map((container) => statusOf(pod, container, ended(at))),
    containerStatuses: pod.spec.containers.map((container) =>
      statusOf(pod, container, { ready: true, started: true, state: { running: { startedAt: at } } })
    ),
  };
}

/** The status of a Pod whose containers have done their work. @param now milliseconds since 1970 */
export function endedStatus(pod: Pod, now: number) {
  const at = timeText(now);
  return {
    phase: "Succeeded",
    conditions: conditionsOf(pod, at, "False", "PodCompleted"),
    containerStatuses: pod.spec.containers.map((container) => statusOf(pod, container, ended(at))),
  };
}

function ended(at: string) {
  const terminated = { exitCode: 0, reason: "Completed", startedAt: at, finishedAt: at };
  return { ready: false, started: false, state: { terminated } };
}

function statusOf(pod: Pod, container: Container, rest: object) {
  const { name, image = "" } = container;
  const containerID = `simulated://${pod.metadata.uid}-${name}`;
  return { name, image, imageID: `simulated://${image}`, restartCount: 0, containerID, ...rest };
}

function conditionsOf(pod: Pod, at: string, ready: "True" | "False", reason?: string) {
  const said = (type: string, status: "True" | "False", why?: string) => {
    const held = pod.status?.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime = held?.status === status ? held.lastTransitionTime : at;
    return { type, status, lastTransitionTime, ...(why === undefined ? {} : { reason: why }) };
  };
  return [
    said("PodReadyToStartContainers", ready),
    said("Initialized", "True", reason),
    said("Ready", ready, reason),
    said("ContainersReady", ready, reason),
    said("PodScheduled", "True"),
  ];
}

/** An address made of the Pod's UID: the same each time, and different from most others. */
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

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
