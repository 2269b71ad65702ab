/** What a cluster does with single objects, as functions. */
import type { KubeObject } from "../api/mod.ts";

/** An object as it is stored, and where it is served. */
export interface StoredView {
  readonly collection: string;
  readonly path: string;
  readonly object: KubeObject;
}

interface WithReplicas extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: Readonly<Record<string, unknown>>;
}

/** Kinds whose Pods are counted, with the fields that count them. */
const counted: ReadonlyMap<string, readonly string[]> = new Map([
  ["Deployment", ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"]],
  ["StatefulSet", ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "currentReplicas"]],
  ["ReplicaSet", ["replicas", "readyReplicas", "availableReplicas"]],
]);

/** The status that all Pods running would give an object; undefined where it has that, or has no such status. */
export function readyStatus(object: WithReplicas): object | undefined {
  const fields = object.apiVersion === "apps/v1" ? counted.get(object.kind) : undefined;
  if (fields === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const replicas = object.spec?.replicas ?? 1;
  const generation = object.metadata.generation ?? 0;
  const status = object.status ?? {};
  const has = (name: string) => Object.hasOwn(status, name) ? status[name] : 0;
  if (has("observedGeneration") === generation && fields.every((name) => has(name) === replicas)) return undefined;
  return Object.fromEntries([["observedGeneration", generation], ...fields.map((name) => [name, replicas])]);
}

/** True when each owner of an object is gone. @param living the UIDs of all objects */
export function isOrphan({ metadata }: KubeObject, living: () => ReadonlySet<string>): boolean {
  const { ownerReferences = [], deletionTimestamp } = metadata;
  if (ownerReferences.length === 0 || deletionTimestamp !== undefined) return false;
  return !ownerReferences.some(({ uid }) => living().has(uid));
}

/** True when `uid` is one of the owners. */
export function isDependentOf({ metadata }: KubeObject, uid: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}
