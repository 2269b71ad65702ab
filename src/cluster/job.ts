/** The Job controller: creates Pods until enough of them have succeeded, or too many have failed. */
import { builtin, type Infer } from "../api/mod.ts";
import { controller, done, type ReconcileContext, requeueAfter, type Result } from "../controller/mod.ts";
import { createPod, deletePod, isActive, isReady, type Pod, podsOf } from "./_pods.ts";
import { timeText } from "./_values.ts";

type Job = Infer<typeof builtin.Job>;
type Context = ReconcileContext<typeof builtin.Job, typeof builtin.Job | typeof builtin.Pod>;

const indexAnnotation = "batch.kubernetes.io/job-completion-index";

/** Runs Jobs. */
export const jobController = controller("job-controller", { maxConcurrentReconciles: 5 })
  .for(builtin.Job)
  .owns(builtin.Pod)
  .reconcile(async (ctx) => {
    if (finishTimeOf(ctx.object) !== undefined) return await expire(ctx);
    const owner = { resource: builtin.Job, object: ctx.object };
    const pods = await podsOf(ctx.client, owner, ctx.object.spec.selector, ctx.signal);
    const now = ctx.clock.now();
    const outcome = outcomeOf(ctx.object, pods, now);
    const present = await managePods(ctx, pods, outcome);
    await ctx.patchStatus(statusOf(ctx, present, outcome));
    const waits = [backoffMs(pods, now), msUntilDeadline(ctx.object, now)].filter((ms) => ms > 0 && ms < Infinity);
    return outcome.kind === "running" && waits.length > 0 ? requeueAfter(Math.min(...waits)) : done;
  });

type Outcome =
  | { readonly kind: "running" | "complete" }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string };

function outcomeOf(job: Job, pods: readonly Pod[], now: number): Outcome {
  const failed = pods.filter((pod) => pod.status?.phase === "Failed").length;
  if (failed > (job.spec.backoffLimit ?? 6)) {
    return { kind: "failed", reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
  }
  if (msUntilDeadline(job, now) <= 0) {
    const message = "Job was active longer than specified deadline";
    return { kind: "failed", reason: "DeadlineExceeded", message };
  }
  const { completions } = job.spec;
  const succeeded = succeededOf(job, pods);
  // Without completions, the Job is complete after one success, when no Pod is active any more.
  const isComplete = completions === undefined ? succeeded > 0 && !pods.some(isActive) : succeeded >= completions;
  return { kind: isComplete ? "complete" : "running" };
}

/** Creates or deletes Pods. @returns the Pods after that */
async function managePods(ctx: Context, pods: readonly Pod[], outcome: Outcome): Promise<readonly Pod[]> {
  const active = pods.filter(isActive);
  const isOver = outcome.kind !== "running" || ctx.object.spec.suspend === true;
  if (isOver) {
    await Promise.all(active.map((pod) => deletePod(ctx.client, pod, ctx.signal)));
    return pods.filter((pod) => !active.includes(pod));
  }
  if (backoffMs(pods, ctx.clock.now()) > 0) return pods;
  const { parallelism = 1, completions } = ctx.object.spec;
  const succeeded = succeededOf(ctx.object, pods);
  const left = completions === undefined ? (succeeded > 0 ? 0 : parallelism) : completions - succeeded;
  const created: Pod[] = [];
  for (let count = active.length; count < Math.min(parallelism, left); count++) {
    created.push(await create(ctx, [...pods, ...created]));
  }
  return [...pods, ...created];
}

async function create(ctx: Context, pods: readonly Pod[]): Promise<Pod> {
  const owner = { resource: builtin.Job, object: ctx.object };
  const extras = ctx.object.spec.completionMode === "Indexed" ? indexed(nextIndex(pods)) : {};
  const pod = await createPod(ctx.client, owner, ctx.object.spec.template, extras, ctx.signal);
  ctx.event("Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`);
  return pod;
}

function indexed(index: number) {
  const annotations = { [indexAnnotation]: `${index}` };
  return { annotations, labels: annotations };
}

/** The lowest index that no running or successful Pod has. */
function nextIndex(pods: readonly Pod[]): number {
  const used = new Set(
    pods.filter((pod) => pod.status?.phase !== "Failed").map((pod) => pod.metadata.annotations?.[indexAnnotation]),
  );
  let index = 0;
  while (used.has(`${index}`)) index++;
  return index;
}

function succeededOf(job: Job, pods: readonly Pod[]): number {
  const succeeded = pods.filter((pod) => pod.status?.phase === "Succeeded");
  if (job.spec.completionMode !== "Indexed") return succeeded.length;
  return new Set(succeeded.map((pod) => pod.metadata.annotations?.[indexAnnotation])).size;
}

function statusOf(ctx: Context, pods: readonly Pod[], outcome: Outcome) {
  const now = timeText(ctx.clock.now());
  const active = pods.filter(isActive);
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: "True",
    reason,
    message,
    lastProbeTime: now,
    lastTransitionTime: now,
  });
  const reached = "Reached expected number of succeeded pods";
  const end = {
    running: () => ({}),
    complete: () => ({
      completionTime: now,
      conditions: [
        condition("SuccessCriteriaMet", "CompletionsReached", reached),
        condition("Complete", "CompletionsReached", reached),
      ],
    }),
    failed: () => ({
      conditions: outcome.kind === "failed"
        ? [
          condition("FailureTarget", outcome.reason, outcome.message),
          condition("Failed", outcome.reason, outcome.message),
        ]
        : [],
    }),
  };
  return {
    startTime: ctx.object.spec.suspend === true ? null : ctx.object.status?.startTime ?? now,
    active: active.length || null,
    ready: active.filter(isReady).length,
    terminating: 0,
    succeeded: succeededOf(ctx.object, pods) || null,
    failed: pods.filter((pod) => pod.status?.phase === "Failed").length || null,
    uncountedTerminatedPods: {},
    ...end[outcome.kind](),
  };
}

/** The condition that says how a Job ended; undefined while it runs. */
export function endOf(job: Job) {
  return job.status?.conditions?.find(({ type, status }) =>
    (type === "Complete" || type === "Failed") && status === "True"
  );
}

function finishTimeOf(job: Job): string | undefined {
  const end = endOf(job);
  return end === undefined ? undefined : `${end.lastTransitionTime}`;
}

/** Deletes a finished Job after ttlSecondsAfterFinished. */
async function expire(ctx: Context): Promise<Result> {
  const { ttlSecondsAfterFinished } = ctx.object.spec;
  if (ttlSecondsAfterFinished === undefined) return done;
  const leftMs = Date.parse(finishTimeOf(ctx.object) ?? "") + ttlSecondsAfterFinished * 1000 - ctx.clock.now();
  if (leftMs > 0) return requeueAfter(leftMs);
  const { namespace, name, uid } = ctx.object.metadata;
  const options = { preconditions: { uid }, propagationPolicy: "Background" as const, signal: ctx.signal };
  await ctx.client.delete(builtin.Job, `${namespace}/${name}`, options);
  return done;
}

/** 10 s, doubled with each failure up to 10 min, as kube-controller-manager's job_controller.go. */
const [minBackoffMs, maxBackoffMs] = [10_000, 600_000];

/** Milliseconds until a Pod may replace those that have failed since the last success. 0 means now. */
function backoffMs(pods: readonly Pod[], now: number): number {
  const ended = (phase: string) => pods.filter((pod) => pod.status?.phase === phase).map(finishedAt);
  const lastSuccess = Math.max(0, ...ended("Succeeded"));
  const failures = ended("Failed").filter((at) => at > lastSuccess);
  if (failures.length === 0) return 0;
  const waitMs = Math.min(maxBackoffMs, minBackoffMs * 2 ** (failures.length - 1));
  return Math.max(0, Math.max(...failures) + waitMs - now);
}

/** Milliseconds until the Job exceeds activeDeadlineSeconds; Infinity when it has no deadline. */
function msUntilDeadline({ spec, status }: Job, now: number): number {
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
