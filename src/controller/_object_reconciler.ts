/**
 * The object reconciler: turns `reconcile(ctx)` and `finalize(ctx)` of the builder into a raw Reconciler. It reads the
 * object from the cache, adds the finalizer, and calls `reconcile`, or `finalize` for an object that is being deleted.
 *
 * Guarantees: the finalizer is added before the first reconcile, and removed only after `finalize` has returned done.
 * Both writes are JSON patches that test the version that was read, so finalizers of other controllers are not lost.
 * `finalize` gets the object as the server has it, because an old cache must not decide what is destroyed. Without
 * `finalize`, nothing is called for an object that is being deleted: the garbage collector would delete whatever the
 * controller creates. After `finalize`, and before the finalizer is removed, the ordered dependents are deleted in reverse,
 * then those that refer to the object by labels, and at last the external resources, which the others may use.
 */
import { type Infer, keyOf, type KubeObject, type Resource } from "../api/mod.ts";
import { isNotFound, type JsonPatchOperation } from "../client/mod.ts";
import { type ReconcileContext, reconcileContext } from "./context.ts";
import type { Reconciler, WatchDefinition } from "./controller_definition.ts";
import { done, requeueAfter, type Result } from "./request.ts";
import type { Toolbox } from "./toolbox.ts";

/** The functions of an object reconciler, and the kinds they work on. */
export interface ObjectReconcilerOptions<Primary extends Resource, Declared extends Resource> {
  readonly primary: Primary;
  readonly declared: readonly Resource[];
  readonly watches: readonly WatchDefinition[];
  /** @default none, the controller has no `finalize` */
  readonly finalizer?: string;
  readonly reconcile: (ctx: ReconcileContext<Primary, Declared>) => Promise<Result>;
  readonly finalize?: (ctx: ReconcileContext<Primary, Declared>) => Promise<Result>;
}

/** Milliseconds after which the dependents of an object that is being deleted are looked at again. */
const deletedRequeueMs = 10_000;

/** Creates the Reconciler. */
export function createObjectReconciler<Primary extends Resource, Declared extends Resource>(
  options: ObjectReconcilerOptions<Primary, Declared>,
): Reconciler {
  const { primary, declared, finalizer, reconcile } = options;
  const isTracking = options.watches.some(({ track }) => track === "labels");
  return async (request, toolbox) => {
    const object = toolbox.find(primary, request.key);
    if (isTracking) await toolbox.deleteOrphans(primary);
    if (object === undefined) return done;
    if (metadataOf(object).deletionTimestamp !== undefined) return await finalizeObject(options, toolbox, object);
    const current = finalizer === undefined || hasFinalizer(object, finalizer)
      ? object
      : await addFinalizer(toolbox, primary, object, finalizer);
    return await reconcile(reconcileContext<Primary, Declared>(primary, declared, current, toolbox));
  };
}

/** Calls `finalize` for an object that is being deleted, then removes the finalizer. */
async function finalizeObject<Primary extends Resource, Declared extends Resource>(
  options: ObjectReconcilerOptions<Primary, Declared>,
  toolbox: Toolbox,
  object: Infer<Primary>,
): Promise<Result> {
  const { primary, declared, finalizer, finalize } = options;
  if (finalizer === undefined || !hasFinalizer(object, finalizer)) return done;
  const live = await readLive(toolbox, primary, object);
  if (live === undefined || !hasFinalizer(live, finalizer)) return done;
  const ctx = reconcileContext<Primary, Declared>(primary, declared, live, toolbox);
  const result = await finalize?.(ctx) ?? done;
  if (result.kind !== "done") return result;
  const owner = { resource: primary, object: live as KubeObject };
  // The deletion of the last dependent brings the key back; the delay covers an event that is lost.
  const areGone = await toolbox.deleteDependents(owner) && await toolbox.deleteTracked(owner);
  if (!areGone) return requeueAfter(deletedRequeueMs);
  await toolbox.destroyExternals(owner.object);
  await removeFinalizer(toolbox, primary, live, finalizer);
  return done;
}

function hasFinalizer(object: unknown, finalizer: string): boolean {
  return metadataOf(object).finalizers?.includes(finalizer) ?? false;
}

/** @returns The object with the finalizer. */
async function addFinalizer<R extends Resource>(
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

/** Removes the finalizer. The server may delete the object at that moment. */
async function removeFinalizer<R extends Resource>(
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

/** The object as the server has it, or undefined when the server has none with that UID. */
async function readLive<R extends Resource>(
  toolbox: Toolbox,
  resource: R,
  object: Infer<R>,
): Promise<Infer<R> | undefined> {
  const live = await toolbox.client.find(resource, keyOf({ metadata: metadataOf(object) }), { signal: toolbox.signal });
  return live !== undefined && metadataOf(live).uid === metadataOf(object).uid ? live : undefined;
}

/** Patches the object if it still has the UID and the version that were read. */
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
