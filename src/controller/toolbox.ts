/**
 * Toolbox: what a raw reconciler works with during one attempt. `ReconcileContext` is its typed form. Reads come from the
 * cache and are synchronous; writes go to the server, and are in the cache when they return (`_write_through.ts`).
 *
 * Guarantees: a write that would change nothing is not sent (`_diff.ts`). A dependent is created only if no object has
 * its name, and changed only while it has the UID that was read and the given owner controls it; otherwise the attempt
 * ends with a NotControlledError. A deleted dependent is created again only after a live read of its owner; if the cache
 * of the owner is old, the attempt ends with an OwnerChangedError. Every request ends with the attempt's signal.
 */
import {
  type Infer,
  keyOf,
  type KubeObject,
  kubeObject,
  type ObjectKey,
  printExactJson,
  type Resource,
  resourceName,
  resourceVersion,
} from "../api/mod.ts";
import { type Clock, systemClock } from "../async/mod.ts";
import type { ListFilter } from "../cache/mod.ts";
import {
  type ApplyConfiguration,
  type Client,
  type DeleteOptions,
  type ImpersonatedUser,
  isConflict,
  isNotFound,
  type Patch,
} from "../client/mod.ts";
import type { Fields, Logger } from "../observe/mod.ts";
import { changedField, type FieldDifference, findDifferences, findExtraFields, NormalizationCache } from "./_diff.ts";
import { assertActive } from "./activation.ts";
import { isBounded } from "./caches.ts";
import { type ClusterIdentity, type Hub, isInHub } from "./clusters.ts";
import { applyDependents, deleteDependents, type DependentsTools } from "./dependents_run.ts";
import type { DependentsState } from "./dependents_state.ts";
import { type Desired, storedForm } from "./desired.ts";
import { type ExternalItem, type ExternalSource, itemOf } from "./external.ts";
import { assertMayImpersonate } from "./impersonation.ts";
import { assertOwnerCurrent, NotControlledError, OwnerChangedError } from "./owner_errors.ts";
import { type Owner, type Ownership, referencesOnly } from "./ownership.ts";
import { type DependentFilter, Pruner } from "./prune.ts";
import type { Cause, EventNote, Request } from "./request.ts";
import { writeStatus } from "./_status_patch.ts";
import type { ToolboxOptions } from "./toolbox_options.ts";

/** No stored object has this version. In an apply it means that the object must not exist (ADR 0007). */
const absent = resourceVersion("1");

/**
 * What a raw reconciler works with during one attempt: the second argument of a {@link Reconciler}. It accepts objects of
 * all kinds; `ReconcileContext` is its typed form. The runtime of controllers creates it.
 *
 * @example
 * ```ts
 * import { ConfigMap, controller, done, manifest, Namespace } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcileKey(async ({ key }, toolbox) => {
 *   const object = toolbox.find(Namespace, key);
 *   if (object === undefined) return done;
 *   const greeting = manifest(ConfigMap, { metadata: { namespace: key, name: "greeting" }, data: { text: "hello" } });
 *   await toolbox.apply(ConfigMap, greeting, { resource: Namespace, object });
 *   return done;
 * });
 * await using world = await World.start({ controllers: [greeter], cluster: false });
 * await world.create(Namespace, { name: "team-a" });
 * await world.settled();
 * console.assert(world.get(ConfigMap, "team-a/greeting").data?.text === "hello");
 * ```
 */
export class Toolbox {
  readonly #options: ToolboxOptions;
  readonly #normalizations: NormalizationCache;
  readonly #ownership: Ownership;
  /** The dependents that this attempt applied or tried to apply, and their removal. */
  readonly #pruner: Pruner;

  /** Creates the tools of one attempt. */
  constructor(options: ToolboxOptions) {
    this.#options = options;
    this.#normalizations = options.normalizations ?? new NormalizationCache();
    this.#ownership = options.ownership ?? referencesOnly;
    const { client, caches, fieldManager, signal } = options;
    this.#pruner = new Pruner({
      ...{ client, caches, fieldManager, signal, ownership: this.#ownership },
      remove: (resource, object, policy) => this.#remove(resource, object, policy),
    });
  }

  /** The object to reconcile. */
  get request(): Request {
    return this.#options.request;
  }
  /** Aborts when the time limit of the attempt has passed or the process must stop. */
  get signal(): AbortSignal {
    return this.#options.signal;
  }
  /** Logs with the controller and the key of the object as fields. */
  get log(): Logger {
    return this.#options.log;
  }
  /** Why this attempt was made. */
  get causes(): readonly Cause[] {
    return this.#options.causes;
  }
  /** Failures in a row before this attempt. */
  get retries(): number {
    return this.#options.retries;
  }
  /** Direct access to the API server, for what the other tools do not cover. */
  get client(): Client {
    return this.#options.client;
  }
  /**
   * A client that acts as another user, with the permissions of that user. Its reads are live: the caches belong to the
   * controller.
   *
   * @throws TypeError when the controller did not declare the user with `impersonates`.
   */
  as(user: ImpersonatedUser): Client {
    assertMayImpersonate(user, this.#options.impersonates);
    return this.client.as(user);
  }
  /** The cluster of the object in a Fleet; undefined without a Fleet, and in the hub. */
  get cluster(): ClusterIdentity | undefined {
    const { cluster } = this.#options.request;
    return cluster === undefined ? undefined : { name: cluster };
  }
  /** The hub of the Fleet; without a Fleet, the cluster itself. */
  get hub(): Hub {
    return this.#options.hub ?? this;
  }
  /** The current time, for conditions and deadlines. */
  get clock(): Clock {
    return this.#options.clock ?? systemClock;
  }

  /**
   * The cached object with the key "namespace/name", or "name" if cluster-scoped; undefined if there is none.
   *
   * @throws TypeError when the kind is not watched.
   */
  find<R extends Resource>(resource: R, key: string): Infer<R> | undefined {
    const { caches, bodies } = this.#options;
    const found = caches.find(resource, key as ObjectKey);
    return found === undefined || bodies?.isGone(resource, kubeObject(found)) ? undefined : found;
  }

  /** As {@link find}; if the cache of the kind is bounded and has evicted the body, it is read from the API server. */
  async read<R extends Resource>(resource: R, key: string): Promise<Infer<R> | undefined> {
    if (isBounded(resource)) await this.#options.bodies?.load(resource, [key as ObjectKey], this.signal);
    return this.find(resource, key);
  }

  /**
   * The cached objects that match the filter, in no particular order.
   *
   * @throws TypeError when the kind is not watched, RangeError when it has no index of the name in the filter.
   */
  list<R extends Resource>(resource: R, filter: ListFilter = {}): readonly Infer<R>[] {
    const { caches, bodies } = this.#options;
    const found = caches.list(resource, filter);
    return bodies === undefined ? found : found.filter((object) => !bodies.isGone(resource, kubeObject(object)));
  }

  /** As {@link list}; bodies that a bounded cache has evicted are read from the API server, many of them in pages. */
  async readAll<R extends Resource>(resource: R, filter: ListFilter = {}): Promise<readonly Infer<R>[]> {
    await this.#options.bodies?.loadAll(resource, () => this.list(resource, filter).map(kubeObject), this.signal);
    return this.list(resource, filter);
  }

  /** True while a kind with an `activation` is watched and cached; always true for a kind without. */
  isActive(resource: Resource): boolean {
    return this.#options.caches.whyInactive?.(resource) === undefined;
  }

  /** Records an Event about an object. Does not wait for the server. */
  event(note: EventNote): void {
    this.#options.events.record(note);
  }

  /**
   * Creates or changes a dependent so that it has the desired values, by server-side apply. The controller owns all
   * desired fields; fields that it owns and that are no longer desired are removed.
   *
   * A deleted dependent is created again only after a live read of the owner, so that an old cache does not keep creating
   * dependents of a deleted owner. If the cache of the owner is old, the attempt ends here and the key comes back.
   *
   * @param owner Becomes the controller of a created object; it must already be the controller of an existing object.
   * @returns The live object; the cached one when no write was necessary.
   * @throws NotControlledError when `owner` does not control the existing object.
   * @throws TerminalError when its kind is not active, or no owner reference can lead from the dependent to the owner: it is in
   * another namespace, or cluster-scoped while the owner is not, and its kind is not declared with `track: "labels"`.
   * @throws ApiError when the server rejects a request.
   */
  async apply<R extends Resource>(resource: R, desired: Desired<R>, owner: Owner): Promise<Infer<R>> {
    this.#pruner.keep(resource, kubeObject(desired));
    const metadata = this.#ownership.of(resource).claim(kubeObject(desired), owner);
    const desiredObject = storedForm(resource, { ...desired, metadata } as Desired<R>);
    const key = keyOf(desiredObject);
    assertActive(resource, key, this.#options.caches.whyInactive?.(resource));
    const cached = isBounded(resource) ? await this.read(resource, key) : this.find(resource, key);
    if (cached !== undefined) return await this.#applyIfDifferent(resource, desiredObject, cached, owner);
    const { deletedDependents } = this.#options;
    const dependent = kubeObject(desiredObject);
    if (deletedDependents?.has(resource, dependent, owner.object)) {
      await assertOwnerCurrent(this.#options, { resource, dependent, owner });
    } else if (this.#ownership.needsLiveOwner(resource)) {
      await this.#pruner.assertOwnerUnchanged(owner, this.#onOwnerChanged(owner));
    }
    try {
      using _logged = this.#logWrite("apply", resource, desiredObject, { isNew: true });
      const created = await this.#apply(resource, desiredObject, { resourceVersion: absent });
      deletedDependents?.forget(resource, dependent, owner.object);
      return created;
    } catch (error) {
      if (!isConflict(error)) throw error;
      // An object that the cache does not have yet: from our own create whose response was lost, or from another client.
      const live = await this.client.find(resource, keyOf(desiredObject), { signal: this.signal });
      if (live === undefined) throw error;
      this.#options.observeLive?.(resource, kubeObject(live));
      return await this.#applyIfDifferent(resource, desiredObject, live, owner);
    }
  }

  /**
   * Sets some fields of an object that another controller owns, by server-side apply. The controller owns the desired
   * fields; fields that it owns and that are no longer desired are removed, all others stay as they are.
   *
   * @returns The live object; undefined when the cache has none, because it is never created.
   */
  async applyFields<R extends Resource>(resource: R, desired: Desired<R>): Promise<Infer<R> | undefined> {
    const key = keyOf(desired);
    assertActive(resource, key, this.#options.caches.whyInactive?.(resource));
    const cached = isBounded(resource) ? await this.read(resource, key) : this.find(resource, key);
    return cached === undefined
      ? undefined
      : await this.#applyIfDifferent(resource, storedForm(resource, desired), cached, undefined);
  }

  /**
   * Writes the given fields of the status, unless the object already has them. Another object of that name is not written.
   *
   * @returns The live object; the given one when no write was necessary.
   * @throws OwnerChangedError when the object is not the cached one any more; ApiError when the server rejects it.
   */
  async patchStatus<R extends Resource>(resource: R, object: Infer<R>, status: object): Promise<Infer<R>> {
    const known = kubeObject(object);
    const [current, desired] = [{ status: Reflect.get(known, "status") }, { status }];
    const field = this.#normalizations.fieldToPatch(resource, current, desired);
    if (field === undefined) return object;
    const live = await writeStatus(
      known,
      status,
      (operations): Promise<Infer<R>> => this.patch(resource, object, { kind: "json", operations }, "status"),
    );
    if (live === undefined) throw new OwnerChangedError("write the status", { resource, object: known }, "newer");
    this.#normalizations.addPatched(resource, live, desired);
    this.#options.onRepair({ resource, object: known, field, desired: printExactJson(status) });
    return live;
  }

  /**
   * Patches an object of any owner, unless a merge patch would change nothing.
   *
   * @returns The live object; the given one when no write was necessary.
   * @throws ApiError when the server rejects it, see `isConflict`, `isNotFound`.
   */
  async change<R extends Resource>(resource: R, object: Infer<R>, patch: Patch<R>): Promise<Infer<R>> {
    const isMerge = patch.kind === "merge";
    const field = isMerge
      ? this.#normalizations.fieldToPatch(resource, object, patch.value)
      : changedField(patch, object);
    if (field === undefined) return object;
    const live = await this.patch(resource, object, patch);
    if (isMerge) this.#normalizations.addPatched(resource, live, patch.value);
    this.#options.onRepair({ resource, object: kubeObject(object), field, desired: printExactJson(patch) });
    return live;
  }

  /**
   * Patches an object as this controller's field manager.
   *
   * @param subresource For example "status". @default the object itself
   * @returns The live object.
   * @throws ApiError when the server rejects it.
   */
  async patch<R extends Resource>(
    resource: R,
    object: Infer<R>,
    patch: Patch<R>,
    subresource?: string,
  ): Promise<Infer<R>> {
    const { fieldManager } = this.#options;
    using _logged = this.#logWrite(subresource === undefined ? "patch" : `patch ${subresource}`, resource, object);
    const options = { subresource, fieldManager, signal: this.signal };
    const { client } = isInHub(resource) ? this.hub : this;
    return await client.patch(resource, keyOf(kubeObject(object)), patch, options);
  }

  /**
   * Deletes a dependent of `owner`: only the object that was read, in the version that was read, so that a dependent
   * which got another owner in the meantime stays. One that is being deleted already is not deleted again. The owner is
   * read live first, because an old cache must not decide what is deleted. If the dependent has changed, the delete is a
   * conflict and the key is retried.
   *
   * @returns False when the owner has another UID or `isStillDue` returns false; then nothing was deleted.
   * @throws NotControlledError when `owner` does not control the object.
   */
  async delete<R extends Resource>(resource: R, object: Infer<R>, owner: Owner): Promise<boolean> {
    const dependent = kubeObject(object);
    this.#assertOwned(resource, dependent, owner);
    const live = await this.client.find(owner.resource, keyOf(owner.object), { signal: this.signal });
    if (live === undefined || kubeObject(live).metadata.uid !== owner.object.metadata.uid) return false;
    if (owner.isStillDue?.(live) === false) return false;
    if (dependent.metadata.deletionTimestamp !== undefined) return true;
    await this.#remove(resource, dependent, owner.propagationPolicy);
    return true;
  }

  /**
   * Deletes the dependents of `owner` that this attempt did not apply, of the kinds declared with `prunes: true`. Call it
   * when everything that should exist has been applied. See `ReconcileContext.prune`.
   *
   * @returns The deleted dependents, as they were.
   * @throws OwnerChangedError when the owner has changed since it was read; the key comes back.
   */
  async prune(owner: Owner): Promise<readonly KubeObject[]> {
    return await this.#pruner.prune(owner, this.#onOwnerChanged(owner));
  }

  /**
   * Deletes the dependents of `owner` of one kind that match the filter, after a live look at the owner and at each one.
   *
   * @returns The deleted dependents, as they were.
   */
  async deleteAll(resource: Resource, filter: DependentFilter, owner: Owner): Promise<readonly KubeObject[]> {
    return await this.#pruner.deleteAll(resource, filter, owner);
  }

  /**
   * Deletes the dependents that name the object of the request by labels with a UID that it no longer has. The object
   * reconciler calls it before each reconcile; it sends nothing if there are none.
   */
  async deleteOrphans(primary: Resource): Promise<void> {
    const owner = this.find(primary, this.request.key);
    const uid = owner === undefined ? undefined : kubeObject(owner).metadata.uid;
    await this.#pruner.deleteOrphans(primary, this.request.key, uid);
  }

  /**
   * Deletes everything that names `owner` by labels, as the server lists it. For a finalizer.
   *
   * @returns False while such objects exist.
   */
  async deleteTracked(owner: Owner): Promise<boolean> {
    return await this.#pruner.deleteTracked(owner);
  }

  /**
   * Applies the ordered dependents of `owner`, see `dependents`.
   *
   * @param ctx What their functions get.
   * @throws TypeError when the controller declared none
   */
  async applyDependents(owner: Owner, ctx: unknown): Promise<DependentsState> {
    const { dependents } = this.#options;
    if (dependents === undefined) {
      throw new TypeError("Cannot apply dependents: the controller declared none. Declare them with dependents(...)");
    }
    return await applyDependents(dependents, ctx, this.#dependentsTools(owner));
  }

  /** Deletes the ordered dependents of `owner`, the last ones first. @returns False while some exist. */
  async deleteDependents(owner: Owner): Promise<boolean> {
    const { dependents } = this.#options;
    return dependents === undefined || await deleteDependents(dependents, this.#dependentsTools(owner));
  }

  /**
   * The external resource of an object, see {@link external}. That it does not exist is said only after a live look at the
   * object, so that an old cache does not create resources of a deleted object.
   *
   * @throws TypeError when the controller did not declare the source.
   */
  external<R extends Resource, Item>(source: ExternalSource<R, Item>, object: Infer<R>): ExternalItem<Item> {
    const owner = { resource: source.primary, object: kubeObject(object) };
    const onChanged = this.#onOwnerChanged(owner, `create an external resource of "${source.name}"`);
    const checkOwner = () => this.#pruner.assertOwnerUnchanged(owner, onChanged);
    return itemOf(this.#options.externals, source, { object: owner.object, signal: this.signal, checkOwner });
  }

  /** Destroys the external resources of an object that is being deleted. For a finalizer. */
  async destroyExternals(object: KubeObject): Promise<void> {
    await this.#options.externals?.destroy(object);
  }

  #dependentsTools(owner: Owner): DependentsTools {
    return {
      owner,
      pruner: this.#pruner,
      signal: this.signal,
      whyInactive: (resource) => this.#options.caches.whyInactive?.(resource),
      apply: async (resource, desired) => kubeObject(await this.apply(resource, desired as Desired<Resource>, owner)),
      onOwnerChanged: this.#onOwnerChanged(owner),
    };
  }

  /** Lets the key wait until the cache has the owner that the server has. */
  #onOwnerChanged(owner: Owner, action = "create or delete dependents"): (live: KubeObject | undefined) => Error {
    return (live) => {
      if (live !== undefined) this.#options.observeLive?.(owner.resource, live);
      return new OwnerChangedError(action, owner, live === undefined ? "deleted" : "newer");
    };
  }

  /** Sends a delete of exactly the object that was read. An object that is already deleted is not an error. */
  async #remove(
    resource: Resource,
    { metadata }: KubeObject,
    propagationPolicy: DeleteOptions["propagationPolicy"] = "Background",
  ): Promise<void> {
    using _logged = this.#logWrite("delete", resource, { metadata });
    const { uid, resourceVersion: version } = metadata;
    const preconditions = { uid, resourceVersion: version };
    try {
      await this.client.delete(resource, keyOf({ metadata }), {
        preconditions,
        propagationPolicy,
        signal: this.signal,
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #assertOwned(resource: Resource, dependent: KubeObject, owner: Owner): void {
    if (this.#ownership.of(resource).isOwned(dependent, owner)) return;
    const error = new NotControlledError(resource, dependent, owner);
    this.#options.onNotControlled?.(resource, error);
    throw error;
  }

  async #applyIfDifferent<R extends Resource>(
    resource: R,
    desired: Desired<R>,
    existing: Infer<R>,
    owner: Owner | undefined,
  ): Promise<Infer<R>> {
    const live = kubeObject(existing);
    if (owner !== undefined) this.#assertOwned(resource, live, owner);
    const field = this.#normalizations.fieldToApply(resource, this.#differences(live, desired));
    if (field === undefined) return existing;
    using _logged = this.#logWrite("apply", resource, desired);
    // Without the UID, an apply to an object that was deleted would create it again.
    const written = await this.#apply(resource, desired, { uid: live.metadata.uid });
    this.#options.onRepair({ resource, object: live, field, desired: printExactJson(desired) });
    return written;
  }

  /** Sends the apply. It is a conflict if the object does not have the given UID or version. */
  async #apply<R extends Resource>(
    resource: R,
    desired: Desired<R>,
    identity: Pick<KubeObject["metadata"], "uid" | "resourceVersion">,
  ): Promise<Infer<R>> {
    const { fieldManager } = this.#options;
    const body = { ...desired, metadata: { ...desired.metadata, ...identity } };
    // For field validation the server parses an apply twice, to find duplicate keys. JSON.stringify writes none, and
    // the server rejects unknown fields in an apply anyway.
    const options = { fieldManager, force: true, fieldValidation: "Ignore", signal: this.signal } as const;
    const response = await this.client.apply(resource, body as ApplyConfiguration<R>, options);
    this.#normalizations.add(resource, this.#differences(kubeObject(response), desired));
    return response;
  }

  #differences(live: KubeObject, desired: unknown): readonly FieldDifference[] {
    return [...findDifferences(live, desired), ...findExtraFields(live, desired, this.#options.fieldManager)];
  }

  /** Logs a write when its scope ends, with its entry in the recording. */
  #logWrite(action: string, resource: Resource, object: unknown, fields?: Fields): Disposable {
    const key = keyOf(kubeObject(object));
    const log = () => {
      const entry = this.#options.entryOf?.(resource, key);
      this.log.debug(action, { resource: resourceName(resource), object: key, ...fields, entry });
    };
    return { [Symbol.dispose]: log };
  }
}
