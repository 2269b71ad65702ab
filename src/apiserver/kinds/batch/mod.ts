/** The kinds of the group batch. */
import type { KindGroup } from "../rules/mod.ts";
import { cronJobDefaults, cronJobRow, cronJobRules } from "./cron_jobs.ts";
import { jobDefaults, jobRow, jobRules } from "./jobs.ts";

/** The kinds of the group batch. */
export const batchKinds: KindGroup = {
  rules: {
    "Job.batch": jobRules,
    "CronJob.batch": cronJobRules,
  },
  defaults: { ...jobDefaults, ...cronJobDefaults },
  rows: {
    "jobs.batch": jobRow,
    "cronjobs.batch": cronJobRow,
  },
};
