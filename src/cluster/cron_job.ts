/**
 * The CronJob controller: creates a Job at each time of the schedule, and deletes the oldest finished ones.
 *
 * Guarantees: a time gives one Job at most, because its name has the minute. As in Kubernetes, only the most recent of the
 * times that were missed gives one, and a changed schedule starts nothing for times before the change.
 */
import { builtin, controllerOf, controllerReference, type Infer, isControlledBy, keyOf } from "../api/mod.ts";
import { CronSchedule, ScheduleError, timeZoneError, zonedTimeText } from "../async/mod.ts";
import { isAlreadyExists, isNotFound } from "../client/mod.ts";
import {
  controller,
  type ControllerDefinition,
  done,
  type ReconcileContext,
  requeueAfter,
  type Result,
} from "../controller/mod.ts";
import { isNamespaceTerminating } from "./_pods.ts";
import { messageOf, timeText } from "./_values.ts";
import { endOf } from "./job.ts";

type CronJob = Infer<typeof builtin.CronJob>;
type Job = Infer<typeof builtin.Job>;
type Context = ReconcileContext<typeof builtin.CronJob, typeof builtin.CronJob | typeof builtin.Job>;
type Reference = NonNullable<NonNullable<CronJob["status"]>["active"]>[number];

const scheduledAt = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/** Milliseconds after its time at which a Job is created, as cronjob_controllerv2.go's nextScheduleDelta. */
const delayMs = 100;

/** Missed times above which an Event says that there are too many. */
const maxMissed = 100;

/** Runs CronJobs. */
export function cronJobController(): ControllerDefinition {
  const schedules = new Map<string, string>();
  return controller("cronjob-controller", { maxConcurrentReconciles: 5 })
    .for(builtin.CronJob)
    .owns(builtin.Job)
    .reconcile(async (ctx) => {
      const key = keyOf(ctx.object);
      // The active Jobs in the status decide what is started, so they must not come from a stale cache.
      const cron = await ctx.client.find(builtin.CronJob, key, { signal: ctx.signal });
      if (cron === undefined || cron.metadata.deletionTimestamp !== undefined) return done;
      const schedule = JSON.stringify([cron.metadata.uid, cron.spec.schedule, cron.spec.timeZone]);
      const isNew = schedules.get(key)?.startsWith(`["${cron.metadata.uid}"`) !== true;
      const isChanged = !isNew && schedules.get(key) !== schedule;
      schedules.set(key, schedule);
      return await new CronRun(ctx, cron).reconcile(isChanged);
    });
}

/** One attempt to reconcile a CronJob. Its status is written once. */
class CronRun {
  readonly #ctx: Context;
  readonly #cron: CronJob;
  readonly #now: number;
  #active: readonly Reference[];
  #lastScheduleTime: string | undefined;
  #lastSuccessfulTime: string | undefined;

  constructor(ctx: Context, cron: CronJob) {
    this.#ctx = ctx;
    this.#cron = cron;
    this.#now = ctx.clock.now();
    const { active = [], lastScheduleTime, lastSuccessfulTime } = cron.status ?? {};
    this.#active = active;
    this.#lastScheduleTime = lastScheduleTime;
    this.#lastSuccessfulTime = lastSuccessfulTime;
  }

  async reconcile(isChanged: boolean): Promise<Result> {
    const { namespace, name } = this.#cron.metadata;
    const { items } = await this.#ctx.client.list(builtin.Job, { namespace, signal: this.#ctx.signal });
    const jobs = items.filter((job) => isOf(job, name));
    try {
      await this.#deleteOldJobs(jobs);
      this.#observe(jobs);
      const schedule = this.#schedule();
      if (schedule === undefined) return done;
      return isChanged ? this.#waitFor(schedule) : await this.#start(schedule);
    } finally {
      if (!this.#ctx.signal.aborted) await this.#writeStatus();
    }
  }

  async #deleteOldJobs(jobs: readonly Job[]): Promise<void> {
    const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = this.#cron.spec;
    for (
      const [type, limit] of [["Complete", successfulJobsHistoryLimit], ["Failed", failedJobsHistoryLimit]] as const
    ) {
      if (limit === undefined) continue;
      const ended = jobs.filter((job) => endOf(job)?.type === type).toSorted(byStartTime);
      for (const job of ended.slice(0, Math.max(0, ended.length - limit))) await this.#delete(job);
    }
  }

  /** Brings active Jobs and last success up to date. */
  #observe(jobs: readonly Job[]): void {
    for (const job of jobs) {
      const { metadata: { name, uid }, status } = job;
      const isActive = this.#active.some((one) => one.uid === uid);
      const end = endOf(job);
      if (end === undefined) {
        if (!isActive) {
          this.#event("Warning", "UnexpectedJob", `Saw a job that the controller did not create or forgot: ${name}`);
        }
        continue;
      }
      if (isActive) {
        this.#forget(uid);
        this.#event("Normal", "SawCompletedJob", `Saw completed job: ${name}, condition: ${end.type}`);
      }
      const { completionTime } = status ?? {};
      const isLater = Date.parse(`${completionTime}`) > Date.parse(this.#lastSuccessfulTime ?? "1970-01-01T00:00:00Z");
      if (end.type === "Complete" && isLater) this.#lastSuccessfulTime = completionTime;
    }
    const known = new Set(jobs.map(({ metadata }) => metadata.uid));
    for (const { uid, name } of this.#active.filter((one) => !known.has(one.uid))) {
      this.#event("Normal", "MissingJob", `Active job went missing: ${name}`);
      this.#forget(uid);
    }
  }

  /** The schedule; undefined for a CronJob that starts nothing until it is changed. */
  #schedule(): CronSchedule | undefined {
    const { timeZone, suspend = false, schedule: text } = this.#cron.spec;
    const error = timeZone === undefined ? undefined : timeZoneError(timeZone);
    if (error !== undefined) {
      this.#event("Warning", "UnknownTimeZone", `invalid timeZone: ${JSON.stringify(timeZone)}: ${error}`);
      return undefined;
    }
    if (suspend) return undefined;
    if (text.includes("TZ")) {
      const message = "CRON_TZ or TZ used in schedule " +
        `${
          JSON.stringify(text)
        } is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`;
      this.#event("Warning", "UnsupportedSchedule", message);
    }
    try {
      return CronSchedule.parse(text, timeZone);
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error;
      this.#event("Warning", "UnparseableSchedule", `unparseable schedule: ${JSON.stringify(text)} : ${error.message}`);
      return undefined;
    }
  }

  /** Creates the Job of the most recent time, if it has none. */
  async #start(schedule: CronSchedule): Promise<Result> {
    const { startingDeadlineSeconds, concurrencyPolicy, schedule: text } = this.#cron.spec;
    const { at, missed, isInvalid } = this.#mostRecent(schedule, { isWithinDeadline: true });
    if (isInvalid) {
      const why = "time difference between two schedules is less than 1 second";
      this.#event("Warning", "InvalidSchedule", `invalid schedule: ${text} : ${why}`);
      return done;
    }
    if (at === undefined) return this.#waitFor(schedule);
    if (missed > maxMissed) {
      const advice = "Set or decrease .spec.startingDeadlineSeconds or check clock skew";
      this.#event("Warning", "TooManyMissedTimes", `too many missed start times. ${advice}`);
    }
    if (startingDeadlineSeconds !== undefined && at + startingDeadlineSeconds * 1000 < this.#now) {
      const time = new Date(at).toUTCString().replace("GMT", "UTC");
      this.#event("Warning", "MissSchedule", `Missed scheduled time to start a job: ${time}`);
      return this.#waitFor(schedule);
    }
    const name = this.#jobName(at);
    const isStarted = this.#active.some((one) => one.name === name) || this.#lastScheduleTime === timeText(at);
    if (isStarted) return this.#waitFor(schedule);
    if (concurrencyPolicy === "Forbid" && this.#active.length > 0) {
      const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
      this.#event("Normal", "JobAlreadyActive", message);
      return this.#waitFor(schedule);
    }
    if (concurrencyPolicy === "Replace") await this.#deleteActive();
    if (!await this.#create(at)) return done;
    return this.#waitFor(schedule);
  }

  async #deleteActive(): Promise<void> {
    const { namespace } = this.#cron.metadata;
    for (const { name } of this.#active) {
      const job = await this.#ctx.client.find(builtin.Job, `${namespace}/${name}`, { signal: this.#ctx.signal });
      if (job !== undefined) await this.#delete(job);
    }
  }

  /** @returns false when another client made the Job, or the namespace is being deleted */
  async #create(at: number): Promise<boolean> {
    try {
      const job = await this.#ctx.client.create(builtin.Job, this.#jobAt(at), { signal: this.#ctx.signal });
      this.#event("Normal", "SuccessfulCreate", `Created job ${job.metadata.name}`);
      this.#remember(job, at);
      return true;
    } catch (error) {
      if (isNamespaceTerminating(error)) return false;
      if (!isAlreadyExists(error)) {
        this.#event("Warning", "FailedCreate", `Error creating job: ${messageOf(error)}`);
        throw error;
      }
    }
    const key = `${this.#cron.metadata.namespace}/${this.#jobName(at)}`;
    const job = await this.#ctx.client.find(builtin.Job, key, { signal: this.#ctx.signal });
    // Its creation succeeded, and the write of the status failed; or it belongs to another time in the same minute.
    const isOurs = job !== undefined && isControlledBy(job, this.#cron);
    if (isOurs) this.#remember(job, at);
    return isOurs;
  }

  #remember(job: Job, at: number): void {
    this.#lastScheduleTime = timeText(at);
    if (endOf(job) !== undefined || this.#active.some(({ uid }) => uid === job.metadata.uid)) return;
    const { namespace, name, uid, resourceVersion } = job.metadata;
    this.#active = [...this.#active, { kind: "Job", namespace, name, uid, apiVersion: "batch/v1", resourceVersion }];
  }

  #jobAt(at: number) {
    const { metadata, spec } = this.#cron.spec.jobTemplate;
    return {
      metadata: {
        name: this.#jobName(at),
        namespace: this.#cron.metadata.namespace,
        labels: metadata?.labels,
        annotations: { ...metadata?.annotations, [scheduledAt]: zonedTimeText(at, this.#cron.spec.timeZone) },
        ownerReferences: [controllerReference(this.#cron, builtin.CronJob)],
      },
      spec: spec ?? { template: {} },
    };
  }

  #jobName(at: number): string {
    return `${this.#cron.metadata.name}-${Math.floor(at / 60_000)}`;
  }

  async #delete(job: Job): Promise<void> {
    const { name, uid } = job.metadata;
    const options = { preconditions: { uid }, propagationPolicy: "Background" as const, signal: this.#ctx.signal };
    try {
      await this.#ctx.client.delete(builtin.Job, keyOf(job), options);
    } catch (error) {
      if (!isNotFound(error)) {
        this.#event("Warning", "FailedDelete", `Deleted job: ${messageOf(error)}`);
        throw error;
      }
    }
    this.#forget(uid);
    this.#event("Normal", "SuccessfulDelete", `Deleted job ${name}`);
  }

  #forget(uid: string | undefined): void {
    this.#active = this.#active.filter((one) => one.uid !== uid);
  }

  /** The last time that has come since the last Job, or since the creation; and how many have, roughly. */
  #mostRecent(schedule: CronSchedule, { isWithinDeadline }: { readonly isWithinDeadline: boolean }): RecentTime {
    const { creationTimestamp = "" } = this.#cron.metadata;
    const { startingDeadlineSeconds } = this.#cron.spec;
    const since = Date.parse(this.#lastScheduleTime ?? creationTimestamp);
    const earliest = isWithinDeadline && startingDeadlineSeconds !== undefined
      ? Math.max(since, this.#now - startingDeadlineSeconds * 1000)
      : since;
    const first = schedule.next(earliest);
    if (first === undefined) return { earliest, at: undefined, missed: 0, isInvalid: true };
    if (this.#now < first) return { earliest, at: undefined, missed: 0, isInvalid: false };
    const second = schedule.next(first);
    if (second === undefined || this.#now < second) return { earliest, at: first, missed: 0, isInvalid: false };
    const intervalMs = Math.round((second - first) / 1000) * 1000;
    const missed = Math.floor((this.#now - first) / intervalMs) + 1;
    let at: number | undefined;
    // One interval earlier than the estimate, because those of a schedule may differ.
    const start = first + (missed - 2) * intervalMs;
    for (let time = schedule.next(start); time !== undefined && time <= this.#now; time = schedule.next(time)) {
      at = time;
    }
    return { earliest, at, missed, isInvalid: false };
  }

  /** Comes back when the next time comes. */
  #waitFor(schedule: CronSchedule): Result {
    const { earliest, at, missed, isInvalid } = this.#mostRecent(schedule, { isWithinDeadline: false });
    const from = isInvalid ? this.#now : at ?? (missed === 0 ? earliest : this.#now);
    const next = schedule.next(from);
    return next === undefined ? done : requeueAfter(Math.max(1, next + delayMs - this.#now));
  }

  async #writeStatus(): Promise<void> {
    const { active, lastScheduleTime, lastSuccessfulTime } = this.#cron.status ?? {};
    const status = {
      active: this.#active.length === 0 ? null : this.#active,
      lastScheduleTime: this.#lastScheduleTime,
      lastSuccessfulTime: this.#lastSuccessfulTime,
    };
    const isSame = (active ?? []).map(({ uid }) => uid).join() === this.#active.map(({ uid }) => uid).join() &&
      lastScheduleTime === this.#lastScheduleTime && lastSuccessfulTime === this.#lastSuccessfulTime;
    if (isSame) return;
    const options = { subresource: "status", signal: this.#ctx.signal };
    await this.#ctx.client.patch(builtin.CronJob, keyOf(this.#cron), { kind: "merge", value: { status } }, options)
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }

  #event(type: "Normal" | "Warning", reason: string, note: string): void {
    this.#ctx.event(type, reason, note);
  }
}

interface RecentTime {
  /** Times up to this one do not count. */
  readonly earliest: number;
  /** Undefined when none has come. */
  readonly at: number | undefined;
  readonly missed: number;
  /** True for a schedule that has no times, such as February 31. */
  readonly isInvalid: boolean;
}

function isOf(job: Job, name: string | undefined): boolean {
  const owner = controllerOf(job);
  return owner?.kind === "CronJob" && owner.name === name;
}

/** Those that have not started come last. */
function byStartTime(left: Job, right: Job): number {
  const startOf = ({ status }: Job) => status?.startTime === undefined ? Infinity : Date.parse(`${status.startTime}`);
  const [a, b] = [startOf(left), startOf(right)];
  return a === b ? `${left.metadata.name}`.localeCompare(`${right.metadata.name}`) : a - b;
}
