/**
 * Resource: a value that represents one kind. It contains the names of the kind in the API and carries the TypeScript
 * type of its objects. `schema/` creates Resources from zod schemas, `generated/kinds.ts` has those of Kubernetes.
 */
import type { KubeObject } from "./object.ts";

/** Whether the objects of a kind are in namespaces. */
export type Scope = "Namespaced" | "Cluster";

/**
 * One kind: its names in the API, and (as a type only) the readonly shape `T` of its objects. Clients, caches and controllers take a
 * Resource. Kinds that are part of Kubernetes are exported as values (`ConfigMap`), `defineResource()` creates your
 * own ones, and `untypedResource()` of `/client` those of other projects.
 *
 * @example
 * ```ts
 * import { ConfigMap, type Infer, type Resource } from "@pintle/controller";
 *
 * function describe<R extends Resource>(resource: R, objects: readonly Infer<R>[]): string {
 *   return `${objects.length} ${resource.plural}`;
 * }
 * console.assert(describe(ConfigMap, []) === "0 configmaps");
 * ```
 */
export interface Resource<T = unknown, Kind extends string = string> {
  /** The API group, "" for core. */
  readonly group: string;
  /** The version in which the program reads and writes the objects, e.g. `v1`. */
  readonly version: string;
  /** The kind in CamelCase, e.g. `Deployment`. */
  readonly kind: Kind;
  /** Lower case, as in URLs. */
  readonly plural: string;
  /** Whether the objects are in Namespaces. */
  readonly scope: Scope;
  /** Never set; it carries the type. */
  readonly _type?: T;
}

/**
 * The readonly object type of a Resource value: `type Foo = Infer<typeof Foo>`.
 *
 * @example
 * ```ts
 * import { defineResource, type Infer, z } from "@pintle/controller";
 *
 * const Site = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Site",
 *   scope: "Namespaced",
 *   spec: z.object({ host: z.string().max(253) }),
 * });
 * type Site = Infer<typeof Site>;
 *
 * const hostOf = (site: Site): string => site.spec.host;
 * console.assert(hostOf(Site.make({ metadata: { name: "a" }, spec: { host: "example.dev" } })) === "example.dev");
 * ```
 */
export type Infer<R> = R extends Resource<infer T> ? T : never;

/**
 * Returns the apiVersion of the objects of a kind: `apps/v1`, or `v1` for the core group.
 *
 * @param resource The kind.
 *
 * @example
 * ```ts
 * import { ConfigMap, Deployment } from "@pintle/controller";
 * import { apiVersionOf } from "@pintle/controller/client";
 *
 * console.assert(apiVersionOf(Deployment) === "apps/v1" && apiVersionOf(ConfigMap) === "v1");
 * ```
 */
export function apiVersionOf(resource: Pick<Resource, "group" | "version">): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/**
 * Returns the name of a kind for people, which is also the name of its CRD: `deployments.apps`, or `pods` for the core
 * group.
 *
 * @param resource The kind.
 *
 * @example
 * ```ts
 * import { Deployment, Pod } from "@pintle/controller";
 * import { resourceName } from "@pintle/controller/client";
 *
 * console.assert(resourceName(Deployment) === "deployments.apps" && resourceName(Pod) === "pods");
 * ```
 */
export function resourceName(resource: Pick<Resource, "group" | "plural">): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** `deployments.v1.apps`: identifies one resource in one version. */
export function resourceId(resource: Pick<Resource, "group" | "version" | "plural">): string {
  return `${resource.plural}.${resource.version}.${resource.group}`;
}

/** An object of which only the fields of {@link KubeObject} have types. All others are `unknown`. */
export type UntypedObject<Kind extends string = string> =
  & KubeObject
  & { readonly kind: Kind }
  & { readonly [field: string]: unknown };

/**
 * Creates a Resource without an object type, from names alone, e.g. for a kind of another project. Define a kind of your
 * own with `defineResource()`. Its objects come from the same cache as those of a typed Resource with the same group,
 * version and plural.
 *
 * @param names The names of the kind, as its CRD has them.
 *
 * @example
 * ```ts
 * import { untypedResource } from "@pintle/controller/client";
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
