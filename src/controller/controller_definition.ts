/**
 * ControllerDefinition: a controller as a value. The builder creates it, a Manager turns it into a running Controller,
 * and CRDs, RBAC rules and caches are derived from it. Nothing runs here.
 *
 * A WatchDefinition is the step between a cache and a queue: Informer -> Predicate -> `keysOf` -> WorkQueue. Its types
 * are erased; the builder checks them.
 */
import {
  apiVersionOf,
  controllerOf,
  keyOf,
  type KubeObject,
  type LabelSelector,
  type ObjectKey,
  objectKey,
  type Resource,
  splitKey,
} from "../api/mod.ts";
import type { Indexers } from "../cache/mod.ts";
import type { RateLimiter } from "../queue/mod.ts";
import type { ActivationCondition } from "./activation.ts";
import type { CacheReader } from "./caches.ts";
import type { DaemonDefinition } from "./daemon.ts";
import type { Dependents } from "./dependents_state.ts";
import type { EventSource } from "./event_source.ts";
import type { ExternalSource } from "./external.ts";
import type { ImpersonationRules } from "./impersonation.ts";
import type { Predicate } from "./predicate.ts";
import type { Request, Result } from "./request.ts";
import type { ShardKey } from "./shards.ts";
import type { Toolbox } from "./toolbox.ts";

/**
 * One controller as a value, ready for `operatorCli`, for a Manager, or for the World of a test. Create it with
 * {@link controller}.
 */
export interface ControllerDefinition {
  /** Unique in a Manager; the name of its queue, field manager, logs and metrics. */
  readonly name: string;
  /** The kind that is reconciled. */
  readonly primary: Resource;
  /** The controller writes the status of the primary kind. */
  readonly writesStatus: boolean;
  /** All watched kinds, the primary kind first. */
  readonly watches: readonly WatchDefinition[];
  /** What `uses` declared. */
  readonly permissions: readonly Permission[];
  /** Reasons to reconcile that do not come from a watched kind. */
  readonly sources: readonly EventSource[];
  /** The external resources of the primary objects. @default none */
  readonly externals?: readonly ExternalSource<Resource, unknown>[];
  /** Runs beside the reconciler for each primary object. @default none */
  readonly daemon?: DaemonDefinition;
  /** Added to every primary object. @default none, the controller has no `finalize` */
  readonly finalizer?: string;
  /** The ordered dependents of each primary object. @default none */
  readonly dependents?: Dependents;
  /** The users that the controller may act as, see `ctx.as`. @default none */
  readonly impersonates?: ImpersonationRules;
  /** Called with the last state of each primary object that was deleted. @default none */
  readonly deleted?: DeletedReconciler;
  /** How the controller works. */
  readonly options: ControllerOptions;
  /** Called with each key that is to be reconciled. */
  readonly reconciler: Reconciler;
}

/**
 * Changes the object that the request names towards its desired state. This is the raw form; the builder creates it from
 * `reconcile(ctx)` and `finalize(ctx)`. Use it with `reconcileKey` if the controller must act on keys without objects.
 *
 * @returns `done` or `requeueAfter(ms)`. An error is retried with backoff, unless it is a TerminalError.
 * @example
 * ```ts
 * import { controller, done, Namespace, type Reconciler } from "@pintle/controller";
 *
 * const report: Reconciler = ({ key }, toolbox) => {
 *   const namespace = toolbox.find(Namespace, key);
 *   toolbox.log.info("reconciled", { isDeleted: namespace === undefined });
 *   return Promise.resolve(done);
 * };
 * const reporter = controller("reporter").for(Namespace).reconcileKey(report);
 * console.assert(reporter.reconciler === report);
 * ```
 */
export type Reconciler = (request: Request, toolbox: Toolbox) => Promise<Result>;

/** A primary object that was deleted. */
export interface DeletedObject {
  /** Its last state in the cache. */
  readonly object: KubeObject;
  /** False when the object may have changed after that, because the deletion itself was not seen. */
  readonly isFinalStateKnown: boolean;
}

/** Works on the last state of a deleted object; `deleted` of the builder creates it. */
export type DeletedReconciler = (deleted: DeletedObject, toolbox: Toolbox) => Promise<Result>;

/**
 * How a controller works; the second argument of {@link controller}.
 *
 * @example Four workers, and no retry after a minute
 * ```ts
 * import { controller, done, Namespace } from "@pintle/controller";
 *
 * const greeter = controller("greeter", { maxConcurrentReconciles: 4, reconcileTimeoutMs: 60_000 })
 *   .for(Namespace).reconcile(() => Promise.resolve(done));
 * console.assert(greeter.options.maxConcurrentReconciles === 4);
 * ```
 */
export interface ControllerOptions {
  /** Keys that are reconciled at the same time; never the same key twice. @default 1 */
  readonly maxConcurrentReconciles?: number;
  /** Name of the work queue in logs and metrics. @default the controller's name */
  readonly queueName?: string;
  /**
   * Which keys take turns when many are queued: with "namespace", a namespace with 10,000 keys delays one with a single
   * key by one turn; with "none", the order is first in, first out. @default "namespace" if the kind is namespaced
   */
  readonly fairness?: "namespace" | "none";
  /**
   * Where the controller runs in a Fleet: in each of its members, or only in the hub. Without a Fleet it runs in the one
   * cluster. @default "members"
   */
  readonly runsIn?: "members" | "hub";
  /** Backoff of failing keys. @default 5 ms doubling to 1000 s, joined with 10/s and a burst of 100, as client-go's */
  readonly rateLimiter?: () => RateLimiter<ObjectKey>;
  /** Milliseconds after which a reconcile's signal aborts. @default Infinity */
  readonly reconcileTimeoutMs?: number;
  /** Retries of a failing key. When all have failed, the key is dropped until it changes. @default Infinity */
  readonly maxRetries?: number;
  /** Reason of the Warning Event about an object whose key failed and is not retried. @default "NotRetrying" */
  readonly droppedReason?: string;
  /** The only namespace of the controller: objects elsewhere are neither cached for it nor reconciled. @default the Manager's */
  readonly namespace?: string;
  /**
   * The primary objects of the controller: those without these labels are neither cached for it nor reconciled, and its
   * reads do not find them. Other watched kinds are not selected, so dependents need no labels. An object that loses its
   * labels leaves the cache like a deleted one: nothing is called for it, and its dependents and finalizer stay.
   * @default all
   */
  readonly selector?: LabelSelector;
  /** Reporting controller of its Events. @default the Manager's name and the controller's: `controller/foo` */
  readonly eventComponent?: string;
  /** Milliseconds between two resyncs; a resync counts every object as changed. @default the Manager's */
  readonly resyncMs?: number;
  /** Maximum milliseconds of the random delay before each worker starts. @default the Manager's */
  readonly workerJitterMs?: number;
  /** Owner of the fields that `ctx.apply` writes. @default the controller's name */
  readonly fieldManager?: string;
  /**
   * Whether a key is reconciled again after its own writes: "ignore" unless another client has written the same object in
   * between, "deliver" as after any change. The end of an object that it deleted is always delivered. @default "ignore"
   */
  readonly ownWrites?: "ignore" | "deliver";
  /** The annotation `pintle.dev/paused` keeps the controller from reconciling an object, see `pausedAnnotation`. @default true */
  readonly isPausable?: boolean;
  /** An object that is not retried gets a Warning Event and the condition `Stalled`, see `stalledCondition`. @default true */
  readonly reportsStalled?: boolean;
  /** The controller records Events. @default true */
  readonly recordsEvents?: boolean;
  /**
   * Which replicas run the controller. With "one", the elected leader, for all keys, also when the Manager shards: for a
   * controller that needs to see all objects at once. With "every", each replica, for all keys and without leader election:
   * for what each process needs of its own, such as a table that its webhooks read. Its replicas reconcile the same object at
   * the same time, so it should write at most objects that belong to its replica; its writes are not bound to a Lease.
   *
   * @default the elected leader; when the Manager shards, each replica, for its part of the keys
   */
  readonly replicas?: "one" | "every";
  /** By which value the keys are divided between replicas when the Manager shards. @default "uid" */
  readonly shardKey?: ShardKey;
}

/** What the controller may do besides what its watches declare. RBAC rules are derived from it. */
export interface Permission {
  /** The kind that the verbs are about. */
  readonly resource: Resource;
  /** What the controller does with it. */
  readonly verbs: readonly Verb[];
  /** The part of the objects that the verbs are about, such as `status` or `scale`. @default the whole objects */
  readonly subresource?: string;
}

/** An RBAC verb. There is no `*`: each rule names what it allows. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** All RBAC verbs, in the order in which rules list them. */
export const verbs: readonly Verb[] = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
];

/** One watched kind of a controller. */
export interface WatchDefinition {
  /** Why the kind is watched: it is reconciled, the reconciler creates its objects, or the reconciler only reads it. */
  readonly role: "for" | "owns" | "watches";
  /** The watched kind. */
  readonly resource: Resource;
  /** The keys of the primary objects to reconcile after a change of `object`. `caches` are the controller's. */
  readonly keysOf: (object: KubeObject, caches: CacheReader) => readonly ObjectKey[];
  /** True when the reconciler applies fields to these objects. The cache then keeps the managedFields of the controller. */
  readonly writes: boolean;
  /** True when the reconciler deletes these objects. */
  readonly deletes: boolean;
  /** True when `ctx.prune` deletes objects of this kind. @default false */
  readonly prunes?: boolean;
  /** How the objects of an owned kind refer to their owner. @default by a controller reference */
  readonly track?: "labels";
  /** True when a change of such an object can concern another key than that of its owner. @default false */
  readonly mapsOthers?: boolean;
  /** Accepts the changes that count. @default every change counts */
  readonly when?: Predicate;
  /** Functions that compute index values, by index name. @default none */
  readonly indices?: Indexers<KubeObject>;
  /** Changes are collected before a key is enqueued. @default each change enqueues at once */
  readonly debounce?: Debounce;
  /** The condition under which the kind is watched. @default it is always watched */
  readonly activation?: ActivationCondition;
}

/** How long changes of a watched kind are collected, see `debounceMs` of the builder. */
export interface Debounce {
  /** Milliseconds without a change after which the key is enqueued. */
  readonly debounceMs: number;
  /** Milliseconds after the first change at which it is enqueued at the latest. */
  readonly maxMs: number;
}

/** Maps an object to its own key. */
export function keyOfObject(object: KubeObject): readonly ObjectKey[] {
  return [keyOf(object)];
}

/**
 * Maps a dependent to the key of the owner that controls it, if that owner is of kind `owner`. Group and kind must
 * match. The version need not: a dependent keeps the owner reference when the API of its owner gets a new version.
 */
export function keyOfController(owner: Resource): (object: KubeObject) => readonly ObjectKey[] {
  return (object) => {
    const reference = controllerOf(object);
    if (reference === undefined || reference.kind !== owner.kind) return [];
    if (groupOf(reference.apiVersion) !== groupOf(apiVersionOf(owner))) return [];
    const namespace = owner.scope === "Namespaced" ? object.metadata.namespace : undefined;
    return [objectKey({ namespace, name: reference.name })];
  };
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/**
 * Checks that a key written by a user is a key of the primary kind.
 *
 * @throws TypeError when the form of the key does not match the scope of the kind.
 */
export function checkedKey(primary: Resource, key: string): ObjectKey {
  const parts = splitKey(key);
  if ((parts.namespace !== undefined) !== (primary.scope === "Namespaced")) {
    const form = primary.scope === "Namespaced" ? "namespace/name" : "name";
    throw new TypeError(`Cannot enqueue ${primary.kind} "${key}": its keys have the form ${form}`);
  }
  return objectKey(parts);
}
