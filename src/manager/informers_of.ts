/**
 * informersOf(): an InformerFactory over a Client, for programs that want caches and no controllers. A Manager makes its
 * own; see `shared_caches.ts`.
 */
import type { ListWatch, Resource } from "../api/mod.ts";
import { type CacheScope, InformerFactory, type InformerFactoryOptions, type ObjectOf } from "../cache/mod.ts";
import type { Client } from "../client/mod.ts";

/** Options of {@link informersOf}. */
export type InformersOptions = Omit<InformerFactoryOptions, "listWatch">;

/**
 * Makes a factory of shared informers: the same kind in the same scope is one cache and one watch.
 *
 * @example
 * ```ts
 * import { Client, informersOf, Pod } from "@pintle/controller";
 *
 * const client = new Client(() => Promise.reject(new Error("there is no server in an example")));
 * const informers = informersOf(client, { namespaces: ["shop"] });
 * const pods = informers.informer(Pod, { labelSelector: { matchLabels: { app: "web" } } });
 * pods.addHandler({ added: (pod) => console.log(pod.metadata.name) });
 * console.assert(pods.lister.size === 0 && !pods.hasSynced); // until `informers.run(signal)` has listed them
 * ```
 */
export function informersOf(client: Client, options: InformersOptions = {}): InformerFactory {
  return new InformerFactory({ ...options, listWatch: (resource, scope) => listWatchOf(client, resource, scope) });
}

/** What a cache reads. Objects of any Resource are KubeObjects, which TypeScript cannot see through a type parameter. */
export function listWatchOf<R extends Resource>(
  client: Client,
  resource: R,
  scope: CacheScope & { readonly keepManagedFields?: boolean },
): ListWatch<ObjectOf<R>> {
  const { projection, ...selection } = scope;
  return client.listWatch(resource, { ...selection, metadataOnly: projection === "metadata" }) as ListWatch<
    ObjectOf<R>
  >;
}
