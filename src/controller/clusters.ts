/**
 * The clusters that a controller of a Fleet works with: the one whose objects it reconciles, and the hub. `inHub()` states in
 * the type of a Resource that its objects are those of the hub, as `notCached()` and `metadataOnly()` state how it is cached.
 *
 * Guarantees: without a Fleet the hub is the cluster itself, so that the same controller runs in one cluster and in many.
 */
import type { Resource } from "../api/mod.ts";
import type { Client } from "../client/mod.ts";

/** One cluster of a Fleet. */
export interface ClusterIdentity {
  /** The name that the provider gave it, unique in the Fleet. */
  readonly name: string;
}

/** Direct access to the hub of a Fleet. */
export interface Hub {
  /** Sends requests to the API server of the hub. Without a Fleet, to that of the cluster. */
  readonly client: Client;
}

/** A kind whose objects are those of the hub. Create one with `inHub`. */
export type InHub<R extends Resource = Resource> = R & { readonly cluster: "hub" };

/**
 * Marks a kind whose objects are read in the hub of a Fleet, while the controller reconciles and writes in a member. Declare
 * it with `watches`, and read it with `ctx.find` and `ctx.list`: all members share one cache of it. Without a Fleet, the hub
 * is the cluster itself.
 *
 * @returns A copy of the Resource; the Resource itself still means the objects of the member.
 * @example Settings of the hub for the Namespaces of all members
 * ```ts
 * import { ConfigMap, controller, done, inHub, manifest, Namespace } from "@pintle/controller";
 *
 * const Settings = inHub(ConfigMap);
 * const copier = controller("copier").for(Namespace).owns(ConfigMap)
 *   .watches(Settings, { to: (_, caches) => caches.list(Namespace, {}).map(({ metadata }) => metadata.name ?? "") })
 *   .reconcile(async (ctx) => {
 *     const settings = ctx.find(Settings, "fleet/settings");
 *     const metadata = { namespace: ctx.object.metadata.name, name: "settings" };
 *     await ctx.apply(manifest(ConfigMap, { metadata, data: settings?.data ?? {} }));
 *     return done;
 *   });
 * console.assert(copier.watches.length === 3);
 * ```
 */
export function inHub<R extends Resource>(resource: R): InHub<R> {
  return Object.freeze({ ...resource, cluster: "hub" as const });
}

/** True for a kind marked with {@link inHub}. */
export function isInHub(resource: Resource): resource is InHub {
  return "cluster" in resource && resource.cluster === "hub";
}
