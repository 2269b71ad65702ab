/**
 * LostChildren: children that went while the cache had their owner. Either somebody deleted them, or the owner is going
 * and the cache has not heard of it; before one of them is made again, the owner is read live (`Toolbox.apply`), as
 * Kubernetes' own controllers do before they adopt.
 *
 * Guarantees: it costs nothing where no child goes, and memory for so many children at most; a child that is forgotten
 * is made again without that look, which the garbage collector puts right.
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

/** Children remembered at most, about 10 MB of them; the one that went first goes first. */
const mostChildren = 50_000;

export class LostChildren {
  readonly #primary: Resource;
  readonly #findOwner: (key: ObjectKey) => KubeObject | undefined;
  readonly #ids = new Set<string>();

  /** @param findOwner The object of the primary kind, if it is cached. */
  constructor(primary: Resource, findOwner: (key: ObjectKey) => KubeObject | undefined) {
    this.#primary = primary;
    this.#findOwner = findOwner;
  }

  /** Notes that `child` is gone. What went after its owner is not made again, and so of no interest. */
  note(resource: Resource, child: KubeObject): void {
    const reference = controllerOf(child);
    if (reference === undefined || reference.kind !== this.#primary.kind) return;
    const namespace = this.#primary.scope === "Namespaced" ? child.metadata.namespace : undefined;
    const owner = this.#findOwner(objectKey({ namespace, name: reference.name }));
    if (owner?.metadata.uid !== reference.uid) return;
    this.#ids.add(idOf(resource, child, reference.uid));
    for (const oldest of this.#ids) {
      if (this.#ids.size <= mostChildren) return;
      this.#ids.delete(oldest);
    }
  }

  /** True when `owner` had that child. */
  has(resource: Resource, child: KubeObject, owner: KubeObject): boolean {
    return this.#ids.size > 0 && this.#ids.has(idOf(resource, child, owner.metadata.uid));
  }

  /** Hears that the child is there again. */
  forget(resource: Resource, child: KubeObject, owner: KubeObject): void {
    if (this.#ids.size > 0) this.#ids.delete(idOf(resource, child, owner.metadata.uid));
  }
}

function idOf(resource: Resource, child: KubeObject, ownerUid: string | undefined): string {
  return `${ownerUid} ${resourceId(resource)} ${keyOf(child)}`;
}
