/**
 * Pause: an annotation of a primary object that keeps controllers from reconciling it, for a user who repairs something by
 * hand. The workers ask before each attempt, so that it holds for every form of reconciler.
 *
 * Guarantees: while an object is paused, its reconciler is not called and only the condition `Paused` is written, for a kind
 * that has conditions. Deletion goes on, unless the annotation says otherwise. When the annotation is removed, the object is
 * reconciled, whatever the predicate of the watch says.
 * Caveats: a reconcile that runs when the annotation is set finishes. Dependents are deleted with their owner as always.
 */
import {
  type Condition,
  findCondition,
  type Infer,
  type KubeObject,
  type Resource,
  withCondition,
} from "../api/mod.ts";
import { isForbidden, isInvalid } from "../client/mod.ts";
import type { Crd, StructuralSchema } from "../schema/mod.ts";
import { isMetadataOnly } from "./caches.ts";
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
  if (definition.writesStatus && hasPausedCondition(primary)) await writeCondition(definition, toolbox, object, paused);
  if (paused) toolbox.log.debug("not reconciling, the object is paused", { annotation: pausedAnnotation });
  return paused;
}

/** Adds the condition to a paused object, and removes it from another one, as if there had been no pause. */
async function writeCondition<R extends Resource>(
  { primary }: ControllerDefinition & { readonly primary: R },
  toolbox: Toolbox,
  object: Infer<R>,
  paused: boolean,
): Promise<void> {
  const { metadata, status } = object as KubeObject & {
    readonly status?: { readonly conditions?: readonly Condition[] };
  };
  const before = status?.conditions ?? [];
  if ((findCondition(before, conditionType)?.status === "True") === paused) return;
  const now = {
    type: conditionType,
    status: "True",
    reason: "Annotated",
    message: `the annotation ${pausedAnnotation} keeps controllers from reconciling the object`,
    observedGeneration: metadata.generation,
  } as const;
  const conditions = paused
    ? withCondition(before, now, toolbox.clock.now())
    : before.filter(({ type }) => type !== conditionType);
  const { uid, resourceVersion } = metadata;
  const value = { metadata: { uid, resourceVersion }, status: { conditions } };
  try {
    await toolbox.patch(primary, object, { kind: "merge", value: value as never }, "status");
  } catch (error) {
    // The condition is for people: a kind that does not allow it, or a missing permission, does not decide about the pause.
    if (!isInvalid(error) && !isForbidden(error)) throw error;
    toolbox.log.warn(`cannot write the condition ${conditionType}`, { error });
  }
}

/** True for a custom resource whose status has conditions that may be of the type `Paused`. */
function hasPausedCondition(resource: Resource): boolean {
  if (!hasDefinition(resource) || isMetadataOnly(resource)) return false;
  const version = resource.crd.spec.versions.find(({ name }) => name === resource.version);
  const conditions = propertyOf(propertyOf(version?.schema.openAPIV3Schema, "status"), "conditions");
  const types = propertyOf(conditions?.items, "type")?.enum;
  return conditions?.type === "array" && (types === undefined || types.includes(conditionType));
}

function propertyOf(schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined {
  return schema?.properties?.[name];
}

function hasDefinition(resource: Resource): resource is Resource & { readonly crd: Crd } {
  return "crd" in resource;
}
