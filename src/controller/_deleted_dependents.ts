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
import { keyOfTracker, ownerUidLabel } from "./label_tracking.ts";

/** The dependent that was deleted first is forgotten first. */
const maxDependents = 50_000;

export class DeletedDependents {
  readonly #primary: Resource;
  readonly #findOwner: (key: ObjectKey) => KubeObject | undefined;
  readonly #controller: string;
  readonly #ids = new Set<string>();

  /**
   * @param findOwner Returns the cached object of the primary kind.
   * @param controller The name of the controller, which is in the labels of dependents that refer to their owner by labels.
   */
  constructor(primary: Resource, findOwner: (key: ObjectKey) => KubeObject | undefined, controller = "") {
    this.#primary = primary;
    this.#findOwner = findOwner;
    this.#controller = controller;
  }

  /** Records that `dependent` was deleted, unless its owner was deleted before: then it is not created again. */
  record(resource: Resource, dependent: KubeObject): void {
    const named = this.#ownerOf(resource, dependent);
    if (named === undefined || this.#findOwner(named.key)?.metadata.uid !== named.uid) return;
    this.#ids.add(idOf(resource, dependent, named.uid));
    for (const oldest of this.#ids) {
      if (this.#ids.size <= maxDependents) return;
      this.#ids.delete(oldest);
    }
  }

  /** The owner that the dependent names, by reference or by labels. */
  #ownerOf(resource: Resource, dependent: KubeObject): { readonly key: ObjectKey; readonly uid: string } | undefined {
    const reference = controllerOf(dependent);
    if (reference === undefined) {
      const [key] = keyOfTracker(this.#primary, resource, this.#controller)(dependent);
      const uid = dependent.metadata.labels?.[ownerUidLabel];
      return key === undefined || uid === undefined ? undefined : { key, uid };
    }
    if (reference.kind !== this.#primary.kind) return undefined;
    const namespace = this.#primary.scope === "Namespaced" ? dependent.metadata.namespace : undefined;
    return { key: objectKey({ namespace, name: reference.name }), uid: reference.uid };
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
