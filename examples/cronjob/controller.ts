/** cronjob: starts the Jobs of CronJobs when they are due, and deletes finished ones beyond the limits of their history. */
import {
  controller,
  controllerOf,
  done,
  Job,
  type MetricsRegistry,
  type OperatorController,
  type ReconcileContext,
  requeueAfter,
  withSamples,
  withWebhooks,
  withWorkloads,
} from "../../src/mod.ts";
import { cronJobConversion } from "./conversion.ts";
import { CronJob } from "./cronjob.ts";
import { desiredJob, outdatedJobs, scheduledAt, type SortedJobs, sortJobs } from "./jobs.ts";
import { type Due, dueRuns } from "./schedule.ts";
import { cronJobDefaults, cronJobValidation } from "./webhooks.ts";
import { sample, workloads } from "./workloads.ts";

type Context = ReconcileContext<typeof CronJob, typeof CronJob | typeof Job>;

/** What became of a run that was due. */
type RunResult = "started" | "missed" | "forbidden";

/** Creates the controller. @param metrics Gets `cronjob_runs_total` by result. */
export function cronJobController(metrics: MetricsRegistry): OperatorController {
  const runs = metrics.counter({
    name: "cronjob_runs_total",
    help: "Runs that were due, by what became of them: started, missed, forbidden.",
    labelNames: ["result"],
  });
  const definition = controller("cronjob")
    .for(CronJob)
    .owns(Job, { deletes: true, indices: { owner: (job) => [controllerOf(job)?.uid ?? ""] } })
    .reconcile((ctx) => reconcile(ctx, (result) => runs.labels({ result }).inc()));
  const webhooks = [cronJobConversion, cronJobDefaults, cronJobValidation];
  return withWorkloads(withSamples(withWebhooks(definition, webhooks), [sample]), workloads);
}

async function reconcile(ctx: Context, count: (result: RunResult) => void) {
  const { metadata, spec, status } = ctx.object;
  const jobs = sortJobs(ctx.list(Job, { index: { name: "owner", value: metadata.uid ?? "" } }));
  for (const job of outdatedJobs(ctx.object, jobs)) await ctx.delete(Job, job);

  const now = ctx.clock.now();
  const started = [...jobs.active, ...jobs.successful, ...jobs.failed].map(scheduledAt);
  const previous = Math.max(
    Date.parse(metadata.creationTimestamp ?? ""),
    Date.parse(status?.lastScheduleTime ?? "") || 0,
    ...started,
  );
  const due: Due = spec.suspend ? {} : dueRuns(spec.schedule, previous, now);
  const active = due.last === undefined ? jobs.active : await run(ctx, { jobs, dueAt: due.last, count });
  const lastScheduleTime = due.last ?? (started.length > 0 ? Math.max(...started) : undefined);
  await ctx.patchStatus({
    active: active.flatMap((job) => job.metadata.name ?? []),
    ...(lastScheduleTime === undefined
      ? {}
      : { lastScheduleTime: laterOf(status?.lastScheduleTime, lastScheduleTime) }),
  });
  return due.next === undefined ? done : requeueAfter(due.next - now);
}

interface Run {
  readonly jobs: SortedJobs;
  readonly dueAt: number;
  readonly count: (result: RunResult) => void;
}

/** Starts the Job of a run, unless the CronJob says otherwise. @returns The Jobs that are active then */
async function run(ctx: Context, { jobs: { active }, dueAt, count }: Run): Promise<SortedJobs["active"]> {
  const { startingDeadlineSeconds = Infinity, concurrencyPolicy } = ctx.object.spec;
  const lateMs = ctx.clock.now() - dueAt;
  if (lateMs > startingDeadlineSeconds * 1_000) {
    ctx.event("Warning", "MissedSchedule", `the run of ${new Date(dueAt).toISOString()} could not start in time`);
    count("missed");
    return active;
  }
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    ctx.event("Normal", "JobAlreadyActive", `the run of ${new Date(dueAt).toISOString()} is skipped`);
    count("forbidden");
    return active;
  }
  if (concurrencyPolicy === "Replace") {
    for (const job of active) await ctx.delete(Job, job);
  }
  const job = await ctx.apply(desiredJob(ctx.object, dueAt));
  count("started");
  return concurrencyPolicy === "Replace" ? [job] : [...active, job];
}

/** The later time in ISO 8601: an old cache must not set the status back. */
function laterOf(current: string | undefined, at: number): string {
  return new Date(Math.max(Date.parse(current ?? "") || 0, at)).toISOString();
}
