/**
 * The webhooks of CronJobs. Defaults and rules about single fields are in the schema; these are what a schema cannot say: a
 * default that depends on another field, and whether a cron expression has a meaning.
 */
import { allow, defaulting, deny, validating } from "../../src/webhook.ts";
import { CronJob } from "./cronjob.ts";
import { scheduleProblem } from "./schedule.ts";

/** Without a deadline, a run that replaces the active one could start hours late and end a newer one. */
const replaceDeadlineSeconds = 300;

export const cronJobDefaults = defaulting(CronJob, (cronJob) => {
  const { concurrencyPolicy, startingDeadlineSeconds } = cronJob.spec;
  if (concurrencyPolicy !== "Replace" || startingDeadlineSeconds !== undefined) return cronJob;
  return { ...cronJob, spec: { ...cronJob.spec, startingDeadlineSeconds: replaceDeadlineSeconds } };
});

export const cronJobValidation = validating(CronJob, {
  create: ({ spec }) => checkSchedule(spec.schedule),
  update: ({ spec }) => checkSchedule(spec.schedule),
});

function checkSchedule(schedule: string) {
  const problem = scheduleProblem(schedule);
  if (problem === undefined) return allow();
  return deny(`spec.schedule is invalid: ${problem}`, { causes: [{ field: "spec.schedule", message: problem }] });
}
