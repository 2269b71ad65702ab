/**
 * SharedCaches: one cache per kind for all controllers of a Manager. Implements what `controller/` asks of caches on
 * top of `cache/`'s factory, with ListWatches made from the Client (`informers_of.ts`).
 */
import {
  apiVersionOf,
  type Infer,
  type KubeObject,
  type ObjectKey,
  type Resource,
  resourceId,
  resourceName,
} from "../api/mod.ts";
import type { Clock, Random } from "../async/mod.ts";
import {
  type CacheMetrics,
  type CacheScope,
  dropManagedFields,
  InformerFactory,
  type InformerStatus,
  keepManagers,
  type SharedInformer,
} from "../cache/mod.ts";
import type { Client } from "../client/mod.ts";
import { type Caches, isMetadataOnly, type ListFilter } from "../controller/mod.ts";
import { listWatchOf } from "./informers_of.ts";

/** What the cache of one kind is restricted to, for all controllers of a Manager. */
export interface CachedRule extends CacheScope {
  readonly resource: Resource;
  readonly isCached?: true;
  /** Done once to each object that is kept; must not change what it is given. @default managedFields are dropped */
  readonly transform?: <T extends KubeObject>(object: T) => T;
}

/** A kind that no controller of a Manager may watch: its objects are read from the API server, as `notCached`. */
export interface NotCachedRule {
  readonly resource: Resource;
  readonly isCached: false;
}

/** What a Manager keeps of one kind. */
export type CacheRule = CachedRule | NotCachedRule;

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

/** The caches of one namespace, for a controller that works on no other. */
class NamespaceCaches implements Caches {
  readonly #shared: SharedCaches;
  readonly #namespace: string;

  constructor(shared: SharedCaches, namespace: string) {
    this.#shared = shared;
    this.#namespace = namespace;
  }

  informer(resource: Resource): SharedInformer<KubeObject> {
    return this.#shared.informer(resource, this.#namespace);
  }

  findInformer(resource: Resource): SharedInformer<KubeObject> | undefined {
    return this.#shared.findInformer(resource, this.#namespace);
  }

  find<R extends Resource>(resource: R, key: ObjectKey): Infer<R> | undefined {
    return cached(this, resource).lister.find(key) as Infer<R> | undefined;
  }

  list<R extends Resource>(resource: R, filter: ListFilter): readonly Infer<R>[] {
    return cached(this, resource).lister.list(filter) as readonly Infer<R>[];
  }
}

export class SharedCaches implements Caches {
  readonly #factory: InformerFactory;
  /** Whose fields are kept, per kind. */
  readonly #managers = new Map<string, Set<string>>();
  readonly #rules: ReadonlyMap<string, CachedRule>;
  /** Kinds that must not be cached. */
  readonly #refused: ReadonlySet<string>;
  /** Kinds of which somebody watches whole objects. */
  readonly #whole = new Set<string>();
  readonly #informers = new Map<string, SharedInformer<KubeObject>>();

  constructor(options: SharedCachesOptions) {
    const { client, namespaces, rules = [], metrics, clock, random } = options;
    const kept = rules.filter((rule) => rule.isCached !== false);
    this.#rules = new Map(kept.map((rule) => [resourceId(rule.resource), rule]));
    this.#refused = new Set(
      rules.filter((rule) => rule.isCached === false).map(({ resource }) => resourceId(resource)),
    );
    this.#factory = new InformerFactory({
      listWatch: (resource, scope) => {
        const keepManagedFields = this.#managers.has(resourceId(resource));
        return listWatchOf(client, resource, { ...scope, keepManagedFields });
      },
      transformFor: (resource) => {
        const { transform } = this.#rules.get(resourceId(resource)) ?? {};
        const managers = this.#managers.get(resourceId(resource));
        const kept = transform ?? (managers === undefined ? dropManagedFields : keepManagers(managers));
        return isMetadataOnly(resource) ? (object) => identified(resource, kept(object)) : kept;
      },
      namespaces,
      metrics,
      clock,
      random,
    });
  }

  /**
   * Says that a controller watches a kind. To be called for all controllers before anybody asks for the kind's informer.
   *
   * @throws TypeError when a rule forbids to cache the kind, or more of it than its metadata.
   */
  declare(resource: Resource, controller: string): void {
    const id = resourceId(resource);
    const refuse = (why: string) =>
      new TypeError(`Cannot add controller "${controller}": it watches ${resourceName(resource)}, ${why}`);
    if (this.#refused.has(id)) throw refuse("which a cache rule forbids to cache; use notCached()");
    if (isMetadataOnly(resource)) return;
    if (this.#rules.get(id)?.projection === "metadata") {
      throw refuse("of which a cache rule keeps the metadata alone; use metadataOnly()");
    }
    this.#whole.add(id);
  }

  /** Keeps what `manager` owns in objects of a kind. To be called before anybody asks for the kind's informer. */
  keepFieldsOf(resource: Resource, manager: string): void {
    const id = resourceId(resource);
    this.#managers.set(id, (this.#managers.get(id) ?? new Set()).add(manager));
  }

  /** The caches as a controller sees them that works on one namespace; all of them where it does not say which. */
  within(namespace: string | undefined): Caches {
    return namespace === undefined ? this : new NamespaceCaches(this, namespace);
  }

  /** @param within One namespace instead of the Manager's; means nothing for what lives in none. */
  informer(resource: Resource, within?: string): SharedInformer<KubeObject> {
    const id = informerId(resource, within);
    const known = this.#informers.get(id);
    if (known !== undefined) return known;
    const rule: Partial<CachedRule> = this.#rules.get(resourceId(resource)) ?? {};
    const { namespace = within, labelSelector, fieldSelector } = rule;
    const isPart = isMetadataOnly(resource) && !this.#whole.has(resourceId(resource));
    const projection = isPart ? "metadata" : rule.projection;
    const isNamespaced = resource.scope === "Namespaced";
    const scope: CacheScope = {
      namespace: isNamespaced ? namespace : undefined,
      labelSelector,
      fieldSelector,
      projection,
    };
    const informer: SharedInformer<KubeObject> = this.#factory.informer(resource, scope);
    this.#informers.set(id, informer);
    return informer;
  }

  findInformer(resource: Resource, within?: string): SharedInformer<KubeObject> | undefined {
    return this.#informers.get(informerId(resource, within));
  }

  find<R extends Resource>(resource: R, key: ObjectKey): Infer<R> | undefined {
    return cached(this, resource).lister.find(key) as Infer<R> | undefined;
  }

  list<R extends Resource>(resource: R, filter: ListFilter): readonly Infer<R>[] {
    return cached(this, resource).lister.list(filter) as readonly Infer<R>[];
  }

  /** Runs the caches that are asked for, now and later, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#factory.run(signal);
  }

  /** What each cache says about itself: for readiness. */
  statuses(): readonly InformerStatus[] {
    return [...new Set(this.#informers.values())].flatMap((informer) => informer.statuses());
  }
}

/** Metadata alone comes as another kind, whichever it is of. */
function identified<T extends KubeObject>({ group, version, kind }: Resource, object: T): T {
  const apiVersion = apiVersionOf({ group, version });
  return object.kind === kind ? object : { ...object, apiVersion, kind };
}

function informerId(resource: Resource, within: string | undefined): string {
  const id = resourceId(resource);
  return within === undefined || resource.scope === "Cluster" ? id : `${id} in ${within}`;
}

function cached(caches: Caches, resource: Resource): SharedInformer<KubeObject> {
  const informer = caches.findInformer(resource);
  if (informer !== undefined) return informer;
  throw new TypeError(`Cannot read ${resource.kind} from the cache: no controller watches it`);
}
