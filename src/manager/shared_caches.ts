/**
 * SharedCaches: one cache per kind for all controllers of a Manager. Implements what `controller/` asks of caches on
 * top of `cache/`'s factory, and makes the ListWatches from the Client: the only place where the two meet.
 */
import { type Infer, type KubeObject, type ListWatch, type ObjectKey, type Resource, resourceId } from "../api/mod.ts";
import type { Clock, Random } from "../async/mod.ts";
import {
  type CacheMetrics,
  type CacheScope,
  dropManagedFields,
  InformerFactory,
  type InformerStatus,
  keepManagers,
  type ObjectOf,
  type SharedInformer,
} from "../cache/mod.ts";
import type { Client } from "../client/mod.ts";
import type { Caches, ListFilter } from "../controller/mod.ts";

/** What the cache of one kind is restricted to, for all controllers of a Manager. */
export interface CacheRule extends CacheScope {
  readonly resource: Resource;
  /** Done once to each object that is kept; must not change what it is given. @default managedFields are dropped */
  readonly transform?: <T extends KubeObject>(object: T) => T;
}

/** Options of {@link SharedCaches}. */
export interface SharedCachesOptions {
  readonly client: Client;
  /** @default all */
  readonly namespaces?: readonly string[];
  /** What is kept of single kinds. @default everything but managedFields */
  readonly rules?: readonly CacheRule[];
  /** @default nowhere */
  readonly metrics?: CacheMetrics;
  readonly clock: Clock;
  readonly random: Random;
}

export class SharedCaches implements Caches {
  readonly #factory: InformerFactory;
  /** Whose fields are kept, per kind. */
  readonly #managers = new Map<string, Set<string>>();
  readonly #rules: ReadonlyMap<string, CacheRule>;
  readonly #informers = new Map<string, SharedInformer<KubeObject>>();

  constructor(options: SharedCachesOptions) {
    const { client, namespaces, rules = [], metrics, clock, random } = options;
    this.#rules = new Map(rules.map((rule) => [resourceId(rule.resource), rule]));
    this.#factory = new InformerFactory({
      listWatch: <R extends Resource>(resource: R, scope: CacheScope) => {
        const { projection, ...selection } = scope;
        const metadataOnly = projection === "metadata";
        const keepManagedFields = this.#managers.has(resourceId(resource));
        const listWatch = client.listWatch(resource, { ...selection, metadataOnly, keepManagedFields });
        // Objects of any Resource are KubeObjects; TypeScript cannot see that through a type parameter.
        return listWatch as ListWatch<ObjectOf<R>>;
      },
      transformFor: (resource) => {
        const { transform } = this.#rules.get(resourceId(resource)) ?? {};
        if (transform !== undefined) return transform;
        const managers = this.#managers.get(resourceId(resource));
        return managers === undefined ? dropManagedFields : keepManagers(managers);
      },
      namespaces,
      metrics,
      clock,
      random,
    });
  }

  /** Keeps what `manager` owns in objects of a kind. To be called before anybody asks for the kind's informer. */
  keepFieldsOf(resource: Resource, manager: string): void {
    const id = resourceId(resource);
    this.#managers.set(id, (this.#managers.get(id) ?? new Set()).add(manager));
  }

  informer(resource: Resource): SharedInformer<KubeObject> {
    const id = resourceId(resource);
    const known = this.#informers.get(id);
    if (known !== undefined) return known;
    const { namespace, labelSelector, fieldSelector, projection } = this.#rules.get(id) ?? {};
    const scope: CacheScope = { namespace, labelSelector, fieldSelector, projection };
    const informer: SharedInformer<KubeObject> = this.#factory.informer(resource, scope);
    this.#informers.set(id, informer);
    return informer;
  }

  findInformer(resource: Resource): SharedInformer<KubeObject> | undefined {
    return this.#informers.get(resourceId(resource));
  }

  find<R extends Resource>(resource: R, key: ObjectKey): Infer<R> | undefined {
    return this.#cached(resource).lister.find(key) as Infer<R> | undefined;
  }

  list<R extends Resource>(resource: R, filter: ListFilter): readonly Infer<R>[] {
    return this.#cached(resource).lister.list(filter) as readonly Infer<R>[];
  }

  /** Runs the caches that are asked for, now and later, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#factory.run(signal);
  }

  /** What each cache says about itself: for readiness. */
  statuses(): readonly InformerStatus[] {
    return [...this.#informers.values()].flatMap((informer) => informer.statuses());
  }

  #cached(resource: Resource): SharedInformer<KubeObject> {
    const informer = this.findInformer(resource);
    if (informer === undefined) {
      throw new TypeError(`Cannot read ${resource.kind} from the cache: no controller watches it`);
    }
    return informer;
  }
}
