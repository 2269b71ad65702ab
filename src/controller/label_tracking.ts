/**
 * Label tracking: dependents that an owner reference cannot lead to, because they are in another namespace, or are
 * cluster-scoped while the owner is not. Labels and annotations name the owner instead, and the controller does the work
 * of the garbage collector: a finalizer of the owner deletes them, and those whose owner went without its finalizer are
 * found by their annotation (`_tracked_cleanup.ts`).
 *
 * Guarantees: an object belongs to an owner only if the UID of the owner, the controller, and the object's own kind and
 * name are all in it. A copy of a dependent, or an object to which Kubernetes copies labels (a Service's to its
 * Endpoints) or annotations (a Deployment's to its ReplicaSets), names another object and belongs to no one. An object
 * with a controller reference belongs to that controller, whatever its labels say. So two owners never share an object.
 */
import {
  controllerOf,
  keyOf,
  type KubeObject,
  type LabelSelector,
  type ObjectKey,
  objectKey,
  type ObjectMeta,
  type Resource,
  resourceName,
  splitKey,
} from "../api/mod.ts";

/** The UID of the owner. A label, so that the dependents of one owner can be listed. */
export const ownerUidLabel = "pintle.dev/owner-uid";
/** The controller that wrote the object. */
export const controllerLabel = "pintle.dev/controller";
/** Kind and key of the owner: `websites.example.dev default/hello`. */
export const ownerAnnotation = "pintle.dev/owner";
/** Kind and key of the object itself: `configmaps shop/hello`. */
export const selfAnnotation = "pintle.dev/object";

/** The name of the index of dependents by {@link ownerAnnotation}. */
export const ownerIndex = "pintle.dev/owner";

/** Computes the values of {@link ownerIndex}. One function for all controllers, because they share the indices of a kind. */
export function indexByOwner(object: unknown): readonly string[] {
  const owner = (object as KubeObject).metadata.annotations?.[ownerAnnotation];
  return owner === undefined ? [] : [owner];
}

interface OwnerIdentity {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** `websites.example.dev default/hello`. */
export function objectText(resource: Resource, object: Pick<KubeObject, "metadata">): string {
  return `${resourceName(resource)} ${keyOf(object)}`;
}

/** The metadata of `dependent` with the labels and annotations that name its owner. */
export function trackingMetadata(
  resource: Resource,
  { metadata }: Pick<KubeObject, "metadata">,
  owner: OwnerIdentity,
  controller: string,
): ObjectMeta {
  const { uid } = owner.object.metadata;
  if (uid === undefined) {
    throw new TypeError(
      `Cannot track ${objectText(resource, { metadata })}: its owner has no UID, so it was never stored`,
    );
  }
  return {
    ...metadata,
    labels: { ...metadata.labels, [ownerUidLabel]: uid, [controllerLabel]: controller },
    annotations: {
      ...metadata.annotations,
      [ownerAnnotation]: objectText(owner.resource, owner.object),
      [selfAnnotation]: objectText(resource, { metadata }),
    },
  };
}

/** The selector of the dependents that name the UID. Each of them needs a check with {@link isLabelledFor}. */
export function trackingSelector(uid: string, controller: string): LabelSelector {
  return { matchLabels: { [ownerUidLabel]: uid, [controllerLabel]: controller } };
}

/** True when `dependent` names exactly this owner and this controller, and itself. */
export function isLabelledFor(
  resource: Resource,
  dependent: KubeObject,
  owner: OwnerIdentity,
  controller: string,
): boolean {
  const { uid } = owner.object.metadata;
  return uid !== undefined && dependent.metadata.labels?.[ownerUidLabel] === uid &&
    isTracked(resource, dependent, controller) &&
    dependent.metadata.annotations?.[ownerAnnotation] === objectText(owner.resource, owner.object);
}

/** True when `controller` wrote `dependent` for some owner: it is neither a copy nor controlled by another object. */
export function isTracked(resource: Resource, dependent: KubeObject, controller: string): boolean {
  const { labels, annotations } = dependent.metadata;
  return labels?.[controllerLabel] === controller && labels[ownerUidLabel] !== undefined &&
    annotations?.[selfAnnotation] === objectText(resource, dependent) && controllerOf(dependent) === undefined;
}

/**
 * Maps a dependent to the key of the owner of kind `primary` that its annotation names. Users can write annotations, so
 * one that names no valid key maps to nothing.
 */
export function keyOfTracker(
  primary: Resource,
  resource: Resource,
  controller: string,
): (object: KubeObject) => readonly ObjectKey[] {
  const prefix = `${resourceName(primary)} `;
  return (object) => {
    const owner = object.metadata.annotations?.[ownerAnnotation];
    if (owner?.startsWith(prefix) !== true || !isTracked(resource, object, controller)) return [];
    const key = validKey(primary, owner.slice(prefix.length));
    return key === undefined ? [] : [key];
  };
}

function validKey(primary: Resource, text: string): ObjectKey | undefined {
  const form = primary.scope === "Namespaced" ? /^[^/\s]+\/[^/\s]+$/ : /^[^/\s]+$/;
  return form.test(text) ? objectKey(splitKey(text)) : undefined;
}

/** What the labels of an object say about its owner, for messages; undefined when they name none. */
export function describeLabelledOwner({ metadata }: KubeObject): string | undefined {
  const owner = metadata.annotations?.[ownerAnnotation];
  if (owner === undefined || metadata.labels?.[ownerUidLabel] === undefined) return undefined;
  return `tracked for ${owner} with the UID ${metadata.labels[ownerUidLabel]}`;
}
