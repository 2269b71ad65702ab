/**
 * untypedResource(): a kind whose objects have no type here, known by its names alone. For what is read off somebody
 * else's cluster; a kind of one's own is better defined with `schema/`.
 */
import type { KubeObject } from "./object.ts";
import type { Resource } from "./resource.ts";

/** An object of which only the shape that all objects share is known. */
export type UntypedObject<Kind extends string = string> =
  & KubeObject
  & { readonly kind: Kind }
  & { readonly [field: string]: unknown };

/**
 * Names a kind. Its objects come from the same cache as those of a typed Resource of the same group, version and plural.
 *
 * @example
 * ```ts
 * import { untypedResource } from "@pintle/controller";
 *
 * const Widget = untypedResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Widget",
 *   plural: "widgets",
 *   scope: "Namespaced",
 * });
 * console.assert(Widget.kind === "Widget");
 * ```
 */
export function untypedResource<const Kind extends string>(
  names: Pick<Resource<unknown, Kind>, "group" | "version" | "kind" | "plural" | "scope">,
): Resource<UntypedObject<Kind>, Kind> {
  const { group, version, kind, plural, scope } = names;
  return Object.freeze({ group, version, kind, plural, scope });
}
