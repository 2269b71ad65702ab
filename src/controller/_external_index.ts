/**
 * The index of the primary kind by the keys of external resources: which objects have a resource, without a look at each
 * object; and which resource an object has whose body a bounded cache has dropped, because such a cache keeps the values of indices.
 */
import type { KubeObject } from "../api/mod.ts";
import { isEvicted, keptIndexValues } from "../cache/mod.ts";
import type { WatchDefinition } from "./controller_definition.ts";
import type { AnyExternalSource } from "./external.ts";

/** The watches of a controller with the index for a source. */
export function withExternalIndex(
  controller: string,
  source: AnyExternalSource,
  watches: readonly WatchDefinition[],
): readonly WatchDefinition[] {
  const index = { [externalIndex(controller, source)]: (object: KubeObject) => keysOfResource(source, object) };
  return watches.map((watch) => watch.role === "for" ? { ...watch, indices: { ...watch.indices, ...index } } : watch);
}

/** The name of the index. The controllers of a Manager share the indices of a kind. */
export function externalIndex(controller: string, { name }: AnyExternalSource): string {
  return `external resources "${name}" of ${controller}`;
}

/** The key of the resource of an object; undefined for an object without one. @throws what `key` of the source throws */
export function externalKeyOf(controller: string, source: AnyExternalSource, object: KubeObject): string | undefined {
  const kept = isEvicted(object) ? keptIndexValues(object, externalIndex(controller, source)) : undefined;
  return (kept ?? keysOfResource(source, object))[0];
}

function keysOfResource({ options }: AnyExternalSource, object: KubeObject): readonly string[] {
  const key = options.key(object as never);
  return key === undefined ? [] : [key];
}
