/**
 * The graph of owners: which objects name which UIDs as their owners, as far as the caches have seen.
 *
 * Pure bookkeeping. What is decided from it is checked against the server before anything is deleted.
 */
import { keyOf, type KubeObject, type Resource, resourceId } from "../api/mod.ts";

/** An object of the graph. */
export interface GraphNode {
  /** `deployments.v1.apps/default/web`: unique among all objects that exist. */
  readonly id: string;
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
}

export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  /** By the owner's UID. */
  readonly #dependents = new Map<string, Set<string>>();

  find(id: string): GraphNode | undefined {
    return this.#nodes.get(id);
  }

  /** The objects that name the UID as an owner. */
  dependentsOf(uid: string): readonly GraphNode[] {
    const ids = this.#dependents.get(uid);
    return ids === undefined ? [] : [...ids].flatMap((id) => this.#nodes.get(id) ?? []);
  }

  /** Takes an object in, or its new state. */
  put(resource: Resource<KubeObject>, object: KubeObject): GraphNode {
    const node = { id: `${resourceId(resource)}/${keyOf(object)}`, resource, object };
    this.#unlink(node.id);
    this.#nodes.set(node.id, node);
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const ids = this.#dependents.get(uid) ?? new Set();
      this.#dependents.set(uid, ids.add(node.id));
    }
    return node;
  }

  /** Takes an object out. */
  remove(resource: Resource<KubeObject>, object: KubeObject): void {
    const id = `${resourceId(resource)}/${keyOf(object)}`;
    this.#unlink(id);
    this.#nodes.delete(id);
  }

  #unlink(id: string): void {
    for (const { uid } of this.#nodes.get(id)?.object.metadata.ownerReferences ?? []) {
      const ids = this.#dependents.get(uid);
      ids?.delete(id);
      if (ids?.size === 0) this.#dependents.delete(uid);
    }
  }
}
