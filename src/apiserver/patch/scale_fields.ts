/**
 * The managed fields of a Scale: whoever owns the replicas of an object owns `spec.replicas` of its Scale, and who writes
 * the Scale takes the object's replicas. Nobody else is seen through the subresource.
 */
import type { Json } from "../model/mod.ts";
import { differenceOf, type FieldPath, fieldSetOf, hasField, isEmptySet } from "./field_set.ts";
import { type ManagedFields, type Manager, readManagers, writeManagers } from "./managed_fields.ts";

const scaleVersion = "autoscaling/v1";
const scaleReplicas: FieldPath = ["f:spec", "f:replicas"];

/**
 * Where an object holds its replicas, by apiVersion; undefined for a version without scale. A version that is not listed is
 * not known at all.
 */
export type ReplicasPaths = ReadonlyMap<string, FieldPath | undefined>;

/**
 * What the Scale of an object has as managed fields.
 *
 * @param managedFields those of the object
 * @throws FieldsError when they cannot be understood
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
  /** The object's managed fields before. */
  readonly managedFields: Json | undefined;
  /** The Scale's after the write. */
  readonly scale: Json | undefined;
  /** The version of the object in the request. */
  readonly apiVersion: string;
  readonly paths: ReplicasPaths;
}

/**
 * What an object has as managed fields after a write through its Scale.
 *
 * @throws FieldsError when they cannot be understood
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
