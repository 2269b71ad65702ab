/**
 * Informer: a cache of one kind in one scope, which a reflector keeps up to date and which notifies handlers of changes.
 *
 *   ListWatch -> Reflector -> CacheWriter -> Store -> Lister
 *                                  `-> FanOut -> Listener -> handler (one Listener each)
 *
 * From reading a batch to calling a synchronous handler is one synchronous step. `shared_informer.ts` has the contract.
 */
import {
  compareResourceVersions,
  isComparable,
  type KubeObject,
  type ObjectKey,
  type ResourceVersion,
} from "../api/mod.ts";
import { type Clock, Latch, onAbort, systemClock, systemRandom } from "../async/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { BodyLoader, type LoadedBodies, nothingLoaded } from "./body_loader.ts";
import { BoundedBodies } from "./bounded_bodies.ts";
import { partListWatch } from "./cache_part.ts";
import { CacheWriter } from "./cache_writer.ts";
import type { CacheErrorOrigin, InformerOptions } from "./informer_options.ts";
import { Lister } from "./lister.ts";
import { FanOut, Listener, type ListenerSource } from "./listener.ts";
import { type CacheMetrics, noCacheMetrics } from "./metrics.ts";
import { ObjectFilter } from "./object_filter.ts";
import { RecordedChanges } from "./recorded_changes.ts";
import { defaultPageSize, Reflector } from "./reflector.ts";
import { Registration } from "./registration.ts";
import type {
  HandlerOptions,
  HandlerRegistration,
  InformerHandler,
  SharedInformer,
  WaitForOptions,
} from "./shared_informer.ts";
import type { CacheProgress, InformerStatus } from "./status.ts";
import { type Indexers, Store, type StoreReader } from "./store.ts";
import { dropManagedFields } from "./transform.ts";
import { VersionWaiters } from "./version_waiters.ts";
import type { OwnWrite, Writer, WriteThroughResult } from "./written_objects.ts";

/** Returns where an informer lets registrations attach their listeners. */
export let listenersOf: <T extends KubeObject>(informer: Informer<T>) => ListenerSource<T>;

/** Waits until the cache has a generation of its part. */
interface FillWait {
  readonly generation: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A cache of one kind in one scope, which notifies handlers of changes. Most programs use an {@link InformerFactory},
 * which shares informers; create one yourself for a ListWatch of your own.
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { Informer } from "@pintle/controller/cache";
 * import { World } from "@pintle/controller/testing";
 *
 * await using world = await World.start({ controllers: [], cluster: false });
 * await world.create(ConfigMap, { name: "a" });
 * const listWatch = world.client.listWatch(ConfigMap);
 * const informer = new Informer<ConfigMap>({ name: "configmaps", listWatch, clock: world.clock });
 * const stop = new AbortController();
 * const running = informer.run(stop.signal);
 * await informer.synced(stop.signal);
 * console.assert(informer.lister.findNamed("a", "default") !== undefined);
 * stop.abort();
 * await running;
 * ```
 */
export class Informer<T extends KubeObject> implements SharedInformer<T> {
  static {
    listenersOf = (informer) => informer.#listeners;
  }

  /** For logs, metrics and errors. */
  readonly name: string;
  /** Cached, synchronous reads. */
  readonly lister: Lister<T>;
  readonly #options: InformerOptions<T>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #metrics: CacheMetrics;
  readonly #store: Store<T>;
  readonly #fanOut = new FanOut<T>();
  readonly #writer: CacheWriter<T>;
  readonly #reflector: Reflector<T>;
  /** Undefined when all bodies are kept. */
  readonly #bodies: BoundedBodies | undefined;
  readonly #loader: BodyLoader<T> | undefined;
  readonly #synced = new Latch();
  readonly #waiters: VersionWaiters;
  readonly #registrations = new Set<Registration<T>>();
  /** Listeners that were added before the first full state, and what to call when they have processed it. */
  readonly #unsynced = new Map<Listener<T>, () => void>();
  /** For registrations. Not public: only this folder attaches listeners. */
  readonly #listeners: ListenerSource<T> = {
    attach: (listener, onInitial) => this.#attach(listener, onInitial),
    keys: () => this.#store.keys(),
    get: (key) => this.#store.get(key),
    isFilling: () => this.#fillWaits.size > 0,
  };
  #life: "new" | "running" | "stopped" = "new";
  /** The generation of the part in the cache; -1 before the first full state. */
  #filled = -1;
  readonly #fillWaits = new Set<FillWait>();
  #handlers = 0;
  /** The latest version in a response to a write or a read. */
  #latest: ResourceVersion | undefined;
  /** The version of the cache when it changed last. */
  #reached: ResourceVersion | undefined;

  /** Creates an informer; {@link Informer.run} fills its cache. */
  constructor(options: InformerOptions<T>) {
    const { name, listWatch, indexers, clock = systemClock, random = systemRandom, metrics = noCacheMetrics } = options;
    this.name = name;
    this.#options = options;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#log = options.log ?? logger("cache");
    this.#bodies = options.bounds && new BoundedBodies(options.bounds.limit);
    this.#store = new Store({
      indexers,
      onIndexError: (index, key, error) => this.#indexFailed(index, key, error),
      bodies: this.#bodies,
    });
    this.lister = new Lister({ resource: name, store: this.#store });
    this.#waiters = new VersionWaiters(clock);
    const { watchList, pageSize, checkConsistency, timing, recovery, notOlderThan, part } = options;
    const { recorder, recordedAs = { resource: name, kind: options.expected?.kind ?? name } } = options;
    const changes = recorder && new RecordedChanges({ recorder, cache: name, resource: recordedAs });
    this.#writer = this.#createWriter(changes);
    this.#loader = this.#createLoader();
    this.#reflector = new Reflector({
      ...{
        name,
        listWatch: part === undefined ? listWatch : partListWatch(listWatch, part),
        generation: part === undefined ? undefined : () => part.generation,
        notOlderThan,
        watchList,
        pageSize,
        checkConsistency,
        timing,
        recovery,
        clock,
        random,
        metrics,
        log: this.#log,
      },
      target: this.#writer,
      onFilled: (generation) => this.#fillReached(generation),
      ...(changes === undefined ? {} : { onStatus: (status) => changes.became(status) }),
      ...(options.onError === undefined ? {} : { onInconsistency: (error) => this.#report(error, {}) }),
    });
  }

  /** The cached objects, read-only. */
  get store(): StoreReader<T> {
    return this.#store;
  }

  /** True once the first full state is in the cache. Handlers may still be processing it. */
  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  /**
   * Resolves when {@link hasSynced} becomes true.
   *
   * @throws `signal.reason` when aborted first, an Error when the informer stops first.
   */
  synced(signal: AbortSignal): Promise<void> {
    return this.#synced.wait(signal);
  }

  /**
   * Adds a handler. It is notified of all cached objects first, then of changes; nothing is lost or delivered twice. The
   * handler is not called before this method has returned.
   *
   * @throws Error when the informer has stopped, TypeError when the handler has no function at all.
   */
  addHandler(handler: InformerHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    const { name = `handler-${++this.#handlers}`, resyncMs = this.#options.resyncMs ?? 0 } = options;
    const listener = this.#newListener(name, handler);
    const registration = new Registration({
      listener,
      sources: [this.#listeners],
      resyncMs,
      clock: this.#clock,
      onRemoved: (removed) => this.#registrations.delete(removed),
    });
    this.#registrations.add(registration);
    return registration;
  }

  /**
   * Declares indices for {@link Lister.byIndex}, at any time; each is built at its first read.
   *
   * @throws RangeError when another function has one of the names.
   */
  addIndexers(indexers: Indexers<T>): void {
    this.#store.addIndexers(indexers);
  }

  /** True when the cache contains everything up to `version`. Also true when versions are not comparable. */
  isAtLeast(version: ResourceVersion): boolean {
    if (!isComparable(version)) return true;
    const cached = this.#store.lastSyncResourceVersion;
    return cached !== undefined && (compareResourceVersions(cached, version) ?? 0) >= 0;
  }

  /**
   * Waits until {@link isAtLeast} is true, for example for the version of an own write.
   *
   * @returns false when `timeoutMs` passed first, or the informer stopped.
   * @throws `signal.reason` when aborted first.
   */
  async waitFor(version: ResourceVersion, signal: AbortSignal, options: WaitForOptions = {}): Promise<boolean> {
    if (this.isAtLeast(version)) return true;
    if (this.#life === "stopped") return false;
    return await this.#waiters.wait(version, signal, options.timeoutMs ?? Infinity);
  }

  /** Waits until the cache has all of its part; see {@link SharedInformer}. */
  async followPart(signal: AbortSignal): Promise<void> {
    const generation = this.#options.part?.generation ?? 0;
    if (this.#filled >= generation) return;
    if (this.#life === "stopped") throw this.#stoppedError();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const wait: FillWait = { generation, resolve, reject };
    using _aborting = onAbort(signal, () => reject(signal.reason));
    this.#fillWaits.add(wait);
    this.#reflector.refill(generation);
    await promise.finally(() => this.#fillWaits.delete(wait));
  }

  /** Drops what is no longer in the part; see {@link SharedInformer}. */
  forgetOthers(): void {
    const { part } = this.#options;
    if (part !== undefined) this.#writer.forget((object) => !part.includes(object));
  }

  /** Puts a state of an object into the cache that did not come from the watch; see {@link SharedInformer}. */
  writeThrough(object: T, write?: OwnWrite): WriteThroughResult {
    this.#learn(object.metadata.resourceVersion);
    return this.#life === "stopped" ? "outside" : this.#writer.writeThrough(object, write);
  }

  /** Removes an object that the server has deleted; see {@link SharedInformer}. */
  deleteThrough(key: ObjectKey, uid: string, writer?: Writer): void {
    if (this.#life !== "stopped") this.#writer.deleteThrough(key, uid, writer);
  }

  /** An informer has one scope. */
  get cachedNamespaces(): undefined {
    return undefined;
  }

  /** An informer follows its kind as long as it runs. */
  get activation(): undefined {
    return undefined;
  }

  /** Loads bodies that were evicted; see {@link SharedInformer}. */
  async loadBodies(keys: Iterable<ObjectKey>, signal: AbortSignal): Promise<LoadedBodies> {
    return await this.#loader?.load(keys, signal) ?? nothingLoaded;
  }

  /** Number of objects whose last own write the watch has not shown yet. */
  get unconfirmedWrites(): number {
    return this.#life === "stopped" ? 0 : this.#writer.unconfirmedWrites;
  }

  /** What the informer is doing, and why it waits if it does. */
  status(): InformerStatus {
    const progress = this.#progress();
    return {
      name: this.name,
      hasSynced: this.hasSynced,
      reflector: this.#reflector.status,
      quarantined: this.#reflector.quarantined,
      objects: this.#store.size,
      ...(progress === undefined ? {} : { progress }),
    };
  }

  /** The {@link status}, as a list of one. */
  statuses(): readonly InformerStatus[] {
    return [this.status()];
  }

  /**
   * Keeps the cache up to date until aborted.
   *
   * @throws Error when called twice.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#life !== "new") throw new Error(`Cannot run informer ${this.name}: it was started before`);
    this.#life = "running";
    try {
      // Nothing is listed for a part that is still empty.
      const isStarted = await this.#options.part?.started(signal).then(() => true, () => false) ?? true;
      if (isStarted) await this.#reflector.run(signal);
    } finally {
      this.#stop();
    }
  }

  #attach(listener: Listener<T>, onInitial: () => void): Disposable {
    if (this.#life === "stopped") {
      throw new Error(`Cannot add handler ${listener.name} to informer ${this.name}: it has stopped`);
    }
    // The store decides, not hasSynced: while the first full state is being delivered, the store has it already.
    if (this.#store.lastSyncResourceVersion === undefined) this.#unsynced.set(listener, onInitial);
    else {
      for (const object of this.#store.values()) listener.added(object, this.#writer.initialInfo);
      listener.mark(onInitial);
    }
    this.#fanOut.add(listener);
    return {
      [Symbol.dispose]: () => {
        this.#fanOut.remove(listener);
        this.#unsynced.delete(listener);
      },
    };
  }

  #createWriter(changes: RecordedChanges | undefined): CacheWriter<T> {
    const { expected, transform = dropManagedFields, freeze = false, name } = this.#options;
    const { part, project = (object: T) => object } = this.#options;
    const { selects: isInScope = () => true } = this.#options;
    const selects = part === undefined ? isInScope : (object: T) => isInScope(object) && part.includes(object);
    const skip = (message: string, fields: Readonly<Record<string, unknown>>) => {
      this.#metrics.count("reflector_skipped_events_total", { name });
      this.#log.warn(message, { informer: name, ...fields });
    };
    return new CacheWriter({
      store: this.#store,
      fanOut: this.#fanOut,
      filter: new ObjectFilter({
        ...{ expected, transform, freeze, selects, project },
        onSkip: (reason, fields) => skip("skipping object", { reason, ...fields }),
      }),
      onStale: (key) => skip("skipping object", { reason: "it is older than the cached one", key }),
      onRead: (key) => this.#reflector.release(key),
      onReplaced: () => this.#replaced(),
      onAdvanced: () => this.#advanced(),
      part,
      changes,
    });
  }

  #createLoader(): BodyLoader<T> | undefined {
    const { bounds, name, listWatch, pageSize = defaultPageSize } = this.#options;
    if (bounds === undefined || this.#bodies === undefined) return undefined;
    return new BodyLoader({
      ...{ name, listWatch, pageSize, store: this.#store, bodies: this.#bodies, read: bounds.read },
      onRead: (object) => void (this.#writer.restore(object) || this.writeThrough(object)),
      onRequest: () => this.#metrics.count("informer_live_reads_total", { name }),
      onReleased: () => this.#applyLimit(),
    });
  }

  /** Evicts bodies of a bounded cache. Handlers have seen all changes with their bodies before. */
  #applyLimit(): void {
    if (this.#bodies === undefined) return;
    const labels = { name: this.name };
    const evicted = this.#store.evict();
    for (let count = 0; count < evicted; count++) this.#metrics.count("informer_evictions_total", labels);
    this.#metrics.set("informer_store_bodies", labels, this.#bodies.size);
    this.#metrics.set("informer_store_body_bytes", labels, this.#bodies.bytes);
  }

  #newListener(name: string, handler: InformerHandler<T>): Listener<T> {
    return new Listener({
      name,
      handler,
      informer: this.name,
      log: this.#log,
      metrics: this.#metrics,
      onError: (error, handler) => this.#report(error, { handler }),
    });
  }

  /** The server has a state of that version. */
  #learn(version: ResourceVersion | undefined): void {
    if (version === undefined || !isComparable(version)) return;
    if ((compareResourceVersions(version, this.#latest ?? version) ?? -1) >= 0) this.#latest = version;
  }

  #progress(): CacheProgress | undefined {
    const { lastSyncResourceVersion: version } = this.#store;
    const { confirmedAt } = this.#reflector;
    if (version === undefined || confirmedAt === undefined) return undefined;
    const latest = this.#latest;
    const isBehind = latest !== undefined && (compareResourceVersions(latest, version) ?? 0) > 0;
    return {
      version,
      latestVersion: isBehind ? latest : version,
      unconfirmedMs: this.#clock.monotonic() - confirmedAt,
    };
  }

  #replaced(): void {
    this.#synced.open();
    for (const [listener, onInitial] of this.#unsynced) listener.mark(onInitial);
    this.#unsynced.clear();
    const version = this.#store.lastSyncResourceVersion;
    // A server that was restored from a backup does not have the later versions any more.
    if (version !== undefined && (compareResourceVersions(version, this.#reached ?? version) ?? -1) < 0) {
      this.#latest = undefined;
    }
    this.#advanced();
  }

  #advanced(): void {
    const version = this.#store.lastSyncResourceVersion;
    if (version === undefined) return;
    this.#reached = version;
    this.#waiters.reached(version);
    const labels = { name: this.name };
    this.#metrics.set("informer_store_resource_version", labels, Number(version.slice(-15)));
    this.#metrics.set("informer_store_objects", labels, this.#store.size);
    this.#applyLimit();
  }

  #fillReached(generation: number): void {
    this.#filled = generation;
    for (const wait of [...this.#fillWaits]) {
      if (wait.generation <= generation) wait.resolve();
    }
  }

  #stoppedError(): Error {
    return new Error(`Cannot wait for informer ${this.name} to sync: it has stopped`);
  }

  #stop(): void {
    this.#life = "stopped";
    this.#synced.break(this.#stoppedError());
    for (const wait of this.#fillWaits) wait.reject(this.#stoppedError());
    this.#waiters.stop();
    this.#loader?.stop(this.#stoppedError());
    for (const registration of this.#registrations) registration.stop();
    this.#registrations.clear();
  }

  #indexFailed(index: string, key: string, error: unknown): void {
    this.#log.error("index function failed, the object is not in the index", {
      informer: this.name,
      index,
      key,
      error,
    });
    this.#report(error, { index });
  }

  #report(error: unknown, origin: Omit<CacheErrorOrigin, "informer">): void {
    this.#options.onError?.(error, { informer: this.name, ...origin });
  }
}
