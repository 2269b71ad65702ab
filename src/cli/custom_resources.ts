/** Which of the kinds that controllers watch are defined by a CRD of their own. */
import { type Resource, resourceName } from "../api/mod.ts";
import type { ControllerDefinition } from "../controller/mod.ts";
import type { Crd, CustomResource } from "../schema/mod.ts";

/** True for a kind that carries its CustomResourceDefinition. */
export function isCustomResource(resource: Resource): resource is CustomResource {
  return "crd" in resource;
}

/** The CRDs of the controllers, each once, in the order of the controllers. */
export function crdsOf(controllers: readonly ControllerDefinition[]): readonly Crd[] {
  const resources = controllers.flatMap((controller) => controller.watches.map((watch) => watch.resource));
  const custom = resources.filter(isCustomResource);
  return [...new Map(custom.map((resource) => [resourceName(resource), resource.crd])).values()];
}
