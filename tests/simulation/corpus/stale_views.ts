/**
 * Operators that destroy something because their cache is old (Sieve: stale states, "time travel"): after a restart the first
 * lists come from a server that is behind.
 *
 * Caveats: all of them are right as long as the cache is. The classes were reported for operators of databases.
 */
import {
  ConfigMap,
  controller,
  defineResource,
  done,
  type Infer,
  isAlreadyExists,
  isControlledBy,
  isNotFound,
  keyOf,
  manifest,
  PersistentVolumeClaim,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { atOnce, type CorpusCase, UserSteps, workload } from "./_case.ts";

const Cluster = defineResource({
  group: "ring.example.dev",
  version: "v1",
  kind: "Cluster",
  scope: "Namespaced",
  spec: z.object({ members: z.int32().min(0).max(5).default(1), users: z.array(z.string()).default([]) }),
  status: z.object({ members: z.int32().optional(), address: z.string().optional() }),
});
type Cluster = Infer<typeof Cluster>;

const clusters = new UserSteps("ring.example.dev/v1", "Cluster");

const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } as const;

/** The claims outlive the StatefulSet, so the operator deletes them when their cluster is deleted. */
const finalizesFromCache = controller("finalizes-from-cache")
  .for(Cluster)
  .owns(PersistentVolumeClaim, { deletes: true })
  .uses(Cluster, ["patch"])
  .reconcileKey(async ({ key, namespace, name }, toolbox) => {
    const { client, signal } = toolbox;
    const cluster = toolbox.find(Cluster, key);
    if (cluster === undefined) return done;
    const claim = `${namespace}/data-${name}-0`;
    if (cluster.metadata.deletionTimestamp !== undefined) {
      // Wrong: the claim of that name may belong to a new cluster of that name.
      await client.delete(PersistentVolumeClaim, claim, { signal }).catch(ignoreNotFound);
      await client.patch(Cluster, key, { kind: "merge", value: { metadata: { finalizers: [] } } }, { signal })
        .catch(ignoreNotFound);
      return done;
    }
    if (!cluster.metadata.finalizers?.includes("ring.example.dev/claims")) {
      const { resourceVersion } = cluster.metadata;
      const value = { metadata: { resourceVersion, finalizers: ["ring.example.dev/claims"] } };
      await client.patch(Cluster, key, { kind: "merge", value }, { signal });
    }
    if (toolbox.find(PersistentVolumeClaim, claim) !== undefined) return done;
    const metadata = { namespace, name: `data-${name}-0` };
    await client.create(PersistentVolumeClaim, { metadata, spec: claimSpec }, { signal }).catch(ignoreAlreadyExists);
    return done;
  });

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

function ignoreAlreadyExists(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

/** One claim for each member; when the cluster shrinks, the claims of removed members go. */
const shrinksByCache = controller("shrinks-by-cache").for(Cluster).owns(PersistentVolumeClaim, { deletes: true })
  .reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const { members } = ctx.object.spec;
    const claims = ctx.list(PersistentVolumeClaim, { namespace }).filter((claim) => isControlledBy(claim, ctx.object));
    for (let ordinal = 0; ordinal < members; ordinal++) {
      const metadata = { namespace, name: `data-${name}-${ordinal}` };
      await ctx.apply(manifest(PersistentVolumeClaim, { metadata, spec: claimSpec }));
    }
    for (const claim of claims) {
      const ordinal = Number(claim.metadata.name?.split("-").at(-1));
      // Wrong: an old cluster in the cache has fewer members than the claims that the cache shows already.
      if (ordinal < members) continue;
      const { uid } = claim.metadata;
      await ctx.client.delete(PersistentVolumeClaim, keyOf(claim), { preconditions: { uid } }).catch(ignoreNotFound);
    }
    return done;
  });

/** Removes the ConfigMaps of clusters that no longer exist; it does not trust the garbage collector. */
const sweepsOrphans = controller("sweeps-orphans")
  .for(Cluster)
  .owns(ConfigMap, { deletes: true, to: (map) => [`${map.metadata.namespace}/${map.metadata.labels?.cluster ?? ""}`] })
  .uses(ConfigMap, ["create"])
  .reconcileKey(async ({ key, namespace, name }, toolbox) => {
    const { client, signal } = toolbox;
    const cluster = toolbox.find(Cluster, key);
    const map = `${namespace}/${name}-state`;
    if (cluster === undefined) {
      // Wrong: the ConfigMap has the state of the members, and the cluster may only be missing in an old list.
      if (toolbox.find(ConfigMap, map) !== undefined) {
        await client.delete(ConfigMap, map, { signal }).catch(ignoreNotFound);
      }
      return done;
    }
    if (cluster.metadata.deletionTimestamp !== undefined || toolbox.find(ConfigMap, map) !== undefined) return done;
    const metadata = { namespace, name: `${name}-state`, labels: { cluster: name } };
    await client.create(ConfigMap, { metadata, data: { members: "" } }, { signal }).catch(ignoreAlreadyExists);
    return done;
  });

const addresses = ["10.1.0.1", "10.1.0.2", "10.1.0.3"];

/** Gives each cluster an address of a small pool, and records it in a ConfigMap. */
const allocatesAddress = controller("allocates-address", { maxConcurrentReconciles: 2 })
  .for(Cluster).owns(ConfigMap)
  .reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    if (ctx.object.status?.address !== undefined) return done;
    // Wrong: two workers, or an old cache, find the same address free.
    const taken = new Set(ctx.list(ConfigMap, { namespace }).map(({ data }) => data?.address));
    const address = addresses.find((one) => !taken.has(one));
    if (address === undefined) throw new Error(`Cannot give cluster "${name}" an address: none is free`);
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: `${name}-address` }, data: { address } }));
    await ctx.patchStatus({ address });
    return done;
  });

export const staleViews: readonly CorpusCase[] = [
  {
    name: "claim-of-new-cluster",
    kind: "bug",
    class: "stale state: deletion decided from an old cache",
    about:
      "Restarted on an old list, the operator deletes the claim of the new cluster, because the old one was being deleted.",
    controllers: [withWorkloads(
      finalizesFromCache,
      workload(
        "recreate",
        clusters.create("a", { spec: {} }),
        clusters.delete("a"),
        clusters.create("a", { spec: {} }),
      ),
    )],
    expected: ["object-lifecycle", "end-state", "foreign-objects"],
  },
  {
    name: "claim-of-living-member",
    kind: "bug",
    class: "stale state: scale down by an old cache",
    about: "Restarted on an old list, the operator deletes the claim of a member that exists.",
    controllers: [withWorkloads(
      shrinksByCache,
      workload(
        "grow and shrink",
        clusters.create("a", { spec: { members: 1 } }),
        clusters.patch("a", { spec: { members: 3 } }),
        clusters.patch("a", { spec: { members: 2 } }),
      ),
    )],
    expected: ["object-lifecycle"],
  },
  {
    name: "state-swept-as-orphan",
    kind: "bug",
    class: "stale state: absence in one cache",
    about: "While the list of clusters is old, the state of a living cluster is deleted as an orphan.",
    controllers: [withWorkloads(
      sweepsOrphans,
      workload(
        "create and delete",
        clusters.create("a", { spec: {} }),
        clusters.create("b", { spec: {} }),
        clusters.delete("a"),
      ),
    )],
    expected: ["object-lifecycle"],
  },
  {
    name: "address-given-twice",
    kind: "bug",
    class: "stale state: allocation from a cache",
    about: "Two clusters get the same address.",
    controllers: [withWorkloads(
      allocatesAddress,
      workload(
        "three at once",
        atOnce(clusters.create("a", { spec: {} })),
        clusters.create("b", { spec: {} }),
        clusters.create("c", { spec: {} }),
      ),
    )],
    expected: ["end-state"],
  },
];
