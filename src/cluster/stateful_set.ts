/** The StatefulSet controller: numbered Pods, created and deleted in order, each with its own volume claims. */
import { builtin, controllerReference, type Infer } from "../api/mod.ts";
import { isAlreadyExists } from "../client/mod.ts";
import { controller, done, type ReconcileContext, requeueAfter } from "../controller/mod.ts";
import {
  createPod,
  deletePod,
  isActive,
  isAvailable,
  isFinished,
  isNamespaceTerminating,
  isReady,
  msUntilAvailable,
  type Pod,
  podsOf,
} from "./_pods.ts";
import { deleteOldRevisions, ensureRevision, findTemplate, revisionLabel } from "./_revisions.ts";
import { messageOf } from "./_values.ts";

type StatefulSet = Infer<typeof builtin.StatefulSet>;
type Context = ReconcileContext<typeof builtin.StatefulSet, typeof builtin.StatefulSet | typeof builtin.Pod>;

/** The names of a StatefulSet's revisions. They are the same when no update is in progress. */
interface Revisions {
  /** The one before the update. Pods below the partition have it. */
  readonly current: string;
  readonly update: string;
}

/** Keeps the Pods of StatefulSets. */
export const statefulSetController = controller("statefulset-controller", { maxConcurrentReconciles: 2 })
  .for(builtin.StatefulSet)
  .owns(builtin.Pod)
  .reconcile(async (ctx) => {
    const { metadata: { name }, spec, status } = ctx.object;
    const owner = {
      resource: builtin.StatefulSet,
      object: ctx.object,
      canOwn: (pod: Pod) => ordinalOf(ctx.object, pod) !== undefined,
    };
    const update = `${name}-${await ensureRevision(ctx.client, owner, spec.template, ctx.signal)}`;
    const revisions = { current: status?.currentRevision ?? update, update };
    const pods = await podsOf(ctx.client, owner, spec.selector, ctx.signal);
    await managePods(ctx, byOrdinal(ctx.object, pods), revisions);
    const next = statusOf(ctx, pods, revisions);
    await ctx.patchStatus(next);
    const live = new Set([next.currentRevision, update, ...pods.map((pod) => pod.metadata.labels?.[revisionLabel])]);
    await deleteOldRevisions(ctx.client, owner, { live, limit: spec.revisionHistoryLimit ?? 10 }, ctx.signal);
    const waits = pods.map((pod) => msUntilAvailable(pod, spec.minReadySeconds ?? 0, ctx.clock.now()));
    const waitMs = Math.min(...waits.filter((ms) => ms > 0));
    return Number.isFinite(waitMs) ? requeueAfter(waitMs) : done;
  });

type PodsByOrdinal = ReadonlyMap<number, Pod>;

function byOrdinal(set: StatefulSet, pods: readonly Pod[]): PodsByOrdinal {
  return new Map(pods.flatMap((pod) => {
    const ordinal = ordinalOf(set, pod);
    return ordinal === undefined ? [] : [[ordinal, pod] as const];
  }));
}

/** One step towards the desired state. Unless the policy is Parallel, it ends at the first Pod that is not available. */
async function managePods(ctx: Context, pods: PodsByOrdinal, revisions: Revisions): Promise<void> {
  const { replicas = 1, podManagementPolicy, ordinals } = ctx.object.spec;
  const first = ordinals?.start ?? 0;
  const isParallel = podManagementPolicy === "Parallel";
  for (let ordinal = first; ordinal < first + replicas; ordinal++) {
    const pod = pods.get(ordinal);
    if (pod === undefined) await createNumbered(ctx, ordinal, revisions);
    else if (isFinished(pod)) await deleteNumbered(ctx, pod);
    else if (isUsable(ctx, pod)) continue;
    if (!isParallel) return;
  }
  const surplus = [...pods].filter(([ordinal]) => ordinal < first || ordinal >= first + replicas);
  surplus.sort(([left], [right]) => right - left);
  const lowestUnusable = surplus.findLast(([, pod]) => !isUsable(ctx, pod))?.[1];
  for (const [, pod] of surplus) {
    if (isParallel || isUsable(ctx, pod) || pod === lowestUnusable) await deleteNumbered(ctx, pod);
    if (!isParallel) return;
  }
  await replaceOutdated(ctx, pods, revisions.update);
}

/**
 * Deletes the highest Pod that is not of the new revision, when those above it are available. It need not be available
 * itself: with the policy Parallel, a correct template replaces one whose Pods never become ready.
 */
async function replaceOutdated(ctx: Context, pods: PodsByOrdinal, update: string): Promise<void> {
  const { replicas = 1, ordinals, updateStrategy } = ctx.object.spec;
  if (updateStrategy?.type === "OnDelete") return;
  const first = ordinals?.start ?? 0;
  const partition = updateStrategy?.rollingUpdate?.partition ?? 0;
  for (let ordinal = first + replicas - 1; ordinal >= first + partition; ordinal--) {
    const pod = pods.get(ordinal);
    if (pod === undefined) return;
    const isDeleted = pod.metadata.deletionTimestamp !== undefined;
    if (!isDeleted && pod.metadata.labels?.[revisionLabel] !== update) return await deleteNumbered(ctx, pod);
    if (!isUsable(ctx, pod)) return;
  }
}

/** True for a Pod that is available and stays. */
function isUsable(ctx: Context, pod: Pod): boolean {
  return isActive(pod) && isAvailable(pod, ctx.object.spec.minReadySeconds ?? 0, ctx.clock.now());
}

async function deleteNumbered(ctx: Context, pod: Pod): Promise<void> {
  if (pod.metadata.deletionTimestamp !== undefined) return;
  await deletePod(ctx.client, pod, ctx.signal);
  const { name } = ctx.object.metadata;
  ctx.event("Normal", "SuccessfulDelete", `Delete Pod ${pod.metadata.name} in StatefulSet ${name} successful`);
}

/** The revision of a new Pod, and its template: below the partition, that of before the update. */
async function versionOf(ctx: Context, ordinal: number, { current, update }: Revisions) {
  const { metadata: { namespace }, spec: { template, ordinals, updateStrategy } } = ctx.object;
  const partition = updateStrategy?.rollingUpdate?.partition ?? 0;
  if (current !== update && ordinal < (ordinals?.start ?? 0) + partition) {
    const before = await findTemplate(ctx.client, `${namespace}/${current}`, ctx.signal);
    if (before !== undefined) return { revision: current, template: before };
  }
  return { revision: update, template };
}

async function createNumbered(ctx: Context, ordinal: number, revisions: Revisions): Promise<void> {
  const { metadata: { name: setName, namespace }, spec } = ctx.object;
  const name = `${setName}-${ordinal}`;
  const { revision, template } = await versionOf(ctx, ordinal, revisions);
  const claims = await createClaims(ctx, name);
  const labels = {
    "statefulset.kubernetes.io/pod-name": name,
    "apps.kubernetes.io/pod-index": `${ordinal}`,
    [revisionLabel]: revision,
  };
  const volumes = [...template.spec?.volumes ?? [], ...claims];
  const extras = {
    name,
    labels,
    spec: { hostname: name, subdomain: spec.serviceName, ...(volumes.length === 0 ? {} : { volumes }) },
  };
  const owner = { resource: builtin.StatefulSet, object: ctx.object };
  try {
    await createPod(ctx.client, owner, template, extras, ctx.signal);
  } catch (error) {
    if (!isNamespaceTerminating(error)) {
      const message = `Create Pod ${name} in StatefulSet ${setName} failed error: ${messageOf(error)}`;
      ctx.event("Warning", "FailedCreate", message);
    }
    if (isAlreadyExists(error)) {
      throw new Error(`Cannot create Pod "${namespace}/${name}": a Pod with that name has another owner`, {
        cause: error,
      });
    }
    throw error;
  }
  ctx.event("Normal", "SuccessfulCreate", `Create Pod ${name} in StatefulSet ${setName} successful`);
}

/** Creates the Pod's volume claims. They are not deleted with the Pod, so that no data is lost. */
async function createClaims({ client, object: set, signal, event }: Context, pod: string) {
  const volumes = [];
  const retention = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted;
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const claimName = `${template.metadata?.name}-${pod}`;
    const metadata = {
      name: claimName,
      namespace: set.metadata.namespace,
      labels: { ...template.metadata?.labels, ...set.spec.selector.matchLabels },
      ...(retention === "Delete" ? { ownerReferences: [controllerReference(set, builtin.StatefulSet)] } : {}),
    };
    try {
      await client.create(builtin.PersistentVolumeClaim, { metadata, spec: template.spec ?? {} }, { signal });
      const message = `Create Claim ${claimName} Pod ${pod} in StatefulSet ${set.metadata.name} success`;
      event("Normal", "SuccessfulCreate", message);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    volumes.push({ name: `${template.metadata?.name}`, persistentVolumeClaim: { claimName } });
  }
  return volumes;
}

function statusOf(ctx: Context, pods: readonly Pod[], revisions: Revisions) {
  const { spec: { minReadySeconds = 0, replicas = 1, updateStrategy }, metadata } = ctx.object;
  const { update } = revisions;
  const kept = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined);
  const countOf = (revision: string) => kept.filter((pod) => pod.metadata.labels?.[revisionLabel] === revision).length;
  const ready = pods.filter((pod) => pod.status?.phase === "Running" && isReady(pod));
  const isDone = updateStrategy?.type !== "OnDelete" &&
    [countOf(update), ready.length, pods.length].every((count) => count === replicas);
  const current = isDone ? update : revisions.current;
  return {
    replicas: pods.length,
    readyReplicas: ready.length || null,
    availableReplicas: ready.filter((pod) => isAvailable(pod, minReadySeconds, ctx.clock.now())).length,
    currentReplicas: countOf(current) || null,
    updatedReplicas: countOf(update) || null,
    currentRevision: current,
    updateRevision: update,
    collisionCount: 0,
    observedGeneration: metadata.generation,
  };
}

/** The number in the name of a Pod; undefined for a name that the StatefulSet does not give. */
function ordinalOf({ metadata: { name } }: StatefulSet, pod: Pod): number | undefined {
  const [, parent, ordinal] = /^(.*)-(\d+)$/.exec(pod.metadata.name ?? "") ?? [];
  return parent === name && ordinal !== undefined ? Number(ordinal) : undefined;
}
