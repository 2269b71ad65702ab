/**
 * The Deployment controller: one ReplicaSet for each Pod template, and the move of replicas from the old ReplicaSets to the
 * new one within maxSurge and maxUnavailable.
 *
 * Guarantees: `kubectl rollout` reads the same revisions, conditions and counts that kube-controller-manager writes.
 */
import {
  builtin,
  type Condition,
  controllerOf,
  controllerReference,
  type Infer,
  isControlledBy,
  keyOf,
} from "../api/mod.ts";
import { type Client, isAlreadyExists } from "../client/mod.ts";
import { controller, done, type ReconcileContext, requeueAfter, type Result } from "../controller/mod.ts";
import { adopt, selectorOf } from "./_pods.ts";
import {
  byAge,
  desiredAnnotation,
  desiredReplicas,
  isResized,
  limitsOf,
  maxAnnotation,
  type ReplicaSets,
  sizesOf,
} from "./_replica_shares.ts";
import { templateHash } from "./_revisions.ts";
import { canonicalText, timeText } from "./_values.ts";

type Deployment = Infer<typeof builtin.Deployment>;
type ReplicaSet = Infer<typeof builtin.ReplicaSet>;
type Context = ReconcileContext<typeof builtin.Deployment, typeof builtin.Deployment | typeof builtin.ReplicaSet>;

/** The label that distinguishes the Pods of one template from those of another. */
const hashLabel = "pod-template-hash";

/** The annotation that numbers a Deployment's templates. */
const revisionAnnotation = "deployment.kubernetes.io/revision";

/** The annotation with the earlier revisions of a ReplicaSet to which a Deployment was rolled back. */
const historyAnnotation = "deployment.kubernetes.io/revision-history";

/** Rolls out Deployments. */
export const deploymentController = controller("deployment-controller", { maxConcurrentReconciles: 5 })
  .for(builtin.Deployment)
  .owns(builtin.ReplicaSet)
  .reconcile(async (ctx) => {
    const before = await listReplicaSets(ctx);
    const after = await rollOut(ctx, before);
    if (after === "collision") return await countCollision(ctx);
    const now = ctx.clock.now();
    const status = deploymentStatus(ctx.object, { ...after, now });
    await ctx.patchStatus(status);
    await deleteOldReplicaSets(ctx, after);
    const waitMs = msUntilDeadline(ctx.object, status, now);
    return waitMs === undefined ? done : requeueAfter(waitMs);
  });

/** The ReplicaSets that belong to a Deployment, read from the server; those without a controller are adopted. */
async function listReplicaSets({ client, object: deployment, signal }: Context): Promise<ReplicaSets> {
  const { namespace } = deployment.metadata;
  const labelSelector = selectorOf(deployment.spec.selector);
  const { items } = await client.list(builtin.ReplicaSet, { namespace, labelSelector, signal });
  const owner = { resource: builtin.Deployment, object: deployment };
  const adopted = await Promise.all(items.map(async (set) => {
    if (isControlledBy(set, deployment)) return set;
    const isOrphan = controllerOf(set) === undefined && set.metadata.deletionTimestamp === undefined;
    return isOrphan ? await adopt(client, builtin.ReplicaSet, set, owner, signal) : undefined;
  }));
  const sets = adopted.filter((set) => set !== undefined);
  const newest = newestOf(deployment, sets);
  return { newest, old: sets.filter((set) => set !== newest) };
}

async function rollOut(ctx: Context, sets: ReplicaSets): Promise<ReplicaSets | "collision"> {
  const { strategy, paused = false } = ctx.object.spec;
  const isRecreate = strategy?.type === "Recreate";
  if (paused || (!isRecreate && isResized(ctx.object, sets))) return await resize(ctx, sets);
  const begun = await ensureNewest(ctx, sets);
  if (begun === "collision") return begun;
  return isRecreate ? await recreate(ctx, begun) : await roll(ctx, begun);
}

type Begun = ReplicaSets & { readonly newest: ReplicaSet };

/** Ensures that the current template has a ReplicaSet, and that it and the Deployment have the newest revision. */
async function ensureNewest(ctx: Context, sets: ReplicaSets): Promise<Begun | "collision"> {
  const revision = 1 + Math.max(0, ...sets.old.map(revisionOf));
  const newest = sets.newest === undefined
    ? await createNewest(ctx, sets, revision)
    : await renumber(ctx, sets.newest, revision);
  if (newest === undefined) return "collision";
  await writeRevision(ctx, `${revisionOf(newest)}`);
  return { newest, old: sets.old };
}

/** Written with the status, as kube-controller-manager does: a changed annotation is then no new generation. */
async function writeRevision(ctx: Context, revision: string): Promise<void> {
  if (ctx.object.metadata.annotations?.[revisionAnnotation] === revision) return;
  const value = { metadata: { annotations: { [revisionAnnotation]: revision } } };
  const options = { subresource: "status", signal: ctx.signal };
  await ctx.client.patch(builtin.Deployment, keyOf(ctx.object), { kind: "merge", value }, options);
}

async function createNewest(ctx: Context, sets: ReplicaSets, revision: number): Promise<ReplicaSet | undefined> {
  const isRecreate = ctx.object.spec.strategy?.type === "Recreate";
  const hasOld = sets.old.some((set) => (set.spec.replicas ?? 1) > 0 || (set.status?.replicas ?? 0) > 0);
  const replicas = isRecreate && hasOld ? 0 : roomFor(ctx, 0, desiredReplicas(sets.old));
  const set = await createReplicaSet(ctx.client, ctx.object, { replicas, revision }, ctx.signal);
  if (set !== undefined && replicas > 0) recordScaling(ctx, set, 0, replicas);
  return set;
}

/** Gives a ReplicaSet the newest revision: after an undo, an old one has the current template again. */
async function renumber(ctx: Context, set: ReplicaSet, revision: number): Promise<ReplicaSet> {
  const before = revisionOf(set);
  const earlier = set.metadata.annotations?.[historyAnnotation];
  const history = earlier === undefined ? `${before}` : `${earlier},${before}`;
  const annotations = {
    ...inheritedAnnotations(ctx.object),
    [revisionAnnotation]: `${Math.max(before, revision)}`,
    ...(before > 0 && before < revision ? { [historyAnnotation]: history } : {}),
  };
  return await ctx.patch(builtin.ReplicaSet, set, { kind: "merge", value: { metadata: { annotations } } });
}

/** Strategy Recreate: the new ReplicaSet starts when no old Pod is left. */
async function recreate(ctx: Context, sets: Begun): Promise<ReplicaSets> {
  const old = await Promise.all(sets.old.map((set) => scale(ctx, set, 0)));
  const isEmpty = old.every((set) => (set.status?.replicas ?? 0) === 0);
  return { newest: isEmpty ? await scale(ctx, sets.newest, ctx.object.spec.replicas ?? 1) : sets.newest, old };
}

/** Strategy RollingUpdate: one step. */
async function roll(ctx: Context, sets: Begun): Promise<ReplicaSets> {
  const current = sets.newest.spec.replicas ?? 1;
  const desired = ctx.object.spec.replicas ?? 1;
  const room = roomFor(ctx, current, desiredReplicas(sets.old));
  const target = current >= desired ? desired : Math.min(desired, current + room);
  const newest = await scale(ctx, sets.newest, target);
  return { newest, old: await scaleDownOld(ctx, newest, sets.old) };
}

/** How many more Pods the new ReplicaSet may have. */
function roomFor(ctx: Context, current: number, old: number): number {
  const { replicas = 1 } = ctx.object.spec;
  return Math.max(0, Math.min(replicas - current, replicas + limitsOf(ctx.object).surge - current - old));
}

/** Takes Pods from the old ReplicaSets: unavailable ones first, then as many available ones as may be missing. */
async function scaleDownOld(
  ctx: Context,
  newest: ReplicaSet,
  old: readonly ReplicaSet[],
): Promise<readonly ReplicaSet[]> {
  const minAvailable = (ctx.object.spec.replicas ?? 1) - limitsOf(ctx.object).unavailable;
  const newUnavailable = (newest.spec.replicas ?? 1) - availableReplicas([newest]);
  let room = desiredReplicas([newest, ...old]) - minAvailable - newUnavailable;
  if (room <= 0) return old;
  let spare = Math.max(0, availableReplicas([newest, ...old]) - minAvailable);
  const scaled: ReplicaSet[] = [];
  for (const set of old.toSorted((left, right) => revisionOf(left) - revisionOf(right))) {
    const current = set.spec.replicas ?? 1;
    const unavailable = Math.min(room, Math.max(0, current - availableReplicas([set])));
    const available = Math.min(spare, current - unavailable);
    room -= unavailable;
    spare -= available;
    const removed = unavailable + available;
    scaled.push(removed > 0 ? await scale(ctx, set, current - removed) : set);
  }
  return scaled;
}

/** Gives the ReplicaSets a changed number of replicas. During a rollout, each one gets its share. */
async function resize(ctx: Context, sets: ReplicaSets): Promise<ReplicaSets> {
  const scaled = new Map<ReplicaSet, ReplicaSet>();
  for (const [set, size] of sizesOf(ctx.object, sets)) scaled.set(set, await scale(ctx, set, size));
  const now = (set: ReplicaSet) => scaled.get(set) ?? set;
  return { newest: sets.newest === undefined ? undefined : now(sets.newest), old: sets.old.map(now) };
}

async function scale(ctx: Context, set: ReplicaSet, replicas: number): Promise<ReplicaSet> {
  const current = set.spec.replicas ?? 1;
  const annotations = inheritedAnnotations(ctx.object);
  const value = { metadata: { annotations }, spec: { replicas } };
  const live = await ctx.patch(builtin.ReplicaSet, set, { kind: "merge", value });
  if (current !== replicas) recordScaling(ctx, set, current, replicas);
  return live;
}

function recordScaling(ctx: Context, set: ReplicaSet, from: number, to: number): void {
  const direction = to > from ? "up" : "down";
  const message = `Scaled ${direction} replica set ${set.metadata.name} from ${from} to ${to}`;
  ctx.event("Normal", "ScalingReplicaSet", message);
}

async function countCollision(ctx: Context): Promise<Result> {
  await ctx.patchStatus({ collisionCount: (ctx.object.status?.collisionCount ?? 0) + 1 });
  return done;
}

/** Deletes the ReplicaSets beyond revisionHistoryLimit, once the rollout is complete. */
async function deleteOldReplicaSets(ctx: Context, sets: ReplicaSets): Promise<void> {
  const { replicas = 1, revisionHistoryLimit = 10 } = ctx.object.spec;
  const status = sets.newest?.status;
  const isComplete = status?.availableReplicas === replicas && desiredReplicas(sets.old) === 0;
  if (!isComplete && replicas !== 0) return;
  const idle = sets.old
    .filter((set) => (set.spec.replicas ?? 1) === 0 && (set.status?.replicas ?? 0) === 0)
    .filter((set) => set.metadata.deletionTimestamp === undefined)
    .toSorted((left, right) => revisionOf(left) - revisionOf(right));
  for (const set of idle.slice(0, Math.max(0, idle.length - revisionHistoryLimit))) {
    ctx.log.debug("deleting old ReplicaSet", { replicaSet: keyOf(set) });
    await ctx.delete(builtin.ReplicaSet, set);
  }
}

/** The oldest ReplicaSet that has the Deployment's current template. */
function newestOf(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const template = canonicalText(deployment.spec.template);
  return sets
    .toSorted(byAge)
    .find((set) => canonicalText(templateWithoutHash(set)) === template);
}

function templateWithoutHash(set: ReplicaSet): unknown {
  const { template } = set.spec;
  const { [hashLabel]: _, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } };
}

/** The revision of a ReplicaSet's template, 0 for none. */
function revisionOf(set: ReplicaSet): number {
  return Number(set.metadata.annotations?.[revisionAnnotation] ?? 0) || 0;
}

function availableReplicas(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + (set.status?.availableReplicas ?? 0), 0);
}

/**
 * Creates the ReplicaSet of the current template.
 *
 * @returns undefined when a ReplicaSet of another template has the name: the Deployment counts the collision and tries
 * another name
 */
async function createReplicaSet(
  client: Client,
  deployment: Deployment,
  plan: { readonly replicas: number; readonly revision: number },
  signal: AbortSignal,
): Promise<ReplicaSet | undefined> {
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = templateHash(template, deployment.status?.collisionCount ?? 0);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const metadata = {
    name: `${deployment.metadata.name}-${hash}`,
    namespace: deployment.metadata.namespace,
    labels,
    annotations: { ...inheritedAnnotations(deployment), [revisionAnnotation]: `${plan.revision}` },
    ownerReferences: [controllerReference(deployment, builtin.Deployment)],
  };
  const spec = {
    replicas: plan.replicas,
    minReadySeconds,
    selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
    template: { ...template, metadata: { ...template.metadata, labels } },
  };
  try {
    return await client.create(builtin.ReplicaSet, { metadata, spec }, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const live = await client.find(builtin.ReplicaSet, keyOf({ metadata }), { signal });
    const isOwn = live !== undefined && isControlledBy(live, deployment) && newestOf(deployment, [live]) === live;
    return isOwn ? live : undefined;
  }
}

/** The annotations of a Deployment that its ReplicaSets carry too, and those that record its size. */
function inheritedAnnotations(deployment: Deployment): Record<string, string> {
  const skipped = new Set([
    revisionAnnotation,
    historyAnnotation,
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
  ]);
  const { replicas = 1 } = deployment.spec;
  return {
    ...Object.fromEntries(Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !skipped.has(key))),
    [desiredAnnotation]: `${replicas}`,
    [maxAnnotation]: `${replicas + limitsOf(deployment).surge}`,
  };
}

interface Rollout extends ReplicaSets {
  /** Milliseconds since 1970. */
  readonly now: number;
}

interface Counts extends Rollout {
  readonly replicas: number;
  readonly updated: number;
  readonly available: number;
}

type DesiredCondition = Pick<Condition, "type" | "status" | "reason" | "message">;

/** The desired status, with the conditions that `kubectl rollout status` and `kubectl wait` read; null removes a field. */
function deploymentStatus(deployment: Deployment, rollout: Rollout) {
  const { newest, old } = rollout;
  const all = [...(newest === undefined ? [] : [newest]), ...old];
  const sum = (count: (set: ReplicaSet) => number | undefined) =>
    all.reduce((total, set) => total + (count(set) ?? 0), 0);
  const replicas = sum((set) => set.status?.replicas);
  const available = availableReplicas(all);
  const updated = newest?.status?.replicas ?? 0;
  const counts = { ...rollout, replicas, updated, available };
  const conditions = [
    availableCondition(deployment, available),
    progressingCondition(deployment, counts),
    ...all.flatMap(failuresOf).slice(0, 1),
  ];
  const hasProgressed = isProgress(deployment, counts);
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: replicas || null,
    updatedReplicas: updated || null,
    readyReplicas: sum((set) => set.status?.readyReplicas) || null,
    availableReplicas: available || null,
    unavailableReplicas: Math.max(0, desiredReplicas(all) - available) || null,
    conditions: conditions.map((condition) => withTimes(deployment, condition, { now: rollout.now, hasProgressed })),
  };
}

/** The condition of a ReplicaSet whose Pods cannot be created or deleted. That of the newest one is also its Deployment's. */
function failuresOf({ status }: ReplicaSet): readonly DesiredCondition[] {
  const failure = status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  if (failure === undefined) return [];
  const { type, reason = "", message = "" } = failure;
  return [{ type, status: "True", reason, message }];
}

/** Milliseconds until a rollout exceeds its progress deadline; undefined when it has none. */
function msUntilDeadline(deployment: Deployment, status: ReturnType<typeof deploymentStatus>, now: number) {
  const { progressDeadlineSeconds = 600 } = deployment.spec;
  const progressing = status.conditions.find(({ type }) => type === "Progressing");
  // The largest int32 means that there is no deadline.
  if (progressing?.reason !== "ReplicaSetUpdated" || progressDeadlineSeconds >= 2 ** 31 - 1) return undefined;
  const left = Date.parse(`${progressing.lastUpdateTime}`) + progressDeadlineSeconds * 1000 - now;
  return Math.max(0, left) + 1_000; // times in conditions have whole seconds
}

function availableCondition(deployment: Deployment, available: number): DesiredCondition {
  const minAvailable = (deployment.spec.replicas ?? 1) - limitsOf(deployment).unavailable;
  return available >= minAvailable
    ? {
      type: "Available",
      status: "True",
      reason: "MinimumReplicasAvailable",
      message: "Deployment has minimum availability.",
    }
    : {
      type: "Available",
      status: "False",
      reason: "MinimumReplicasUnavailable",
      message: "Deployment does not have minimum availability.",
    };
}

function progressingCondition(deployment: Deployment, counts: Counts): DesiredCondition {
  const { replicas: desired = 1, paused = false } = deployment.spec;
  const condition = (status: "True" | "False" | "Unknown", reason: string, message: string): DesiredCondition => ({
    type: "Progressing",
    status,
    reason,
    message,
  });
  if (paused) return condition("Unknown", "DeploymentPaused", "Deployment is paused");
  const name = counts.newest?.metadata.name ?? "";
  const { updated, replicas, available } = counts;
  if (updated === desired && replicas === desired && available === desired) {
    return condition("True", "NewReplicaSetAvailable", `ReplicaSet "${name}" has successfully progressed.`);
  }
  if (!isProgress(deployment, counts) && isDeadlineExceeded(deployment, counts.now)) {
    return condition("False", "ProgressDeadlineExceeded", `ReplicaSet "${name}" has timed out progressing.`);
  }
  return condition("True", "ReplicaSetUpdated", `ReplicaSet "${name}" is progressing.`);
}

/** True when more Pods are updated or available than the status says, or fewer are old. */
function isProgress({ status }: Deployment, { updated, replicas, available }: Counts): boolean {
  const { updatedReplicas = 0, replicas: known = 0, availableReplicas: knownAvailable = 0 } = status ?? {};
  return updated > updatedReplicas || replicas - updated < known - updatedReplicas || available > knownAvailable;
}

/** True when the rollout has made no progress for longer than the Deployment allows. */
function isDeadlineExceeded(deployment: Deployment, now: number): boolean {
  const current = deployment.status?.conditions?.find(({ type }) => type === "Progressing");
  if (current === undefined || current.reason === "NewReplicaSetAvailable") return false;
  if (current.reason === "ProgressDeadlineExceeded") return true;
  if (deployment.status?.observedGeneration !== deployment.metadata.generation) return false;
  const { progressDeadlineSeconds = 600 } = deployment.spec;
  return now - Date.parse(`${current.lastUpdateTime}`) > progressDeadlineSeconds * 1000;
}

/** Adds the times to a condition. Progress renews lastUpdateTime even if the condition's text is the same. */
function withTimes(
  deployment: Deployment,
  desired: DesiredCondition,
  { now, hasProgressed }: { readonly now: number; readonly hasProgressed: boolean },
) {
  const time = timeText(now);
  const current = deployment.status?.conditions?.find(({ type }) => type === desired.type);
  if (current === undefined) return { ...desired, lastUpdateTime: time, lastTransitionTime: time };
  const isRenewed = hasProgressed && desired.reason === "ReplicaSetUpdated";
  const isSame = !isRenewed && current.status === desired.status && current.reason === desired.reason &&
    current.message === desired.message;
  return {
    ...desired,
    lastUpdateTime: isSame ? current.lastUpdateTime : time,
    lastTransitionTime: current.status === desired.status ? current.lastTransitionTime : time,
  };
}
