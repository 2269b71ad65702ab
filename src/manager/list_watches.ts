/** The requests of caches: how a Client lists and watches a kind, and reads the objects that a bounded cache has evicted. */
import { apiVersionOf, type KubeObject, type ListWatch, type Resource } from "../api/mod.ts";
import type { CacheBounds, CacheLimit, CacheScope, ObjectOf } from "../cache/mod.ts";
import type { Client } from "../client/mod.ts";

/** How the cache of a resource is bounded, and how it reads what it has evicted. */
export function boundsOf<R extends Resource>(
  client: Client,
  { resource, scope, limit }: {
    readonly resource: R;
    readonly scope: CacheScope;
    readonly limit: CacheLimit | undefined;
  },
): CacheBounds<ObjectOf<R>> | undefined {
  if (limit === undefined) return undefined;
  const metadataOnly = scope.projection === "metadata";
  return {
    limit,
    read: async (key, signal) => await client.find(resource, key, { metadataOnly, signal }) as ObjectOf<R> | undefined,
  };
}

/** The ListWatch of a cache. Objects of any Resource are KubeObjects; TypeScript cannot see that through a type parameter. */
export function listWatchOf<R extends Resource>(
  client: Client,
  resource: R,
  scope: CacheScope & { readonly keepManagedFields?: boolean; readonly reportManagers?: boolean },
): ListWatch<ObjectOf<R>> {
  const { projection, ...selection } = scope;
  return client.listWatch(resource, { ...selection, metadataOnly: projection === "metadata" }) as ListWatch<
    ObjectOf<R>
  >;
}

/** The server sends metadata as the kind PartialObjectMetadata; this sets the kind of the resource. */
export function withKind<T extends KubeObject>({ group, version, kind }: Resource, object: T): T {
  const apiVersion = apiVersionOf({ group, version });
  return object.kind === kind ? object : { ...object, apiVersion, kind };
}
