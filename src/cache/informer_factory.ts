/**
 * InformerFactory: one informer per resource and scope, shared by all callers, so that ten controllers that watch Pods
 * cost one watch and one copy of the objects. CacheScope: the part of a cluster that one cache contains.
 *
 * Guarantees: the same resource in the same scope is the same informer; an informer that is requested while the factory
 * runs is started at once. A factory with namespaces caches exactly those of a namespaced resource. An informer that was
 * only held (`conditional`) stops when the last holder lets it go; one that was requested runs until the factory stops.
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
import { aborted, type Scope, scope as childScope } from "../async/mod.ts";
import type { CachePart } from "./cache_part.ts";
import { type CacheCondition, ConditionalInformer, type InformerHold } from "./conditional_informer.ts";
import { Informer } from "./informer.ts";
import type { CacheBounds, InformerDefaults } from "./informer_options.ts";
import type { Lister } from "./lister.ts";
import { MultiNamespaceInformer } from "./multi_namespace.ts";
import type { ActivationState, SharedInformer } from "./shared_informer.ts";
import { type InformerStatus, problemOf } from "./status.ts";
import type { Indexers } from "./store.ts";
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
  /** Returns the indices that each new informer of a resource needs from the start. @default none */
  readonly indexersOf?: <R extends Resource>(resource: R) => readonly Indexers<ObjectOf<R>>[];
  /** Namespaces to watch; the set can change while the factory runs. @default the whole cluster */
  readonly namespaces?: readonly string[];
}

interface Shared {
  readonly id: string;
  readonly resource: Resource;
  readonly informer: SharedInformer<KubeObject>;
  /** Its namespaces. Undefined when it is of one scope. */
  readonly namespaces: NamespaceSet | undefined;
  /** The conditional informers that use it. */
  holds: number;
  /** It was requested by `informer`, which has no end. */
  isPinned: boolean;
  /** Ends it. Undefined before it was started. */
  life: Scope | undefined;
}

/** On which condition an informer depends, for {@link InformerFactory.conditional}. */
export interface ConditionalOptions {
  /** While it holds, the cache has objects. */
  readonly condition: CacheCondition;
  /** Called with each new state. @default not called */
  readonly onState?: (state: ActivationState) => void;
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
  /** The same, by the name of the resource, which has no version. */
  readonly #ofResource = new Map<string, readonly Shared[]>();
  readonly #conditional = new Set<SharedInformer<KubeObject>>();
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
    const { shared, informer } = this.#get(resource, scope);
    shared.isPinned = true;
    return informer;
  }

  /**
   * An informer of a resource in a scope that runs only while a condition holds. Each call creates one; while it is active,
   * its objects are those of the shared informer, which stops when nobody else needs it.
   *
   * @throws Error when the factory has stopped.
   */
  conditional<R extends Resource>(
    resource: R,
    scope: CacheScope,
    options: ConditionalOptions,
  ): ConditionalInformer<ObjectOf<R>> {
    const informer = new ConditionalInformer<ObjectOf<R>>({
      ...options,
      name: cacheName(resource, scope),
      hold: () => this.#hold(resource, scope),
      hasNamespaces: this.#hasNamespaces(resource, scope),
    });
    if (this.#life.kind === "stopped") {
      throw new Error(`Cannot create an informer of ${informer.name}: the factory has stopped`);
    }
    this.#conditional.add(informer);
    if (this.#life.kind === "running") this.#run(informer, this.#life.signal);
    return informer;
  }

  /** The informers of a resource that exist at this moment, of all its versions and scopes. */
  informersOf(
    resource: Resource,
  ): readonly { readonly resource: Resource; readonly informer: SharedInformer<KubeObject> }[] {
    return this.#ofResource.get(resourceName(resource)) ?? [];
  }

  /** All informers that exist at this moment. */
  informers(): readonly SharedInformer<KubeObject>[] {
    return [...this.#shared.values()].map(({ informer }) => informer);
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
    for (const { namespaces } of this.#shared.values()) namespaces?.add(namespace);
  }

  /** Removes a namespace; resolves when its watches have ended. */
  async removeNamespace(namespace: string): Promise<void> {
    this.#namespaces?.delete(namespace);
    await Promise.all([...this.#shared.values()].map(({ namespaces }) => namespaces?.remove(namespace)));
  }

  /**
   * Resolves when every informer requested so far has synced.
   *
   * @throws `signal.reason` when aborted first, an Error when an informer stops first.
   */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.informers(), ...this.#conditional].map((informer) => informer.synced(signal)));
  }

  /** One entry per reflector. */
  statuses(): readonly InformerStatus[] {
    return this.informers().flatMap((informer) => informer.statuses());
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
    for (const shared of this.#shared.values()) this.#start(shared, signal);
    for (const informer of this.#conditional) this.#run(informer, signal);
    await aborted(signal);
    this.#life = { kind: "stopped" };
    await Promise.all(this.#running);
  }

  /** The informer of a resource in a scope, which is created if there is none. */
  #get<R extends Resource>(
    resource: R,
    scope: CacheScope,
  ): { readonly shared: Shared; readonly informer: SharedInformer<ObjectOf<R>> } {
    const id = cacheId(resource, scope);
    const existing = this.#shared.get(id);
    if (existing !== undefined && isOf<ObjectOf<R>>(existing, resource)) {
      return { shared: existing, informer: existing.informer };
    }
    if (this.#life.kind === "stopped") {
      throw new Error(`Cannot create an informer of ${cacheName(resource, scope)}: the factory has stopped`);
    }
    const { informer, namespaces } = this.#create(resource, scope);
    for (const indexers of this.#options.indexersOf?.(resource) ?? []) informer.addIndexers(indexers);
    const shared: Shared = { id, resource, informer, namespaces, holds: 0, isPinned: false, life: undefined };
    this.#shared.set(id, shared);
    this.#ofResource.set(resourceName(resource), [...this.#ofResource.get(resourceName(resource)) ?? [], shared]);
    if (this.#life.kind === "running") this.#start(shared, this.#life.signal);
    return { shared, informer };
  }

  #hold<R extends Resource>(resource: R, scope: CacheScope): InformerHold<ObjectOf<R>> {
    const { shared, informer } = this.#get(resource, scope);
    shared.holds++;
    let isHeld = true;
    return {
      informer,
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        if (--shared.holds === 0 && !shared.isPinned) this.#remove(shared);
      },
    };
  }

  /** Stops an informer that nobody needs. The next one that is requested is a new one. */
  #remove(shared: Shared): void {
    const { id, resource, life } = shared;
    this.#shared.delete(id);
    const name = resourceName(resource);
    const others = (this.#ofResource.get(name) ?? []).filter((other) => other !== shared);
    if (others.length === 0) this.#ofResource.delete(name);
    else this.#ofResource.set(name, others);
    life?.abort();
  }

  #start(shared: Shared, signal: AbortSignal): void {
    const { id, informer } = shared;
    const life = childScope(signal);
    shared.life = life;
    this.#run(informer, life.signal, () => {
      life[Symbol.dispose]();
      // It was removed, and no other one has taken its place.
      if (signal.aborted || this.#shared.has(id)) return;
      for (const { name } of informer.statuses()) this.#options.metrics?.forget(name);
    });
  }

  #run(informer: SharedInformer<KubeObject>, signal: AbortSignal, onEnd?: () => void): void {
    const done: Promise<void> = informer.run(signal).finally(() => {
      onEnd?.();
      this.#running.delete(done);
    });
    this.#running.add(done);
  }

  #hasNamespaces(resource: Resource, scope: CacheScope): boolean {
    return this.#namespaces !== undefined && resource.scope === "Namespaced" && scope.namespace === undefined;
  }

  #create<R extends Resource>(
    resource: R,
    scope: CacheScope,
  ): { readonly informer: SharedInformer<ObjectOf<R>>; readonly namespaces: NamespaceSet | undefined } {
    if (!this.#hasNamespaces(resource, scope)) {
      return { informer: this.#single(resource, scope), namespaces: undefined };
    }
    const informer = new MultiNamespaceInformer<ObjectOf<R>>({
      ...this.#options,
      name: cacheName(resource, scope),
      namespaces: [...this.#namespaces ?? []],
      informerFor: (namespace) => this.#single(resource, { ...scope, namespace }),
    });
    return { informer, namespaces: informer };
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
): shared is Shared & { readonly informer: SharedInformer<T> } {
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
