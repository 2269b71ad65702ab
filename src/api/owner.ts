/**
 * Owner references. The UID identifies an owner, never the name: an owner that was deleted and created again is another
 * object.
 */
import type { KubeObject, OwnerReference } from "./object.ts";
import { apiVersionOf, type Resource } from "./resource.ts";

/**
 * Returns the reference to the controller of an object.
 *
 * @param object Any object with metadata.
 * @returns The one owner reference with `controller: true`; undefined if there is none.
 *
 * @example
 * ```ts
 * import { controllerOf } from "@pintle/controller";
 *
 * const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "1", controller: true };
 * console.assert(controllerOf({ metadata: { name: "web-1", ownerReferences: [owner] } })?.kind === "ReplicaSet");
 * console.assert(controllerOf({ metadata: { name: "other" } }) === undefined);
 * ```
 */
export function controllerOf(object: Pick<KubeObject, "metadata">): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/**
 * Checks that `owner` is the controller of `object`, by UID. A controller checks this before it changes an object that
 * it did not create.
 *
 * @param object The dependent.
 * @param owner The object that may be its controller.
 *
 * @example
 * ```ts
 * import { ConfigMap, controllerReference, isControlledBy } from "@pintle/controller";
 *
 * const owner = { metadata: { name: "settings", uid: "1" } };
 * const dependent = { metadata: { name: "copy", ownerReferences: [controllerReference(owner, ConfigMap)] } };
 * console.assert(isControlledBy(dependent, owner));
 * console.assert(!isControlledBy(dependent, { metadata: { name: "settings", uid: "2" } }));
 * ```
 */
export function isControlledBy(object: Pick<KubeObject, "metadata">, owner: Pick<KubeObject, "metadata">): boolean {
  const uid = owner.metadata.uid;
  return uid !== undefined && controllerOf(object)?.uid === uid;
}

/** The names of the kind of an owner, as every Resource has them. */
export type OwnerResource = Pick<Resource, "group" | "version" | "kind">;

/** The Resource of an owner; for one of another kind, the sentence that the compiler prints. */
export type ResourceOfOwner<O, R extends OwnerResource> = O extends { readonly kind: infer Kind extends string }
  ? string extends Kind ? R : Kind extends R["kind"] ? R : `the owner is a ${Kind}, not a ${R["kind"]}: pass ${Kind}`
  : R;

/**
 * Creates the owner reference for a dependent that `owner` controls. `ctx.apply()` of a controller sets it itself; you
 * need this function for objects that you write with a `Client`.
 *
 * @param owner An object that the server returned.
 * @param resource The kind of the owner.
 * @throws {TypeError} when the owner has no name or UID, so it was never stored
 *
 * @example
 * ```ts
 * import { controllerReference, Deployment } from "@pintle/controller";
 *
 * const reference = controllerReference({ metadata: { name: "web", uid: "1" } }, Deployment);
 * console.assert(reference.apiVersion === "apps/v1" && reference.controller === true);
 * ```
 */
export function controllerReference<O extends Pick<KubeObject, "metadata">, R extends OwnerResource>(
  owner: O,
  resource: ResourceOfOwner<O, R>,
): OwnerReference {
  return referenceTo(owner, resource as R);
}

function referenceTo({ metadata }: Pick<KubeObject, "metadata">, resource: OwnerResource): OwnerReference {
  const { name, uid } = metadata;
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
