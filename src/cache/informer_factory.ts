/**
 * InformerFactory: one informer per resource and scope, shared by all callers, so that ten controllers that watch Pods
 * cost one watch and one copy of the objects. CacheScope: the part of a cluster that one cache contains.
 *
 * Guarantees: the same resource in the same scope is the same informer; an informer that is requested while the factory
 * runs is started at once. A factory with namespaces caches exactly those of a namespaced resource.
 */
import {
  apiVersionOf,
  formatFieldSelector,
  formatLabelSelector,
  type Infer,
  isSelected,
  type KubeObject,
  type LabelSelector,
  type ListWatch,
  matchesFields,
  type Resource,
  resourceId,
  resourceName,
  type ResourceVersion,
  type StringMap,
} from "../api/mod.ts";
import { aborted } from "../async/mod.ts";
import type { CachePart } from "./cache_part.ts";
import { Informer } from "./informer.ts";
import type { CacheBounds, InformerDefaults } from "./informer_options.ts";
import type { Lister } from "./lister.ts";
import { MultiNamespaceInformer } from "./multi_namespace.ts";
import type { SharedInformer } from "./shared_informer.ts";
import { type InformerStatus, problemOf } from "./status.ts";
import type { Transform } from "./transform.ts";

/** Options of an {@link InformerFactory}. */
export interface InformerFactoryOptions extends InformerDefaults {
  /** Creates the ListWatch of a resource in a scope. */
  readonly listWatch: CreateListWatch;
  /** Returns the transform of a resource. @default dropManagedFields for all */
  readonly transformFor?: <R extends Resource>(resource: R) => Transform<ObjectOf<R>>;
  /** Returns the version of a resource that a new cache must contain from the start, for own writes. @default none */
  readonly notOlderThan?: (resource: Resource) => ResourceVersion | undefined;
  /** Returns how the cache of a resource is bounded; undefined: all bodies are kept. @default no cache is bounded */
  readonly boundsOf?: <R extends Resource>(resource: R, scope: CacheScope) => CacheBounds<ObjectOf<R>> | undefined;
  /** Namespaces to watch; the set can change while the factory runs. @default the whole cluster */
  readonly namespaces?: readonly string[];
}

interface Shared {
  readonly resource: Resource;
  readonly informer: SharedInformer<KubeObject>;
}

/** The methods that a MultiNamespaceInformer has beyond those of SharedInformer. */
interface NamespaceSet {
  add(namespace: string): void;
  remove(namespace: string): Promise<void>;
}

/**
 * Creates and runs informers, one for each resource and scope, which all callers share. `informersOf` creates a factory
 * for a Client.
 *
 * @example
 * ```ts
 * import { Pod } from "@pintle/controller";
 * import { informersOf } from "@pintle/controller/cache";
 * import { World } from "@pintle/controller/testing";
 *
 * await using world = await World.start({ controllers: [], cluster: false });
 * const informers = informersOf(world.client, { clock: world.clock });
 * const names: (string | undefined)[] = [];
 * informers.informer(Pod).addHandler({ onAdd: (pod) => names.push(pod.metadata.name) });
 * const stop = new AbortController();
 * const running = informers.run(stop.signal);
 * await informers.synced(stop.signal);
 * console.assert(informers.informer(Pod) === informers.informer(Pod) && names.length === 0);
 * stop.abort();
 * await running;
 * ```
 */
export class InformerFactory {
  readonly #options: InformerFactoryOptions;
  readonly #shared = new Map<string, Shared>();
  readonly #multiNamespace = new Set<NamespaceSet>();
  readonly #running = new Set<Promise<void>>();
  readonly #namespaces: Set<string> | undefined;
  #life: { readonly kind: "new" | "stopped" } | { readonly kind: "running"; readonly signal: AbortSignal } = {
    kind: "new",
  };

  /** Creates a factory; {@link InformerFactory.run} starts its informers. */
  constructor(options: InformerFactoryOptions) {
    this.#options = options;
    this.#namespaces = options.namespaces === undefined ? undefined : new Set(options.namespaces);
  }

  /** The namespaces it watches; undefined: the whole cluster. */
  get namespaces(): readonly string[] | undefined {
    return this.#namespaces === undefined ? undefined : [...this.#namespaces];
  }

  /**
   * The informer of a resource in a scope. The first call creates it, and starts it if the factory runs.
   *
   * @throws Error when the factory has stopped.
   */
  informer<R extends Resource>(resource: R, scope: CacheScope = {}): SharedInformer<ObjectOf<R>> {
    const id = cacheId(resource, scope);
    const existing = this.#shared.get(id);
    if (existing !== undefined && isOf<ObjectOf<R>>(existing, resource)) return existing.informer;
    if (this.#life.kind === "stopped") {
      throw new Error(`Cannot create an informer of ${cacheName(resource, scope)}: the factory has stopped`);
    }
    const informer = this.#create(resource, scope);
    this.#shared.set(id, { resource, informer });
    if (this.#life.kind === "running") this.#start(informer, this.#life.signal);
    return informer;
  }

  /** The cached reads of a resource in a scope; see {@link informer}. */
  lister<R extends Resource>(resource: R, scope: CacheScope = {}): Lister<ObjectOf<R>> {
    return this.informer(resource, scope).lister;
  }

  /**
   * Adds a namespace.
   *
   * @throws Error when the factory watches the whole cluster.
   */
  addNamespace(namespace: string): void {
    if (this.#namespaces === undefined) {
      throw new Error(`Cannot add namespace ${namespace}: the factory watches the whole cluster`);
    }
    this.#namespaces.add(namespace);
    for (const informer of this.#multiNamespace) informer.add(namespace);
  }

  /** Removes a namespace; resolves when its watches have ended. */
  async removeNamespace(namespace: string): Promise<void> {
    this.#namespaces?.delete(namespace);
    await Promise.all([...this.#multiNamespace].map((informer) => informer.remove(namespace)));
  }

  /**
   * Resolves when every informer requested so far has synced.
   *
   * @throws `signal.reason` when aborted first, an Error when an informer stops first.
   */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#shared.values()].map((shared) => shared.informer.synced(signal)));
  }

  /** One entry per reflector. */
  statuses(): readonly InformerStatus[] {
    return [...this.#shared.values()].flatMap((shared) => shared.informer.statuses());
  }

  /** One sentence per cache that is not up to date, for readiness: "foos.example.dev: forbidden to list or watch". */
  problems(): readonly string[] {
    return this.statuses().flatMap((status) => problemOf(status) ?? []);
  }

  /**
   * Runs all informers, also those that are requested later, until aborted.
   *
   * @throws Error when called twice.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#life.kind !== "new") throw new Error("Cannot run the informer factory: it was started before");
    this.#life = { kind: "running", signal };
    for (const shared of this.#shared.values()) this.#start(shared.informer, signal);
    await aborted(signal);
    this.#life = { kind: "stopped" };
    await Promise.all(this.#running);
  }

  #start(informer: SharedInformer<KubeObject>, signal: AbortSignal): void {
    const done = informer.run(signal).finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  #create<R extends Resource>(resource: R, scope: CacheScope): SharedInformer<ObjectOf<R>> {
    if (this.#namespaces === undefined || resource.scope === "Cluster" || scope.namespace !== undefined) {
      return this.#single(resource, scope);
    }
    const informer = new MultiNamespaceInformer<ObjectOf<R>>({
      ...this.#options,
      name: cacheName(resource, scope),
      namespaces: [...this.#namespaces],
      informerFor: (namespace) => this.#single(resource, { ...scope, namespace }),
    });
    this.#multiNamespace.add(informer);
    return informer;
  }

  #single<R extends Resource>(resource: R, scope: CacheScope): Informer<ObjectOf<R>> {
    const { listWatch, transformFor, notOlderThan, boundsOf, ...defaults } = this.#options;
    return new Informer<ObjectOf<R>>({
      ...defaults,
      transform: transformFor?.(resource),
      notOlderThan: notOlderThan?.(resource),
      name: cacheName(resource, scope),
      listWatch: listWatch(resource, scope),
      part: scope.part,
      bounds: boundsOf?.(resource, scope),
      recordedAs: { resource: resourceName(resource), kind: resource.kind },
      selects: (object) => isInScope(object, scope),
      project: scope.projection === "metadata" ? onlyMetadata : undefined,
      expected: {
        ...(scope.projection === "metadata"
          ? { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" }
          : { apiVersion: apiVersionOf(resource), kind: resource.kind }),
        namespace: scope.namespace,
      },
    });
  }
}

/** True for an object that the server would send to a cache of this scope. */
function isInScope(object: KubeObject, { namespace, labelSelector, fieldSelector }: CacheScope): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  if (labelSelector !== undefined && !isSelected(labelSelector, object)) return false;
  return fieldSelector === undefined || matchesFields(fieldSelector, object);
}

/** What the server sends of an object to a cache of metadata. */
function onlyMetadata<T extends KubeObject>(object: T): T {
  const { metadata } = object;
  return { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata } as T;
}

/** The informer of a resource contains the objects of that resource. */
function isOf<T extends KubeObject>(
  shared: Shared,
  resource: Resource,
): shared is { readonly resource: Resource; readonly informer: SharedInformer<T> } {
  return shared.resource.kind === resource.kind && resourceId(shared.resource) === resourceId(resource);
}

/** The object type of a Resource value, which is a Kubernetes object. */
export type ObjectOf<R extends Resource> = Extract<Infer<R>, KubeObject>;

/** Whether the cache contains whole objects or only their metadata (PartialObjectMetadata). */
export type Projection = "full" | "metadata";

/** The part of a cluster that one cache contains; the server filters. */
export interface CacheScope {
  /** Only the objects of this namespace. @default all namespaces, or those of the factory */
  readonly namespace?: string;
  /** Only the objects with these labels. @default every label */
  readonly labelSelector?: LabelSelector;
  /** Only the objects with these field values, such as `{ "spec.nodeName": "n1" }`. @default every field */
  readonly fieldSelector?: StringMap;
  /** Whole objects, or only their metadata. @default "full" */
  readonly projection?: Projection;
  /** Only the objects of a part that may change while the cache runs. @default all */
  readonly part?: CachePart;
}

/** Creates the ListWatch of a resource in a scope, as the client does. */
export type CreateListWatch = <R extends Resource>(resource: R, scope: CacheScope) => ListWatch<ObjectOf<R>>;

/** Identifies a cache: equal for the same resource and scope, different for any others. */
export function cacheId(resource: Resource, scope: CacheScope): string {
  const { namespace = "", labelSelector = {}, fieldSelector = {}, projection = "full", part } = scope;
  return [
    resourceId(resource),
    namespace,
    formatLabelSelector(labelSelector),
    formatFieldSelector(fieldSelector),
    projection,
    ...(part === undefined ? [] : [part.id]),
  ].join("|");
}

/** The name of a cache for people: the resource, and its restrictions. */
export function cacheName(resource: Resource, scope: CacheScope): string {
  const { namespace, labelSelector, fieldSelector, projection, part } = scope;
  const parts = [resourceName(resource)];
  if (namespace !== undefined) parts.push(`in namespace ${namespace}`);
  if (labelSelector !== undefined) parts.push(`with labels ${formatLabelSelector(labelSelector)}`);
  if (fieldSelector !== undefined) parts.push(`with fields ${formatFieldSelector(fieldSelector)}`);
  if (projection === "metadata") parts.push("(metadata only)");
  if (part !== undefined) parts.push(`of ${part.id}`);
  return parts.join(" ");
}
