/**
 * Predicate: decides whether a change of an object is worth a reconcile. Runs inside the cache's delivery, so it is
 * synchronous and cheap. A predicate that throws lets the change pass: better one reconcile too many.
 */
import type { KubeObject } from "../api/mod.ts";
import { sameValue } from "./_same.ts";

/** What happened to an object, as the cache saw it. */
export type Change<T = KubeObject> =
  | { readonly kind: "added"; readonly object: T }
  | { readonly kind: "updated"; readonly object: T; readonly old: T }
  | { readonly kind: "deleted"; readonly object: T };

/** True for the changes that count. */
export type Predicate<T = KubeObject> = (change: Change<T>) => boolean;

function updates(counts: (object: KubeObject, old: KubeObject) => boolean): Predicate {
  return (change) => change.kind !== "updated" || counts(change.object, change.old);
}

/** Predicates that pass every add and delete, and those updates in which the named part changed. */
export const changed = {
  /** The desired state. Also passes when deletion begins, which Kubernetes counts as a new generation. */
  generation: updates((object, old) => object.metadata.generation !== old.metadata.generation),
  /** Anything at all; drops the repetitions of a resync. */
  resourceVersion: updates((object, old) => object.metadata.resourceVersion !== old.metadata.resourceVersion),
  /** Anything but the resourceVersion: drops resyncs, and writes that changed nothing of what the cache keeps. */
  content: updates((object, old) => !sameContent(object, old)),
  /** The labels. */
  labels: updates((object, old) => !sameStrings(object.metadata.labels, old.metadata.labels)),
  /** The annotations. */
  annotations: updates((object, old) => !sameStrings(object.metadata.annotations, old.metadata.annotations)),
} as const;

/**
 * Passes changes of objects that carry the labels; the value "*" stands for any value. An update passes when the
 * object carries them before or after, so that losing a label is noticed.
 */
export function labelled(labels: Readonly<Record<string, string>>): Predicate {
  const wanted = Object.entries(labels);
  const carries = (object: KubeObject) =>
    wanted.every(([key, value]) => {
      const held = object.metadata.labels;
      if (held === undefined || !Object.hasOwn(held, key)) return false;
      return value === "*" || held[key] === value;
    });
  return (change) => carries(change.object) || (change.kind === "updated" && carries(change.old));
}

/** Passes what every one of the predicates passes. */
export function allOf<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((passes) => passes(change));
}

/** Passes what at least one of the predicates passes. */
export function anyOf<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((passes) => passes(change));
}

/** Passes what the predicate does not. */
export function not<T>(predicate: Predicate<T>): Predicate<T> {
  return (change) => !predicate(change);
}

/** Deep equality, but for `metadata.resourceVersion`. */
function sameContent(object: KubeObject, old: KubeObject): boolean {
  if (object === old) return true;
  const { resourceVersion: _, ...metadata } = object.metadata;
  const { resourceVersion: __, ...oldMetadata } = old.metadata;
  return sameValue({ ...object, metadata }, { ...old, metadata: oldMetadata });
}

function sameStrings(
  left: Readonly<Record<string, string>> | undefined,
  right: Readonly<Record<string, string>> | undefined,
): boolean {
  if (left === right) return true;
  const leftEntries = Object.entries(left ?? {});
  if (leftEntries.length !== Object.keys(right ?? {}).length) return false;
  return leftEntries.every(([key, value]) => right !== undefined && Object.hasOwn(right, key) && right[key] === value);
}
