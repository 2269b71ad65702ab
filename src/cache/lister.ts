/**
 * Lister: cached, synchronous reads, for reconcilers. It reads the store, never the server.
 *
 * Guarantees: a result is a consistent state, complete up to the store's version.
 * Caveats: objects are shared and must not be changed. The cache may be behind the server, as far as the watch is, so
 * read an object from the server before you destroy something because of it.
 */
import { isSelected, type KubeObject, type LabelSelector, type ObjectKey, objectKey } from "../api/mod.ts";
import type { StoreReader } from "./store.ts";

/** Which objects {@link Lister.list} returns; all conditions must hold. */
export interface ListFilter<T> {
  /** Served from an index: does not visit the objects of other namespaces. @default all namespaces */
  readonly namespace?: string;
  /** @default every label */
  readonly labelSelector?: LabelSelector;
  /** Only the objects that a declared index finds under a value; does not visit the others. @default no index */
  readonly index?: { readonly name: string; readonly value: string };
  /** @default every object */
  readonly filter?: (object: T) => boolean;
}

/**
 * An object is not in the cache. Has the code and reason of the server's NotFound, so that `isNotFound` is true for it.
 */
export class NotInCacheError extends Error {
  override readonly name = "NotInCacheError";
  readonly code = 404;
  readonly reason = "NotFound";

  constructor(resource: string, key: ObjectKey) {
    super(`Cannot get ${resource} "${key}": it is not in the cache`);
  }
}

/**
 * Reads a cache.
 *
 * @example
 * ```ts
 * import { Lister, Store } from "./mod.ts";
 * import { type KubeObject, objectKey } from "../api/mod.ts";
 *
 * const store = new Store<KubeObject>();
 * const key = objectKey({ namespace: "default", name: "a" });
 * store.set(key, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "a" } });
 * const lister = new Lister({ resource: "configmaps", store });
 * console.assert(lister.get(key).kind === "ConfigMap");
 * console.assert(lister.list({ namespace: "default" }).length === 1);
 * ```
 */
export class Lister<T extends KubeObject> {
  readonly #resource: string;
  readonly #store: StoreReader<T>;

  constructor(options: { readonly resource: string; readonly store: StoreReader<T> }) {
    this.#resource = options.resource;
    this.#store = options.store;
  }

  /** Number of objects. */
  get size(): number {
    return this.#store.size;
  }

  /** @throws NotInCacheError when the object is not in the cache. */
  get(key: ObjectKey): T {
    const object = this.#store.get(key);
    if (object === undefined) throw new NotInCacheError(this.#resource, key);
    return object;
  }

  /** The object, or undefined when it is not in the cache. */
  find(key: ObjectKey): T | undefined {
    return this.#store.get(key);
  }

  /** As {@link find}, from the parts of the key. */
  findNamed(name: string, namespace?: string): T | undefined {
    return this.#store.get(objectKey({ name, namespace }));
  }

  /**
   * The objects that pass the filter, in no particular order.
   *
   * @throws RangeError when there is no index of the name in the filter.
   */
  list(filter: ListFilter<T> = {}): readonly T[] {
    const { namespace, labelSelector, index, filter: accepts } = filter;
    const found: T[] = [];
    for (const object of this.#candidates(filter)) {
      if (index !== undefined && namespace !== undefined && object.metadata.namespace !== namespace) continue;
      if (labelSelector !== undefined && !isSelected(labelSelector, object)) continue;
      if (accepts !== undefined && !accepts(object)) continue;
      found.push(object);
    }
    return found;
  }

  #candidates({ namespace, index }: ListFilter<T>): Iterable<T> {
    if (index !== undefined) return this.#store.byIndex(index.name, index.value);
    return namespace === undefined ? this.#store.values() : this.#store.byNamespace(namespace);
  }

  /**
   * The objects that a declared index finds under `value`.
   *
   * @throws RangeError when there is no index of that name.
   */
  byIndex(index: string, value: string): readonly T[] {
    return this.#store.byIndex(index, value);
  }

  /**
   * The values under which a declared index finds objects.
   *
   * @throws RangeError when there is no index of that name.
   */
  indexValues(index: string): readonly string[] {
    return this.#store.indexValues(index);
  }
}
