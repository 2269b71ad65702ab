/**
 * readyStatus(): the status that a healthy cluster soon gives an object: workloads with all their Pods, a running Pod, a
 * completed Job, a bound claim.
 *
 * Guarantees: a status that says more than nothing is left alone where a user may have written it: a Pod that failed stays so.
 */
import type { KubeObject } from "../api/mod.ts";

interface WithStatus extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly completions?: number;
    readonly suspend?: boolean;
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

/** The status fields that count Pods, by kind. */
const countFields: ReadonlyMap<string, readonly string[]> = new Map([
  ["Deployment", ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"]],
  ["StatefulSet", ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "currentReplicas"]],
  ["ReplicaSet", ["replicas", "readyReplicas", "availableReplicas"]],
  ["DaemonSet", [
    "currentNumberScheduled",
    "desiredNumberScheduled",
    "numberReady",
    "numberAvailable",
    "updatedNumberScheduled",
  ]],
]);

/** The Pods of a DaemonSet, as on a cluster with one node. */
const daemonPods = 1;

/** The status to write; undefined when the object has it, or has none. @param now wall time in milliseconds */
export function readyStatus(object: WithStatus, now: number): object | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return undefined;
  switch (object.apiVersion) {
    case "apps/v1":
      return workloadStatus(object);
    case "batch/v1":
      return object.kind === "Job" ? jobStatus(object, now) : undefined;
    case "v1":
      if (object.kind === "Pod") return podStatus(object, now);
      return object.kind === "PersistentVolumeClaim" ? claimStatus(object) : undefined;
    default:
      return undefined;
  }
}

function workloadStatus(object: WithStatus): object | undefined {
  const fields = countFields.get(object.kind);
  if (fields === undefined) return undefined;
  const replicas = object.kind === "DaemonSet" ? daemonPods : object.spec?.replicas ?? 1;
  const generation = object.metadata.generation ?? 0;
  const status = object.status ?? {};
  const valueOf = (name: string) => Object.hasOwn(status, name) ? status[name] : 0;
  const isCurrent = valueOf("observedGeneration") === generation && fields.every((name) => valueOf(name) === replicas);
  if (isCurrent) return undefined;
  const counts = [["observedGeneration", generation], ...fields.map((name) => [name, replicas])];
  return Object.fromEntries(object.kind === "DaemonSet" ? [...counts, ["numberMisscheduled", 0]] : counts);
}

function podStatus({ spec, status = {} }: WithStatus, now: number): object | undefined {
  const { phase = "Pending", conditions = [] } = status;
  if (phase !== "Pending" || !Array.isArray(conditions) || conditions.length > 0) return undefined;
  const at = timeOf(now);
  return {
    phase: "Running",
    startTime: at,
    conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => {
      return { type, status: "True", lastTransitionTime: at };
    }),
    containerStatuses: spec?.containers?.map(({ name, image = "" }) => {
      const state = { running: { startedAt: at } };
      return { name, image, imageID: image, ready: true, started: true, restartCount: 0, state };
    }),
  };
}

function jobStatus({ spec, status = {} }: WithStatus, now: number): object | undefined {
  const { conditions = [], startTime } = status;
  if (spec?.suspend === true || (Array.isArray(conditions) && conditions.length > 0)) return undefined;
  const at = timeOf(now);
  if (startTime === undefined) return { startTime: at };
  return {
    completionTime: at,
    succeeded: spec?.completions ?? 1,
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
    conditions: ["SuccessCriteriaMet", "Complete"].map((type) => {
      return { type, status: "True", lastProbeTime: at, lastTransitionTime: at, reason: "CompletionsReached" };
    }),
  };
}

function claimStatus({ spec, status = {} }: WithStatus): object | undefined {
  if (status["phase"] !== undefined && status["phase"] !== "Pending") return undefined;
  return { phase: "Bound", accessModes: spec?.accessModes, capacity: spec?.resources?.requests };
}

function timeOf(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace(".000Z", "Z");
}
