/** Which of the kinds that controllers watch are defined by a CRD of their own, and the kind of those CRDs. */
import { builtin, type Condition, type ObjectMeta, type Resource, resourceName } from "../api/mod.ts";
import type { ControllerDefinition } from "../controller/mod.ts";
import type { Crd, CustomResource } from "../schema/mod.ts";

/** A CustomResourceDefinition as the server returns it: ours, and what became of it. */
export type StoredCrd = Crd & {
  readonly metadata: ObjectMeta;
  readonly status?: { readonly conditions?: readonly Condition[] };
};

const { group, version, plural, scope } = builtin.CustomResourceDefinition;

/** CustomResourceDefinition, typed as this program writes it. */
export const CustomResourceDefinition: Resource<StoredCrd, "CustomResourceDefinition"> = {
  group,
  version,
  kind: "CustomResourceDefinition",
  plural,
  scope,
};

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
