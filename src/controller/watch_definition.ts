/**
 * WatchDefinition: one kind a controller watches, and which of its own objects a change there concerns.
 *
 * The step between a cache and a queue: Informer -> Predicate -> `keysOf` -> WorkQueue. Types are erased here; the
 * builder is where they are checked.
 */
import {
  apiVersionOf,
  controllerOf,
  keyOf,
  type KubeObject,
  type ObjectKey,
  objectKey,
  type Resource,
  splitKey,
} from "../api/mod.ts";
import type { Indexers } from "../cache/mod.ts";
import type { CacheReader } from "./cache_reader.ts";
import type { Predicate } from "./predicate.ts";

/** Why a kind is watched: it is reconciled, it is created by the reconciler, or it is only looked at. */
export type WatchRole = "for" | "owns" | "watches";

/** One watched kind of a controller. */
export interface WatchDefinition {
  readonly role: WatchRole;
  readonly resource: Resource;
  /** The primary objects that a change of `object` concerns. `caches` are the controller's. */
  readonly keysOf: (object: KubeObject, caches: CacheReader) => readonly ObjectKey[];
  /** True when the reconciler applies fields to these objects, so the cache must know which of them are its own. */
  readonly writes: boolean;
  /** True when the reconciler deletes these objects. */
  readonly deletes: boolean;
  /** Absent: every change counts. */
  readonly when?: Predicate;
  /** Under what names, and by which values, the objects are found in the cache. Absent: by none. */
  readonly indices?: Indexers<KubeObject>;
}

/** The object itself. */
export function itself(object: KubeObject): readonly ObjectKey[] {
  return [keyOf(object)];
}

/**
 * The owner that controls the object, when it is of kind `owner`: group and kind decide, the version does not, since
 * an object keeps the reference while its owner's API moves on.
 */
export function itsController(owner: Resource): (object: KubeObject) => readonly ObjectKey[] {
  return (object) => {
    const reference = controllerOf(object);
    if (reference === undefined || reference.kind !== owner.kind) return [];
    if (groupOf(reference.apiVersion) !== groupOf(apiVersionOf(owner))) return [];
    const namespace = owner.scope === "Namespaced" ? object.metadata.namespace : undefined;
    return [objectKey({ namespace, name: reference.name })];
  };
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

/**
 * A key that somebody else wrote, as one of `primary`'s.
 *
 * @throws TypeError when it has not the form that the scope of the kind asks for.
 */
export function checkedKey(primary: Resource, key: string): ObjectKey {
  const parts = splitKey(key);
  if ((parts.namespace !== undefined) !== (primary.scope === "Namespaced")) {
    const form = primary.scope === "Namespaced" ? "namespace/name" : "name";
    throw new TypeError(`Cannot enqueue ${primary.kind} "${key}": its keys have the form ${form}`);
  }
  return objectKey(parts);
}
