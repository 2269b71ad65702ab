/**
 * Deployments: a ReplicaSet for each template, and the careful move of replicas from the old ones to the new one. What
 * `kubectl rollout` reads (revisions, conditions, counts) is as kube-controller-manager writes it.
 */
import { builtin, keyOf } from "../api/mod.ts";
import { controller, done, type ReconcileContext, requeueAfter, type Result } from "../controller/mod.ts";
import { deploymentStatus, msUntilLate } from "./_deployment_status.ts";
import {
  createReplicaSet,
  inherited,
  limitsOf,
  newestOf,
  type ReplicaSet,
  replicaSetsOf,
  revisionAnnotation,
  revisionOf,
  wantedOf,
} from "./_replica_sets.ts";

type Context = ReconcileContext<typeof builtin.Deployment, typeof builtin.Deployment | typeof builtin.ReplicaSet>;

/** The ReplicaSets of a Deployment at one moment. */
interface Site {
  readonly newest: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

export const deploymentController = controller("deployment-controller", { maxConcurrentReconciles: 5 })
  .for(builtin.Deployment)
  .owns(builtin.ReplicaSet)
  .reconcile(async (ctx) => {
    const site = siteOf(ctx, await replicaSetsOf(ctx.client, ctx.object, ctx.signal));
    const moved = await move(ctx, site);
    if (moved === "collision") return await countCollision(ctx);
    const now = ctx.clock.now();
    const status = deploymentStatus(ctx.object, { ...moved, now });
    await ctx.patchStatus(status);
    await dropOld(ctx, moved);
    const lateInMs = msUntilLate(ctx.object, status, now);
    return lateInMs === undefined ? done : requeueAfter(lateInMs);
  });

function siteOf(ctx: Context, sets: readonly ReplicaSet[]): Site {
  const newest = newestOf(ctx.object, sets);
  return { newest, old: sets.filter((set) => set !== newest) };
}

async function move(ctx: Context, site: Site): Promise<Site | "collision"> {
  const { strategy, paused = false } = ctx.object.spec;
  if (paused) return await keepShares(ctx, site);
  const begun = await begin(ctx, site);
  if (begun === "collision") return begun;
  return strategy?.type === "Recreate" ? await recreate(ctx, begun) : await roll(ctx, begun);
}

type Begun = Site & { readonly newest: ReplicaSet };

/** Makes sure that the present template has its ReplicaSet and that both carry the newest revision. */
async function begin(ctx: Context, site: Site): Promise<Begun | "collision"> {
  const revision = 1 + Math.max(0, ...site.old.map(revisionOf));
  const newest = site.newest === undefined
    ? await create(ctx, site, revision)
    : await renumber(ctx, site.newest, revision);
  if (newest === undefined) return "collision";
  await tellRevision(ctx, `${revisionOf(newest)}`);
  return { newest, old: site.old };
}

/** Written with the status, as kube-controller-manager does: a changed annotation is no new generation then. */
async function tellRevision(ctx: Context, revision: string): Promise<void> {
  if (ctx.object.metadata.annotations?.[revisionAnnotation] === revision) return;
  const value = { metadata: { annotations: { [revisionAnnotation]: revision } } };
  const options = { subresource: "status", signal: ctx.signal };
  await ctx.client.patch(builtin.Deployment, keyOf(ctx.object), { kind: "merge", value }, options);
}

async function create(ctx: Context, site: Site, revision: number): Promise<ReplicaSet | undefined> {
  const isRecreate = ctx.object.spec.strategy?.type === "Recreate";
  const hasOld = site.old.some((set) => (set.spec.replicas ?? 1) > 0 || (set.status?.replicas ?? 0) > 0);
  const replicas = isRecreate && hasOld ? 0 : roomFor(ctx, 0, wantedOf(site.old));
  const set = await createReplicaSet(ctx.client, ctx.object, { replicas, revision }, ctx.signal);
  if (set !== undefined && replicas > 0) tellScaled(ctx, set, 0, replicas);
  return set;
}

/** A ReplicaSet that an undo made the present one again takes the newest number. */
async function renumber(ctx: Context, set: ReplicaSet, revision: number): Promise<ReplicaSet> {
  const number = Math.max(revisionOf(set), revision);
  const annotations = { ...inherited(ctx.object), [revisionAnnotation]: `${number}` };
  return await ctx.patch(builtin.ReplicaSet, set, { kind: "merge", value: { metadata: { annotations } } });
}

async function recreate(ctx: Context, site: Begun): Promise<Site> {
  const old = await Promise.all(site.old.map((set) => scale(ctx, set, 0)));
  const isEmpty = old.every((set) => (set.status?.replicas ?? 0) === 0);
  return { newest: isEmpty ? await scale(ctx, site.newest, ctx.object.spec.replicas ?? 1) : site.newest, old };
}

async function roll(ctx: Context, site: Begun): Promise<Site> {
  const held = site.newest.spec.replicas ?? 1;
  const wanted = ctx.object.spec.replicas ?? 1;
  const target = held >= wanted ? wanted : Math.min(wanted, held + roomFor(ctx, held, wantedOf(site.old)));
  const newest = await scale(ctx, site.newest, target);
  return { newest, old: await shrinkOld(ctx, newest, site.old) };
}

/** How many more Pods the new ReplicaSet may have. */
function roomFor(ctx: Context, held: number, old: number): number {
  const { replicas = 1 } = ctx.object.spec;
  return Math.max(0, Math.min(replicas - held, replicas + limitsOf(ctx.object).surge - held - old));
}

/** Takes Pods from the old ReplicaSets: those that do not work first, then as many as are available beyond the least. */
async function shrinkOld(ctx: Context, newest: ReplicaSet, old: readonly ReplicaSet[]): Promise<readonly ReplicaSet[]> {
  const least = (ctx.object.spec.replicas ?? 1) - limitsOf(ctx.object).unavailable;
  const missing = (newest.spec.replicas ?? 1) - availableOf([newest]);
  let room = wantedOf([newest, ...old]) - least - missing;
  if (room <= 0) return old;
  let spare = Math.max(0, availableOf([newest, ...old]) - least);
  const shrunk: ReplicaSet[] = [];
  for (const set of old.toSorted((left, right) => revisionOf(left) - revisionOf(right))) {
    const held = set.spec.replicas ?? 1;
    const broken = Math.min(room, Math.max(0, held - availableOf([set])));
    const more = Math.min(spare, held - broken);
    room -= broken;
    spare -= more;
    shrunk.push(broken + more > 0 ? await scale(ctx, set, held - broken - more) : set);
  }
  return shrunk;
}

function availableOf(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + (set.status?.availableReplicas ?? 0), 0);
}

/** While paused nothing moves between templates; a changed number of replicas is shared out as it was. */
async function keepShares(ctx: Context, site: Site): Promise<Site> {
  const active = [...(site.newest === undefined ? [] : [site.newest]), ...site.old].filter((set) =>
    (set.spec.replicas ?? 1) > 0
  );
  const total = wantedOf(active);
  const wanted = ctx.object.spec.replicas ?? 1;
  if (total === wanted || total === 0) return site;
  const scaled = new Map<ReplicaSet, ReplicaSet>();
  let left = wanted;
  for (const [index, set] of active.entries()) {
    const part = index === active.length - 1
      ? left
      : Math.min(left, Math.round((set.spec.replicas ?? 1) * wanted / total));
    left -= part;
    scaled.set(set, await scale(ctx, set, part));
  }
  const now = (set: ReplicaSet) => scaled.get(set) ?? set;
  return { newest: site.newest === undefined ? undefined : now(site.newest), old: site.old.map(now) };
}

async function scale(ctx: Context, set: ReplicaSet, replicas: number): Promise<ReplicaSet> {
  const held = set.spec.replicas ?? 1;
  const annotations = inherited(ctx.object);
  const value = { metadata: { annotations }, spec: { replicas } };
  const live = await ctx.patch(builtin.ReplicaSet, set, { kind: "merge", value });
  if (held !== replicas) tellScaled(ctx, set, held, replicas);
  return live;
}

function tellScaled(ctx: Context, set: ReplicaSet, from: number, to: number): void {
  const word = to > from ? "up" : "down";
  ctx.event("Normal", "ScalingReplicaSet", `Scaled ${word} replica set ${set.metadata.name} from ${from} to ${to}`);
}

async function countCollision(ctx: Context): Promise<Result> {
  await ctx.patchStatus({ collisionCount: (ctx.object.status?.collisionCount ?? 0) + 1 });
  return done;
}

/** Deletes ReplicaSets beyond the history that is kept, once the move is over. */
async function dropOld(ctx: Context, site: Site): Promise<void> {
  const { replicas = 1, revisionHistoryLimit = 10 } = ctx.object.spec;
  const status = site.newest?.status;
  const isComplete = status?.availableReplicas === replicas && wantedOf(site.old) === 0;
  if (!isComplete && replicas !== 0) return;
  const idle = site.old
    .filter((set) => (set.spec.replicas ?? 1) === 0 && (set.status?.replicas ?? 0) === 0)
    .filter((set) => set.metadata.deletionTimestamp === undefined)
    .toSorted((left, right) => revisionOf(left) - revisionOf(right));
  for (const set of idle.slice(0, Math.max(0, idle.length - revisionHistoryLimit))) {
    ctx.log.debug("drops an old ReplicaSet", { replicaSet: keyOf(set) });
    await ctx.delete(builtin.ReplicaSet, set);
  }
}
