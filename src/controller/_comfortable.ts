/**
 * Makes a raw Reconciler of the comfortable form: finds the object, puts the finalizer on, and decides between
 * `reconcile` and `finalize`. A controller without `finalize` is not called for an object that is being deleted: what
 * it would make anew the garbage collector is just taking away.
 */
import type { Infer, KubeObject, Resource } from "../api/mod.ts";
import { type ReconcileContext, reconcileContext } from "./context.ts";
import { addFinalizer, hasFinalizer, readLive, removeFinalizer } from "./finalizer.ts";
import type { Reconciler } from "./reconciler.ts";
import { done, type Result } from "./result.ts";
import type { Toolbox } from "./toolbox.ts";

/** The functions of a comfortable controller, and what they work on. */
export interface Comfortable<Primary extends Resource, Declared extends Resource> {
  readonly primary: Primary;
  readonly declared: readonly Resource[];
  readonly finalizer?: string;
  readonly reconcile: (ctx: ReconcileContext<Primary, Declared>) => Promise<Result>;
  readonly finalize?: (ctx: ReconcileContext<Primary, Declared>) => Promise<Result>;
}

/** Wraps them into a Reconciler. */
export function comfortable<Primary extends Resource, Declared extends Resource>(
  parts: Comfortable<Primary, Declared>,
): Reconciler {
  const { primary, declared, finalizer, reconcile } = parts;
  return async (request, toolbox) => {
    const object = toolbox.find(primary, request.key);
    if (object === undefined) return done;
    if ((object as KubeObject).metadata.deletionTimestamp !== undefined) return await finish(parts, toolbox, object);
    const claimed = finalizer === undefined || hasFinalizer(object, finalizer)
      ? object
      : await addFinalizer(toolbox, primary, object, finalizer);
    return await reconcile(reconcileContext<Primary, Declared>(primary, declared, claimed, toolbox));
  };
}

/** Cleans up for an object that is marked for deletion, then lets go of it. */
async function finish<Primary extends Resource, Declared extends Resource>(
  parts: Comfortable<Primary, Declared>,
  toolbox: Toolbox,
  object: Infer<Primary>,
): Promise<Result> {
  const { primary, declared, finalizer, finalize } = parts;
  if (finalize === undefined || finalizer === undefined || !hasFinalizer(object, finalizer)) return done;
  const live = await readLive(toolbox, primary, object);
  if (live === undefined || !hasFinalizer(live, finalizer)) return done;
  const result = await finalize(reconcileContext<Primary, Declared>(primary, declared, live, toolbox));
  if (result.kind === "done") await removeFinalizer(toolbox, primary, live, finalizer);
  return result;
}
