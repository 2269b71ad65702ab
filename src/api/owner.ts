/**
 * Ownership: who controls an object. By UID, never by name: a re-created owner of the same name is somebody else.
 */
import type { KubeObject, OwnerReference } from "./object.ts";
import { apiVersionOf, type Resource } from "./resource.ts";

/** The reference to the object's controller, if it has one. */
export function controllerOf(object: Pick<KubeObject, "metadata">): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** True when `owner` is the controller of `object`. */
export function isControlledBy(object: Pick<KubeObject, "metadata">, owner: Pick<KubeObject, "metadata">): boolean {
  const uid = owner.metadata.uid;
  return uid !== undefined && controllerOf(object)?.uid === uid;
}

/**
 * The reference a child carries to the object that controls it.
 *
 * @throws TypeError when the owner has no name or UID yet, so has not been stored.
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
