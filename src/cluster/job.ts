/** The Job controller: creates Pods until enough of them have succeeded, or too many have failed. */
import { builtin, type Infer } from "../api/mod.ts";
import { controller, done, type ReconcileContext, requeueAfter, type Result } from "../controller/mod.ts";
import {
  createPod,
  deletePod,
  inOrderOfDeletion,
  isActive,
  isFinished,
  isReady,
  type Pod,
  type PodExtras,
  podsOf,
} from "./_pods.ts";
import { timeText } from "./_values.ts";

type Job = Infer<typeof builtin.Job>;
type Context = ReconcileContext<typeof builtin.Job, typeof builtin.Job | typeof builtin.Pod>;

/** The value of managedBy for the Jobs that Kubernetes runs. Other controllers run those with another value. */
const ownName = "kubernetes.io/job-controller";

/** An annotation and a label. */
const indexAnnotation = "batch.kubernetes.io/job-completion-index";

/** The environment variable that a container reads its index from. */
const indexVariable = "JOB_COMPLETION_INDEX";

/** The part of a generated name that is not random, as apiserver's storage/names/generate.go. */
const maxGeneratedNameLength = 58;

/** Runs Jobs. */
export const jobController = controller("job-controller", { maxConcurrentReconciles: 5 })
  .for(builtin.Job)
  .owns(builtin.Pod)
  .reconcile(async (ctx) => {
    if (finishTimeOf(ctx.object) !== undefined) return await expire(ctx);
    if ((ctx.object.spec.managedBy ?? ownName) !== ownName) return done;
    const owner = { resource: builtin.Job, object: ctx.object };
    const pods = await podsOf(ctx.client, owner, ctx.object.spec.selector, ctx.signal);
    const now = ctx.clock.now();
    const outcome = outcomeOf(ctx.object, pods, now);
    const present = await managePods(ctx, pods, outcome);
    await ctx.patchStatus(statusOf(ctx, present, outcome));
    recordChange(ctx, outcome);
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
  if (isOver) return await deletePods(ctx, pods, active);
  const { parallelism = 1, completions, podReplacementPolicy } = ctx.object.spec;
  const succeeded = succeededOf(ctx.object, pods);
  const left = completions === undefined ? (succeeded > 0 ? active.length : parallelism) : completions - succeeded;
  const wanted = completions === undefined ? left : Math.max(0, Math.min(parallelism, left));
  if (active.length > wanted) {
    return await deletePods(ctx, pods, inOrderOfDeletion(active).slice(0, active.length - wanted));
  }
  if (backoffMs(pods, ctx.clock.now()) > 0) return pods;
  const replaced = podReplacementPolicy === "Failed" ? pods.filter(isTerminating).length : 0;
  const created: Pod[] = [];
  for (let count = active.length + replaced; count < wanted; count++) {
    created.push(await create(ctx, [...pods, ...created]));
  }
  return [...pods, ...created];
}

/** @returns the Pods that stay */
async function deletePods(ctx: Context, pods: readonly Pod[], surplus: readonly Pod[]): Promise<readonly Pod[]> {
  await Promise.all(surplus.map(async (pod) => {
    await deletePod(ctx.client, pod, ctx.signal);
    ctx.event("Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
  }));
  return pods.filter((pod) => !surplus.includes(pod));
}

/** True for a Pod that is being deleted and has not ended yet. */
function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !isFinished(pod);
}

async function create(ctx: Context, pods: readonly Pod[]): Promise<Pod> {
  const owner = { resource: builtin.Job, object: ctx.object };
  const extras = ctx.object.spec.completionMode === "Indexed" ? indexed(ctx.object, nextIndex(pods)) : {};
  const pod = await createPod(ctx.client, owner, ctx.object.spec.template, extras, ctx.signal);
  ctx.event("Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`);
  return pod;
}

/** What tells the Pod of an Indexed Job its index. */
function indexed({ metadata: { name = "" }, spec: { template } }: Job, index: number): PodExtras {
  const annotations = { [indexAnnotation]: `${index}` };
  const suffix = `-${index}-`;
  const { containers = [], initContainers } = template.spec ?? {};
  return {
    generateName: name.slice(0, maxGeneratedNameLength - suffix.length) + suffix,
    annotations,
    labels: annotations,
    spec: {
      hostname: `${name}-${index}`,
      containers: containers.map(withIndexVariable),
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withIndexVariable) }),
    },
  };
}

interface Container {
  readonly env?: Pod["spec"]["containers"][number]["env"];
}

function withIndexVariable<C extends Container>(container: C): C {
  const { env = [] } = container;
  if (env.some(({ name }) => name === indexVariable)) return container;
  const fieldRef = { fieldPath: `metadata.labels['${indexAnnotation}']` };
  return { ...container, env: [...env, { name: indexVariable, valueFrom: { fieldRef } }] };
}

/** The lowest index that no active or successful Pod has. */
function nextIndex(pods: readonly Pod[]): number {
  const used = new Set(pods.filter((pod) => isActive(pod) || hasSucceeded(pod)).map(indexOf));
  let index = 0;
  while (used.has(index)) index++;
  return index;
}

function hasSucceeded({ status }: Pod): boolean {
  return status?.phase === "Succeeded";
}

function indexOf({ metadata }: Pod): number {
  return Number(metadata.annotations?.[indexAnnotation] ?? -1);
}

/** The indexes of an Indexed Job that have succeeded, in ascending order. */
function succeededIndexes({ spec: { completions = 0 } }: Job, pods: readonly Pod[]): readonly number[] {
  const indexes = new Set(pods.filter(hasSucceeded).map(indexOf));
  return [...indexes].filter((index) => index >= 0 && index < completions).sort((left, right) => left - right);
}

/** Indexes as `kubectl describe` shows them: `0,2-4,6,7`. */
function indexesText(indexes: readonly number[]): string {
  const intervals: [first: number, last: number][] = [];
  for (const index of indexes) {
    const open = intervals.at(-1);
    if (open !== undefined && open[1] === index - 1) open[1] = index;
    else intervals.push([index, index]);
  }
  return intervals.map(([first, last]) => {
    if (first === last) return `${first}`;
    return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
  }).join(",");
}

function succeededOf(job: Job, pods: readonly Pod[]): number {
  return job.spec.completionMode === "Indexed" ? succeededIndexes(job, pods).length : pods.filter(hasSucceeded).length;
}

/** The event of a Job that ends, is suspended or resumed. */
function recordChange(ctx: Context, outcome: Outcome): void {
  if (outcome.kind === "complete") ctx.event("Normal", "Completed", "Job completed");
  if (outcome.kind === "failed") ctx.event("Warning", outcome.reason, outcome.message);
  if (outcome.kind !== "running") return;
  const change = suspensionChange(ctx.object);
  if (change === "suspended") ctx.event("Normal", "Suspended", "Job suspended");
  if (change === "resumed") ctx.event("Normal", "Resumed", "Job resumed");
}

function suspensionChange({ spec: { suspend = false }, status }: Job): "suspended" | "resumed" | undefined {
  const isReported = status?.conditions?.some((one) => one.type === "Suspended" && one.status === "True") === true;
  if (suspend === isReported) return undefined;
  return suspend ? "suspended" : "resumed";
}

function statusOf(ctx: Context, pods: readonly Pod[], outcome: Outcome) {
  const { spec: { suspend = false, completionMode }, status } = ctx.object;
  const now = timeText(ctx.clock.now());
  const active = pods.filter(isActive);
  const condition = (type: string, reason: string, message: string, status = "True") => ({
    type,
    status,
    reason,
    message,
    lastProbeTime: now,
    lastTransitionTime: now,
  });
  const reached = "Reached expected number of succeeded pods";
  const before = status?.conditions ?? [];
  const change = suspensionChange(ctx.object);
  const suspended = {
    suspended: condition("Suspended", "JobSuspended", "Job suspended"),
    resumed: condition("Suspended", "JobResumed", "Job resumed", "False"),
  };
  const end = {
    running: () =>
      change === undefined
        ? {}
        : { conditions: [...before.filter(({ type }) => type !== "Suspended"), suspended[change]] },
    complete: () => ({
      completionTime: now,
      conditions: [
        ...before,
        condition("SuccessCriteriaMet", "CompletionsReached", reached),
        condition("Complete", "CompletionsReached", reached),
      ],
    }),
    failed: () => ({
      conditions: outcome.kind === "failed"
        ? [
          ...before,
          condition("FailureTarget", outcome.reason, outcome.message),
          condition("Failed", outcome.reason, outcome.message),
        ]
        : before,
    }),
  };
  return {
    startTime: suspend ? null : (change === "resumed" ? undefined : status?.startTime) ?? now,
    active: active.length || null,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
    succeeded: succeededOf(ctx.object, pods) || null,
    ...(completionMode === "Indexed"
      ? { completedIndexes: indexesText(succeededIndexes(ctx.object, pods)) || null }
      : {}),
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
