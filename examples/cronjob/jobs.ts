/** The Jobs of a CronJob: pure functions that sort them, choose those to delete, and make the next one. */
import { isConditionTrue, Job, manifest } from "../../src/mod.ts";
import type { CronJob } from "./cronjob.ts";

/** When the run was due, in ISO 8601, on each Job. */
const scheduledAtAnnotation = "batch.example.dev/scheduled-at";

/** Jobs by their state, each list from the oldest to the newest. */
export interface SortedJobs {
  readonly active: readonly Job[];
  readonly successful: readonly Job[];
  readonly failed: readonly Job[];
}

/** Sorts Jobs by their state and their time. */
export function sortJobs(jobs: readonly Job[]): SortedJobs {
  const sorted = jobs.toSorted((left, right) => scheduledAt(left) - scheduledAt(right));
  const has = (job: Job, type: string) => isConditionTrue(job.status?.conditions, type);
  return {
    active: sorted.filter((job) => !has(job, "Complete") && !has(job, "Failed")),
    successful: sorted.filter((job) => has(job, "Complete")),
    failed: sorted.filter((job) => has(job, "Failed")),
  };
}

/** The finished Jobs beyond the limits of the CronJob. */
export function outdatedJobs({ spec }: CronJob, { successful, failed }: SortedJobs): readonly Job[] {
  return [
    ...successful.slice(0, Math.max(0, successful.length - spec.successfulJobsHistoryLimit)),
    ...failed.slice(0, Math.max(0, failed.length - spec.failedJobsHistoryLimit)),
  ];
}

/** When the run of a Job was due, in milliseconds since the epoch. */
export function scheduledAt({ metadata }: Job): number {
  return Date.parse(metadata.annotations?.[scheduledAtAnnotation] ?? metadata.creationTimestamp ?? "") || 0;
}

/** The Job of a run. Its name says when the run was due, so that one run never has two Jobs. */
export function desiredJob({ metadata, spec }: CronJob, dueAt: number) {
  const { metadata: template, spec: jobSpec } = spec.jobTemplate;
  return manifest(Job, {
    metadata: {
      name: `${metadata.name}-${Math.floor(dueAt / 60_000)}`,
      namespace: metadata.namespace,
      labels: template?.labels,
      annotations: { ...template?.annotations, [scheduledAtAnnotation]: new Date(dueAt).toISOString() },
    },
    spec: jobSpec,
  });
}
