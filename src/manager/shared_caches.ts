/**
 * SharedCaches: one cache per kind for all controllers of a Manager. It implements the `Caches` of `controller/` with an
 * InformerFactory of `cache/`, whose ListWatches come from the Client. A kind with an `activation` has a ConditionalInformer
 * for each controller, in front of the cache that all share.
 *
 * Assumptions: `declare` and `keepFieldsOf` are called for all controllers before the first `informer` of a kind.
 */
import {
  builtin,
  combinedSelector,
  compareResourceVersions,
  formatLabelSelector,
  type Infer,
  type KubeObject,
  type LabelSelector,
  type ObjectKey,
  type Resource,
  resourceId,
  resourceName,
  type ResourceVersion,
  splitKey,
} from "../api/mod.ts";
import type { Clock, Random, Recovery } from "../async/mod.ts";
import {
  type ActivationState,
  type CacheLimit,
  type CacheMetrics,
  type CachePart,
  type CacheScope,
  ConditionalInformer,
  dropManagedFields,
  InformerFactory,
  type InformerStatus,
  keepManagers,
  type ListFilter,
  type OwnWrite,
  type SharedInformer,
  type Writer,
  type WriteThroughResult,
} from "../cache/mod.ts";
import type { Client } from "../client/mod.ts";
import { type Logger, logger, type Recorder } from "../observe/mod.ts";
import { assertOneRulePerKind, type CachedRule, type CacheRule } from "./cache_rules.ts";
import { boundsOf, listWatchOf, withKind } from "./list_watches.ts";
import { SelectedNamespaces } from "./selected_namespaces.ts";
import { type SlotHolds, SlotParts, slotRuleOf } from "./sharding/mod.ts";
import {
  type ActivationCondition,
  boundedIndices,
  type CacheReader,
  type Caches,
  type ControllerDefinition,
  inactivityOf,
  isBounded,
  isMetadataOnly,
  metadataOnly,
  type WatchDefinition,
} from "../controller/mod.ts";

/** The caches of a Manager: one per kind, which all controllers share. */
export interface ManagerCaches extends CacheReader {
  /**
   * The informer of a kind; every caller gets the same one. It is created on the first call.
   *
   * @param within One namespace instead of the Manager's; ignored for cluster-scoped kinds.
   */
  informer(resource: Resource, within?: string): SharedInformer<KubeObject>;
  /** The informer of a kind, or undefined when `informer` was never called for the kind and namespace. */
  findInformer(resource: Resource, within?: string): SharedInformer<KubeObject> | undefined;
}

/** Options of {@link SharedCaches}. */
export interface SharedCachesOptions {
  readonly client: Client;
  /** @default all */
  readonly namespaces?: readonly string[];
  /** The namespaces with these labels, as they change; `namespaces` is absent then. @default all */
  readonly namespaceSelector?: LabelSelector;
  /** Called with the number of selected namespaces. @default it is not measured */
  readonly setNamespaceCount?: (count: number) => void;
  /** What is cached of individual kinds. @default everything but managedFields */
  readonly rules?: readonly CacheRule[];
  /** Freeze cached objects, so that a write to one throws. @default false */
  readonly freeze?: boolean;
  /** Knows when the server responds again after an outage. @default each cache waits for its own backoff */
  readonly recovery?: Recovery;
  /** @default no metrics */
  readonly metrics?: CacheMetrics;
  /** @default nothing is recorded */
  readonly recorder?: Recorder;
  /** @default logger("cache") */
  readonly log?: Logger;
  /** The slots of this replica: sharded controllers cache only their objects. @default everything is cached */
  readonly holds?: SlotHolds;
  readonly clock: Clock;
  readonly random: Random;
}

export class SharedCaches implements ManagerCaches {
  readonly #factory: InformerFactory;
  /** The field managers whose managedFields are cached, per kind. */
  readonly #managers = new Map<string, Set<string>>();
  readonly #rules: ReadonlyMap<string, CachedRule>;
  readonly #notCached: ReadonlySet<string>;
  /** Kinds of which a controller watches whole objects. */
  readonly #wholeObjects = new Set<string>();
  /** Kinds of which a controller needs all bodies. */
  readonly #unbounded = new Set<string>();
  /** The watches of bounded kinds, by kind. */
  readonly #bounded = new Map<string, readonly BoundedWatch[]>();
  readonly #informers = new Map<string, SharedInformer<KubeObject>>();
  /** The newest own write to each resource: a cache that is created later must not begin before it. */
  readonly #newestWrites = new Map<string, ResourceVersion>();
  readonly #parts: SlotParts | undefined;
  readonly #options: SharedCachesOptions;
  #selected: SelectedNamespaces | undefined;

  constructor(options: SharedCachesOptions) {
    const { client, namespaces, rules = [], freeze, recovery, metrics, recorder, log, clock, random, holds } = options;
    const { namespaceSelector } = options;
    this.#options = options;
    assertOneRulePerKind(rules);
    this.#parts = holds && new SlotParts(holds);
    const onLost = () => {
      for (const informer of this.informers()) informer.forgetOthers();
    };
    holds?.listen({ onLost });
    const cachedRules = rules.filter((rule) => rule.isCached !== false);
    this.#rules = new Map(cachedRules.map((rule) => [resourceId(rule.resource), rule]));
    this.#notCached = new Set(
      rules.filter((rule) => rule.isCached === false).map(({ resource }) => resourceId(resource)),
    );
    this.#factory = new InformerFactory({
      listWatch: (resource, scope) => {
        const keepManagedFields = this.#managers.has(resourceId(resource));
        return listWatchOf(client, resource, { ...scope, keepManagedFields, reportManagers: recorder !== undefined });
      },
      transformFor: (resource) => {
        const { transform } = this.#rules.get(resourceId(resource)) ?? {};
        const managers = this.#managers.get(resourceId(resource));
        const reduce = transform ?? (managers === undefined ? dropManagedFields : keepManagers(managers));
        return isMetadataOnly(resource) ? (object) => withKind(resource, reduce(object)) : reduce;
      },
      boundsOf: (resource, scope) => boundsOf(client, { resource, scope, limit: this.#limitOf(resource) }),
      notOlderThan: (resource) => this.#newestWrites.get(resourceName(resource)),
      indexersOf: (resource) =>
        (this.#bounded.get(resourceId(resource)) ?? []).map(({ watch, definition }) =>
          boundedIndices(definition, watch, this.of(definition))
        ),
      namespaces: namespaceSelector === undefined ? namespaces : [],
      freeze,
      recovery,
      metrics,
      recorder,
      log,
      clock,
      random,
    });
  }

  /**
   * Declares that a controller watches a kind.
   *
   * @throws TypeError when a rule forbids to cache the kind, or to cache more than its metadata.
   */
  declare(watch: WatchDefinition, definition: ControllerDefinition): void {
    const { resource } = watch;
    const { name: controller } = definition;
    const id = resourceId(resource);
    const rejection = (why: string) =>
      new TypeError(`Cannot add controller "${controller}": it watches ${resourceName(resource)}, ${why}`);
    if (this.#notCached.has(id)) throw rejection("which a cache rule forbids to cache. Use notCached()");
    if (isMetadataOnly(resource)) return;
    if (this.#rules.get(id)?.projection === "metadata") {
      throw rejection("of which a cache rule keeps only the metadata. Use metadataOnly()");
    }
    this.#wholeObjects.add(id);
    if (!isBounded(resource)) this.#unbounded.add(id);
    else this.#bounded.set(id, [...(this.#bounded.get(id) ?? []), { limit: resource.cacheLimit, watch, definition }]);
  }

  /** How the cache of a kind is bounded: by the largest limits, unless a controller needs all bodies. */
  #limitOf(resource: Resource): CacheLimit | undefined {
    const declared = this.#bounded.get(resourceId(resource));
    if (declared === undefined || this.#unbounded.has(resourceId(resource))) return undefined;
    const largest = (limits: readonly (number | undefined)[]) =>
      limits.includes(undefined) ? undefined : Math.max(...limits.map(Number));
    return {
      maxObjects: largest(declared.map(({ limit }) => limit.maxObjects)),
      maxBytes: largest(declared.map(({ limit }) => limit.maxBytes)),
    };
  }

  /** Caches the managedFields of `manager` in objects of a kind. */
  keepFieldsOf(resource: Resource, manager: string): void {
    const id = resourceId(resource);
    this.#managers.set(id, (this.#managers.get(id) ?? new Set()).add(manager));
  }

  /** The caches of a controller: those of its namespace, and those of the primary objects that it selects. */
  of(definition: Pick<ControllerDefinition, "name" | "primary" | "options" | "watches">): Caches {
    const { name, primary, watches, options: { namespace, selector } } = definition;
    const parts = this.#partsOf(definition);
    const conditions = new Map(
      watches.flatMap(({ resource, activation }) =>
        activation === undefined ? [] : [[resourceId(resource), { controller: name, condition: activation }] as const]
      ),
    );
    const isWhole = namespace === undefined && selector === undefined && parts === undefined && conditions.size === 0;
    return isWhole ? this : new ControllerCaches(this, { primary, namespace, selector, parts, conditions });
  }

  /** The part that a sharded controller caches of a kind that it watches; undefined when that is everything. */
  partOf(definition: Pick<ControllerDefinition, "options" | "watches">, resource: Resource): CachePart | undefined {
    return this.#partsOf(definition)?.get(resourceId(resource));
  }

  /** The parts that a sharded controller caches of its kinds; of kinds that it maps to keys, it needs all objects. */
  #partsOf({ options, watches }: Pick<ControllerDefinition, "options" | "watches">): KindParts | undefined {
    const parts = this.#parts;
    if (parts === undefined || options.replicas !== undefined) return undefined;
    const rule = slotRuleOf(options.shardKey ?? "uid");
    return new Map(watches.flatMap(({ role, resource, mapsOthers }) => {
      if (role === "watches" || mapsOthers === true) return [];
      return [[resourceId(resource), role === "for" ? parts.ofPrimary(rule) : parts.ofDependents(rule)] as const];
    }));
  }

  /** @param selection Only some of the objects, in a cache of their own. @default all */
  informer(resource: Resource, within?: string, selection: CacheSelection = {}): SharedInformer<KubeObject> {
    const { selector, part, conditional } = selection;
    const id = informerId(resource, within, selection);
    const known = this.#informers.get(id);
    if (known !== undefined) return known;
    const rule: Partial<CachedRule> = this.#rules.get(resourceId(resource)) ?? {};
    const { namespace = within, labelSelector, fieldSelector } = rule;
    const isOnlyMetadata = isMetadataOnly(resource) && !this.#wholeObjects.has(resourceId(resource));
    const projection = isOnlyMetadata ? "metadata" : rule.projection;
    const isNamespaced = resource.scope === "Namespaced";
    const scope: CacheScope = {
      namespace: isNamespaced ? namespace : undefined,
      labelSelector: combinedSelector(labelSelector, selector),
      fieldSelector,
      projection,
      part,
    };
    const informer: SharedInformer<KubeObject> = conditional === undefined
      ? this.#factory.informer(resource, scope)
      : this.#conditional(resource, scope, conditional);
    this.#informers.set(id, informer);
    return informer;
  }

  /** The cache of a kind for a controller that watches it under a condition. */
  #conditional<R extends Resource>(
    resource: R,
    scope: CacheScope,
    watch: ConditionalWatch,
  ): SharedInformer<KubeObject> {
    const { resource: decisive, key, evaluate } = watch.condition;
    const { namespace, name } = splitKey(key);
    const object = this.#factory.informer(decisive, { namespace, fieldSelector: { "metadata.name": name } });
    return this.#factory.conditional(resource, scope, {
      condition: { informer: object, key, evaluate },
      onState: (state) => this.#noteState(resource, watch, state),
    });
  }

  #noteState(resource: Resource, { controller }: ConditionalWatch, state: ActivationState): void {
    const { recorder } = this.#options;
    if (recorder === undefined || (state.kind !== "active" && state.kind !== "inactive")) return;
    const object = { resource: resourceName(resource), kind: resource.kind };
    const reason = state.kind === "inactive" ? state.reason : undefined;
    recorder.record({ kind: "activation", causes: [], controller, object, isActive: state.kind === "active", reason });
  }

  writeThrough(
    resource: Resource,
    object: KubeObject,
    write?: OwnWrite,
    within?: string,
    selection?: CacheSelection,
  ): WriteThroughResult {
    const name = resourceName(resource);
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== undefined && isNewer(resourceVersion, this.#newestWrites.get(name))) {
      this.#newestWrites.set(name, resourceVersion);
    }
    const found = this.findInformer(resource, within, selection);
    const own = found instanceof ConditionalInformer ? found.current : found;
    for (const { informer } of this.#sameVersion(resource)) {
      if (informer !== own) informer.writeThrough(object, write);
    }
    return own?.writeThrough(object, write) ?? "outside";
  }

  deleteThrough(resource: Resource, key: ObjectKey, uid: string, writer?: Writer): void {
    for (const { informer } of this.#sameVersion(resource)) informer.deleteThrough(key, uid, writer);
  }

  otherVersionsOf(resource: Resource): readonly Resource[] {
    const cached = this.#factory.informersOf(resource);
    return cached.every((one) => one.resource.version === resource.version)
      ? []
      : cached.map((one) => one.resource).filter(({ version }) => version !== resource.version);
  }

  #sameVersion(resource: Resource): ReturnType<InformerFactory["informersOf"]> {
    return this.#factory.informersOf(resource).filter((one) => one.resource.version === resource.version);
  }

  findInformer(
    resource: Resource,
    within?: string,
    selection?: CacheSelection,
  ): SharedInformer<KubeObject> | undefined {
    return this.#informers.get(informerId(resource, within, selection));
  }

  find<R extends Resource>(resource: R, key: ObjectKey): Infer<R> | undefined {
    return cached(this, resource).lister.find(key) as Infer<R> | undefined;
  }

  list<R extends Resource>(resource: R, filter: ListFilter): readonly Infer<R>[] {
    return cached(this, resource).lister.list(filter) as readonly Infer<R>[];
  }

  whyInactive(resource: Resource): string | undefined {
    return inactivityOf(this.findInformer(resource)?.activation);
  }

  /** Runs the informers, also those that are created later, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    using selected = this.#selectNamespaces();
    this.#selected = selected;
    await this.#factory.run(signal);
  }

  /** The namespaces of the caches at this moment; undefined: all. */
  get namespaces(): readonly string[] | undefined {
    return this.#factory.namespaces;
  }

  /** Waits until the first namespaces are known, if they are selected by labels, or until `signal` aborts. */
  async namespacesKnown(signal: AbortSignal): Promise<void> {
    await this.#selected?.synced(signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  /** Why the selected namespaces are not known; undefined when they are, or all namespaces are cached. */
  namespaceProblem(): string | undefined {
    return this.#selected?.problem();
  }

  #selectNamespaces(): SelectedNamespaces | undefined {
    const { namespaceSelector: selector, setNamespaceCount: setCount, clock, log = logger("cache") } = this.#options;
    if (selector === undefined) return undefined;
    return new SelectedNamespaces({
      informer: this.informer(metadataOnly(builtin.Namespace)),
      ...{ selector, setCount, clock, log },
      onJoined: (namespace) => this.#factory.addNamespace(namespace),
      onLeft: (namespace) => void this.#factory.removeNamespace(namespace),
    });
  }

  /** All caches that exist at this moment, each once. */
  informers(): readonly SharedInformer<KubeObject>[] {
    return this.#factory.informers();
  }

  /** The status of each cache, for readiness. */
  statuses(): readonly InformerStatus[] {
    return this.informers().flatMap((informer) => informer.statuses());
  }
}

/** A watch of a bounded kind. */
interface BoundedWatch {
  readonly limit: CacheLimit;
  readonly watch: WatchDefinition;
  readonly definition: ControllerDefinition;
}

/** Some objects of a kind. */
interface CacheSelection {
  /** @default any labels */
  readonly selector?: LabelSelector;
  /** @default all objects */
  readonly part?: CachePart;
  /** @default it is always watched */
  readonly conditional?: ConditionalWatch;
}

/** A kind that a controller watches under a condition. */
interface ConditionalWatch {
  readonly controller: string;
  readonly condition: ActivationCondition;
}

/** The parts of kinds, by the id of the kind. */
type KindParts = ReadonlyMap<string, CachePart>;

/** What a controller sees of the shared caches. */
interface ControllerView {
  readonly primary: Resource;
  /** Undefined: all. */
  readonly namespace: string | undefined;
  /** Selects primary objects. Undefined: all. */
  readonly selector: LabelSelector | undefined;
  /** Undefined: all objects. */
  readonly parts: KindParts | undefined;
  /** By the id of the kind. */
  readonly conditions: ReadonlyMap<string, ConditionalWatch>;
}

/** The caches of a controller that works only on one namespace, or only on selected primary objects. */
class ControllerCaches implements Caches {
  readonly #shared: SharedCaches;
  readonly #view: ControllerView;

  constructor(shared: SharedCaches, view: ControllerView) {
    this.#shared = shared;
    this.#view = view;
  }

  informer(resource: Resource): SharedInformer<KubeObject> {
    return this.#shared.informer(resource, this.#view.namespace, this.#selectionOf(resource));
  }

  findInformer(resource: Resource): SharedInformer<KubeObject> | undefined {
    return this.#shared.findInformer(resource, this.#view.namespace, this.#selectionOf(resource));
  }

  writeThrough(resource: Resource, object: KubeObject, write?: OwnWrite): WriteThroughResult {
    return this.#shared.writeThrough(resource, object, write, this.#view.namespace, this.#selectionOf(resource));
  }

  #selectionOf(resource: Resource): CacheSelection {
    const { primary, selector, parts, conditions } = this.#view;
    const id = resourceId(resource);
    return {
      selector: id === resourceId(primary) ? selector : undefined,
      part: parts?.get(id),
      conditional: conditions.get(id),
    };
  }

  deleteThrough(resource: Resource, key: ObjectKey, uid: string, writer?: Writer): void {
    this.#shared.deleteThrough(resource, key, uid, writer);
  }

  whyInactive(resource: Resource): string | undefined {
    return inactivityOf(this.findInformer(resource)?.activation);
  }

  otherVersionsOf(resource: Resource): readonly Resource[] {
    return this.#shared.otherVersionsOf(resource);
  }

  find<R extends Resource>(resource: R, key: ObjectKey): Infer<R> | undefined {
    return cached(this, resource).lister.find(key) as Infer<R> | undefined;
  }

  list<R extends Resource>(resource: R, filter: ListFilter): readonly Infer<R>[] {
    return cached(this, resource).lister.list(filter) as readonly Infer<R>[];
  }
}

function isNewer(version: ResourceVersion, than: ResourceVersion | undefined): boolean {
  return than === undefined || (compareResourceVersions(version, than) ?? 0) > 0;
}

function informerId(resource: Resource, within: string | undefined, selection: CacheSelection = {}): string {
  const { selector, part, conditional } = selection;
  const condition = conditional === undefined ? "" : ` for ${conditional.controller}`;
  const id = resourceId(resource);
  const place = within === undefined || resource.scope === "Cluster" ? "" : ` in ${within}`;
  const selected = selector === undefined ? "" : ` with ${formatLabelSelector(selector)}`;
  return `${id}${place}${selected}${part === undefined ? "" : ` of ${part.id}`}${condition}`;
}

function cached(caches: Caches, resource: Resource): SharedInformer<KubeObject> {
  const informer = caches.findInformer(resource);
  if (informer !== undefined) return informer;
  throw new TypeError(`Cannot read ${resource.kind} from the cache: no controller watches it`);
}
