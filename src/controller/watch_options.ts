/**
 * The options of watched kinds, and how `for`, `owns` and `watches` of the builder turn them into WatchDefinitions. Nothing
 * runs here.
 */
import { type Infer, type KubeObject, type ObjectKey, type Resource, resourceName } from "../api/mod.ts";
import type { ActivationCondition } from "./activation.ts";
import { type CacheReader, isNotCached } from "./caches.ts";
import { isInHub } from "./clusters.ts";
import { checkedKey, type Debounce, keyOfController, type WatchDefinition } from "./controller_definition.ts";
import { indexByOwner, keyOfTracker, ownerIndex } from "./label_tracking.ts";
import type { Predicate } from "./predicate.ts";
import { indexByOwnerUid, ownerUidIndex } from "./prune.ts";

/** Options of a watched kind: which changes count, and indices of its cache. */
export interface WatchOptionsOf<R extends Resource> {
  /** Accepts the changes that count. @default every change counts */
  readonly when?: Predicate<Infer<R>>;
  /**
   * Functions that compute index values, by index name, for `ctx.list(Pod, { index: { name: "node", value: "n1" } })`.
   * The controllers of one Manager share the indices of a kind, so one name must always mean the same function.
   * @default none
   */
  readonly indices?: Readonly<Record<string, (object: Infer<R>) => readonly string[]>>;
  /**
   * Milliseconds without a further change after which a key is reconciled, for kinds that change in bursts, such as
   * EndpointSlices during a rollout. The first list of the objects is not delayed. @default 0: at once
   */
  readonly debounceMs?: number;
  /** Milliseconds after the first change at which it is reconciled at the latest. @default ten times `debounceMs` */
  readonly maxMs?: number;
}

/** What decides whether a kind is watched at all. */
export interface ActivationOptions {
  /**
   * The condition under which the kind is watched, see `whenServed` and `whenObject`. While it does not hold, nothing of the
   * kind is listed or watched, and reads find nothing; `ctx.isActive` tells that from a kind without objects. Objects are
   * forgotten when it ends to hold: they are not deleted, and not reported as deleted. After each change of the condition, all
   * primary objects are reconciled. @default it is always watched
   */
  readonly activation?: ActivationCondition;
}

/** Options of the primary kind; the second argument of `for`. */
export interface PrimaryOptionsOf<R extends Resource> extends WatchOptionsOf<R> {
  /** The reconciler uses `ctx.patchStatus`. @default true for a custom resource with a status subresource */
  readonly writesStatus?: boolean;
}

/**
 * Options of a kind of dependents; the second argument of `owns`.
 *
 * @example One ConfigMap in each namespace that a Secret names; those that it no longer names are deleted
 * ```ts
 * import { ConfigMap, controller, done, manifest, Secret } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * const copies = controller("copies").for(Secret).owns(ConfigMap, { track: "labels", prunes: true }).reconcile(async (ctx) => {
 *   for (const namespace of ctx.object.metadata.annotations?.namespaces?.split(",") ?? []) {
 *     await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "copy" } }));
 *   }
 *   await ctx.prune();
 *   return done;
 * });
 * await using world = await World.start({ controllers: [copies] });
 * await world.create(Secret, { name: "a", annotations: { namespaces: "default,kube-public" } });
 * await world.settled();
 * console.assert(world.find(ConfigMap, "kube-public/copy") !== undefined);
 * const value = { metadata: { annotations: { namespaces: "default" } } };
 * await world.patch(Secret, "default/a", { kind: "merge", value });
 * await world.settled();
 * console.assert(world.find(ConfigMap, "kube-public/copy") === undefined);
 * await world.delete(Secret, "default/a");
 * await world.settled();
 * console.assert(world.find(ConfigMap, "default/copy") === undefined);
 * ```
 */
export interface OwnOptionsOf<R extends Resource> extends WatchOptionsOf<R>, ActivationOptions {
  /** The reconciler uses `ctx.delete` or `ctx.deleteAll` on these objects. @default false */
  readonly deletes?: boolean;
  /** `ctx.prune()` deletes the objects of this kind that the reconciler no longer applies. @default false */
  readonly prunes?: boolean;
  /**
   * How a dependent refers to the object that controls it. An owner reference works only in the namespace of the owner, or
   * below a cluster-scoped owner. With `"labels"` the dependents may be anywhere: labels and annotations (`pintle.dev/...`)
   * name the owner and its UID, the controller adds a finalizer to each owner, and deletes its dependents before it goes.
   *
   * @default by a controller reference, which the garbage collector follows
   */
  readonly track?: "labels";
  /**
   * Returns further keys to reconcile after a change, besides the controller of the dependent: for example of an object
   * that waits until a name is free. @default none
   */
  readonly to?: (object: Infer<R>, caches: CacheReader) => readonly string[];
}

/** Options of a kind that the reconciler reads; the second argument of `watches`. */
export interface MappedWatchOptions<R extends Resource> extends WatchOptionsOf<R>, ActivationOptions {
  /**
   * Returns the keys of the primary objects to reconcile after a change of this object.
   *
   * @param caches The caches of the watched kinds, for finding the objects that refer to this one. They may be incomplete.
   */
  readonly to: (object: Infer<R>, caches: CacheReader) => readonly string[];
  /** The reconciler uses `ctx.applyFields` on these objects. @default false */
  readonly writes?: boolean;
}

/** The watch of a kind of dependents. */
export function ownedWatch<R extends Resource>(
  { name, primary }: { readonly name: string; readonly primary: Resource },
  resource: R,
  options: OwnOptionsOf<R>,
): WatchDefinition {
  const { track, prunes = false, deletes = false, to, activation } = options;
  const keysOfOwner = track === "labels" ? keyOfTracker(primary, resource, name) : keyOfController(primary);
  const { when, indices, debounce } = untyped(options);
  const ownIndices = {
    ...(track === "labels" ? { [ownerIndex]: indexByOwner } : {}),
    ...(prunes ? { [ownerUidIndex]: indexByOwnerUid } : {}),
  };
  return {
    role: "owns",
    resource,
    keysOf: to === undefined ? keysOfOwner : joined(keysOfOwner, checkedKeys(primary, to)),
    writes: true,
    deletes: deletes || prunes || track === "labels",
    prunes,
    track,
    ...(to === undefined ? {} : { mapsOthers: true }),
    when,
    ...(activation === undefined ? {} : { activation }),
    ...(debounce === undefined ? {} : { debounce }),
    indices: Object.keys(ownIndices).length === 0 ? indices : { ...indices, ...ownIndices },
  };
}

/** @throws TypeError when the kind is not cached, or its cache is that of the hub and it has a condition */
export function checkedWatch(name: string, watch: WatchDefinition): WatchDefinition {
  const kind = resourceName(watch.resource);
  if (isInHub(watch.resource) && watch.activation !== undefined) {
    throw new TypeError(
      `Cannot watch ${kind} of the hub in controller "${name}" under a condition: all clusters share its cache. Leave out ` +
        "the activation",
    );
  }
  if (!isNotCached(watch.resource)) return watch;
  throw new TypeError(`Cannot watch ${kind} in controller "${name}": it is not cached. Declare it with uses()`);
}

/** The watch, with the index by which the dependents of an owner are found. */
export function indexedByOwner(watch: WatchDefinition): WatchDefinition {
  return { ...watch, indices: { ...watch.indices, [ownerUidIndex]: indexByOwnerUid } };
}

function joined(
  keysOfOwner: (object: KubeObject) => readonly ObjectKey[],
  to: WatchDefinition["keysOf"],
): WatchDefinition["keysOf"] {
  return (object, caches) => [...keysOfOwner(object), ...to(object, caches)];
}

/** Checks the strings that a user's mapping returns, so that only valid ObjectKeys reach the queue. */
export function checkedKeys<R extends Resource>(primary: Resource, to: MappedWatchOptions<R>["to"]) {
  return (object: KubeObject, caches: CacheReader): readonly ObjectKey[] =>
    to(object as Infer<R>, caches).map((key) => checkedKey(primary, key));
}

/** The cache delivers only objects of the watched kind, so these functions can be called without type checks. */
export function untyped<R extends Resource>(
  options: WatchOptionsOf<R>,
): Pick<WatchDefinition, "when" | "indices" | "debounce"> {
  const debounce = debounceOf(options);
  return {
    when: options.when as Predicate | undefined,
    indices: options.indices as WatchDefinition["indices"],
    ...(debounce === undefined ? {} : { debounce }),
  };
}

/** @throws RangeError when the times are not usable */
function debounceOf({ debounceMs = 0, maxMs }: WatchOptionsOf<Resource>): Debounce | undefined {
  if (debounceMs === 0 && maxMs === undefined) return undefined;
  const most = maxMs ?? 10 * debounceMs;
  if (debounceMs > 0 && Number.isFinite(debounceMs) && most >= debounceMs) return { debounceMs, maxMs: most };
  throw new RangeError(
    `Cannot debounce changes: debounceMs ${debounceMs} with maxMs ${most}. Use a positive debounceMs, and no smaller maxMs`,
  );
}
