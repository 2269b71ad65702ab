/**
 * Bounded kinds of a controller: how a change becomes keys if the cache has dropped the body of the object. A function of the
 * user may need the body, so the cache calls it before it drops one, and keeps the keys: as the values of an index. The same
 * holds for the keys of external resources.
 */
import type { KubeObject, ObjectKey } from "../api/mod.ts";
import { type Indexers, isEvicted, keptIndexValues } from "../cache/mod.ts";
import { type CacheReader, isBounded } from "./caches.ts";
import type { ControllerDefinition, WatchDefinition } from "./controller_definition.ts";
import type { AnyExternalSource } from "./external.ts";

type Watches = Pick<ControllerDefinition, "name" | "watches" | "externals">;

/** True for a controller that has a bounded kind. */
export function hasBounded({ watches }: Watches): boolean {
  return watches.some(({ resource }) => isBounded(resource));
}

/** The indices whose values a bounded cache of a kind needs of each object before it drops the body. */
export function boundedIndices(definition: Watches, watch: WatchDefinition, caches: CacheReader): Indexers<KubeObject> {
  const indices: Record<string, (object: KubeObject) => readonly string[]> = {
    ...watch.indices,
    [keysIndex(definition, watch)]: (object) => watch.keysOf(object, caches),
  };
  if (watch.role !== "for") return indices;
  for (const source of definition.externals ?? []) {
    indices[externalIndex(definition, source)] = (object) => keysOfResource(source, object);
  }
  return indices;
}

/** The keys that an object concerns. */
export function keysOfObject(
  definition: Watches,
  watch: WatchDefinition,
  object: KubeObject,
  caches: CacheReader,
): readonly ObjectKey[] {
  if (!isBounded(watch.resource) || !isEvicted(object)) return watch.keysOf(object, caches);
  // The index has only the results of `keysOf`, which are ObjectKeys.
  return keptIndexValues(object, keysIndex(definition, watch)) as readonly ObjectKey[] | undefined ??
    watch.keysOf(object, caches);
}

/** The key of the external resource of an object; undefined for an object without one. @throws what `key` of the source throws */
export function externalKeyOf(definition: Watches, source: AnyExternalSource, object: KubeObject): string | undefined {
  const kept = isEvicted(object) ? keptIndexValues(object, externalIndex(definition, source)) : undefined;
  return (kept ?? keysOfResource(source, object))[0];
}

function keysOfResource({ options }: AnyExternalSource, object: KubeObject): readonly string[] {
  const key = options.key(object as never);
  return key === undefined ? [] : [key];
}

function externalIndex({ name, externals = [] }: Watches, source: AnyExternalSource): string {
  return `external resources of ${name} ${externals.indexOf(source)}`;
}

function keysIndex({ name, watches }: Watches, watch: WatchDefinition): string {
  return `keys of ${name} ${watches.indexOf(watch)}`;
}
