/**
 * storedViews(): the objects of an API server with their collections and paths, as the users, the clusters and the oracles of
 * simulated runs read them: those of the in-memory simulation, and those of programs.
 */
import type { KubeObject } from "../api/mod.ts";
import type { KubernetesApi } from "../apiserver/mod.ts";

/** A stored object with its place: `deployments.apps`, `/apis/apps/v1/namespaces/default/deployments/web`. */
export interface StoredView {
  readonly collection: string;
  readonly path: string;
  readonly object: KubeObject;
}

/** Collections that are written all the time: their changes say nothing about whether a cluster is at rest. */
export const transientCollections: ReadonlySet<string> = new Set([
  "events",
  "events.events.k8s.io",
  "leases.coordination.k8s.io",
]);

const none: ReadonlySet<string> = new Set();

/** The objects of a server. A collection is read when the first of its objects is. @param ignored collections that are left out */
export function* storedViews(
  { server: { kinds, storage } }: KubernetesApi,
  ignored: ReadonlySet<string> = none,
): Generator<StoredView> {
  for (const { collection, size } of storage.collections()) {
    const family = kinds.family(collection);
    if (family === undefined || size === 0 || ignored.has(collection)) continue;
    const { group, version, plural } = family.storage;
    const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    // The storage has JSON, which are objects of the kind.
    for (const object of [...storage.list(collection)] as unknown as readonly KubeObject[]) {
      const { namespace, name = "" } = object.metadata;
      const inside = namespace === undefined ? "" : `/namespaces/${namespace}`;
      yield { collection, path: `${root}${inside}/${plural}/${name}`, object };
    }
  }
}
