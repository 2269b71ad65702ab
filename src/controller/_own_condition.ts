/**
 * Conditions that the engine itself writes about a primary object: `Paused` and `Stalled`.
 *
 * Guarantees: only for a custom resource whose status has conditions that may be of the type, and a controller that writes
 * the status. A condition is for people: a kind that does not allow it, or a missing permission, decides about nothing.
 */
import { type Condition, type Infer, type KubeObject, type Resource, withCondition } from "../api/mod.ts";
import { isForbidden, isInvalid } from "../client/mod.ts";
import type { Crd, StructuralSchema } from "../schema/mod.ts";
import { isMetadataOnly } from "./caches.ts";
import type { ControllerDefinition } from "./controller_definition.ts";
import type { Toolbox } from "./toolbox.ts";

/** What becomes of one condition. */
export type ConditionChange =
  | { readonly kind: "none" }
  | { readonly kind: "remove" }
  /** It becomes `True`. */
  | { readonly kind: "set"; readonly reason: string; readonly message: string };

/** True when the controller can write conditions of this type. */
export function hasCondition({ primary, writesStatus }: ControllerDefinition, type: string): boolean {
  return writesStatus === true && allowsCondition(primary, type);
}

/** True for a custom resource whose status has conditions that may be of this type. */
export function allowsCondition(resource: Resource, type: string): boolean {
  if (!hasDefinition(resource) || isMetadataOnly(resource)) return false;
  const version = resource.crd.spec.versions.find(({ name }) => name === resource.version);
  const conditions = propertyOf(propertyOf(version?.schema.openAPIV3Schema, "status"), "conditions");
  const types = propertyOf(conditions?.items, "type")?.enum;
  return conditions?.type === "array" && (types === undefined || types.includes(type));
}

/** Changes the condition of an object as `changeOf` says. */
export async function changeConditions<R extends Resource>(
  toolbox: Toolbox,
  { primary, object, type }: { readonly primary: R; readonly object: Infer<R>; readonly type: string },
  changeOf: (before: readonly Condition[]) => ConditionChange,
): Promise<void> {
  const { metadata, status } = object as KubeObject & {
    readonly status?: { readonly conditions?: readonly Condition[] };
  };
  const before = status?.conditions ?? [];
  const change = changeOf(before);
  if (change.kind === "none") return;
  const { uid, resourceVersion, generation: observedGeneration } = metadata;
  const conditions = change.kind === "remove" ? before.filter((one) => one.type !== type) : withCondition(
    before,
    { type, status: "True", reason: change.reason, message: change.message, observedGeneration },
    toolbox.clock.now(),
  );
  const value = { metadata: { uid, resourceVersion }, status: { conditions } };
  try {
    await toolbox.patch(primary, object, { kind: "merge", value: value as never }, "status");
  } catch (error) {
    if (!isInvalid(error) && !isForbidden(error)) throw error;
    toolbox.log.warn(`cannot write the condition ${type}`, { error });
  }
}

function propertyOf(schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined {
  return schema?.properties?.[name];
}

function hasDefinition(resource: Resource): resource is Resource & { readonly crd: Crd } {
  return "crd" in resource;
}
