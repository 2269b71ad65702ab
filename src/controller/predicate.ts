/**
 * Predicate: decides whether a change of an object leads to a reconcile. It runs for every watch event while the cache
 * delivers the event, so it is synchronous and must be cheap. If a predicate throws, the change counts: one unnecessary
 * reconcile is better than a missing one.
 */
import type { KubeObject } from "../api/mod.ts";
import { isDeepEqual } from "./_diff.ts";

/** What happened to an object in the cache. */
export type Change<T = KubeObject> =
  | { readonly kind: "added"; readonly object: T }
  | { readonly kind: "updated"; readonly object: T; readonly old: T }
  | { readonly kind: "deleted"; readonly object: T };

/** True for the changes that count. */
export type Predicate<T = KubeObject> = (change: Change<T>) => boolean;

function updatesWhere(isChanged: (object: KubeObject, old: KubeObject) => boolean): Predicate {
  return (change) => change.kind !== "updated" || isChanged(change.object, change.old);
}

/** Predicates that accept every add and delete, and those updates in which the named part changed. */
export const changed = {
  /** The desired state. Deletion counts too, because Kubernetes increases the generation when it begins. */
  generation: updatesWhere((object, old) => object.metadata.generation !== old.metadata.generation),
  /** Any change; rejects the updates of a resync. */
  resourceVersion: updatesWhere((object, old) => object.metadata.resourceVersion !== old.metadata.resourceVersion),
  /** Any change except of the resourceVersion; rejects resyncs and writes that changed nothing in the cached object. */
  content: updatesWhere((object, old) => !hasSameContent(object, old)),
  /** The labels. */
  labels: updatesWhere((object, old) => !isSameMap(object.metadata.labels, old.metadata.labels)),
  /** The annotations. */
  annotations: updatesWhere((object, old) => !isSameMap(object.metadata.annotations, old.metadata.annotations)),
} as const;

/**
 * Accepts changes of objects that have the labels; "*" matches any value. An update counts if the object has the labels
 * before or after it, so that the removal of a label counts.
 */
export function labelled(labels: Readonly<Record<string, string>>): Predicate {
  const required = Object.entries(labels);
  const hasLabels = (object: KubeObject) =>
    required.every(([key, value]) => {
      const present = object.metadata.labels;
      if (present === undefined || !Object.hasOwn(present, key)) return false;
      return value === "*" || present[key] === value;
    });
  return (change) => hasLabels(change.object) || (change.kind === "updated" && hasLabels(change.old));
}

/** Accepts a change if all of the predicates accept it. */
export function allOf<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}

/** Accepts a change if at least one of the predicates accepts it. */
export function anyOf<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/** Accepts a change if the predicate rejects it. */
export function not<T>(predicate: Predicate<T>): Predicate<T> {
  return (change) => !predicate(change);
}

/** Deep equality, except for `metadata.resourceVersion`. */
function hasSameContent(object: KubeObject, old: KubeObject): boolean {
  if (object === old) return true;
  const { resourceVersion: _, ...metadata } = object.metadata;
  const { resourceVersion: __, ...oldMetadata } = old.metadata;
  return isDeepEqual({ ...object, metadata }, { ...old, metadata: oldMetadata });
}

function isSameMap(
  left: Readonly<Record<string, string>> | undefined,
  right: Readonly<Record<string, string>> | undefined,
): boolean {
  if (left === right) return true;
  const leftEntries = Object.entries(left ?? {});
  if (leftEntries.length !== Object.keys(right ?? {}).length) return false;
  return leftEntries.every(([key, value]) => right !== undefined && Object.hasOwn(right, key) && right[key] === value);
}
