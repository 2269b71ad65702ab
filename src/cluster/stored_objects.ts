/**
 * What an embedded API server stores, by kind: read past HTTP and past the clock, as tests look at a cluster. In the version
 * that the Resource names, which is the one it is stored in.
 */
import { type Infer, type Resource, resourceName, splitKey } from "../api/mod.ts";
import type { KubernetesApi } from "../apiserver/mod.ts";

/** An object as it is stored. @throws Error when there is none */
export function storedObject<R extends Resource>(api: KubernetesApi, resource: R, key: string): Infer<R> {
  const found = findStoredObject(api, resource, key);
  if (found === undefined) throw new Error(`Cannot get ${resource.kind} "${key}": there is none`);
  return found;
}

/** An object as it is stored, if there is one. */
export function findStoredObject<R extends Resource>(
  { server }: KubernetesApi,
  resource: R,
  key: string,
): Infer<R> | undefined {
  const { namespace = "", name } = splitKey(key);
  return server.storage.get(resourceName(resource), namespace, name) as Infer<R> | undefined;
}

/** All objects of a kind, in the order of their names. @param namespace the only one that matters */
export function storedObjects<R extends Resource>(
  { server }: KubernetesApi,
  resource: R,
  namespace?: string,
): readonly Infer<R>[] {
  return [...server.storage.list(resourceName(resource), namespace)] as unknown as readonly Infer<R>[];
}
