/** The kinds that controllers define themselves. */
import { type Resource, resourceId } from "../api/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import type { CustomResource } from "../schema/mod.ts";

/** Each of them once. */
export function customResourcesOf(controllers: readonly OperatorController[]): readonly CustomResource[] {
  const all = controllers.flatMap(({ watches }) => watches.map(({ resource }) => resource)).filter(isCustom);
  return [...new Map(all.map((resource) => [resourceId(resource), resource])).values()];
}

function isCustom(resource: Resource): resource is CustomResource {
  return "crd" in resource;
}
