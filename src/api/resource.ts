/**
 * Resource: one value that stands for one kind (ADR: architecture.md D4). It names the kind on the wire and carries
 * its TypeScript type; `schema/` makes richer ones from zod, `builtin.ts` lists those of Kubernetes itself.
 */
import type { DeepReadonly } from "./object.ts";

/** Whether objects of a kind live in namespaces. */
export type Scope = "Namespaced" | "Cluster";

/** One kind of object: where the API server serves it, and (as a type only) what it looks like. */
export interface Resource<T = unknown, Kind extends string = string> {
  /** The API group, "" for core. */
  readonly group: string;
  readonly version: string;
  readonly kind: Kind;
  /** Lower case, as in URLs. */
  readonly plural: string;
  readonly scope: Scope;
  /** Never set: it carries the type. */
  readonly _type?: T;
}

/** The readonly object type of a Resource value: `type Foo = Infer<typeof Foo>`. */
export type Infer<R> = R extends Resource<infer T> ? DeepReadonly<T> : never;

/** `apps/v1`, or `v1` for the core group: what objects carry as apiVersion. */
export function apiVersionOf(resource: Pick<Resource, "group" | "version">): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** `deployments.apps`, or `pods`: how people and RBAC name a resource; also the name of its CRD. */
export function resourceName(resource: Pick<Resource, "group" | "plural">): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** `deployments.v1.apps`: names one resource in one version; the key under which caches are shared. */
export function resourceId(resource: Pick<Resource, "group" | "version" | "plural">): string {
  return `${resource.plural}.${resource.version}.${resource.group}`;
}
