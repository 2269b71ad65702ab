/** The StatefulSet controller: numbered Pods, created and deleted in order, each with its own volume claims. */
import { builtin, controllerReference, type Infer } from "../api/mod.ts";
import { type Client, isAlreadyExists } from "../client/mod.ts";
import { controller, done, type ReconcileContext } from "../controller/mod.ts";
import { createPod, deletePod, isActive, isAvailable, isFinished, isReady, type Pod, podsOf } from "./_pods.ts";
import { ensureRevision, revisionLabel } from "./_revisions.ts";

type StatefulSet = Infer<typeof builtin.StatefulSet>;
type Context = ReconcileContext<typeof builtin.StatefulSet, typeof builtin.StatefulSet | typeof builtin.Pod>;

/** Keeps the Pods of StatefulSets. */
export const statefulSetController = controller("statefulset-controller", { maxConcurrentReconciles: 2 })
  .for(builtin.StatefulSet)
  .owns(builtin.Pod)
  .reconcile(async (ctx) => {
    const set = ctx.object;
    const owner = { resource: builtin.StatefulSet, object: set };
    const hash = await ensureRevision(ctx.client, owner, set.spec.template, ctx.signal);
    const pods = await podsOf(ctx.client, owner, set.spec.selector, ctx.signal);
    const update = `${set.metadata.name}-${hash}`;
    await managePods(ctx, new Map(pods.map((pod) => [ordinalOf(pod), pod])), update);
    await ctx.patchStatus(statusOf(ctx, pods, update));
    return done;
  });

/** One step towards the desired state. Unless the policy is Parallel, it ends at the first Pod that is not ready. */
async function managePods(ctx: Context, pods: ReadonlyMap<number, Pod>, update: string): Promise<void> {
  const { replicas = 1, podManagementPolicy, ordinals, updateStrategy } = ctx.object.spec;
  const first = ordinals?.start ?? 0;
  const isParallel = podManagementPolicy === "Parallel";
  for (let ordinal = first; ordinal < first + replicas; ordinal++) {
    const pod = pods.get(ordinal);
    if (pod === undefined) await createNumbered(ctx, ordinal, update);
    else if (isFinished(pod)) await deletePod(ctx.client, pod, ctx.signal);
    else if (isActive(pod) && isReady(pod)) continue;
    if (!isParallel) return;
  }
  const surplus = [...pods].filter(([ordinal]) => ordinal < first || ordinal >= first + replicas);
  surplus.sort(([left], [right]) => right - left);
  for (const [, pod] of surplus) {
    if (isActive(pod)) await deletePod(ctx.client, pod, ctx.signal);
    if (!isParallel) return;
  }
  if (updateStrategy?.type === "OnDelete") return;
  const partition = updateStrategy?.rollingUpdate?.partition ?? 0;
  const outdated = [...pods]
    .filter(([ordinal, pod]) => ordinal >= first + partition && pod.metadata.labels?.[revisionLabel] !== update)
    .sort(([left], [right]) => right - left);
  const [next] = outdated;
  const allReady = [...pods.values()].every((pod) => isActive(pod) && isReady(pod));
  if (next !== undefined && allReady) await deletePod(ctx.client, next[1], ctx.signal);
}

async function createNumbered(ctx: Context, ordinal: number, update: string): Promise<void> {
  const { metadata: { name: setName, namespace }, spec } = ctx.object;
  const name = `${setName}-${ordinal}`;
  const claims = await createClaims(ctx.client, ctx.object, name, ctx.signal);
  const labels = {
    "statefulset.kubernetes.io/pod-name": name,
    "apps.kubernetes.io/pod-index": `${ordinal}`,
    [revisionLabel]: update,
  };
  const volumes = [...spec.template.spec?.volumes ?? [], ...claims];
  const extras = {
    name,
    labels,
    spec: { hostname: name, subdomain: spec.serviceName, ...(volumes.length === 0 ? {} : { volumes }) },
  };
  const owner = { resource: builtin.StatefulSet, object: ctx.object };
  try {
    await createPod(ctx.client, owner, spec.template, extras, ctx.signal);
  } catch (error) {
    if (isAlreadyExists(error)) {
      throw new Error(`Cannot create Pod "${namespace}/${name}": a Pod with that name has another owner`, {
        cause: error,
      });
    }
    throw error;
  }
  ctx.event("Normal", "SuccessfulCreate", `create Pod ${name} in StatefulSet ${setName} successful`);
}

/** Creates the Pod's volume claims. They are not deleted with the Pod, so that no data is lost. */
async function createClaims(client: Client, set: StatefulSet, pod: string, signal: AbortSignal) {
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
    await client.create(builtin.PersistentVolumeClaim, { metadata, spec: template.spec ?? {} }, { signal })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
    volumes.push({ name: `${template.metadata?.name}`, persistentVolumeClaim: { claimName } });
  }
  return volumes;
}

function statusOf(ctx: Context, pods: readonly Pod[], update: string) {
  const { spec: { minReadySeconds = 0, replicas = 1 }, metadata, status } = ctx.object;
  const active = pods.filter(isActive);
  const updated = active.filter((pod) => pod.metadata.labels?.[revisionLabel] === update).length;
  const isDone = updated === replicas && active.length === replicas && active.every(isReady);
  const current = isDone ? update : status?.currentRevision ?? update;
  const atCurrent = active.filter((pod) => pod.metadata.labels?.[revisionLabel] === current).length;
  return {
    replicas: active.length,
    readyReplicas: active.filter(isReady).length || null,
    availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, ctx.clock.now())).length,
    currentReplicas: atCurrent || null,
    updatedReplicas: updated || null,
    currentRevision: current,
    updateRevision: update,
    collisionCount: 0,
    observedGeneration: metadata.generation,
  };
}

function ordinalOf(pod: Pod): number {
  return Number(/-(\d+)$/.exec(pod.metadata.name ?? "")?.[1] ?? -1);
}
