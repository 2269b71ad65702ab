/**
 * Bounded kinds of a controller: how a change becomes keys if the cache has dropped the body of the object. A function of the
 * user may need the body, so the cache calls it before it drops one, and keeps the keys: as the values of an index.
 */
import type { KubeObject, ObjectKey } from "../api/mod.ts";
import { type Indexers, isEvicted, keptIndexValues } from "../cache/mod.ts";
import { type CacheReader, isBounded } from "./caches.ts";
import type { ControllerDefinition, WatchDefinition } from "./controller_definition.ts";

type Watches = Pick<ControllerDefinition, "name" | "watches">;

/** True for a controller that has a bounded kind. */
export function hasBounded({ watches }: Watches): boolean {
  return watches.some(({ resource }) => isBounded(resource));
}

/** The indices whose values a bounded cache of a kind needs of each object before it drops the body. */
export function boundedIndices(definition: Watches, watch: WatchDefinition, caches: CacheReader): Indexers<KubeObject> {
  return { ...watch.indices, [keysIndex(definition, watch)]: (object) => watch.keysOf(object, caches) };
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

function keysIndex({ name, watches }: Watches, watch: WatchDefinition): string {
  return `keys of ${name} ${watches.indexOf(watch)}`;
}
