/**
 * InformerFactory: one informer per resource and scope, shared by all who ask, so that ten controllers that look at
 * Pods cost one watch and one copy.
 *
 * Guarantees: the same resource in the same scope is the same informer; what is asked for while the factory runs is
 * started at once. A factory of some namespaces gives views of exactly those, for namespaced resources.
 */
import { apiVersionOf, type KubeObject, type Resource, resourceId } from "../api/mod.ts";
import { cacheId, cacheName, type CacheScope, type MakeListWatch, type ObjectOf } from "./cache_scope.ts";
import { Informer, type InformerDefaults } from "./informer.ts";
import type { Lister } from "./lister.ts";
import { MultiNamespaceInformer } from "./multi_namespace.ts";
import type { SharedInformer } from "./shared_informer.ts";
import { type InformerStatus, problemOf } from "./status.ts";
import type { Transform } from "./transform.ts";

/** Options of an {@link InformerFactory}. */
export interface InformerFactoryOptions extends InformerDefaults {
  /** Makes the ListWatch of a resource in a scope. */
  readonly listWatch: MakeListWatch;
  /** What is done once to each object of a resource that is kept. @default dropManagedFields for all */
  readonly transformFor?: <R extends Resource>(resource: R) => Transform<ObjectOf<R>>;
  /** Namespaces to look at; the set can change while the factory runs. @default all of the cluster */
  readonly namespaces?: readonly string[];
}

interface Shared {
  readonly resource: Resource;
  readonly informer: SharedInformer<KubeObject>;
}

/** What a view of several namespaces can do beyond an informer. */
interface View {
  add(namespace: string): void;
  remove(namespace: string): Promise<void>;
}

/** Makes and runs informers. */
export class InformerFactory {
  readonly #options: InformerFactoryOptions;
  readonly #shared = new Map<string, Shared>();
  readonly #views = new Set<View>();
  readonly #running = new Set<Promise<void>>();
  readonly #namespaces: Set<string> | undefined;
  #life: { readonly kind: "new" | "stopped" } | { readonly kind: "running"; readonly signal: AbortSignal } = {
    kind: "new",
  };

  constructor(options: InformerFactoryOptions) {
    this.#options = options;
    this.#namespaces = options.namespaces === undefined ? undefined : new Set(options.namespaces);
  }

  /** The namespaces it looks at; undefined: all of the cluster. */
  get namespaces(): readonly string[] | undefined {
    return this.#namespaces === undefined ? undefined : [...this.#namespaces];
  }

  /**
   * The informer of a resource in a scope; made, and started if the factory runs, when nobody asked before.
   *
   * @throws Error when the factory has stopped.
   */
  informer<R extends Resource>(resource: R, scope: CacheScope = {}): SharedInformer<ObjectOf<R>> {
    const id = cacheId(resource, scope);
    const present = this.#shared.get(id);
    if (present !== undefined && holds<ObjectOf<R>>(present, resource)) return present.informer;
    if (this.#life.kind === "stopped") {
      throw new Error(`Cannot make an informer of ${cacheName(resource, scope)}: the factory has stopped`);
    }
    const informer = this.#make(resource, scope);
    this.#shared.set(id, { resource, informer });
    if (this.#life.kind === "running") this.#start(informer, this.#life.signal);
    return informer;
  }

  /** The cached reads of a resource in a scope; see {@link informer}. */
  lister<R extends Resource>(resource: R, scope: CacheScope = {}): Lister<ObjectOf<R>> {
    return this.informer(resource, scope).lister;
  }

  /**
   * Takes a namespace into view.
   *
   * @throws Error when the factory looks at all of the cluster.
   */
  addNamespace(namespace: string): void {
    if (this.#namespaces === undefined) {
      throw new Error(`Cannot add namespace ${namespace}: the factory looks at all of the cluster`);
    }
    this.#namespaces.add(namespace);
    for (const view of this.#views) view.add(namespace);
  }

  /** Takes a namespace out of view; resolves when its watches have ended. */
  async removeNamespace(namespace: string): Promise<void> {
    this.#namespaces?.delete(namespace);
    await Promise.all([...this.#views].map((view) => view.remove(namespace)));
  }

  /** Resolves when every informer asked for so far has synced. Throws as {@link SharedInformer.synced}. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#shared.values()].map((shared) => shared.informer.synced(signal)));
  }

  /** One entry per reflector. */
  statuses(): readonly InformerStatus[] {
    return [...this.#shared.values()].flatMap((shared) => shared.informer.statuses());
  }

  /** One sentence per reflector that is not in step, for readiness: "foos.example.dev: forbidden to list or watch". */
  problems(): readonly string[] {
    return this.statuses().flatMap((status) => problemOf(status) ?? []);
  }

  /**
   * Runs the informers there are and those that come, until aborted.
   *
   * @throws Error when called twice.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#life.kind !== "new") throw new Error("Cannot run the informer factory: it was started before");
    this.#life = { kind: "running", signal };
    for (const shared of this.#shared.values()) this.#start(shared.informer, signal);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#life = { kind: "stopped" };
    await Promise.all(this.#running);
  }

  #start(informer: SharedInformer<KubeObject>, signal: AbortSignal): void {
    const done = informer.run(signal).finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  #make<R extends Resource>(resource: R, scope: CacheScope): SharedInformer<ObjectOf<R>> {
    if (this.#namespaces === undefined || resource.scope === "Cluster" || scope.namespace !== undefined) {
      return this.#single(resource, scope);
    }
    const view = new MultiNamespaceInformer<ObjectOf<R>>({
      ...this.#options,
      name: cacheName(resource, scope),
      namespaces: [...this.#namespaces],
      informerFor: (namespace) => this.#single(resource, { ...scope, namespace }),
    });
    this.#views.add(view);
    return view;
  }

  #single<R extends Resource>(resource: R, scope: CacheScope): Informer<ObjectOf<R>> {
    const { listWatch, transformFor, ...defaults } = this.#options;
    return new Informer<ObjectOf<R>>({
      ...defaults,
      transform: transformFor?.(resource),
      name: cacheName(resource, scope),
      listWatch: listWatch(resource, scope),
      expected: scope.projection === "metadata"
        ? { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" }
        : { apiVersion: apiVersionOf(resource), kind: resource.kind },
    });
  }
}

/** What was made for a resource holds the objects of that resource. */
function holds<T extends KubeObject>(
  shared: Shared,
  resource: Resource,
): shared is { readonly resource: Resource; readonly informer: SharedInformer<T> } {
  return shared.resource.kind === resource.kind && resourceId(shared.resource) === resourceId(resource);
}
