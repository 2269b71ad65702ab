/**
 * ReconcileContext: the typed form of the Toolbox for `reconcile(ctx)` and `finalize(ctx)`. `Primary` is the reconciled
 * kind, `Declared` are all kinds that the controller declared: reading or writing another kind does not compile, with a
 * message that names what to declare.
 */
import { apiVersionOf, type Infer, keyOf, type Resource } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { ListFilter } from "../cache/mod.ts";
import type { Client, DeleteOptions, ImpersonatedUser, Patch, PatchValue } from "../client/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { isBounded, isNotCached, type NotCached, type Read } from "./caches.ts";
import { type ClusterIdentity, type Hub, type InHub, isInHub } from "./clusters.ts";
import type { DependentsState } from "./dependents_state.ts";
import type { Desired } from "./desired.ts";
import type { ExternalItem, ExternalSource } from "./external.ts";
import type { DependentFilter } from "./prune.ts";
import type { Cause } from "./request.ts";
import type { Toolbox } from "./toolbox.ts";

/** The type of the status of a Resource's objects; never if they have none. */
export type StatusOf<R extends Resource> = Infer<R> extends { readonly status?: infer Status } ? NonNullable<Status>
  : never;

/** A kind that the controller declared; for another kind, the sentence that the compiler prints. */
export type DeclaredKind<R extends Resource, Declared extends Resource> = R extends Declared ? R
  : `${R["kind"]} is not declared: add .owns(${R["kind"]}), .watches(${R["kind"]}, ...) or .uses(notCached(${R[
    "kind"
  ]}), ...)`;

/** The desired state of a cached kind that the controller declared; for another kind, the sentence that the compiler prints. */
export type DeclaredDesired<Kind extends string, Declared extends Resource> = Kind extends
  Exclude<Declared, NotCached | InHub>["kind"]
  ? Desired<Extract<Declared, { readonly kind: Kind }>> & { readonly kind: Kind }
  : `${Kind} is not declared: add .owns(${Kind}), or .watches(${Kind}, { ..., writes: true }) for ctx.applyFields`;

/** Options of `ctx.delete`, with which a reconciler deletes a dependent. */
export interface DeleteDependentOptions<Primary extends Resource> {
  /** Called with the live primary object, because an old cache must not decide what is deleted. @default every delete is sent */
  readonly onlyIf?: (live: Infer<Primary>) => boolean;
  /**
   * What happens to the dependents of the deleted object: they are deleted after it ("Background"), before it
   * ("Foreground"), or stay ("Orphan"). A Job that is deleted through the API without a policy leaves its Pods.
   *
   * @default "Background"
   */
  readonly propagationPolicy?: DeleteOptions["propagationPolicy"];
}

/** Options of `ctx.deleteAll`: which dependents of the object, and how. */
export interface DeleteAllOptions<Primary extends Resource> extends DependentFilter, DeleteDependentOptions<Primary> {}

/** Options of `ctx.prune`. */
export type PruneOptions = Pick<DeleteDependentOptions<Resource>, "propagationPolicy">;

/**
 * What a reconciler works with during one attempt to reconcile one object: the object, cached reads, and writes that
 * repeat nothing. `Primary` is the reconciled kind, `Declared` are all kinds that the controller declared.
 *
 * @example A reconciler as a function of its own
 * ```ts
 * import { ConfigMap, controller, done, manifest, Namespace, type ReconcileContext, type Result } from "@pintle/controller";
 *
 * async function greet(ctx: ReconcileContext<typeof Namespace, typeof Namespace | typeof ConfigMap>): Promise<Result> {
 *   const namespace = ctx.object.metadata.name;
 *   if (ctx.find(ConfigMap, `${namespace}/mute`) !== undefined) return done;
 *   await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" }, data: { text: "hello" } }));
 *   ctx.event("Normal", "Greeted", "created the greeting");
 *   return done;
 * }
 * const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(greet);
 * console.assert(greeter.name === "greeter");
 * ```
 */
// A context with more kinds is accepted where one with fewer is expected. The compiler cannot derive that through the
// conditional types of the messages, so it is stated here and tested in `context_types_test.ts`.
// @ts-expect-error the compiler cannot check `in`
export interface ReconcileContext<Primary extends Resource, in Declared extends Resource> {
  /** The object, from the cache. In `reconcile` it is not being deleted; in `finalize` it is, and it was read live. */
  readonly object: Infer<Primary>;
  /** Aborts when the time limit of the attempt has passed or the process must stop. */
  readonly signal: AbortSignal;
  /** Logs with the controller and the key of the object as fields. */
  readonly log: Logger;
  /** The current time, for conditions and deadlines. */
  readonly clock: Clock;
  /** Why this attempt was made. */
  readonly causes: readonly Cause[];
  /** Failures in a row before this attempt. */
  readonly retries: number;
  /** Direct access to the API server, for what the other members do not cover. */
  readonly client: Client;
  /**
   * Returns a client that acts as another user: with the permissions of that user, for what a tenant describes and may not
   * be allowed to do. Its reads are live, because the caches have what the controller may see. Declare the user with
   * `impersonates`.
   *
   * @param user A user with groups, or a ServiceAccount as `namespace/name`.
   * @throws TypeError when the controller did not declare the user
   */
  as(user: ImpersonatedUser): Client;
  /**
   * The external resource of the object, as the polls have found it. Declare the source with `external`.
   *
   * @throws TypeError when the controller did not declare the source
   */
  external<Item>(source: ExternalSource<Primary, Item>): ExternalItem<Item>;
  /** The cluster of the object in a Fleet; undefined without a Fleet, and for a controller that runs in the hub. */
  readonly cluster: ClusterIdentity | undefined;
  /** The hub of the Fleet, for requests that the caches of kinds marked with `inHub` do not cover. Without a Fleet, the cluster itself. */
  readonly hub: Hub;
  /**
   * The cached object with the key "namespace/name", or "name" if cluster-scoped; undefined if there is none. For a kind
   * that is `notCached` it sends a request to the API server and returns a promise.
   */
  find<R extends Resource>(resource: DeclaredKind<R, Declared>, key: string): Read<R, Infer<R> | undefined>;
  /**
   * Like `find`, for an object that must exist.
   *
   * @throws Error when the cache has none, ApiError when the server has none
   */
  get<R extends Resource>(resource: DeclaredKind<R, Declared>, key: string): Read<R, Infer<R>>;
  /**
   * The cached objects that match the filter, in no particular order. For a kind that is `notCached`, a promise of those
   * of the API server.
   *
   * @throws RangeError when the kind has no index of the name in the filter
   */
  list<R extends Resource>(resource: DeclaredKind<R, Declared>, filter?: ListFilter): Read<R, readonly Infer<R>[]>;
  /**
   * True while a kind with an `activation` is watched and its cache has all objects; always true for a kind without. While it
   * is false, reads of the kind find nothing, and `apply` is an error. An attempt that runs when it becomes false is ended,
   * and repeated.
   */
  isActive<R extends Resource>(resource: DeclaredKind<R, Declared>): boolean;
  /**
   * Creates or changes a dependent of the object so that it has the desired values, by server-side apply. Nothing is sent
   * if it already has them. Fields that an earlier apply set and that are no longer desired are removed. The object
   * becomes the controller of the dependent; for a kind that is declared with `track: "labels"`, labels name it instead.
   *
   * @throws NotControlledError when an object with that name exists and another owner, or none, controls it
   * @throws TerminalError before anything is sent, when no owner reference can lead from the dependent to the object:
   * the dependent is in another namespace, or cluster-scoped while the object is not
   */
  apply<K extends string>(
    desired: DeclaredDesired<K, Declared>,
  ): Promise<Infer<Extract<Declared, { readonly kind: K }>>>;
  /**
   * Sets some fields of an object that another controller owns, such as a label on a Node: the controller owns the
   * desired fields, fields that it owns and that are no longer desired are removed, all others stay as they are. Declare
   * the kind with `watches(..., { writes: true })`.
   *
   * @returns The live object; undefined when the cache has none, because it is never created.
   */
  applyFields<K extends string>(
    desired: DeclaredDesired<K, Declared>,
  ): Promise<Infer<Extract<Declared, { readonly kind: K }>> | undefined>;
  /**
   * Deletes a dependent of the object: only in the version that was read, and only if the object itself, read live, still
   * exists. A dependent that is already deleted is not an error. Declare the kind with `owns(..., { deletes: true })`.
   *
   * @returns False when nothing was deleted, because the object no longer exists or `onlyIf` returned false.
   * @throws NotControlledError when another owner, or none, controls it
   */
  delete<R extends Resource>(
    resource: DeclaredKind<R, Declared>,
    dependent: Infer<R>,
    options?: DeleteDependentOptions<Primary>,
  ): Promise<boolean>;
  /**
   * Deletes the dependents of the object of one kind, those with certain labels for example. Labels only select: each
   * candidate must also belong to the object, by UID, in a live read, and the object itself must still exist. Declare the
   * kind with `owns(..., { deletes: true })`.
   *
   * @returns How many were deleted.
   */
  deleteAll<R extends Resource>(
    resource: DeclaredKind<R, Declared>,
    options?: DeleteAllOptions<Primary>,
  ): Promise<number>;
  /**
   * Deletes the dependents that this attempt did not apply, of all kinds that are declared with `owns(..., { prunes: true
   * })`. Call it when everything that should exist has been applied. A dependent is deleted only after a live look: it
   * belongs to the object, by UID; this controller has applied it; and the object is the one that was reconciled, in the
   * same generation, and is not being deleted. What another controller created for the same object stays.
   *
   * @returns How many were deleted.
   * @throws TypeError when no kind is declared with `prunes: true`
   */
  prune(options?: PruneOptions): Promise<number>;
  /**
   * Applies the ordered dependents that the controller declared with `.dependents(...)`: those whose gates are open, from the
   * first to the last. It deletes those that should not exist, in reverse.
   *
   * @returns The state of each dependent: which ones are ready, and which gate is closed. Return its `result()`.
   * @throws TypeError when the controller declared none
   */
  applyDependents(): Promise<DependentsState>;
  /**
   * Patches an object of any owner, for what `apply` and `applyFields` cannot express, such as a list that other clients
   * write too. Declare it with `uses(..., ["patch"])`, unless the kind is declared with `owns`. A merge patch that would
   * change nothing is not sent. Set `metadata.resourceVersion` in the patch if it depends on what was read; if that
   * version is old, the response is a conflict.
   *
   * @returns The live object; the given one when no write was necessary.
   * @throws ApiError when the server rejects it, see `isConflict`, `isNotFound`.
   */
  patch<R extends Resource>(
    resource: DeclaredKind<R, Declared>,
    object: Infer<R>,
    patch: Patch<R>,
  ): Promise<Infer<R>>;
  /**
   * Writes the given fields of the object's status, unless it already has them. Maps are merged, lists are replaced; null
   * removes a key.
   *
   * @throws ApiError when the server rejects it.
   */
  patchStatus(status: PatchValue<StatusOf<Primary>>): Promise<void>;
  /**
   * Records an Event about the object. Does not wait for the server.
   *
   * @param reason One CamelCase word, for programs.
   * @param note A sentence for people, at most 1 KiB.
   */
  event(type: "Normal" | "Warning", reason: string, note: string): void;
}

/** Creates the context of one attempt for an object. */
export function reconcileContext<Primary extends Resource, Declared extends Resource>(
  primary: Primary,
  declared: readonly Resource[],
  object: Infer<Primary>,
  toolbox: Toolbox,
): ReconcileContext<Primary, Declared> {
  const owner = { resource: primary, object: asKubeObject(object) };
  const { signal } = toolbox;
  const ctx: ReconcileContext<Primary, Declared> = {
    object,
    signal,
    log: toolbox.log,
    clock: toolbox.clock,
    causes: toolbox.causes,
    retries: toolbox.retries,
    client: toolbox.client,
    as: (user) => toolbox.as(user),
    external: (source) => toolbox.external(source, object),
    cluster: toolbox.cluster,
    hub: toolbox.hub,
    find(declaredResource, key) {
      const resource = resourceIn(declaredResource);
      return read(
        resource,
        () => toolbox.find(resource, key),
        () =>
          isBounded(resource)
            ? toolbox.read(resource, key)
            : clientOf(toolbox, resource).find(resource, key, { signal }),
      );
    },
    get(declaredResource, key) {
      const resource = resourceIn(declaredResource);
      return read(
        resource,
        () => getCached(toolbox, resource, key),
        () =>
          isBounded(resource)
            ? getBounded(toolbox, resource, key)
            : clientOf(toolbox, resource).get(resource, key, { signal }),
      );
    },
    list(declaredResource, filter) {
      const resource = resourceIn(declaredResource);
      return read(
        resource,
        () => toolbox.list(resource, filter),
        () => isBounded(resource) ? toolbox.readAll(resource, filter) : listFromServer(toolbox, resource, filter),
      );
    },
    isActive: (resource) => toolbox.isActive(resourceIn(resource)),
    async apply(declaredDesired) {
      const desired = desiredIn(declaredDesired);
      return await toolbox.apply(resourceOf(declared, desired), desired, owner);
    },
    async applyFields(declaredDesired) {
      const desired = desiredIn(declaredDesired);
      return await toolbox.applyFields(resourceOf(declared, desired), desired);
    },
    async delete(resource, dependent, options = {}) {
      return await toolbox.delete(resourceIn(resource), dependent, { ...owner, ...deletionOf(options) });
    },
    async deleteAll(resource, options = {}) {
      const { labelSelector, namespace } = options;
      const deleted = { ...owner, ...deletionOf(options) };
      return (await toolbox.deleteAll(resourceIn(resource), { labelSelector, namespace }, deleted)).length;
    },
    async prune({ propagationPolicy } = {}) {
      return (await toolbox.prune({ ...owner, propagationPolicy })).length;
    },
    patch: (resource, object, patch) => toolbox.change(resourceIn(resource), object, patch),
    async patchStatus(status) {
      await toolbox.patchStatus(primary, object, status);
    },
    event: (type, reason, note) => toolbox.event({ regarding: owner.object, type, reason, note }),
    applyDependents: () => toolbox.applyDependents(owner, ctx),
  };
  return ctx;
}

/** The Resource of an argument. The other case of its type exists only in messages of the compiler. */
function resourceIn<R extends Resource, Declared extends Resource>(resource: DeclaredKind<R, Declared>): R {
  return resource as R;
}

/** The desired state in an argument, likewise. */
function desiredIn<Kind extends string, Declared extends Resource>(desired: DeclaredDesired<Kind, Declared>) {
  return desired as Desired<Extract<Declared, { readonly kind: Kind }>> & { readonly kind: Kind };
}

function deletionOf<Primary extends Resource>({ onlyIf, propagationPolicy }: DeleteDependentOptions<Primary>) {
  // The Toolbox reads the owner live, which is of the primary kind.
  const isStillDue = onlyIf === undefined ? undefined : (live: unknown) => onlyIf(live as Infer<Primary>);
  return { isStillDue, propagationPolicy };
}

/** The client of the cluster that has the objects. */
function clientOf(toolbox: Toolbox, resource: Resource): Client {
  return isInHub(resource) ? toolbox.hub.client : toolbox.client;
}

/** TypeScript does not see that this condition is the one in the type `Read`. */
function read<R extends Resource, Value>(
  resource: R,
  now: () => Value,
  later: () => Promise<Value>,
): Read<R, Value> {
  const isPromise = isNotCached(resource) || isBounded(resource);
  return (isPromise ? later() : now()) as Read<R, Value>;
}

function getCached<R extends Resource>(toolbox: Toolbox, resource: R, key: string): Infer<R> {
  return existing(resource, key, toolbox.find(resource, key));
}

async function getBounded<R extends Resource>(toolbox: Toolbox, resource: R, key: string): Promise<Infer<R>> {
  return existing(resource, key, await toolbox.read(resource, key));
}

function existing<R extends Resource>(resource: R, key: string, found: Infer<R> | undefined): Infer<R> {
  if (found === undefined) throw new Error(`Cannot get ${resource.kind} "${key}": it is not in the cache`);
  return found;
}

async function listFromServer<R extends Resource>(
  toolbox: Toolbox,
  resource: R,
  filter: ListFilter = {},
): Promise<readonly Infer<R>[]> {
  const { index, ...selection } = filter;
  if (index !== undefined) throw new TypeError(`Cannot list ${resource.kind} by index: it is not cached`);
  const { items } = await clientOf(toolbox, resource).listAll(resource, { ...selection, signal: toolbox.signal });
  return items;
}

/** Several groups may have a kind of the same name. */
function resourceOf<R extends Resource>(
  declared: readonly Resource[],
  desired: { readonly apiVersion: string; readonly kind: string },
): R {
  const found = declared.find((resource) =>
    resource.kind === desired.kind && apiVersionOf(resource) === desired.apiVersion
  );
  if (found === undefined) {
    throw new TypeError(`Cannot apply ${desired.kind} "${keyOf(desired as never)}": the controller did not declare it`);
  }
  return found as R;
}

function asKubeObject(object: unknown): Parameters<typeof keyOf>[0] & { apiVersion: string; kind: string } {
  return object as never;
}
