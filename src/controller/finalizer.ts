/**
 * Finalizers: a claim on an object's end. While ours is on it, the object is only marked for deletion, and its
 * controller gets to clean up what the garbage collector does not know.
 *
 * Guarantees: the finalizer is there before the first child is made; it is taken off after the clean-up succeeded and
 * never before; both are JSON patches that test the version they saw, so nobody else's finalizer is lost. Before
 * something is destroyed the object is read live: a cache that lags must not decide that (behaviours.md 3.4).
 */
import { type Infer, keyOf, type KubeObject, type Resource } from "../api/mod.ts";
import { isNotFound, type JsonPatchOperation } from "../client/mod.ts";
import type { Toolbox } from "./toolbox.ts";

/** True when the object carries the finalizer. */
export function hasFinalizer(object: unknown, finalizer: string): boolean {
  return metadataOf(object).finalizers?.includes(finalizer) ?? false;
}

/** Puts the finalizer on. @returns The object with it. */
export async function addFinalizer<R extends Resource>(
  toolbox: Toolbox,
  resource: R,
  object: Infer<R>,
  finalizer: string,
): Promise<Infer<R>> {
  const { finalizers } = metadataOf(object);
  return await patch(toolbox, resource, object, [
    finalizers === undefined
      ? { op: "add", path: "/metadata/finalizers", value: [finalizer] }
      : { op: "add", path: "/metadata/finalizers/-", value: finalizer },
  ]);
}

/** Takes the finalizer off; the object may be gone after that. */
export async function removeFinalizer<R extends Resource>(
  toolbox: Toolbox,
  resource: R,
  object: Infer<R>,
  finalizer: string,
): Promise<void> {
  const at = metadataOf(object).finalizers?.indexOf(finalizer) ?? -1;
  if (at < 0) return;
  try {
    await patch(toolbox, resource, object, [{ op: "remove", path: `/metadata/finalizers/${at}` }]);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The object as the server has it, or undefined when that very object (by UID) is gone. */
export async function readLive<R extends Resource>(
  toolbox: Toolbox,
  resource: R,
  object: Infer<R>,
): Promise<Infer<R> | undefined> {
  const live = await toolbox.client.find(resource, keyOf({ metadata: metadataOf(object) }), { signal: toolbox.signal });
  return live !== undefined && metadataOf(live).uid === metadataOf(object).uid ? live : undefined;
}

async function patch<R extends Resource>(
  toolbox: Toolbox,
  resource: R,
  object: Infer<R>,
  changes: readonly JsonPatchOperation[],
): Promise<Infer<R>> {
  const { uid, resourceVersion } = metadataOf(object);
  const unchanged: readonly JsonPatchOperation[] = [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
  ];
  return await toolbox.patch(resource, object, { kind: "json", operations: [...unchanged, ...changes] });
}

function metadataOf(object: unknown): KubeObject["metadata"] {
  return (object as KubeObject).metadata;
}
