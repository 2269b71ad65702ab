/**
 * CronJob: runs a Job by a schedule, as kubebuilder's tutorial does. v1 has the schedule as one expression, v2 has its five
 * fields. v1 is the hub: objects are stored in it, and the controller works with it.
 */
import { schemas } from "../../src/kinds.ts";
import { defineResource, type Infer, z } from "../../src/mod.ts";

const names = {
  group: "batch.example.dev",
  kind: "CronJob",
  scope: "Namespaced",
  shortNames: ["xcj"],
  description: "A CronJob runs a Job by a schedule.",
} as const;

/** The CronJob's name is a part of the names of its Jobs, and those of their Pods. */
const nameRule = {
  rule: "self.metadata.name.size() <= 52",
  message: "must have at most 52 characters, because the names of Jobs are derived from it",
};

const common = {
  startingDeadlineSeconds: z.int32().min(1).optional().describe(
    "A run that could not start for so long is skipped. Without it, the newest missed run always starts.",
  ),
  concurrencyPolicy: z.enum(["Allow", "Forbid", "Replace"]).default("Allow").describe(
    "What happens when a run is due and the previous one is still active: both run, it is skipped, or it replaces it.",
  ),
  suspend: z.boolean().default(false).describe("No further runs start. Active ones are not ended."),
  jobTemplate: schemas.jobTemplateSpec.describe("The metadata and the spec of the Jobs."),
  successfulJobsHistoryLimit: z.int32().min(0).max(100).default(3).describe("How many successful Jobs are kept."),
  failedJobsHistoryLimit: z.int32().min(0).max(100).default(1).describe("How many failed Jobs are kept."),
};

const status = z.object({
  active: z.array(z.string().max(63)).default([]).describe("The names of the active Jobs."),
  lastScheduleTime: z.iso.datetime().optional().describe("The newest run that started or was skipped."),
});

const columns = [
  { name: "Suspend", jsonPath: ".spec.suspend" },
  { name: "Last schedule", jsonPath: ".status.lastScheduleTime" },
  { name: "Age", jsonPath: ".metadata.creationTimestamp" },
] as const;

const field = z.string().regex(/^[0-9A-Za-z*\/,?#-]{1,64}$/).default("*");
const specV2 = z.object({
  schedule: z.object({ minute: field, hour: field, dayOfMonth: field, month: field, dayOfWeek: field }),
  ...common,
});
const v2 = { spec: specV2, status, validations: [nameRule], printerColumns: columns };

export const CronJob = defineResource({
  ...names,
  version: "v1",
  spec: z.object({
    schedule: z.string().max(330).regex(
      /^(@(yearly|monthly|weekly|daily|hourly)|[0-9A-Za-z*\/,?#-]{1,64}( [0-9A-Za-z*\/,?#-]{1,64}){4})$/,
    ).describe("Five fields in UTC (minute, hour, day, month, day of the week), or a name such as @daily."),
    ...common,
  }),
  status,
  validations: [nameRule],
  printerColumns: [{ name: "Schedule", jsonPath: ".spec.schedule" }, ...columns],
});
export type CronJob = Infer<typeof CronJob>;

export const CronJobV2 = defineResource({ ...names, version: "v2", ...v2 });
export type CronJobV2 = Infer<typeof CronJobV2>;
