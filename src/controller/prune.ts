/**
 * Pruner: deletes dependents that should no longer exist: those that an attempt did not apply (`prune`), and those that
 * match labels (`deleteAll`).
 *
 * Guarantees: an object is deleted only if a live read shows that the owner exists with the same UID and is not being
 * deleted, and that the object belongs to it, by UID. `prune` also requires that this controller has applied the object
 * (it is in its managedFields), so that it leaves alone what another controller creates for the same owner; and that the
 * owner is what the attempt was decided on. Each delete has the UID and the version of the live read as preconditions.
 * Caveats: `prune` finds objects in the cache. One that the cache does not have yet is found when the cache has it.
 */
import {
  controllerOf,
  keyOf,
  type KubeObject,
  type LabelSelector,
  type ObjectKey,
  type Resource,
  resourceName,
  splitKey,
} from "../api/mod.ts";
import { type Client, type DeleteOptions, isNotFound } from "../client/mod.ts";
import { firstDifference } from "./_diff.ts";
import type { CacheReader } from "./caches.ts";
import {
  isTracked,
  objectText,
  ownerAnnotation,
  ownerIndex,
  ownerUidLabel,
  trackingSelector,
} from "./label_tracking.ts";
import type { Owner, Ownership } from "./ownership.ts";

/** The name of the index of dependents by the UID of their owner. */
export const ownerUidIndex = "pintle.dev/owner-uid";

/** Computes the values of {@link ownerUidIndex}. One function for all controllers, because they share the indices of a kind. */
export function indexByOwnerUid(object: unknown): readonly string[] {
  const uid = controllerOf(object as KubeObject)?.uid ?? (object as KubeObject).metadata.labels?.[ownerUidLabel];
  return uid === undefined ? [] : [uid];
}

/** Which dependents of an owner `ctx.deleteAll` deletes; all conditions must hold. */
export interface DependentFilter {
  /** Only the dependents with these labels. @default every label */
  readonly labelSelector?: LabelSelector;
  /** Only the dependents of this namespace. @default all namespaces */
  readonly namespace?: string;
}

/** An object that belongs to an owner, and how to delete it. */
export interface OwnedObject {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** @default "Background" */
  readonly propagationPolicy?: DeleteOptions["propagationPolicy"];
}

/** Deletes exactly the object that was read. */
export type RemoveObject = (
  resource: Resource,
  object: KubeObject,
  propagationPolicy: DeleteOptions["propagationPolicy"],
) => Promise<void>;

/** What a {@link Pruner} works with. */
export interface PrunerOptions {
  readonly client: Client;
  readonly caches: CacheReader;
  readonly ownership: Ownership;
  readonly fieldManager: string;
  readonly signal: AbortSignal;
  readonly remove: RemoveObject;
}

/** The dependents that one attempt applied, and the deletion of the others. */
export class Pruner {
  readonly #options: PrunerOptions;
  readonly #kept = new Set<string>();
  /** The UID of the owner that a live read has confirmed in this attempt. */
  #checkedOwner: string | undefined;

  constructor(options: PrunerOptions) {
    this.#options = options;
  }

  /** The kinds that `prune` is about. */
  get prunedKinds(): readonly Resource[] {
    return this.#options.ownership.pruned;
  }

  /**
   * Reads the owner once per attempt, before a dependent of it is created.
   *
   * @param onOwnerChanged Creates the error for an owner that is not the one that was read; undefined when it is gone.
   */
  async assertOwnerUnchanged(owner: Owner, onOwnerChanged: (live: KubeObject | undefined) => Error): Promise<void> {
    if (this.#checkedOwner === owner.object.metadata.uid) return;
    const live = await this.#findOwner(owner);
    if (live === undefined) throw onOwnerChanged(undefined);
    // In a finalize function the owner is known to be being deleted.
    const isDeleted = live.metadata.deletionTimestamp !== undefined;
    if (isDeleted && owner.object.metadata.deletionTimestamp === undefined) throw onOwnerChanged(undefined);
    if (!isSameInput(owner.object, live)) throw onOwnerChanged(live);
    this.#checkedOwner = owner.object.metadata.uid;
  }

  /** Records that the dependent should exist, whether or not its apply succeeds. */
  keep(resource: Resource, object: Pick<KubeObject, "metadata">): void {
    this.#kept.add(idOf(resource, object));
  }

  /**
   * Deletes the dependents of the pruned kinds that were not kept.
   *
   * @param onOwnerChanged Creates the error for an owner that is not the one that was read. Gets the live owner.
   * @returns The deleted objects.
   */
  async prune(owner: Owner, onOwnerChanged: (live: KubeObject) => Error): Promise<readonly KubeObject[]> {
    const { pruned } = this.#options.ownership;
    if (pruned.length === 0) {
      throw new TypeError(
        `Cannot prune the dependents of ${owner.resource.kind} "${
          keyOf(owner.object)
        }": the controller declared no kind ` +
          "with owns(..., { prunes: true })",
      );
    }
    const candidates = pruned.flatMap((resource) =>
      this.ownedBy(resource, owner).filter((object) => !this.#kept.has(idOf(resource, object)))
        .map((object) => ({ resource, object, propagationPolicy: owner.propagationPolicy }))
    );
    const isOurs = (live: KubeObject) => isAppliedBy(live, this.#options.fieldManager);
    return await this.removeUnlessOwnerChanged(candidates, owner, onOwnerChanged, isOurs);
  }

  /** The cached dependents of `owner` of one kind, also those that are being deleted. */
  ownedBy(resource: Resource, owner: Owner): readonly KubeObject[] {
    const { uid = "" } = owner.object.metadata;
    const cached = this.#options.caches.list(resource, { index: { name: ownerUidIndex, value: uid } });
    return (cached as readonly KubeObject[]).filter((object) =>
      this.#options.ownership.of(resource).isOwned(object, owner)
    );
  }

  /** Deletes dependents of `owner`, each after a live look at it. The owner was read live by the caller. */
  async removeOwned(objects: readonly OwnedObject[], owner: Owner): Promise<readonly KubeObject[]> {
    return await this.#removeEach(objects, (resource, live) => this.#isDue(resource, live, owner));
  }

  /** The same, if the live owner is not being deleted and is what the decision was made on. */
  async removeUnlessOwnerChanged(
    objects: readonly OwnedObject[],
    owner: Owner,
    onOwnerChanged: (live: KubeObject) => Error,
    isOurs: (live: KubeObject) => boolean = () => true,
  ): Promise<readonly KubeObject[]> {
    const candidates = objects.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
    if (candidates.length === 0) return [];
    const liveOwner = await this.#findOwner(owner);
    if (liveOwner === undefined || liveOwner.metadata.deletionTimestamp !== undefined) return [];
    if (!isSameInput(owner.object, liveOwner)) throw onOwnerChanged(liveOwner);
    return await this.#removeEach(
      candidates,
      (resource, live) => this.#isDue(resource, live, owner) && isOurs(live),
    );
  }

  /** Deletes the dependents of one kind that match the filter, as the server lists them. @returns The deleted objects. */
  async deleteAll(resource: Resource, filter: DependentFilter, owner: Owner): Promise<readonly KubeObject[]> {
    const owned = await this.#listOwned(resource, filter, owner);
    const candidates = owned.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((object) => ({ resource, object, propagationPolicy: owner.propagationPolicy }));
    if (candidates.length === 0) return [];
    const liveOwner = await this.#findOwner(owner);
    if (liveOwner === undefined || owner.isStillDue?.(liveOwner) === false) return [];
    return await this.removeOwned(candidates, owner);
  }

  /**
   * Deletes everything that names `owner` in its labels, as the server lists it.
   *
   * @returns True when the server has no such object any more.
   */
  async deleteTracked(owner: Owner): Promise<boolean> {
    const { ownership } = this.#options;
    const labelSelector = trackingSelector(owner.object.metadata.uid ?? "", ownership.controller);
    let isDone = true;
    for (const resource of ownership.tracked) {
      if ((await this.#listOwned(resource, { labelSelector }, owner)).length === 0) continue;
      await this.deleteAll(resource, { labelSelector }, owner);
      isDone &&= (await this.#listOwned(resource, { labelSelector }, owner)).length === 0;
    }
    return isDone;
  }

  /**
   * Deletes the cached dependents that name the owner `key` in their labels with a UID that no such object has any more:
   * it went without its finalizer, or was created again under its name.
   *
   * @param uid The UID of the cached owner; undefined when there is none.
   */
  async deleteOrphans(primary: Resource, key: ObjectKey, uid: string | undefined): Promise<readonly KubeObject[]> {
    const { ownership, caches, client, signal } = this.#options;
    const value = objectText(primary, { metadata: splitKey(key) });
    const isOrphan = (resource: Resource, object: KubeObject, ownerUid: string | undefined) =>
      isTracked(resource, object, ownership.controller) && object.metadata.labels?.[ownerUidLabel] !== ownerUid &&
      object.metadata.annotations?.[ownerAnnotation] === value && object.metadata.deletionTimestamp === undefined;
    const candidates = ownership.tracked.flatMap((resource) =>
      (caches.list(resource, { index: { name: ownerIndex, value } }) as readonly KubeObject[])
        .filter((object) => isOrphan(resource, object, uid)).map((object) => ({ resource, object }))
    );
    if (candidates.length === 0) return [];
    const owner = await client.find(primary as Resource<KubeObject>, key, { metadataOnly: true, signal });
    return await this.#removeEach(candidates, (resource, live) => isOrphan(resource, live, owner?.metadata.uid));
  }

  /** The dependents of `owner` as the server lists them, also those that are being deleted. A kind that it does not have has none. */
  async #listOwned(resource: Resource, filter: DependentFilter, owner: Owner): Promise<readonly KubeObject[]> {
    const { client, signal, ownership } = this.#options;
    const kind = resource as Resource<KubeObject>;
    const listed = client.listAll(kind, { ...filter, metadataOnly: true, signal });
    const { items } = await listed.catch((error: unknown) => {
      if (isNotFound(error)) return { items: [] };
      throw error;
    });
    return items.filter((object) => ownership.of(resource).isOwned(object, owner));
  }

  #isDue(resource: Resource, object: KubeObject, owner: Owner): boolean {
    return object.metadata.deletionTimestamp === undefined &&
      this.#options.ownership.of(resource).isOwned(object, owner);
  }

  /** The live owner; undefined when it does not exist or has another UID. */
  async #findOwner({ resource, object }: Owner): Promise<KubeObject | undefined> {
    const { client, signal } = this.#options;
    const live = await client.find(resource as Resource<KubeObject>, keyOf(object), { signal });
    return live?.metadata.uid === object.metadata.uid ? live : undefined;
  }

  async #removeEach(
    candidates: readonly OwnedObject[],
    isDue: (resource: Resource, live: KubeObject) => boolean,
  ): Promise<readonly KubeObject[]> {
    const { client, signal, remove } = this.#options;
    const removed: KubeObject[] = [];
    for (const { resource, object, propagationPolicy } of candidates) {
      if (object.metadata.deletionTimestamp !== undefined) continue;
      const kind = resource as Resource<KubeObject>;
      const live = await client.find(kind, keyOf(object), { metadataOnly: true, signal });
      if (live === undefined || live.metadata.uid !== object.metadata.uid) continue;
      if (!isDue(resource, live)) continue;
      await remove(resource, live, propagationPolicy);
      removed.push(object);
    }
    return removed;
  }
}

function idOf(resource: Resource, object: Pick<KubeObject, "metadata">): string {
  return `${resourceName(resource)} ${keyOf(object)}`;
}

function isAppliedBy(live: KubeObject, fieldManager: string): boolean {
  return live.metadata.managedFields?.some(({ manager, operation }) =>
    manager === fieldManager && operation === "Apply"
  ) ?? false;
}

/**
 * True when the live owner asks for the same as the one that was read. Writes of the status do not count: the controller
 * may have written it in this attempt. If in doubt it is false until the cache has the newest version.
 */
function isSameInput(read: KubeObject, live: KubeObject): boolean {
  if (read.metadata.resourceVersion === live.metadata.resourceVersion) return true;
  const { generation, labels, annotations } = read.metadata;
  if (!isSame(labels, live.metadata.labels) || !isSame(annotations, live.metadata.annotations)) return false;
  if (generation !== undefined) return generation === live.metadata.generation;
  const { metadata: _read, status: _readStatus, ...readFields } = read as KubeObject & { readonly status?: unknown };
  const { metadata: _live, status: _liveStatus, ...liveFields } = live as KubeObject & { readonly status?: unknown };
  return isSame(readFields, liveFields);
}

function isSame(left: unknown = {}, right: unknown = {}): boolean {
  return firstDifference(left, right) === undefined && firstDifference(right, left) === undefined;
}
