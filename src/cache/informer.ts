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
  type ListWatch,
  type ObjectKey,
  type ResourceVersion,
} from "../api/mod.ts";
import { type Clock, Latch, onAbort, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { type Logger, logger, type Recorder } from "../observe/mod.ts";
import { type CachePart, partListWatch } from "./cache_part.ts";
import { CacheWriter, type ExpectedKind, ObjectFilter } from "./cache_writer.ts";
import { Lister } from "./lister.ts";
import { FanOut, Listener, type ListenerSource, Registration } from "./listener.ts";
import { type CacheMetrics, noCacheMetrics } from "./metrics.ts";
import { RecordedChanges } from "./recorded_changes.ts";
import { Reflector } from "./reflector.ts";
import type { ReflectorTiming, ServerRecovery } from "./reflector_state.ts";
import type {
  HandlerOptions,
  HandlerRegistration,
  InformerHandler,
  SharedInformer,
  WaitForOptions,
} from "./shared_informer.ts";
import type { CacheProgress, InformerStatus } from "./status.ts";
import { type Indexers, Store, type StoreReader } from "./store.ts";
import { dropManagedFields, type Transform } from "./transform.ts";
import { VersionWaiters } from "./version_waiters.ts";
import type { OwnWrite, Writer, WriteThroughResult } from "./written_objects.ts";

/** Where an error was thrown that the cache caught. */
export interface CacheErrorOrigin {
  /** The name of the informer. */
  readonly informer: string;
  /** The handler that threw. */
  readonly handler?: string;
  /** The index whose function threw. */
  readonly index?: string;
}

/** Returns where an informer lets registrations attach their listeners. */
export let listenersOf: <T extends KubeObject>(informer: Informer<T>) => ListenerSource<T>;

/** Waits until the cache has a generation of its part. */
interface FillWait {
  readonly generation: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Options that the informers of a program usually share. */
export interface InformerDefaults {
  /** Request a stream of the full state before falling back to lists. @default true */
  readonly watchList?: boolean;
  /** Items per page of a list. @default 500 */
  readonly pageSize?: number;
  /** Milliseconds between resyncs of handlers without an own `resyncMs`; 0: none. @default 0 */
  readonly resyncMs?: number;
  /** Freeze objects, so that a write to one throws; for tests. @default false */
  readonly freeze?: boolean;
  /** Compare with an exact LIST after each sync; for tests. @default false */
  readonly checkConsistency?: boolean;
  /** Knows when the server responds again after an outage. @default each informer waits for its own backoff */
  readonly recovery?: ServerRecovery;
  /** Time limits and backoff of the reflector. @default defaultTiming */
  readonly timing?: Partial<ReflectorTiming>;
  /** Measures time limits, backoff and resyncs. @default systemClock */
  readonly clock?: Clock;
  /** Varies delays, so that many programs do not retry at the same time. @default systemRandom */
  readonly random?: Random;
  /** Receives the log records of the cache. @default logger("cache") */
  readonly log?: Logger;
  /** Receives the measurements of the cache. @default none */
  readonly metrics?: CacheMetrics;
  /** Records what changes in the cache, in the recording of the process. @default nothing is recorded */
  readonly recorder?: Recorder;
  /** Called with errors of handlers and index functions, and with inconsistencies. @default they are only logged */
  readonly onError?: (error: unknown, origin: CacheErrorOrigin) => void;
}

/** Options of an {@link Informer}. */
export interface InformerOptions<T extends KubeObject> extends InformerDefaults {
  /** For logs, metrics, errors and readiness, e.g. `foos.samplecontroller.k8s.io in namespace x`. */
  readonly name: string;
  /** How objects are listed and watched, for example `client.listWatch(ConfigMap)`. */
  readonly listWatch: ListWatch<T>;
  /** The kind, in recordings: its name as in `deployments.apps`, and `Deployment`. @default the name of the informer */
  readonly recordedAs?: { readonly resource: string; readonly kind: string };
  /** Objects of any other kind are skipped. @default any kind is cached */
  readonly expected?: ExpectedKind;
  /** Called once for each object before it is cached. @default dropManagedFields */
  readonly transform?: Transform<T>;
  /** The version from which on the cache must contain all changes: the first list is not older. @default any */
  readonly notOlderThan?: ResourceVersion;
  /** True for an object that `listWatch` would show; decides which own writes enter the cache. @default every object */
  readonly selects?: (object: T) => boolean;
  /** Makes what `listWatch` would show from a whole object, for own writes. @default the whole object */
  readonly project?: (object: T) => T;
  /** The part of the objects that is cached; `listWatch` shows the others too. @default all objects */
  readonly part?: CachePart;
  /** Functions that compute index values, by index name, for {@link Lister.byIndex}. @default none */
  readonly indexers?: Indexers<T>;
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
  readonly #synced = new Latch();
  readonly #waiters: VersionWaiters;
  readonly #registrations = new Set<Registration<T>>();
  /** Listeners that were added before the first full state, and what to call when they have processed it. */
  readonly #unsynced = new Map<Listener<T>, () => void>();
  /** For registrations. Not public: only this folder attaches listeners. */
  readonly #listeners: ListenerSource<T> = {
    attach: (listener, onInitial) => this.#attach(listener, onInitial),
    values: () => this.#store.values(),
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
    this.#store = new Store({ indexers, onIndexError: (index, key, error) => this.#indexFailed(index, key, error) });
    this.lister = new Lister({ resource: name, store: this.#store });
    this.#waiters = new VersionWaiters(clock);
    const { watchList, pageSize, checkConsistency, timing, recovery, notOlderThan, part } = options;
    const { recorder, recordedAs = { resource: name, kind: options.expected?.kind ?? name } } = options;
    const changes = recorder && new RecordedChanges({ recorder, cache: name, resource: recordedAs });
    this.#writer = this.#createWriter(changes);
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
      changes,
    });
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
