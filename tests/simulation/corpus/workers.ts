/**
 * Operators that keep a number of workers with generated names: one counts them in a cache that does not show its own last
 * creation or deletion yet, its twin counts them on the server.
 */
import {
  controller,
  controllerReference,
  defineResource,
  done,
  type Infer,
  isControlledBy,
  isNotFound,
  keyOf,
  Pod,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, UserSteps, workload } from "./_case.ts";

const Pool = defineResource({
  group: "pools.example.dev",
  version: "v1",
  kind: "Pool",
  scope: "Namespaced",
  spec: z.object({ workers: z.int32().default(1) }),
});

const pools = new UserSteps("pools.example.dev/v1", "Pool");
const growAndShrink = workload(
  "grow and shrink",
  pools.create("a", { spec: { workers: 3 } }),
  pools.patch("a", { spec: { workers: 1 } }),
  pools.patch("a", { spec: { workers: 2 } }),
);

function newWorker(pool: Infer<typeof Pool>) {
  const { namespace, name } = pool.metadata;
  const ownerReferences = [controllerReference(pool, Pool)];
  const spec = { containers: [{ name: "worker", image: "worker:1" }] };
  return { metadata: { namespace, generateName: `${name}-worker-`, ownerReferences }, spec };
}

function deletionOf(worker: Infer<typeof Pod>) {
  return { gracePeriodSeconds: 0, preconditions: { uid: worker.metadata.uid } };
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** Keeps as many workers as a Pool asks for. */
const countsInCache = controller("counts-in-cache").for(Pool).owns(Pod, { deletes: true }).uses(Pod, ["create"])
  .reconcile(async (ctx) => {
    const { namespace } = ctx.object.metadata;
    const { workers: wanted } = ctx.object.spec;
    const { signal } = ctx;
    // Wrong: the cache may still have a worker that was just deleted, and then one that works goes in its place.
    const workers = ctx.list(Pod, { namespace }).filter((pod) => isControlledBy(pod, ctx.object));
    for (const worker of workers.slice(wanted)) {
      await ctx.client.delete(Pod, keyOf(worker), { ...deletionOf(worker), signal }).catch(ignoreNotFound);
    }
    for (let count = workers.length; count < wanted; count++) {
      await ctx.client.create(Pod, newWorker(ctx.object), { signal });
    }
    return done;
  });

/** The same with the workers that exist on the server. */
const countsOnServer = controller("counts-on-server").for(Pool).owns(Pod, { deletes: true })
  .uses(Pod, ["create", "list"])
  .reconcile(async (ctx) => {
    const { namespace } = ctx.object.metadata;
    const { workers: wanted } = ctx.object.spec;
    const { signal } = ctx;
    const { items } = await ctx.client.list(Pod, { namespace, signal });
    const workers = items.filter((pod) => isControlledBy(pod, ctx.object));
    for (const worker of workers.slice(wanted)) {
      await ctx.client.delete(Pod, keyOf(worker), { ...deletionOf(worker), signal }).catch(ignoreNotFound);
    }
    for (let count = workers.length; count < wanted; count++) {
      await ctx.client.create(Pod, newWorker(ctx.object), { signal });
    }
    return done;
  });

/** The operator that counts in the cache. */
export const workers: readonly CorpusCase[] = [
  {
    name: "worker-deleted-twice",
    kind: "bug",
    class: "cache read right after a delete or create",
    about:
      "A worker too many is deleted or started, because the cache does not show the last deletion or creation yet.",
    controllers: [withWorkloads(countsInCache, growAndShrink)],
    expected: ["object-lifecycle"],
  },
];

/** Its twin. */
export const correctWorkers: readonly CorpusCase[] = [
  {
    name: "workers-counted-on-server",
    kind: "correct",
    class: "generated names, and a count in each reconcile",
    about: "The server always knows how many workers there are.",
    controllers: [withWorkloads(countsOnServer, growAndShrink)],
  },
];
