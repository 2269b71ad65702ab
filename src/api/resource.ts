/**
 * Resource: a value that represents one kind. It contains the names of the kind in the API and carries the TypeScript
 * type of its objects. `schema/` creates Resources from zod schemas, `builtin.ts` has those of Kubernetes.
 */
import type { DeepReadonly, KubeObject } from "./object.ts";

/** Whether the objects of a kind are in namespaces. */
export type Scope = "Namespaced" | "Cluster";

/** One kind: its names in the API, and (as a type only) the shape of its objects. */
export interface Resource<T = unknown, Kind extends string = string> {
  /** The API group, "" for core. */
  readonly group: string;
  readonly version: string;
  readonly kind: Kind;
  /** Lower case, as in URLs. */
  readonly plural: string;
  readonly scope: Scope;
  /** Never set; it carries the type. */
  readonly _type?: T;
}

/** The readonly object type of a Resource value: `type Foo = Infer<typeof Foo>`. */
export type Infer<R> = R extends Resource<infer T> ? DeepReadonly<T> : never;

/** `apps/v1`, or `v1` for the core group: the apiVersion of the objects. */
export function apiVersionOf(resource: Pick<Resource, "group" | "version">): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** `deployments.apps`, or `pods`: the name of a resource for people; also the name of its CRD. */
export function resourceName(resource: Pick<Resource, "group" | "plural">): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** `deployments.v1.apps`: identifies one resource in one version. */
export function resourceId(resource: Pick<Resource, "group" | "version" | "plural">): string {
  return `${resource.plural}.${resource.version}.${resource.group}`;
}

/** An object of which only the fields of {@link KubeObject} have types. */
export type UntypedObject<Kind extends string = string> =
  & KubeObject
  & { readonly kind: Kind }
  & { readonly [field: string]: unknown };

/**
 * Creates a Resource without an object type, from names alone, e.g. for a kind of another project. Define a kind of your
 * own with `schema/`. Its objects come from the same cache as those of a typed Resource with the same group, version and
 * plural.
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
