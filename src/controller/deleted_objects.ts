/**
 * DeletedObjects: the last states of primary objects that were deleted, until the controller's `deleted` function has seen
 * them. The cache has them when the deletion arrives, so no finalizer is needed.
 *
 * Guarantees: an object is only reported after a live read has shown that it is gone, because an object that no longer
 * matches a selector leaves the cache, too. A function that throws is called again, as a reconciler.
 * Caveats: best effort. What is deleted while no process runs, or while its slot moves to another replica, or is not reported
 * before the process ends, is never reported.
 */
import type { Infer, KubeObject, ObjectKey, Resource } from "../api/mod.ts";
import { type ReconcileContext, reconcileContext } from "./context.ts";
import type { ControllerDefinition, DeletedObject, DeletedReconciler } from "./controller_definition.ts";
import { done, type Result, TerminalError } from "./request.ts";
import type { Toolbox } from "./toolbox.ts";

/**
 * What a `deleted` function works with: the last state of an object that no longer exists, and the reads of a reconciler.
 *
 * @example A function of its own
 * ```ts
 * import { controller, type DeletedContext, done, Namespace, type Result } from "@pintle/controller";
 *
 * function forget(ctx: DeletedContext<typeof Namespace, typeof Namespace>): Promise<Result> {
 *   ctx.log.info("deleted", { team: ctx.object.metadata.labels?.team });
 *   return Promise.resolve(done);
 * }
 * const teams = controller("teams").for(Namespace).deleted(forget).reconcile(() => Promise.resolve(done));
 * console.assert(teams.deleted !== undefined && teams.finalizer === undefined);
 * ```
 */
export type DeletedContext<Primary extends Resource, Declared extends Resource> =
  & Pick<
    ReconcileContext<Primary, Declared>,
    "object" | "signal" | "log" | "clock" | "causes" | "retries" | "client" | "find" | "get" | "list" | "event"
  >
  & {
    /** False when the deletion itself was missed, for example because a watch had expired: the state is the last one that was seen. */
    readonly isFinalStateKnown: boolean;
  };

/** The objects that were deleted and not reported yet, by key: the same name may be deleted several times. */
export class DeletedObjects {
  readonly #objects = new Map<ObjectKey, readonly DeletedObject[]>();

  record(key: ObjectKey, deleted: DeletedObject): void {
    this.#objects.set(key, [...this.#objects.get(key) ?? [], deleted]);
  }

  /** Oldest first. */
  of(key: ObjectKey): readonly DeletedObject[] {
    return this.#objects.get(key) ?? [];
  }

  /** These keys are no longer reconciled. */
  removeWhere(isRemoved: (key: ObjectKey) => boolean): void {
    for (const key of [...this.#objects.keys()].filter(isRemoved)) this.#objects.delete(key);
  }

  forget(key: ObjectKey, deleted: DeletedObject): void {
    const left = this.of(key).filter((one) => one !== deleted);
    if (left.length === 0) this.#objects.delete(key);
    else this.#objects.set(key, left);
  }
}

/** Calls the `deleted` function for the objects of a key that are gone. @returns done when all are reported */
export async function reportDeleted(
  { deleted: report }: ControllerDefinition,
  objects: DeletedObjects,
  toolbox: Toolbox,
): Promise<Result> {
  if (report === undefined) return done;
  const { key } = toolbox.request;
  for (const deleted of objects.of(key)) {
    let result: Result;
    try {
      result = await report(deleted, toolbox);
    } catch (error) {
      if (error instanceof TerminalError) objects.forget(key, deleted);
      throw error;
    }
    if (result.kind !== "done") return result;
    objects.forget(key, deleted);
  }
  return done;
}

/** True when the server still has the object: it has only left the cache. */
async function exists(primary: Resource, { object }: DeletedObject, toolbox: Toolbox): Promise<boolean> {
  const live = await toolbox.client.find(primary, toolbox.request.key, { signal: toolbox.signal });
  return live !== undefined && (live as KubeObject).metadata.uid === object.metadata.uid;
}

/** Creates the untyped form of a `deleted` function. */
export function deletedReconciler<Primary extends Resource, Declared extends Resource>(
  primary: Primary,
  fn: (ctx: DeletedContext<Primary, Declared>) => Promise<Result>,
): DeletedReconciler {
  return async (deleted, toolbox) => {
    if (await exists(primary, deleted, toolbox)) return done;
    const { object, isFinalStateKnown } = deleted;
    const ctx = reconcileContext<Primary, Declared>(primary, [], object as Infer<Primary>, toolbox);
    return await fn({ ...ctx, isFinalStateKnown });
  };
}
