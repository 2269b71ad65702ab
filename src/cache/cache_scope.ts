/**
 * CacheScope: which part of a cluster one cache holds. Two who ask for the same resource in the same scope share one
 * cache; the id below decides what is the same.
 */
import {
  formatFieldSelector,
  formatLabelSelector,
  type Infer,
  type KubeObject,
  type LabelSelector,
  type ListWatch,
  type Resource,
  resourceId,
  resourceName,
  type StringMap,
} from "../api/mod.ts";

/** The object type of a Resource value, known to be a Kubernetes object. */
export type ObjectOf<R extends Resource> = Extract<Infer<R>, KubeObject>;

/** Whether whole objects are kept, or their metadata alone (PartialObjectMetadata). */
export type Projection = "full" | "metadata";

/** What a cache is restricted to; the server filters. */
export interface CacheScope {
  /** @default all namespaces, or those of the factory */
  readonly namespace?: string;
  /** @default every label */
  readonly labelSelector?: LabelSelector;
  /** @default every field */
  readonly fieldSelector?: StringMap;
  /** @default "full" */
  readonly projection?: Projection;
}

/** Makes the ListWatch of a resource in a scope: the client's part of a cache. */
export type MakeListWatch = <R extends Resource>(resource: R, scope: CacheScope) => ListWatch<ObjectOf<R>>;

/** The same text for the same resource and scope, and for nothing else. */
export function cacheId(resource: Resource, scope: CacheScope): string {
  const { namespace = "", labelSelector = {}, fieldSelector = {}, projection = "full" } = scope;
  return [
    resourceId(resource),
    namespace,
    formatLabelSelector(labelSelector),
    formatFieldSelector(fieldSelector),
    projection,
  ].join("|");
}

/** How people name a cache: the resource, and what it is restricted to. */
export function cacheName(resource: Resource, scope: CacheScope): string {
  const { namespace, labelSelector, fieldSelector, projection } = scope;
  const parts = [resourceName(resource)];
  if (namespace !== undefined) parts.push(`in namespace ${namespace}`);
  if (labelSelector !== undefined) parts.push(`with labels ${formatLabelSelector(labelSelector)}`);
  if (fieldSelector !== undefined) parts.push(`with fields ${formatFieldSelector(fieldSelector)}`);
  if (projection === "metadata") parts.push("(metadata only)");
  return parts.join(" ");
}
