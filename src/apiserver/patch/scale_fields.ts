/**
 * The managed fields of a Scale: the owners of the replicas of an object own `spec.replicas` of its Scale, and a write to the
 * Scale takes the replicas of the object. Other managers are not visible in the Scale.
 */
import type { Json } from "../model/mod.ts";
import { differenceOf, type FieldPath, fieldSetOf, hasField, isEmptySet } from "./field_set.ts";
import { type ManagedFields, type Manager, readManagers, writeManagers } from "./managed_fields.ts";

const scaleVersion = "autoscaling/v1";
const scaleReplicas: FieldPath = ["f:spec", "f:replicas"];

/**
 * The path of the replicas by apiVersion; undefined for a version without scale. Other versions are not served.
 */
export type ReplicasPaths = ReadonlyMap<string, FieldPath | undefined>;

/**
 * The managed fields of the Scale of an object.
 *
 * @param managedFields those of the object
 * @throws FieldsError when they are malformed
 */
export function scaleManagedFields(managedFields: Json | undefined, paths: ReplicasPaths): ManagedFields | undefined {
  const seen = new Map<string, Manager>();
  for (const [identity, manager] of readManagers(managedFields)) {
    const path = paths.get(manager.apiVersion);
    if (path === undefined || !hasField(manager.fields, path)) continue;
    seen.set(identity, { ...manager, apiVersion: scaleVersion, fields: fieldSetOf([scaleReplicas]) });
  }
  return writeManagers(seen);
}

/** A write through a Scale. */
export interface ScaleWrite {
  /** The managed fields of the object before the write. */
  readonly managedFields: Json | undefined;
  /** The managed fields of the Scale after the write. */
  readonly scale: Json | undefined;
  /** The version of the object in the request. */
  readonly apiVersion: string;
  readonly paths: ReplicasPaths;
}

/**
 * The managed fields of an object after a write to its Scale.
 *
 * @throws FieldsError when they are malformed
 */
export function managedFieldsAfterScale(
  { managedFields, scale, apiVersion, paths }: ScaleWrite,
): ManagedFields | undefined {
  const scalers = new Map(readManagers(scale));
  const after = new Map<string, Manager>();
  const before = readManagers(managedFields);
  for (const [identity, manager] of before) {
    if (!paths.has(manager.apiVersion)) continue;
    const path = paths.get(manager.apiVersion);
    if (path === undefined || !hasField(manager.fields, path)) after.set(identity, manager);
    else if (scalers.delete(identity)) after.set(identity, manager);
    else {
      const fields = differenceOf(manager.fields, fieldSetOf([path]));
      if (!isEmptySet(fields)) after.set(identity, { ...manager, fields });
    }
  }
  const path = paths.get(apiVersion);
  for (const [identity, manager] of scalers) {
    if (path === undefined || !hasField(manager.fields, scaleReplicas)) continue;
    after.set(identity, { ...manager, apiVersion, time: before.get(identity)?.time, fields: fieldSetOf([path]) });
  }
  return writeManagers(after);
}
