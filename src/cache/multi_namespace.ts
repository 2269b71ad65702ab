/**
 * MultiNamespaceInformer: one cache of several namespaces, for operators that may not read the whole cluster. It has one
 * informer per namespace, so each needs only a Role in that namespace and fails alone; namespaces may be added and
 * removed while it runs.
 *
 * Guarantees: a handler has one backlog and one call at a time for all namespaces; a namespace that is added delivers
 * its existing objects with `isInInitialList: true`.
 * Caveats: `onDelete` is not called for the objects of a namespace that is removed. They still exist, they are only
 * outside of the cache; notifications of deletions would make a controller clean up objects that it must not touch.
 */
import {
  compareResourceVersions,
  type KubeObject,
  type ObjectKey,
  type ResourceVersion,
  splitKey,
} from "../api/mod.ts";
import { aborted, type Clock, type Scope, scope, systemClock } from "../async/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import type { LoadedBodies } from "./body_loader.ts";
import { type Informer, listenersOf } from "./informer.ts";
import type { InformerDefaults } from "./informer_options.ts";
import { Lister } from "./lister.ts";
import { Listener } from "./listener.ts";
import { noCacheMetrics } from "./metrics.ts";
import { Registration } from "./registration.ts";
import type {
  CachedNamespaces,
  HandlerOptions,
  HandlerRegistration,
  InformerHandler,
  SharedInformer,
  WaitForOptions,
} from "./shared_informer.ts";
import type { InformerStatus } from "./status.ts";
import type { Indexers, StoreReader } from "./store.ts";
import type { OwnWrite, Writer, WriteThroughResult } from "./written_objects.ts";

/** Options of a {@link MultiNamespaceInformer}. */
export interface MultiNamespaceOptions<T extends KubeObject>
  extends Pick<InformerDefaults, "resyncMs" | "clock" | "log" | "metrics" | "onError"> {
  /** For logs, metrics and errors: the resource. */
  readonly name: string;
  /** The first namespaces; they can change while it runs. */
  readonly namespaces: readonly string[];
  /** Creates the informer of one namespace; called each time a namespace is added. */
  readonly informerFor: (namespace: string) => Informer<T>;
}

interface Member<T extends KubeObject> {
  readonly informer: Informer<T>;
  running: { readonly scope: Scope; readonly done: Promise<void> } | undefined;
}

/** A cache of several namespaces. */
export class MultiNamespaceInformer<T extends KubeObject> implements SharedInformer<T> {
  readonly name: string;
  readonly lister: Lister<T>;
  readonly #options: MultiNamespaceOptions<T>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #members = new Map<string, Member<T>>();
  readonly #stores = new Map<string, StoreReader<T>>();
  readonly #registrations = new Set<Registration<T>>();
  readonly #indexers: Indexers<T>[] = [];
  #life: { readonly kind: "new" | "stopped" } | { readonly kind: "running"; readonly signal: AbortSignal } = {
    kind: "new",
  };
  #handlers = 0;
  /** What the cache has of each namespace. */
  readonly cachedNamespaces: CachedNamespaces = {
    stateOf: (namespace) => {
      const member = this.#members.get(namespace);
      if (member === undefined) return "absent";
      return member.informer.hasSynced ? "synced" : "syncing";
    },
  };

  constructor(options: MultiNamespaceOptions<T>) {
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? logger("cache");
    this.lister = new Lister({ resource: options.name, store: new UnionReader(() => this.#stores) });
    for (const namespace of options.namespaces) this.add(namespace);
  }

  /** The current namespaces. */
  get namespaces(): readonly string[] {
    return [...this.#members.keys()];
  }

  get hasSynced(): boolean {
    return [...this.#members.values()].every((member) => member.informer.hasSynced);
  }

  /** Adds a namespace; does nothing when the cache has it. */
  add(namespace: string): void {
    if (this.#members.has(namespace) || this.#life.kind === "stopped") return;
    const member: Member<T> = { informer: this.#options.informerFor(namespace), running: undefined };
    for (const indexers of this.#indexers) member.informer.addIndexers(indexers);
    this.#members.set(namespace, member);
    this.#stores.set(namespace, member.informer.store);
    for (const registration of this.#registrations) registration.attachTo(listenersOf(member.informer), namespace);
    if (this.#life.kind === "running") this.#start(member, this.#life.signal);
  }

  /** Removes a namespace, and resolves when its watch has ended; does nothing when the cache does not have it. */
  async remove(namespace: string): Promise<void> {
    const member = this.#members.get(namespace);
    if (member === undefined) return;
    this.#members.delete(namespace);
    this.#stores.delete(namespace);
    for (const registration of this.#registrations) registration.detachFrom(listenersOf(member.informer), namespace);
    member.running?.scope.abort();
    await member.running?.done;
    if (!this.#members.has(namespace)) this.#options.metrics?.forget(member.informer.name);
  }

  async synced(signal: AbortSignal): Promise<void> {
    // A loop, because a namespace may be added while others are waited for.
    while (!this.hasSynced) {
      const waits = [...this.#members].map(([namespace, member]) => this.#memberSynced(namespace, member, signal));
      await Promise.all(waits);
    }
  }

  addHandler(handler: InformerHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    const { name = `handler-${++this.#handlers}`, resyncMs = this.#options.resyncMs ?? 0 } = options;
    if (this.#life.kind === "stopped") {
      throw new Error(`Cannot add handler ${name} to informer ${this.name}: it has stopped`);
    }
    const listener = new Listener({
      name,
      handler,
      informer: this.name,
      log: this.#log,
      metrics: this.#options.metrics ?? noCacheMetrics,
      onError: (error, failed) => this.#options.onError?.(error, { informer: this.name, handler: failed }),
    });
    const registration = new Registration({
      listener,
      sources: [...this.#members.values()].map((member) => listenersOf(member.informer)),
      resyncMs,
      clock: this.#clock,
      onRemoved: (removed) => this.#registrations.delete(removed),
    });
    this.#registrations.add(registration);
    return registration;
  }

  addIndexers(indexers: Indexers<T>): void {
    for (const member of this.#members.values()) member.informer.addIndexers(indexers);
    this.#indexers.push(indexers);
  }

  isAtLeast(version: ResourceVersion, namespace?: string): boolean {
    if (namespace === undefined) {
      return [...this.#members.values()].every((member) => member.informer.isAtLeast(version));
    }
    return this.#members.get(namespace)?.informer.isAtLeast(version) ?? true;
  }

  async waitFor(version: ResourceVersion, signal: AbortSignal, options: WaitForOptions = {}): Promise<boolean> {
    const { namespace } = options;
    const members = namespace === undefined ? [...this.#members.values()] : [this.#members.get(namespace)];
    const reached = await Promise.all(
      members.map((member) => member?.informer.waitFor(version, signal, options) ?? true),
    );
    return reached.every((one) => one);
  }

  async followPart(signal: AbortSignal): Promise<void> {
    const waits = [...this.#members].map(async ([namespace, { informer }]) => {
      try {
        await informer.followPart(signal);
      } catch (error) {
        if (this.#members.get(namespace)?.informer === informer) throw error;
      }
    });
    await Promise.all(waits);
  }

  forgetOthers(): void {
    for (const { informer } of this.#members.values()) informer.forgetOthers();
  }

  /** An object of a namespace that the cache does not contain is ignored. */
  writeThrough(object: T, write?: OwnWrite): WriteThroughResult {
    return this.#members.get(object.metadata.namespace ?? "")?.informer.writeThrough(object, write) ?? "outside";
  }

  deleteThrough(key: ObjectKey, uid: string, writer?: Writer): void {
    this.#members.get(splitKey(key).namespace ?? "")?.informer.deleteThrough(key, uid, writer);
  }

  async loadBodies(keys: Iterable<ObjectKey>, signal: AbortSignal): Promise<LoadedBodies> {
    const byNamespace = Map.groupBy(keys, (key) => splitKey(key).namespace ?? "");
    const loads = await Promise.allSettled(
      [...byNamespace].map(async ([namespace, own]) =>
        await this.#members.get(namespace)?.informer.loadBodies(own, signal)
      ),
    );
    const loaded = loads.flatMap((load) => load.status === "fulfilled" && load.value !== undefined ? [load.value] : []);
    const release = () => {
      for (const one of loaded) one[Symbol.dispose]();
    };
    const failed = loads.find((load) => load.status === "rejected");
    if (failed === undefined) {
      return { gone: new Set(loaded.flatMap(({ gone }) => [...gone])), [Symbol.dispose]: release };
    }
    release();
    throw failed.reason;
  }

  get activation(): undefined {
    return undefined;
  }

  get unconfirmedWrites(): number {
    let count = 0;
    for (const { informer } of this.#members.values()) count += informer.unconfirmedWrites;
    return count;
  }

  statuses(): readonly InformerStatus[] {
    return [...this.#members.values()].map((member) => member.informer.status());
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#life.kind !== "new") throw new Error(`Cannot run informer ${this.name}: it was started before`);
    this.#life = { kind: "running", signal };
    for (const member of this.#members.values()) this.#start(member, signal);
    await aborted(signal);
    this.#life = { kind: "stopped" };
    await Promise.all([...this.#members.values()].map((member) => member.running?.done));
    for (const registration of this.#registrations) registration.stop();
    this.#registrations.clear();
  }

  #start(member: Member<T>, signal: AbortSignal): void {
    const child = scope(signal);
    const done = member.informer.run(child.signal).finally(() => child[Symbol.dispose]());
    member.running = { scope: child, done };
  }

  /** Does not reject for a namespace that is removed meanwhile. */
  async #memberSynced(namespace: string, member: Member<T>, signal: AbortSignal): Promise<void> {
    try {
      await member.informer.synced(signal);
    } catch (error) {
      if (this.#members.get(namespace) === member) throw error;
    }
  }
}

/** Reads the stores of several namespaces as one. A key contains its namespace, so a get is one look-up. */
class UnionReader<T extends KubeObject> implements StoreReader<T> {
  readonly #members: () => ReadonlyMap<string, StoreReader<T>>;

  constructor(members: () => ReadonlyMap<string, StoreReader<T>>) {
    this.#members = members;
  }

  get size(): number {
    let size = 0;
    for (const member of this.#members().values()) size += member.size;
    return size;
  }

  /** The oldest of the members' versions: all of them are complete up to it. */
  get lastSyncResourceVersion(): ResourceVersion | undefined {
    let oldest: ResourceVersion | undefined;
    for (const { lastSyncResourceVersion } of this.#members().values()) {
      if (lastSyncResourceVersion === undefined) return undefined;
      const order = oldest === undefined ? -1 : compareResourceVersions(lastSyncResourceVersion, oldest);
      if (order !== undefined && order < 0) oldest = lastSyncResourceVersion;
    }
    return oldest;
  }

  get(key: ObjectKey): T | undefined {
    return this.#members().get(splitKey(key).namespace ?? "")?.get(key);
  }

  *values(): Iterable<T> {
    for (const member of [...this.#members().values()]) yield* member.values();
  }

  byNamespace(namespace: string): readonly T[] {
    return this.#members().get(namespace)?.byNamespace(namespace) ?? [];
  }

  byIndex(index: string, value: string): readonly T[] {
    return [...this.#members().values()].flatMap((member) => member.byIndex(index, value));
  }

  indexValues(index: string): readonly string[] {
    return [...new Set([...this.#members().values()].flatMap((member) => member.indexValues(index)))];
  }
}
