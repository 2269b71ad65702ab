/**
 * Lister: cached, synchronous reads, for reconcilers. It reads the store, never the server.
 *
 * Guarantees: a result is a consistent state, complete up to the store's version.
 * Caveats: objects are shared and must not be changed. The cache may be behind the server, as far as the watch is, so
 * read an object from the server before you destroy something because of it.
 */
import { isSelected, type KubeObject, type LabelSelector, type ObjectKey, objectKey } from "../api/mod.ts";
import type { StoreReader } from "./store.ts";

/** Which cached objects a list returns; all conditions must hold. The argument of `ctx.list`. */
export interface ListFilter {
  /** Only the objects of this namespace; does not visit the others. @default all namespaces of the cache */
  readonly namespace?: string;
  /** Only the objects with these labels. @default every label */
  readonly labelSelector?: LabelSelector;
  /** Only the objects that a declared index has under a value; does not visit the others. @default no index */
  readonly index?: {
    /** The name under which the index was declared. */
    readonly name: string;
    /** The value that its function returned for the objects. */
    readonly value: string;
  };
}

/** Which objects {@link Lister.list} returns; all conditions must hold. */
export interface ListerFilter<T> extends ListFilter {
  /** Only the objects for which it returns true. @default every object */
  readonly filter?: (object: T) => boolean;
}

/**
 * Thrown by {@link Lister.get} if an object is not in the cache. It has the code and reason of the server's NotFound, so
 * that `isNotFound` is true for it.
 *
 * @example
 * ```ts
 * import { isNotFound, objectKey } from "@pintle/controller";
 * import { NotInCacheError } from "@pintle/controller/cache";
 *
 * const error = new NotInCacheError("configmaps", objectKey({ namespace: "default", name: "a" }));
 * console.assert(isNotFound(error) && error.message === 'Cannot get configmaps "default/a": it is not in the cache');
 * ```
 */
export class NotInCacheError extends Error {
  /** The name of the class. */
  override readonly name = "NotInCacheError";
  /** The status code of NotFound. */
  readonly code = 404;
  /** The reason of NotFound. */
  readonly reason = "NotFound";

  /**
   * Creates the error.
   *
   * @param resource The name of the kind, for the message.
   */
  constructor(resource: string, key: ObjectKey) {
    super(`Cannot get ${resource} "${key}": it is not in the cache`);
  }
}

/**
 * Reads a cache, synchronously and without requests. `informer.lister` and `factory.lister` return one.
 *
 * Objects are shared by all readers: never change one.
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { informersOf } from "@pintle/controller/cache";
 * import { World } from "@pintle/controller/testing";
 *
 * await using world = await World.start({ controllers: [], cluster: false });
 * await world.create(ConfigMap, { name: "a" });
 * const informers = informersOf(world.client, { clock: world.clock });
 * const maps = informers.lister(ConfigMap);
 * const stop = new AbortController();
 * const running = informers.run(stop.signal);
 * await informers.synced(stop.signal);
 * console.assert(maps.list({ namespace: "default" }).length === 1);
 * console.assert(maps.findNamed("a", "default")?.kind === "ConfigMap");
 * stop.abort();
 * await running;
 * ```
 */
export class Lister<T extends KubeObject> {
  readonly #resource: string;
  readonly #store: StoreReader<T>;

  /**
   * Creates a Lister of a store.
   *
   * @param options.resource The name of the kind, for errors.
   */
  constructor(options: { readonly resource: string; readonly store: StoreReader<T> }) {
    this.#resource = options.resource;
    this.#store = options.store;
  }

  /** Number of objects. */
  get size(): number {
    return this.#store.size;
  }

  /**
   * The object with this key.
   *
   * @throws NotInCacheError when the object is not in the cache.
   */
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
  list(filter: ListerFilter<T> = {}): readonly T[] {
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

  #candidates({ namespace, index }: ListFilter): Iterable<T> {
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
