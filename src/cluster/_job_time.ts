/** When a Job's next Pod may come, and when its time is up. */
import type { builtin, Infer } from "../api/mod.ts";
import type { Pod } from "./_pods.ts";

type Job = Infer<typeof builtin.Job>;

/** 10 s, doubled with each failure up to 10 min, as kube-controller-manager's job_controller.go. */
const [firstBackoffMs, longestBackoffMs] = [10_000, 600_000];

/** Milliseconds until a Pod may follow those that have failed since the last success; 0: now. */
export function backoffMs(pods: readonly Pod[], now: number): number {
  const ended = (phase: string) => pods.filter((pod) => pod.status?.phase === phase).map(finishedAt);
  const lastSuccess = Math.max(0, ...ended("Succeeded"));
  const failures = ended("Failed").filter((at) => at > lastSuccess);
  if (failures.length === 0) return 0;
  const waitMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (failures.length - 1));
  return Math.max(0, Math.max(...failures) + waitMs - now);
}

/** Milliseconds until the Job has been active for as long as it may; Infinity where it may for ever. */
export function deadlineInMs({ spec, status }: Job, now: number): number {
  const { activeDeadlineSeconds, suspend = false } = spec;
  if (activeDeadlineSeconds === undefined || suspend || status?.startTime === undefined) return Infinity;
  return Date.parse(`${status.startTime}`) + activeDeadlineSeconds * 1000 - now;
}

function finishedAt({ status, metadata }: Pod): number {
  const ends = (status?.containerStatuses ?? []).flatMap(({ state }) => state?.terminated?.finishedAt ?? []);
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
  const times = ends.length > 0 ? ends : [ready ?? metadata.creationTimestamp];
  return Math.max(...times.map((time) => Date.parse(`${time}`)));
}
