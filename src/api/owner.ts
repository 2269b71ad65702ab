/**
 * Owner references. The UID identifies an owner, never the name: an owner that was deleted and created again is another
 * object.
 */
import type { KubeObject, OwnerReference } from "./object.ts";
import { apiVersionOf, type Resource } from "./resource.ts";

/** The reference to the controller of an object, if it has one. */
export function controllerOf(object: Pick<KubeObject, "metadata">): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** True when `owner` is the controller of `object`. */
export function isControlledBy(object: Pick<KubeObject, "metadata">, owner: Pick<KubeObject, "metadata">): boolean {
  const uid = owner.metadata.uid;
  return uid !== undefined && controllerOf(object)?.uid === uid;
}

/**
 * The owner reference for a dependent that `owner` controls.
 *
 * @throws TypeError when the owner has no name or UID, so it was not stored yet.
 */
export function controllerReference(
  owner: Pick<KubeObject, "metadata">,
  resource: Pick<Resource, "group" | "version" | "kind">,
): OwnerReference {
  const { name, uid } = owner.metadata;
  if (name === undefined || uid === undefined) {
    throw new TypeError(`Cannot refer to owner ${resource.kind}: it has no name or UID, so it was never stored`);
  }
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
