/**
 * DeletedDependents: dependents that were deleted while the cache had their owner. Either another client deleted them,
 * or their owner is being deleted and the cache does not know that yet. Before a controller creates one of them again,
 * it reads the owner live (`Toolbox.apply`), as the controllers of Kubernetes do before they adopt.
 *
 * Guarantees: costs nothing while no dependent is deleted, and at most about 10 MB of memory.
 * Caveats: a dependent that is forgotten is created again without the live read; the garbage collector then deletes it.
 */
import {
  controllerOf,
  keyOf,
  type KubeObject,
  type ObjectKey,
  objectKey,
  type Resource,
  resourceId,
} from "../api/mod.ts";

/** The dependent that was deleted first is forgotten first. */
const maxDependents = 50_000;

export class DeletedDependents {
  readonly #primary: Resource;
  readonly #findOwner: (key: ObjectKey) => KubeObject | undefined;
  readonly #ids = new Set<string>();

  /** @param findOwner Returns the cached object of the primary kind. */
  constructor(primary: Resource, findOwner: (key: ObjectKey) => KubeObject | undefined) {
    this.#primary = primary;
    this.#findOwner = findOwner;
  }

  /** Records that `dependent` was deleted, unless its owner was deleted before: then it is not created again. */
  record(resource: Resource, dependent: KubeObject): void {
    const reference = controllerOf(dependent);
    if (reference === undefined || reference.kind !== this.#primary.kind) return;
    const namespace = this.#primary.scope === "Namespaced" ? dependent.metadata.namespace : undefined;
    const owner = this.#findOwner(objectKey({ namespace, name: reference.name }));
    if (owner?.metadata.uid !== reference.uid) return;
    this.#ids.add(idOf(resource, dependent, reference.uid));
    for (const oldest of this.#ids) {
      if (this.#ids.size <= maxDependents) return;
      this.#ids.delete(oldest);
    }
  }

  /** True when `owner` had this dependent and it was deleted. */
  has(resource: Resource, dependent: KubeObject, owner: KubeObject): boolean {
    return this.#ids.size > 0 && this.#ids.has(idOf(resource, dependent, owner.metadata.uid));
  }

  /** Forgets a dependent that exists again. */
  forget(resource: Resource, dependent: KubeObject, owner: KubeObject): void {
    if (this.#ids.size > 0) this.#ids.delete(idOf(resource, dependent, owner.metadata.uid));
  }
}

function idOf(resource: Resource, dependent: KubeObject, ownerUid: string | undefined): string {
  return `${ownerUid} ${resourceId(resource)} ${keyOf(dependent)}`;
}
