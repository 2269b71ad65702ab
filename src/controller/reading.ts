/**
 * How much of a kind is kept in memory, said where the kind is declared: all of it (nothing to say), the metadata alone,
 * or nothing. What is said is part of the type, so that a read means the same to whoever writes it and to the compiler.
 */
import type { ObjectMeta, Resource } from "../api/mod.ts";

/** A kind that no cache holds: each read asks the API server. */
export type NotCached<R extends Resource = Resource> = R & { readonly isCached: false };

/** A kind of which objects may be watched. */
export type Watchable = Resource & { readonly isCached?: true };

/** An object of which only the metadata is known. */
export interface MetadataObject<Kind extends string = string> {
  readonly apiVersion: string;
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
}

/** A kind of which the cache holds the metadata alone. */
export type MetadataOnly<Kind extends string = string> =
  & Resource<MetadataObject<Kind>, Kind>
  & { readonly projection: "metadata" };

/** What a read gives: at once what is cached, a promise of what is not. */
export type Read<R extends Resource, Value> = R extends { readonly isCached: false } ? Promise<Value> : Value;

/**
 * A kind that shall not be cached: many large objects of which a reconcile needs one, or secrets that the process should
 * not hold. It cannot be watched; `ctx.find`, `ctx.get` and `ctx.list` ask the API server and give promises.
 *
 * @example
 * ```ts
 * import { controller, done, Namespace, notCached, Secret } from "@pintle/controller";
 *
 * const Secrets = notCached(Secret);
 * const keeper = controller("keeper").for(Namespace).uses(Secrets, ["get"]).reconcile(async (ctx) => {
 *   const secret = await ctx.find(Secrets, `${ctx.object.metadata.name}/tls`);
 *   return secret === undefined ? done : done;
 * });
 * console.assert(keeper.watches.length === 1);
 * ```
 */
export function notCached<R extends Resource>(resource: R): NotCached<R> {
  return Object.freeze({ ...resource, isCached: false as const });
}

/**
 * A kind of which metadata is enough: labels, owners, whether it is there. The server sends no more than that, and the
 * cache holds no more, unless another controller watches whole objects of the kind: then they share those.
 *
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

/** True for a kind that no cache holds. */
export function isNotCached(resource: Resource): resource is NotCached {
  return "isCached" in resource && resource.isCached === false;
}

/** True for a kind of which the metadata is enough. */
export function isMetadataOnly(resource: Resource): resource is MetadataOnly {
  return "projection" in resource && resource.projection === "metadata";
}
