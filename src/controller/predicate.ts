/**
 * Predicate: decides whether a change of an object leads to a reconcile. It runs for every watch event while the cache
 * delivers the event, so it is synchronous and must be cheap. If a predicate throws, the change counts: one unnecessary
 * reconcile is better than a missing one.
 */
import { isDeepEqual, type KubeObject } from "../api/mod.ts";
import type { Writer } from "../cache/mod.ts";

/**
 * What happened to an object in the cache; the argument of a {@link Predicate}. `writtenBy` is the controller and the key
 * whose reconcile made the change; it is absent for changes of other clients, and when the watch was faster than the
 * response to the write. `entry` is the id of the change in the recording of the process, if there is one.
 */
export type Change<T = KubeObject> =
  | { readonly kind: "added"; readonly object: T; readonly writtenBy?: Writer; readonly entry?: number }
  | {
    readonly kind: "updated";
    readonly object: T;
    readonly old: T;
    readonly writtenBy?: Writer;
    readonly entry?: number;
  }
  | { readonly kind: "deleted"; readonly object: T; readonly writtenBy?: Writer; readonly entry?: number };

/**
 * Decides whether a change counts; the option `when` of `for`, `owns` and `watches`. It is called for every change, so it
 * must be fast. If it throws, the change counts.
 *
 * @example
 * ```ts
 * import { controller, done, Pod, type Predicate } from "@pintle/controller";
 *
 * const isScheduled: Predicate<Pod> = ({ object }) => object.spec?.nodeName !== undefined;
 * const agent = controller("agent").for(Pod, { when: isScheduled }).reconcile(() => Promise.resolve(done));
 * console.assert(agent.watches[0]?.when !== undefined);
 * ```
 */
export type Predicate<T = KubeObject> = (change: Change<T>) => boolean;

function updatesWhere(isChanged: (object: KubeObject, old: KubeObject) => boolean): Predicate {
  return (change) => change.kind !== "updated" || isChanged(change.object, change.old);
}

/**
 * Predicates that accept every add and delete, and those updates in which the named part changed.
 *
 * @example Ignore the writes of this controller to the status
 * ```ts
 * import { anyOf, changed, controller, Deployment, done } from "@pintle/controller";
 *
 * const when = anyOf(changed.generation, changed.annotations);
 * const scaler = controller("scaler").for(Deployment, { when }).reconcile(() => Promise.resolve(done));
 * const object = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a", generation: 1 } };
 * console.assert(scaler.watches[0]?.when?.({ kind: "updated", object, old: object }) === false);
 * ```
 */
export const changed: {
  /** The desired state. Deletion counts too, because Kubernetes increases the generation when it begins. */
  readonly generation: Predicate;
  /** Any change; rejects the updates of a resync. */
  readonly resourceVersion: Predicate;
  /** Any change except of the resourceVersion; rejects resyncs and writes that changed nothing in the cached object. */
  readonly content: Predicate;
  /** The labels. */
  readonly labels: Predicate;
  /** The annotations. */
  readonly annotations: Predicate;
} = {
  generation: updatesWhere((object, old) => object.metadata.generation !== old.metadata.generation),
  resourceVersion: updatesWhere((object, old) => object.metadata.resourceVersion !== old.metadata.resourceVersion),
  content: updatesWhere((object, old) => !hasSameContent(object, old)),
  labels: updatesWhere((object, old) => !isSameMap(object.metadata.labels, old.metadata.labels)),
  annotations: updatesWhere((object, old) => !isSameMap(object.metadata.annotations, old.metadata.annotations)),
};

/**
 * Accepts changes of objects that have the labels; "*" matches any value. An update counts if the object has the labels
 * before or after it, so that the removal of a label counts.
 *
 * @example
 * ```ts
 * import { labelled } from "@pintle/controller";
 *
 * const isCritical = labelled({ tier: "critical", team: "*" });
 * const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", labels: { tier: "critical" } } };
 * console.assert(!isCritical({ kind: "added", object })); // it has no label "team"
 * ```
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

/**
 * Accepts a change if all of the predicates accept it.
 *
 * @example
 * ```ts
 * import { allOf, changed, labelled } from "@pintle/controller";
 *
 * const when = allOf(changed.generation, labelled({ tier: "critical" }));
 * const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", labels: { tier: "critical" } } };
 * console.assert(when({ kind: "added", object }) && !when({ kind: "updated", object, old: object }));
 * ```
 */
export function allOf<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}

/**
 * Accepts a change if at least one of the predicates accepts it.
 *
 * @example
 * ```ts
 * import { anyOf, changed } from "@pintle/controller";
 *
 * const when = anyOf(changed.generation, changed.labels);
 * const old = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", labels: { tier: "test" } } };
 * const object = { ...old, metadata: { ...old.metadata, labels: { tier: "critical" } } };
 * console.assert(when({ kind: "updated", object, old }));
 * ```
 */
export function anyOf<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/**
 * Accepts a change if the predicate rejects it.
 *
 * @example
 * ```ts
 * import { labelled, not } from "@pintle/controller";
 *
 * const isManaged = not(labelled({ unmanaged: "*" }));
 * console.assert(isManaged({ kind: "added", object: { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } } }));
 * ```
 */
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
