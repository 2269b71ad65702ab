/** The status of a Deployment: counts and the two conditions that `kubectl rollout status` and `wait` look at. */
import type { Condition } from "../api/mod.ts";
import { type Deployment, limitsOf, type ReplicaSet } from "./_replica_sets.ts";

/** What there is of a Deployment. */
export interface Rollout {
  readonly newest: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

type Said = Pick<Condition, "type" | "status" | "reason" | "message">;

/** The status as it should be; null removes a field. */
export function deploymentStatus(deployment: Deployment, rollout: Rollout) {
  const { newest, old } = rollout;
  const all = [...(newest === undefined ? [] : [newest]), ...old];
  const sum = (count: (set: ReplicaSet) => number | undefined) =>
    all.reduce((total, set) => total + (count(set) ?? 0), 0);
  const replicas = sum((set) => set.status?.replicas);
  const available = sum((set) => set.status?.availableReplicas);
  const wanted = sum((set) => set.spec.replicas ?? 1);
  const updated = newest?.status?.replicas ?? 0;
  const counts = { ...rollout, replicas, updated, available };
  const said = [availability(deployment, available), progress(deployment, counts)];
  const hasMoved = isProgress(deployment, counts);
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: replicas || null,
    updatedReplicas: updated || null,
    readyReplicas: sum((set) => set.status?.readyReplicas) || null,
    availableReplicas: available || null,
    unavailableReplicas: Math.max(0, wanted - available) || null,
    conditions: said.map((condition) => dated(deployment, condition, { now: rollout.now, hasMoved })),
  };
}

/** Milliseconds until a rollout that does not move is late; undefined where nobody waits for one. */
export function msUntilLate(deployment: Deployment, status: ReturnType<typeof deploymentStatus>, now: number) {
  const { progressDeadlineSeconds = 600 } = deployment.spec;
  const progressing = status.conditions.find(({ type }) => type === "Progressing");
  // What is not a number of seconds means without end: a client set it to the largest there is.
  if (progressing?.reason !== "ReplicaSetUpdated" || progressDeadlineSeconds >= 2 ** 31 - 1) return undefined;
  const left = Date.parse(`${progressing.lastUpdateTime}`) + progressDeadlineSeconds * 1000 - now;
  return Math.max(0, left) + 1_000; // times have whole seconds
}

function availability(deployment: Deployment, available: number): Said {
  const least = (deployment.spec.replicas ?? 1) - limitsOf(deployment).unavailable;
  return available >= least
    ? {
      type: "Available",
      status: "True",
      reason: "MinimumReplicasAvailable",
      message: "Deployment has minimum availability.",
    }
    : {
      type: "Available",
      status: "False",
      reason: "MinimumReplicasUnavailable",
      message: "Deployment does not have minimum availability.",
    };
}

/** True when more is new, ready or available than before, or less is old. */
function isProgress({ status }: Deployment, { updated, replicas, available }: Counts): boolean {
  const { updatedReplicas = 0, replicas: held = 0, availableReplicas = 0 } = status ?? {};
  return updated > updatedReplicas || replicas - updated < held - updatedReplicas || available > availableReplicas;
}

interface Counts extends Rollout {
  readonly replicas: number;
  readonly updated: number;
  readonly available: number;
}

function progress(deployment: Deployment, counts: Counts): Said {
  const { replicas: wanted = 1, paused = false } = deployment.spec;
  const said = (status: "True" | "False" | "Unknown", reason: string, message: string): Said => ({
    type: "Progressing",
    status,
    reason,
    message,
  });
  if (paused) return said("Unknown", "DeploymentPaused", "Deployment is paused");
  const name = counts.newest?.metadata.name ?? "";
  const { updated, replicas, available } = counts;
  if (updated === wanted && replicas === wanted && available === wanted) {
    return said("True", "NewReplicaSetAvailable", `ReplicaSet "${name}" has successfully progressed.`);
  }
  if (!isProgress(deployment, counts) && isLate(deployment, counts.now)) {
    return said("False", "ProgressDeadlineExceeded", `ReplicaSet "${name}" has timed out progressing.`);
  }
  return said("True", "ReplicaSetUpdated", `ReplicaSet "${name}" is progressing.`);
}

/** True when nothing has moved for longer than the Deployment allows. */
function isLate(deployment: Deployment, now: number): boolean {
  const held = deployment.status?.conditions?.find(({ type }) => type === "Progressing");
  if (held === undefined || held.reason === "NewReplicaSetAvailable") return false;
  if (held.reason === "ProgressDeadlineExceeded") return true;
  if (deployment.status?.observedGeneration !== deployment.metadata.generation) return false;
  const { progressDeadlineSeconds = 600 } = deployment.spec;
  return now - Date.parse(`${held.lastUpdateTime}`) > progressDeadlineSeconds * 1000;
}

interface Moment {
  readonly now: number;
  /** The rollout is further than when it was last looked at: that is news although the words are the same. */
  readonly hasMoved: boolean;
}

function dated(deployment: Deployment, said: Said, { now: nowMs, hasMoved }: Moment) {
  const now = new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  const held = deployment.status?.conditions?.find(({ type }) => type === said.type);
  if (held === undefined) return { ...said, lastUpdateTime: now, lastTransitionTime: now };
  const isNews = hasMoved && said.reason === "ReplicaSetUpdated";
  const isSame = !isNews && held.status === said.status && held.reason === said.reason && held.message === said.message;
  return {
    ...said,
    lastUpdateTime: isSame ? held.lastUpdateTime : now,
    lastTransitionTime: held.status === said.status ? held.lastTransitionTime : now,
  };
}
