/**
 * statusPatch(): the JSON patch that gives an object some fields of its status, and that the server refuses for another object
 * of the same name. A merge patch cannot have that condition: the API server ignores the metadata in a write of the status
 * of a custom resource, so that a UID in the patch would not be looked at (PrepareForUpdate in status_strategy.go).
 *
 * Guarantees: applied to the object that it was made for, it does what the merge patch of these fields does. Where the object
 * has no map into which fields could be merged, the patch is refused if the server has one by then, and made again.
 */
import { isDeepEqual, isJsonObject, type KubeObject, kubeObject, pointerStep } from "../api/mod.ts";
import { isInvalid, type JsonPatchOperation } from "../client/mod.ts";

/** The operations. @param status Maps are merged; null removes a key. */
export function statusPatch(object: KubeObject, status: object): readonly JsonPatchOperation[] {
  return [...identityOf(object), ...merging(Reflect.get(object, "status"), status, "/status")];
}

/** The condition that the object has this UID. */
function identityOf({ metadata: { uid } }: KubeObject): readonly JsonPatchOperation[] {
  return uid === undefined ? [] : [{ op: "test", path: "/metadata/uid", value: uid }];
}

function merging(current: unknown, desired: unknown, path: string): readonly JsonPatchOperation[] {
  if (!isJsonObject(desired)) {
    return isDeepEqual(current, desired) ? [] : [{ op: "add", path, value: desired }];
  }
  if (!isJsonObject(current)) {
    const add: JsonPatchOperation = { op: "add", path, value: withoutNulls(desired) };
    return current === undefined ? [{ op: "test", path, value: null }, add] : [add];
  }
  return Object.entries(desired).flatMap(([key, below]): readonly JsonPatchOperation[] => {
    const place = `${path}/${pointerStep(key)}`;
    const isPresent = Object.hasOwn(current, key);
    if (below === undefined) return [];
    if (below === null) return isPresent ? [{ op: "remove", path: place }] : [];
    return merging(isPresent ? current[key] : undefined, below, place);
  });
}

/** The map that a merge patch makes where there was none. */
function withoutNulls(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([, below]) => below !== null && below !== undefined);
  return Object.fromEntries(entries.map(([key, below]) => [key, withoutNulls(below)]));
}

/**
 * Writes fields of the status of the object that has this UID. A cache may be behind, or not keep the status at all: then
 * the patch is refused, and is made once more for the live object. That one is the answer to a patch without changes, which
 * needs no other permission.
 *
 * @param patch patches the status, and returns the live object
 * @returns the live object; undefined when it is another one, or changes all the time
 * @throws ApiError when the server rejects it for another reason
 */
export async function writeStatus<T>(
  object: KubeObject,
  status: object,
  patch: (operations: readonly JsonPatchOperation[]) => Promise<T>,
): Promise<T | undefined> {
  const attempt = (operations: readonly JsonPatchOperation[]) =>
    patch(operations).catch((error: unknown) => {
      if (isOutdated(error)) return undefined;
      throw error;
    });
  const written = await attempt(statusPatch(object, status));
  if (written !== undefined) return written;
  const live = await attempt(identityOf(object));
  if (live === undefined) return undefined;
  const operations = statusPatch(kubeObject(live), status);
  return operations.every(({ op }) => op === "test") ? live : await attempt(operations);
}

/** True when an operation could not be applied: the object is another one, or it has another status than the cached one. */
function isOutdated(error: unknown): boolean {
  // The causes are the fields that the schema of the kind does not allow. A patch that cannot be applied has none.
  return isInvalid(error) && (error.status.details?.causes ?? []).length === 0;
}
