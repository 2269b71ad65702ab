/**
 * ReplayedCaches: the caches of the recorded process, as they were at one moment of the recording. `apply()` takes the next
 * change; each controller sees the caches that it had.
 *
 * The reads of one reconcile may lie between two entries that the replay has still to come to: `during()` lets it look ahead.
 *
 * Guarantees: a cache that the recording does not show from its first list on is known to be incomplete: a read that it
 * cannot answer is reported, and never answered by a guess.
 */
import {
  apiVersionOf,
  formatLabelSelector,
  type Infer,
  keyOf,
  type KubeObject,
  type ObjectKey,
  type Resource,
  resourceId,
  resourceName,
} from "../../api/mod.ts";
import { Lister, type ListFilter, Store } from "../../cache/mod.ts";
import { type CacheReader, type ControllerDefinition, isInHub, isMetadataOnly } from "../../controller/mod.ts";
import { hubKind } from "../../explain/mod.ts";
import type { ActivationEntry, ChangeEntry, Entry, ListEntry } from "../../observe/mod.ts";

/** One cache, or what it has of one version of a kind: the caches of several versions have the same name. */
export interface ReplayedCache {
  readonly name: string;
  /** `deployments.apps`. */
  readonly resource: string;
  readonly store: Store<KubeObject>;
  readonly lister: Lister<KubeObject>;
}

/** What a change did to a cache. */
export interface AppliedChange {
  readonly cache: ReplayedCache;
  readonly key: ObjectKey;
  readonly old: KubeObject | undefined;
  /** The new state; undefined after a deletion. */
  readonly current: KubeObject | undefined;
  /** Of a deletion, the last state. */
  readonly last: KubeObject | undefined;
}

/** Learns what is read, and decides as of when. */
export interface ReadObserver {
  /** The index of the entry before which the read happens; the caches may be behind it. @param key Absent for a list */
  readAt(resource: Resource, key?: ObjectKey): number;
  /** A cache has answered. */
  onFound(resource: Resource, key: ObjectKey, object: KubeObject | undefined): void;
  onListed(resource: Resource, objects: readonly KubeObject[]): void;
  /** The recording does not tell the answer. @param what `Deployment "default/web"` */
  onUnknown(what: string): void;
}

export class ReplayedCaches {
  readonly #caches = new Map<string, ReplayedCache>();
  /** The kind of each cache, by the name of the cache. */
  readonly #kinds = new Map<string, string>();
  /** The caches whose first list is in the recording. */
  readonly #complete = new Set<string>();
  readonly #views = new Map<string, ReadonlyMap<string, CacheChoice>>();

  readonly #entries: readonly Entry[];
  /** The index of the first entry that is not applied. */
  #next = 0;
  /** Why controllers do not watch kinds with an activation, by controller and kind; undefined: they do. */
  readonly #inactivity = new Map<string, string | undefined>();
  /** The caches of a controller by kind, as long as no cache is added. */
  readonly #chosen = new Map<string, readonly ReplayedCache[]>();

  /** @param definitions The controllers that read the caches. */
  constructor(entries: readonly Entry[], definitions: readonly ControllerDefinition[]) {
    this.#entries = entries;
    for (const definition of definitions) {
      const choices = definition.watches.map(({ resource }) => choiceOf(resource, definition));
      this.#views.set(definition.name, new Map(choices.map((choice) => [idOf(choice.resource), choice])));
    }
  }

  /** A cache has read a full state. The objects follow as changes. */
  #list({ cache: name, object: { resource }, isInitial }: ListEntry): void {
    this.#know(name, resource);
    if (!isInitial) return;
    this.#complete.add(name);
    // A cache that was stopped begins again: what it had before is not in it.
    for (const cache of this.#caches.values()) {
      if (cache.name !== name) continue;
      for (const object of cache.lister.list()) cache.store.delete(keyOf(object));
    }
  }

  /** A controller begins or ends to watch a kind. */
  #activate({ controller, object, isActive, reason = "its condition does not hold" }: ActivationEntry): void {
    this.#inactivity.set(`${controller} ${object.resource}`, isActive ? undefined : reason);
  }

  /** Why a controller does not watch a kind with an activation at this moment; undefined when it does. */
  whyInactive(controller: string, resource: Resource): string | undefined {
    const id = `${controller} ${resourceName(resource)}`;
    return this.#inactivity.has(id) ? this.#inactivity.get(id) : "its condition is not known yet";
  }

  /** True for a cache of which the recording has everything. */
  isComplete({ name }: ReplayedCache): boolean {
    return this.#complete.has(name);
  }

  /** Applies the next entry. @returns what it changed; undefined if that is nothing */
  apply(index: number): AppliedChange | undefined {
    const entry = this.#entries[index];
    this.#next = index + 1;
    if (entry?.kind === "list") this.#list(entry);
    if (entry?.kind === "activation") this.#activate(entry);
    return entry?.kind === "change" ? this.#change(entry) : undefined;
  }

  /** Reads as of the moment before the entry with this index. */
  during<T>(index: number, resource: string, read: () => T): T {
    const applied: AppliedChange[] = [];
    for (let at = this.#next; at < index; at++) {
      const entry = this.#entries[at];
      if (entry?.kind !== "change" || entry.object.resource !== resource) continue;
      const change = this.#change(entry);
      if (change !== undefined) applied.push(change);
    }
    try {
      return read();
    } finally {
      for (const { cache, key, old } of applied.reverse()) {
        if (old === undefined) cache.store.delete(key);
        else cache.store.set(key, old);
      }
    }
  }

  #change(entry: ChangeEntry): AppliedChange | undefined {
    const { object: { resource, key: name }, isEcho, change, state } = entry;
    if (isEcho === true || name === undefined) return undefined;
    const key = name as ObjectKey;
    const cacheName = entry.cache ?? resource;
    this.#know(cacheName, resource);
    const shown = state as unknown as KubeObject | undefined;
    if (change === "deleted") return this.#delete(cacheName, key, shown);
    if (shown === undefined) return undefined;
    const cache = this.#cacheOf(cacheName, resource, shown.apiVersion);
    const old = cache.store.get(key);
    cache.store.set(key, shown);
    return { cache, key, old, current: shown, last: undefined };
  }

  /** @param shown As the server has sent it: of a cache of metadata, without its kind. */
  #delete(name: string, key: ObjectKey, shown: KubeObject | undefined): AppliedChange | undefined {
    const having = [...this.#caches.values()].filter((cache) =>
      cache.name === name && cache.store.get(key) !== undefined
    );
    const cache = having.find(({ store }) => store.get(key)?.apiVersion === shown?.apiVersion) ?? having[0];
    const old = cache?.store.get(key);
    if (cache === undefined || old === undefined) return undefined;
    cache.store.delete(key);
    const { apiVersion, kind } = old;
    return { cache, key, old, current: undefined, last: shown === undefined ? old : { ...shown, apiVersion, kind } };
  }

  /** The caches that a controller reads of a kind. */
  of(controller: string, resource: Resource): readonly ReplayedCache[] {
    const id = `${controller} ${idOf(resource)}`;
    const known = this.#chosen.get(id);
    if (known !== undefined) return known;
    const choice = this.#views.get(controller)?.get(idOf(resource));
    const names = choice === undefined ? [] : this.#choose(choice);
    const chosen = names.map((name) => this.#cacheOf(name, kindOf(resource), apiVersionOf(resource)));
    this.#chosen.set(id, chosen);
    return chosen;
  }

  #choose(choice: CacheChoice): readonly string[] {
    const found = [...this.#kinds].flatMap(([name, kind]) => kind === choice.name ? [name] : []);
    return choice.preferences.reduce<readonly string[]>((left, isPreferred) => {
      const preferred = left.filter(isPreferred);
      return preferred.length === 0 ? left : preferred;
    }, found);
  }

  /** What a controller reads. */
  reader(definition: ControllerDefinition, observer: ReadObserver): CacheReader {
    return new ControllerReader(this, definition, observer);
  }

  /** Takes note of the name of a cache. */
  #know(name: string, resource: string): void {
    if (this.#kinds.has(name)) return;
    this.#kinds.set(name, resource);
    this.#chosen.clear();
  }

  #cacheOf(name: string, resource: string, apiVersion: string): ReplayedCache {
    const id = `${apiVersion} ${name}`;
    const known = this.#caches.get(id);
    if (known !== undefined) return known;
    const store = new Store<KubeObject>();
    for (const choices of this.#views.values()) {
      for (const choice of choices.values()) if (choice.name === resource) store.addIndexers(choice.indices);
    }
    const cache: ReplayedCache = { name, resource, store, lister: new Lister({ resource, store }) };
    this.#caches.set(id, cache);
    return cache;
  }
}

/** What a controller means with a kind: that of the hub is another one. */
function idOf(resource: Resource): string {
  return `${isInHub(resource) ? "hub " : ""}${resourceId(resource)}`;
}

/** The name of a kind in the entries. */
function kindOf(resource: Resource): string {
  return isInHub(resource) ? hubKind(resourceName(resource)) : resourceName(resource);
}

/** How a controller chooses among the caches of a kind, which differ in their scope. */
interface CacheChoice {
  readonly resource: Resource;
  readonly name: string;
  readonly indices: NonNullable<ControllerDefinition["watches"][number]["indices"]>;
  /** Each leaves those that fit, unless none does: a flag of `run` may have chosen another scope for all. */
  readonly preferences: readonly ((name: string) => boolean)[];
}

/** The names of caches are those of `cacheName()`. */
function choiceOf(resource: Resource, { primary, options, watches }: ControllerDefinition): CacheChoice {
  const { namespace, selector } = options;
  const isPrimary = idOf(resource) === idOf(primary);
  const labels = isPrimary && selector !== undefined ? formatLabelSelector(selector) : undefined;
  const isNamespaced = resource.scope === "Namespaced" && namespace !== undefined;
  return {
    resource,
    name: kindOf(resource),
    indices: watches.find((watch) => idOf(watch.resource) === idOf(resource))?.indices ?? {},
    preferences: [
      (name) => isNamespaced ? `${name} `.includes(` in namespace ${namespace} `) : !name.includes(" in namespace "),
      (name) => labels === undefined ? !name.includes(" with labels ") : name.includes(` with labels ${labels}`),
      (name) => name.endsWith("(metadata only)") === isMetadataOnly(resource),
    ],
  };
}

class ControllerReader implements CacheReader {
  readonly #caches: ReplayedCaches;
  readonly #definition: ControllerDefinition;
  readonly #observer: ReadObserver;

  constructor(caches: ReplayedCaches, definition: ControllerDefinition, observer: ReadObserver) {
    this.#caches = caches;
    this.#definition = definition;
    this.#observer = observer;
  }

  whyInactive(resource: Resource): string | undefined {
    const { name, watches } = this.#definition;
    const watch = watches.find((one) => resourceId(one.resource) === resourceId(resource));
    return watch?.activation === undefined ? undefined : this.#caches.whyInactive(name, resource);
  }

  find<R extends Resource>(resource: R, key: ObjectKey): Infer<R> | undefined {
    const caches = this.#declared(resource);
    if (this.whyInactive(resource) !== undefined) return undefined;
    const name = kindOf(resource);
    const object = this.#caches.during(
      this.#observer.readAt(resource, key),
      name,
      () => caches.map(({ store }) => store.get(key)).find((found) => found !== undefined),
    );
    if (object === undefined && !this.#isComplete(caches)) {
      this.#observer.onUnknown(`${resource.kind} "${key}"`);
    }
    this.#observer.onFound(resource, key, object);
    return object as Infer<R> | undefined;
  }

  list<R extends Resource>(resource: R, filter: ListFilter): readonly Infer<R>[] {
    const caches = this.#declared(resource);
    if (this.whyInactive(resource) !== undefined) return [];
    const name = kindOf(resource);
    if (!this.#isComplete(caches)) {
      this.#observer.onUnknown(`the list of ${name}`);
    }
    const read = () => caches.flatMap(({ lister }) => lister.list(filter));
    const objects = this.#caches.during(this.#observer.readAt(resource), name, read);
    this.#observer.onListed(resource, objects);
    // Objects of any Resource are KubeObjects; TypeScript cannot see that through a type parameter.
    return objects as readonly unknown[] as readonly Infer<R>[];
  }

  #isComplete(caches: readonly ReplayedCache[]): boolean {
    return caches.length > 0 && caches.every((cache) => this.#caches.isComplete(cache));
  }

  /** @throws TypeError when the controller does not watch the kind, as its caches do. */
  #declared(resource: Resource): readonly ReplayedCache[] {
    const { name, watches } = this.#definition;
    if (watches.some((watch) => idOf(watch.resource) === idOf(resource))) {
      return this.#caches.of(name, resource);
    }
    throw new TypeError(
      `Cannot read ${resource.kind} from the cache: controller "${name}" did not declare it. Declare .watches(${resource.kind}, ...)`,
    );
  }
}
