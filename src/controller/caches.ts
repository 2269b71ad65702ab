/**
 * What a controller reads: the cached objects of the kinds it watches, and how much of a kind is cached.
 *
 * `CacheReader` is what reconcilers and event mappings see, `Caches` is what a Controller needs beyond that; the Manager
 * implements both. `notCached()` and `metadataOnly()` state in the type of a Resource how it is cached, so the compiler
 * knows whether a read returns an object or a promise of one.
 */
import type { Infer, KubeObject, ObjectKey, ObjectMeta, Resource } from "../api/mod.ts";
import type { CacheLimit, ListFilter, OwnWrite, SharedInformer, Writer, WriteThroughResult } from "../cache/mod.ts";

/**
 * Synchronous reads of cached objects, for functions that map a change to keys (`to` of `owns` and `watches`).
 *
 * @example The Namespaces that mention a changed ConfigMap
 * ```ts
 * import { ConfigMap, controller, done, Namespace } from "@pintle/controller";
 * import type { CacheReader } from "@pintle/controller/cache";
 *
 * function namespacesOf(map: ConfigMap, caches: CacheReader): readonly string[] {
 *   return caches.list(Namespace, { labelSelector: { matchLabels: { config: map.metadata.name ?? "" } } })
 *     .map((namespace) => namespace.metadata.name ?? "");
 * }
 * const keeper = controller("keeper").for(Namespace).watches(ConfigMap, { to: namespacesOf })
 *   .reconcile(() => Promise.resolve(done));
 * console.assert(keeper.watches[1]?.role === "watches");
 * ```
 */
export interface CacheReader {
  /**
   * Returns the cached object with this key; undefined if there is none.
   *
   * @throws TypeError when the kind is not watched, because such a read would never find anything.
   */
  find<R extends Resource>(resource: R, key: ObjectKey): Infer<R> | undefined;
  /**
   * Returns the cached objects that match the filter, in no particular order.
   *
   * @throws TypeError when the kind is not watched.
   */
  list<R extends Resource>(resource: R, filter: ListFilter): readonly Infer<R>[];
  /**
   * Returns why a kind with an `activation` has no cached objects, as the end of a sentence; undefined when it is active.
   *
   * @default every kind is active
   */
  whyInactive?(resource: Resource): string | undefined;
}

/** The shared caches of one process. */
export interface Caches extends CacheReader {
  whyInactive(resource: Resource): string | undefined;
  /** The informer of a kind; every caller gets the same one. It is created on the first call. */
  informer(resource: Resource): SharedInformer<KubeObject>;
  /** The informer of a kind, or undefined when `informer` was never called for the kind. */
  findInformer(resource: Resource): SharedInformer<KubeObject> | undefined;
  /**
   * Puts a state of an object into all caches of its kind that did not come from a watch.
   *
   * @param write Who wrote it, and which fields. @default it was read
   * @returns What became of it in the cache of this controller.
   */
  writeThrough(resource: Resource, object: KubeObject, write?: OwnWrite): WriteThroughResult;
  /** Removes an object that the server has deleted from all caches of its kind. */
  deleteThrough(resource: Resource, key: ObjectKey, uid: string, writer?: Writer): void;
  /** The cached kinds that are other versions of `resource`: a response does not show their objects. */
  otherVersionsOf(resource: Resource): readonly Resource[];
}

/** A kind that is not cached: each read is a request to the API server. Create one with `notCached`. */
export type NotCached<R extends Resource = Resource> = R & { readonly isCached: false };

/** A kind whose cache is bounded: a read may need a request to the API server. Create one with `bounded`. */
export type Bounded<R extends Resource = Resource> = R & { readonly cacheLimit: CacheLimit };

/** A kind whose objects can be watched: every kind that is not marked with `notCached`. */
export type Watchable = Resource & { readonly isCached?: true };

/** An object reduced to its metadata, as the reads of a `metadataOnly` kind return it. */
export interface MetadataObject<Kind extends string = string> {
  /** The API group and version, as `apps/v1`. */
  readonly apiVersion: string;
  /** The kind, as `Deployment`. */
  readonly kind: Kind;
  /** The name, labels, owners and so on. */
  readonly metadata: ObjectMeta;
}

/** A kind whose cache has only the metadata of its objects. Create one with `metadataOnly`. */
export type MetadataOnly<Kind extends string = string> =
  & Resource<MetadataObject<Kind>, Kind>
  & { readonly projection: "metadata" };

/**
 * What `ctx.find`, `ctx.get` and `ctx.list` return: the value for a cached kind, a promise of it for a kind that is
 * not cached, or whose cache is bounded.
 */
export type Read<R extends Resource, Value> = R extends
  { readonly isCached: false } | { readonly cacheLimit: CacheLimit } ? Promise<Value> : Value;

/**
 * Marks a kind that must not be cached: it has many large objects of which a reconcile needs one, or its objects are
 * secrets that the process should not keep in memory. The kind cannot be watched. `ctx.find`, `ctx.get` and `ctx.list`
 * send requests to the API server and return promises.
 *
 * @returns A copy of the Resource; the Resource itself still means the cached kind.
 * @example
 * ```ts
 * import { controller, done, Namespace, notCached, Secret } from "@pintle/controller";
 *
 * const Secrets = notCached(Secret);
 * const keeper = controller("keeper").for(Namespace).uses(Secrets, ["get"]).reconcile(async (ctx) => {
 *   const secret = await ctx.find(Secrets, `${ctx.object.metadata.name}/tls`);
 *   ctx.log.info("read", { found: secret !== undefined });
 *   return done;
 * });
 * console.assert(keeper.watches.length === 1);
 * ```
 */
export function notCached<R extends Resource>(resource: R): NotCached<R> {
  return Object.freeze({ ...resource, isCached: false as const });
}

/**
 * Marks a kind of which the controller needs only the metadata: labels, owners, existence. The API server sends only the
 * metadata, and the cache keeps only that. If another controller watches whole objects of the kind, both share the
 * whole objects.
 *
 * @returns A copy of the Resource, whose objects have only apiVersion, kind and metadata.
 * @example
 * ```ts
 * import { controller, done, metadataOnly, Namespace, Secret } from "@pintle/controller";
 *
 * const counter = controller("counter").for(Namespace)
 *   .watches(metadataOnly(Secret), { to: (secret) => [secret.metadata.namespace ?? ""] })
 *   .reconcile(() => Promise.resolve(done));
 * console.assert(counter.watches[1]?.resource.kind === "Secret");
 * ```
 */
export function metadataOnly<const Kind extends string>(resource: Resource<unknown, Kind>): MetadataOnly<Kind> {
  const { _type, ...names } = resource;
  return Object.freeze({ ...names, projection: "metadata" as const });
}

/**
 * Bounds the cache of a kind that is too large for memory: all objects are watched, and some bodies are kept. `ctx.find`,
 * `ctx.get` and `ctx.list` return promises, and read a body from the API server if the cache has evicted it.
 *
 * Guarantees: what a running reconcile has read stays until it ends. No change is missed: a predicate that needs the evicted
 * old body accepts the change.
 * Caveats: metadata is not bounded. Functions that map changes to keys read cached objects synchronously, and of bounded
 * kinds they can read only metadata. If another controller watches the kind without a limit, all bodies are kept; of two
 * limits the larger one counts. Each namespace of a Manager with several has a cache with this limit.
 *
 * @param limit How many bodies stay: `maxObjects`, `maxBytes` (of JSON), or both.
 * @returns A copy of the Resource; the Resource itself still means the cache of all bodies.
 * @throws RangeError when the limit has no number, or one below 1.
 * @example
 * ```ts
 * import { bounded, ConfigMap, controller, done, Namespace } from "@pintle/controller";
 *
 * const Settings = bounded(ConfigMap, { maxObjects: 1_000 });
 * const keeper = controller("keeper").for(Namespace)
 *   .watches(Settings, { to: ({ metadata }) => [metadata.namespace ?? ""] })
 *   .reconcile(async (ctx) => {
 *     const settings = await ctx.find(Settings, `${ctx.object.metadata.name}/settings`);
 *     ctx.log.info("read", { keys: Object.keys(settings?.data ?? {}).length });
 *     return done;
 *   });
 * console.assert(keeper.watches.length === 2);
 * ```
 */
export function bounded<R extends Resource>(resource: R, limit: CacheLimit): Bounded<R> {
  const { maxObjects, maxBytes } = limit;
  const numbers = [maxObjects, maxBytes].filter((number) => number !== undefined);
  if (numbers.length === 0 || numbers.some((number) => !(number >= 1))) {
    throw new RangeError(
      `Cannot bound the cache of ${resource.kind}: the limit is ${
        JSON.stringify(limit)
      }. Give maxObjects or maxBytes, at least 1`,
    );
  }
  return Object.freeze({ ...resource, cacheLimit: Object.freeze({ maxObjects, maxBytes }) });
}

/** True for a kind marked with {@link bounded}. */
export function isBounded(resource: Resource): resource is Bounded {
  return "cacheLimit" in resource;
}

/** True for a kind marked with {@link notCached}. */
export function isNotCached(resource: Resource): resource is NotCached {
  return "isCached" in resource && resource.isCached === false;
}

/** True for a kind marked with {@link metadataOnly}. */
export function isMetadataOnly(resource: Resource): resource is MetadataOnly {
  return "projection" in resource && resource.projection === "metadata";
}
