/** Jobs: Pods until enough of them have succeeded, or too many have failed. */
import { builtin, type Infer } from "../api/mod.ts";
import { controller, done, type ReconcileContext, requeueAfter, type Result } from "../controller/mod.ts";
import { backoffMs, deadlineInMs } from "./_job_time.ts";
import { createPod, deletePod, isActive, isReady, type Pod, podsOf } from "./_pods.ts";

type Job = Infer<typeof builtin.Job>;
type Context = ReconcileContext<typeof builtin.Job, typeof builtin.Job | typeof builtin.Pod>;

const indexAnnotation = "batch.kubernetes.io/job-completion-index";

export const jobController = controller("job-controller", { maxConcurrentReconciles: 5 })
  .for(builtin.Job)
  .owns(builtin.Pod)
  .reconcile(async (ctx) => {
    if (endOf(ctx.object) !== undefined) return await expire(ctx);
    const owner = { resource: builtin.Job, object: ctx.object };
    const pods = await podsOf(ctx.client, owner, ctx.object.spec.selector, ctx.signal);
    const now = ctx.clock.now();
    const verdict = verdictOf(ctx.object, pods, now);
    const kept = await bring(ctx, pods, verdict);
    await ctx.patchStatus(statusOf(ctx, kept, verdict));
    const waits = [backoffMs(pods, now), deadlineInMs(ctx.object, now)].filter((ms) => ms > 0 && ms < Infinity);
    return verdict.kind === "running" && waits.length > 0 ? requeueAfter(Math.min(...waits)) : done;
  });

type Verdict =
  | { readonly kind: "running" | "complete" }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string };

function verdictOf(job: Job, pods: readonly Pod[], now: number): Verdict {
  const failed = pods.filter((pod) => pod.status?.phase === "Failed").length;
  if (failed > (job.spec.backoffLimit ?? 6)) {
    return { kind: "failed", reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
  }
  if (deadlineInMs(job, now) <= 0) {
    const message = "Job was active longer than specified deadline";
    return { kind: "failed", reason: "DeadlineExceeded", message };
  }
  const { completions } = job.spec;
  const succeeded = succeededOf(job, pods);
  // Without a number of completions one success ends it, once all Pods have ended.
  const isComplete = completions === undefined ? succeeded > 0 && !pods.some(isActive) : succeeded >= completions;
  return { kind: isComplete ? "complete" : "running" };
}

async function bring(ctx: Context, pods: readonly Pod[], verdict: Verdict): Promise<readonly Pod[]> {
  const active = pods.filter(isActive);
  const isOver = verdict.kind !== "running" || ctx.object.spec.suspend === true;
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
  const taken = new Set(
    pods.filter((pod) => pod.status?.phase !== "Failed").map((pod) => pod.metadata.annotations?.[indexAnnotation]),
  );
  let index = 0;
  while (taken.has(`${index}`)) index++;
  return index;
}

function succeededOf(job: Job, pods: readonly Pod[]): number {
  const succeeded = pods.filter((pod) => pod.status?.phase === "Succeeded");
  if (job.spec.completionMode !== "Indexed") return succeeded.length;
  return new Set(succeeded.map((pod) => pod.metadata.annotations?.[indexAnnotation])).size;
}

function statusOf(ctx: Context, pods: readonly Pod[], verdict: Verdict) {
  const now = new Date(ctx.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  const active = pods.filter(isActive);
  const said = (type: string, reason: string, message: string) => ({
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
        said("SuccessCriteriaMet", "CompletionsReached", reached),
        said("Complete", "CompletionsReached", reached),
      ],
    }),
    failed: () => ({
      conditions: verdict.kind === "failed"
        ? [said("FailureTarget", verdict.reason, verdict.message), said("Failed", verdict.reason, verdict.message)]
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
    ...end[verdict.kind](),
  };
}

function endOf(job: Job): string | undefined {
  const end = job.status?.conditions?.find(({ type, status }) =>
    (type === "Complete" || type === "Failed") && status === "True"
  );
  return end === undefined ? undefined : `${end.lastTransitionTime}`;
}

/** Deletes a Job that has ended long enough ago. */
async function expire(ctx: Context): Promise<Result> {
  const { ttlSecondsAfterFinished } = ctx.object.spec;
  if (ttlSecondsAfterFinished === undefined) return done;
  const left = Date.parse(endOf(ctx.object) ?? "") + ttlSecondsAfterFinished * 1000 - ctx.clock.now();
  if (left > 0) return requeueAfter(left);
  const { namespace, name, uid } = ctx.object.metadata;
  const options = { preconditions: { uid }, propagationPolicy: "Background" as const, signal: ctx.signal };
  await ctx.client.delete(builtin.Job, `${namespace}/${name}`, options);
  return done;
}
