/**
 * Pause: an annotation of a primary object that keeps controllers from reconciling it, for a user who repairs something by
 * hand. The workers ask before each attempt, so that it holds for every form of reconciler.
 *
 * Guarantees: while an object is paused, its reconciler is not called and only the condition `Paused` is written, for a kind
 * that has conditions. Deletion goes on, unless the annotation says otherwise. When the annotation is removed, the object is
 * reconciled, whatever the predicate of the watch says.
 * Caveats: a reconcile that runs when the annotation is set finishes. Dependents are deleted with their owner as always.
 */
import { type Condition, findCondition, type KubeObject } from "../api/mod.ts";
import { changeConditions, type ConditionChange, hasCondition } from "./_own_condition.ts";
import type { ControllerDefinition } from "./controller_definition.ts";
import type { Change } from "./predicate.ts";
import type { Toolbox } from "./toolbox.ts";

/**
 * The annotation that pauses an object: `"true"` until it is removed, `"with-deletion"` if its deletion has to wait, too.
 * Every other value but `"false"` counts as `"true"`.
 *
 * @example
 * ```ts
 * import { ConfigMap, controller, done, manifest, Namespace, pausedAnnotation } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
 *   const namespace = ctx.object.metadata.name;
 *   await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" }, data: { text: "hello" } }));
 *   return done;
 * });
 * await using world = await World.start({ controllers: [greeter] });
 * await world.create(Namespace, { name: "shop", annotations: { [pausedAnnotation]: "true" } });
 * await world.settled();
 * console.assert(world.find(ConfigMap, "shop/greeting") === undefined);
 * ```
 */
export const pausedAnnotation = "pintle.dev/paused";

/** The value of the annotation for an object whose deletion waits, too. */
export const pausedWithDeletion = "with-deletion";

/** The type of the condition. */
const conditionType = "Paused";

/**
 * Checks whether an object is paused: then no controller reconciles it, unless it is being deleted and only its
 * reconciliation is paused.
 *
 * @example
 * ```ts
 * import { isPaused, pausedAnnotation } from "@pintle/controller";
 *
 * const metadata = { name: "web", annotations: { [pausedAnnotation]: "true" } };
 * console.assert(isPaused({ metadata }));
 * console.assert(!isPaused({ metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }));
 * ```
 */
export function isPaused({ metadata }: Pick<KubeObject, "metadata">): boolean {
  const value = valueOf(metadata);
  return value !== undefined && (metadata.deletionTimestamp === undefined || value === pausedWithDeletion);
}

/** True for a change of a primary object that pauses or resumes it. */
export function isPauseChange(change: Change): boolean {
  return change.kind === "updated" && valueOf(change.object.metadata) !== valueOf(change.old.metadata);
}

function valueOf({ annotations }: KubeObject["metadata"]): string | undefined {
  const value = annotations?.[pausedAnnotation];
  return value === "false" ? undefined : value;
}

/** Finds out whether the object of a request is paused, and keeps its condition `Paused` up to date. */
export async function observePause(definition: ControllerDefinition, toolbox: Toolbox): Promise<boolean> {
  const { primary, options } = definition;
  if (options.isPausable === false) return false;
  const object = toolbox.find(primary, toolbox.request.key);
  if (object === undefined) return false;
  const paused = isPaused(object as KubeObject);
  if (hasCondition(definition, conditionType)) {
    await changeConditions(toolbox, { primary, object, type: conditionType }, (before) => withPaused(before, paused));
  }
  if (paused) toolbox.log.debug("not reconciling, the object is paused", { annotation: pausedAnnotation });
  return paused;
}

/** The change of the conditions: a paused object has the condition, and another one is as if there had been no pause. */
function withPaused(before: readonly Condition[], paused: boolean): ConditionChange {
  if ((findCondition(before, conditionType)?.status === "True") === paused) return { kind: "none" };
  if (!paused) return { kind: "remove" };
  const message = `the annotation ${pausedAnnotation} keeps controllers from reconciling the object`;
  return { kind: "set", reason: "Annotated", message };
}
