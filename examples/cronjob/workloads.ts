/** The sample of a CronJob, and what users do with one in `simulate`. A run of simulate begins at midnight UTC. */
import type { Workload, WorkloadStep } from "../../src/mod.ts";

const hourMs = 3_600_000;

const jobTemplate = {
  spec: {
    template: {
      spec: {
        restartPolicy: "OnFailure" as const,
        containers: [{ name: "report", image: "busybox:1.37", command: ["date"] }],
      },
    },
  },
};

/** Runs at 01:10 and at 03:10. */
export const sample = {
  apiVersion: "batch.example.dev/v1",
  kind: "CronJob",
  metadata: { name: "report", namespace: "default" },
  spec: { schedule: "10 1,3 * * *", jobTemplate },
};

const name = { apiVersion: sample.apiVersion, kind: sample.kind, name: "report" };
const create: WorkloadStep = { kind: "create", object: sample };
const patch = (spec: Readonly<Record<string, unknown>>): WorkloadStep => ({
  kind: "patch",
  object: name,
  patch: { spec },
});
/** More than an hour after each run, because `simulate` sets clocks back by an hour. */
const afterFirstRun: WorkloadStep = { kind: "advance", toMs: 2.3 * hourMs };
const afterSecondRun: WorkloadStep = { kind: "advance", toMs: 4.3 * hourMs };

export const workloads: readonly Workload[] = [
  { name: "two runs", steps: [create, afterFirstRun, afterSecondRun] },
  { name: "keep one", steps: [create, patch({ successfulJobsHistoryLimit: 1 }), afterFirstRun, afterSecondRun] },
  { name: "suspend", steps: [create, patch({ suspend: true }), afterFirstRun] },
  { name: "replace", steps: [create, patch({ concurrencyPolicy: "Replace" }), afterFirstRun, afterSecondRun] },
  { name: "run and delete", steps: [create, afterFirstRun, { kind: "delete", object: name }] },
  { name: "an invalid schedule", steps: [create, patch({ schedule: "61 * * * *" })] },
];
