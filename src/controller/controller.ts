/**
 * Controller: a running ControllerDefinition. It connects the caches of the watched kinds to its queue, and the queue to
 * its workers: `#enqueueChange` turns a watch event into keys, `_worker.ts` reconciles the keys.
 *
 * Guarantees: no key is reconciled before all watched kinds have been listed and delivered; one key is never reconciled
 * twice at the same time; a reconcile that throws or takes too long affects only its own key. On `stop`, workers take no
 * more keys and running reconciles may finish; on `kill`, running reconciles are aborted.
 */
import { keyOf, type KubeObject, type ObjectKey, type Resource, resourceName, splitKey } from "../api/mod.ts";
import { jittered, scope } from "../async/mod.ts";
import { EvictedBodyError, type HandlerRegistration, type InterveningChange, type Writer } from "../cache/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { defaultRateLimiter, lowPriority, resyncPriority, WorkQueue } from "../queue/mod.ts";
import { ActiveNamespaces } from "./_active_namespaces.ts";
import { acceptsChange } from "./_accepted_changes.ts";
import { DebouncedKeys } from "./_debounced_keys.ts";
import { DeletedDependents } from "./_deleted_dependents.ts";
import { createExternalPollers, type ExternalPollers } from "./_external_poller.ts";
import { type FieldRepair, LoopDetector, parkMs } from "./_loop_detector.ts";
import { RecordedController, refOf } from "./_recorded_controller.ts";
import { ObjectDaemons } from "./_object_daemons.ts";
import { type StoppedKey, StoppedKeys } from "./_stopped_keys.ts";
import {
  createReconcileAttempt,
  createStallReporter,
  measureAttempt,
  type ReconcileAttemptOptions,
  takeTurns,
  UnreachableFailures,
  work,
  type WorkerOptions,
} from "./_worker.ts";
import { WriteThrough } from "./_write_through.ts";
import { hasBounded, keysOfObject } from "./bounded_kinds.ts";
import { listenToActivations } from "./activation.ts";
import { isInHub } from "./clusters.ts";
import { checkedKey, type ControllerDefinition, type WatchDefinition } from "./controller_definition.ts";
import type { ControllerDependencies } from "./controller_dependencies.ts";
import { keepSourceRunning } from "./event_source.ts";
import { findGainedKeys } from "./_gained_keys.ts";
import { DeletedObjects } from "./deleted_objects.ts";
import type { ExternalItems } from "./external.ts";
import type { Change } from "./predicate.ts";
import type { Cause } from "./request.ts";
import { ShardedKeys } from "./shards.ts";
import { Toolbox } from "./toolbox.ts";

/** Milliseconds until a key is reconciled again that has found an object which the cache does not show. */
const unseenRequeueMs = 1_000;

/** Part of a resync period by which it may be longer. */
const resyncJitter = 0.1;

export class Controller {
  readonly #dependencies: ControllerDependencies;
  readonly #log: Logger;
  readonly #writeThrough: WriteThrough;
  readonly #deletedDependents: DeletedDependents;
  readonly #deletedObjects = new DeletedObjects();
  readonly #debounced: DebouncedKeys;
  readonly #loopDetector: LoopDetector;
  readonly #recorded: RecordedController | undefined;
  readonly #stoppedKeys: StoppedKeys;
  readonly #shardedKeys: ShardedKeys | undefined;
  readonly #namespaces: ActiveNamespaces;
  readonly queue: WorkQueue<ObjectKey, Cause>;
  #daemons: ObjectDaemons | undefined;
  #isSynced = false;

  constructor(dependencies: ControllerDependencies) {
    const { definition, client, cluster, clock, caches, queueMetrics, recorder } = dependencies;
    const { queueName = definition.name, rateLimiter, fairness = "namespace" } = definition.options;
    this.#dependencies = dependencies;
    this.#stoppedKeys = new StoppedKeys(clock);
    const log = logger("controller", definition.name);
    this.#log = cluster === undefined ? log : log.with({ cluster });
    const findPrimary = (key: ObjectKey) => this.#findPrimary(key);
    this.#shardedKeys = dependencies.shards && new ShardedKeys(dependencies.shards, findPrimary);
    const own = definition.watches.filter(({ resource }) => !isInHub(resource));
    const hasActivations = own.some(({ activation }) => activation !== undefined);
    this.#namespaces = new ActiveNamespaces(() => own.map(({ resource }) => caches.informer(resource)), {
      hasActivations,
    });
    this.#deletedDependents = new DeletedDependents(definition.primary, findPrimary, definition.name);
    this.#writeThrough = new WriteThrough({
      ...{ controller: definition.name, client, caches, clock, log: this.#log },
      listener: {
        onMissing: (key, resource, object, entry) => this.#enqueueMissing(key, resource, object, entry),
        onUnseen: (key, resource, object) => this.#enqueueUnseen(key, resource, object),
        onShownBefore: (key, isOwn) => this.#ignoresOwnWrites && this.queue.retract(key, isOwn),
      },
    });
    const hasLanes = fairness === "namespace" && definition.primary.scope === "Namespaced";
    const laneOf = hasLanes ? namespaceOfKey : undefined;
    this.#recorded = recorder && new RecordedController({
      ...{ recorder, controller: definition.name, clock, parkMs, laneOf },
      kinds: [definition.primary, ...definition.watches.map(({ resource }) => resource)],
    });
    this.queue = new WorkQueue({
      name: queueName,
      rateLimiter: rateLimiter?.() ?? defaultRateLimiter({ clock }),
      clock,
      metrics: queueMetrics,
      observer: this.#recorded?.queueObserver(),
      laneOf,
    });
    this.#debounced = new DebouncedKeys(clock, (key, causes) => {
      if (this.#isOurs(key)) this.queue.addWithCauses(key, causes);
    });
    this.#loopDetector = new LoopDetector({
      queue: this.queue,
      events: dependencies.events,
      findPrimary,
      clock,
      log: this.#log,
    });
  }

  get name(): string {
    return this.#dependencies.definition.name;
  }

  get definition(): ControllerDefinition {
    return this.#dependencies.definition;
  }

  /** The keys that failed and are not retried until something changes. */
  get stoppedKeys(): readonly StoppedKey[] {
    return this.#stoppedKeys.list();
  }

  /** True while there is nothing to do: all kinds are listed, no key is queued or running, the watches show all writes. */
  isIdle(): boolean {
    const { definition, caches } = this.#dependencies;
    const { queued, running } = this.queue.counts;
    return this.#isSynced && queued + running + this.#debounced.size === 0 &&
      definition.watches.every(({ resource }) => {
        const informer = caches.findInformer(resource);
        return informer?.unconfirmedWrites === 0 && informer.hasSynced;
      });
  }

  /** Runs until `stop`, then until running reconciles have finished. */
  async run(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const { definition, caches, shards } = this.#dependencies;
    using _activating = shards?.listen({
      onActive: (slots) => this.#enqueueGained(undefined, (key) => slots.has(this.#shardedKeys?.slotOf(key) ?? -1)),
      onLost: () => this.#forgetKeys((key) => this.#shardedKeys?.has(key) === false),
    });
    for (const { resource, indices } of definition.watches) {
      if (indices !== undefined) caches.informer(resource).addIndexers(indices);
    }
    const registrations = definition.watches.map((watch) => this.#addHandler(watch));
    try {
      await Promise.all(registrations.map((registration) => registration.synced(stop)));
      this.#isSynced = true;
      using _activations = listenToActivations(definition, caches, (...change) => this.#noteActivation(...change));
      this.#log.info("starting workers", { count: definition.options.maxConcurrentReconciles ?? 1 });
      using externals = this.#createExternals(kill);
      this.#daemons = this.#createDaemons(kill);
      const sources = [...this.#runSources(stop), externals.run(stop), this.#daemons?.run(stop, kill)];
      await Promise.all([this.#runWorkers(stop, kill, externals), ...sources]);
    } catch (error) {
      if (!stop.aborted) throw error;
    } finally {
      this.queue.shutDown();
      this.#debounced[Symbol.dispose]();
      await Promise.all(registrations.map((registration) => registration.remove()));
      this.#loopDetector[Symbol.dispose]();
    }
  }

  #addHandler(watch: WatchDefinition): HandlerRegistration {
    const { caches, definition, random } = this.#dependencies;
    const { resyncMs = this.#dependencies.resyncMs } = definition.options;
    const source = resourceName(watch.resource);
    const informer = caches.informer(watch.resource);
    const { activation } = informer;
    const onChange = (change: Change, isInitial: boolean) => {
      // While the cache of a kind is being filled, its changes wait: all keys are enqueued when it becomes active.
      const isFilling = activation !== undefined && activation.state.kind !== "active" && this.#isSynced;
      if (!isFilling) this.#enqueueChange(watch, source, change, isInitial);
    };
    return informer.addHandler({
      onAdd: (object, { isInInitialList, writtenBy, entry }) =>
        onChange({ kind: "added", object, writtenBy, entry }, isInInitialList),
      onUpdate: (old, object, { writtenBy, entry }) =>
        onChange({ kind: "updated", object, old, writtenBy, entry }, false),
      onDelete: ({ lastKnown, isFinalStateKnown, writtenBy, entry }) => {
        if (watch.role === "owns") this.#deletedDependents.record(watch.resource, lastKnown);
        if (watch.role === "for") this.#daemons?.stop(keyOf(lastKnown));
        if (watch.role === "for" && definition.deleted !== undefined) {
          this.#deletedObjects.record(keyOf(lastKnown), { object: lastKnown, isFinalStateKnown });
        }
        onChange({ kind: "deleted", object: lastKnown, writtenBy, entry }, false);
      },
      onIntervening: (change) => this.#enqueueIntervening(watch, source, change),
      onNamespaceAdded: (namespace) => this.#enqueueNamespace(namespace),
      onNamespaceRemoved: (namespace) => this.#forgetNamespace(namespace),
    }, {
      name: `${definition.name}/${source}`,
      // The jitter spreads the resyncs of the kinds over time, as controller-runtime's informers do.
      resyncMs: resyncMs === undefined ? undefined : jittered(resyncMs, resyncJitter, random),
    });
  }

  /** The hot path from the cache to the queue: synchronous, and without allocation if the predicate rejects the change. */
  #enqueueChange(watch: WatchDefinition, source: string, change: Change, isInitial: boolean): void {
    if (watch.when !== undefined && !this.#isAccepted(watch, change)) {
      this.#recorded?.enqueued(watch.resource, watch.role, change, "rejected");
      return;
    }
    const { object, writtenBy } = change;
    const cause: Cause = { ...causeOf(source, change), writtenBy };
    // The end of an object is always delivered: a reconcile that deletes an object waits for it, and with a finalizer it
    // comes later, from another client.
    const ownKey = change.kind === "deleted" ? undefined : this.#ownKey(writtenBy);
    if (change.kind === "deleted" && watch.role === "for") this.#shardedKeys?.noteDeleted(keyOf(object), object);
    const priority = isInitial ? lowPriority : isResync(change) ? resyncPriority : undefined;
    const { caches } = this.#dependencies;
    const keys = keysOfObject(this.definition, watch, object, caches);
    for (const key of keys) this.#add(key, key === ownKey, watch, change, { cause, priority });
    if (this.#recorded !== undefined && keys.length === 0) {
      this.#recorded.enqueued(watch.resource, watch.role, change, "unmapped");
    }
    if (change.kind !== "updated" || watch.role === "for") return;
    // If a dependent got another owner, the previous owner is reconciled too.
    for (const key of keysOfObject(this.definition, watch, change.old, caches)) {
      if (!keys.includes(key)) this.#add(key, key === ownKey, watch, change, { cause, priority });
    }
  }

  /** One of the caches has all of a namespace. If it was the last one, its keys are enqueued. */
  #enqueueNamespace(namespace: string): void {
    if (!this.#namespaces.isActive(namespace)) return;
    this.#log.info("namespace joined", { namespace });
    this.#enqueueGained(namespace, (key) => splitKey(key).namespace === namespace);
  }

  /** A namespace has left the caches. Its objects were not deleted: nothing is done for its keys any more. */
  #forgetNamespace(namespace: string): void {
    this.#namespaces.leave(namespace);
    this.#forgetKeys((key) => splitKey(key).namespace === namespace);
  }

  /** These keys are not reconciled in this process any more. */
  #forgetKeys(isGone: (key: ObjectKey) => boolean): void {
    const { reconcileMetrics } = this.#dependencies;
    const all = [this.queue, this.#stoppedKeys, this.#deletedObjects, this.#daemons, reconcileMetrics];
    for (const keys of all) keys?.removeWhere(isGone);
  }

  /** A condition has changed, and with it what each object is decided on. @param inactivity undefined when the kind is active */
  #noteActivation(resource: Resource, inactivity: string | undefined): void {
    const source = resourceName(resource);
    const ended = inactivity === undefined ? [] : this.#namespaces.endAll(source);
    this.#log.info(inactivity === undefined ? "kind is active" : "kind is not active", { source, reason: inactivity });
    this.#enqueueGained(undefined, () => true);
    for (const key of ended) this.#enqueueFrom(source, key);
  }

  /** Keys have become ones of this process: enqueues them, as at a start. @param namespace that of the changed objects */
  #enqueueGained(namespace: string | undefined, isNew: (key: ObjectKey) => boolean): void {
    const { definition, caches } = this.#dependencies;
    const isGained = (key: ObjectKey) => isNew(key) && this.#isOurs(key);
    const isAccepted = (watch: WatchDefinition, change: Change) => this.#isAccepted(watch, change);
    const gained = findGainedKeys({ definition, caches, namespace, isGained, isAccepted });
    for (const { key, isUrgent, reasons } of gained) {
      const causes = reasons.map(([{ resource, role }, change]): Cause => {
        const entry = this.#recorded?.enqueued(resource, role, change, "queued", key);
        return { ...causeOf(resourceName(resource), change), entry };
      });
      // All causes at once: a worker that waits would reconcile the key for the first one already.
      this.queue.addWithCauses(key, causes, { priority: isUrgent ? 0 : lowPriority });
    }
  }

  /** True when this replica reconciles the key. The namespaces are not known before the first full state. */
  #isOurs(key: ObjectKey): boolean {
    return (this.#shardedKeys?.has(key) ?? true) && (!this.#isSynced || this.#namespaces.has(key));
  }

  /** Adds a key to the queue, unless it has made the change itself. */
  #add(
    key: ObjectKey,
    isOwnWrite: boolean,
    { resource, role, debounce }: WatchDefinition,
    change: Change,
    options: { readonly cause: Cause; readonly priority: number | undefined },
  ): void {
    if (!this.#isOurs(key)) return;
    const entry = this.#recorded?.enqueued(resource, role, change, isOwnWrite ? "own-write" : "queued", key);
    if (isOwnWrite) return;
    const recorded = entry === undefined ? options : { ...options, cause: { ...options.cause, entry } };
    // Only changes come in bursts.
    if (debounce === undefined || options.priority !== undefined) this.queue.add(key, recorded);
    else this.#debounced.note(key, recorded.cause.source, recorded.cause, debounce);
  }

  get #ignoresOwnWrites(): boolean {
    return this.#dependencies.definition.options.ownWrites !== "deliver";
  }

  /** The key that made a change and knows it. */
  #ownKey(writtenBy: Writer | undefined): ObjectKey | undefined {
    return writtenBy?.controller === this.name && this.#ignoresOwnWrites ? writtenBy.key : undefined;
  }

  /** Another client wrote between what a key had read and what it wrote: the key has to look again. */
  #enqueueIntervening(watch: WatchDefinition, source: string, intervening: InterveningChange<KubeObject>): void {
    const { old, current, writer } = intervening;
    if (this.#ownKey(writer) === undefined) return;
    const object = current ?? old;
    if (object === undefined) return;
    const seen: Change = old === undefined || current === undefined
      ? { kind: current === undefined ? "deleted" : "added", object }
      : { kind: "updated", object, old };
    if (watch.when !== undefined && !this.#isAccepted(watch, seen)) return;
    const change = { ...seen, entry: writer.entry };
    const entry = this.#recorded?.enqueued(watch.resource, watch.role, change, "queued", writer.key);
    this.queue.add(writer.key, { cause: { ...causeOf(source, seen), entry } });
  }

  #isAccepted(watch: WatchDefinition, change: Change): boolean {
    try {
      return acceptsChange(this.definition, watch, change);
    } catch (error) {
      // The cache has dropped what the predicate needs: a reconcile too many is better than a missing one.
      if (error instanceof EvictedBodyError) return true;
      const what = `predicate of ${resourceName(watch.resource)}`;
      const entry = this.#recorded?.failed(what, error);
      this.#log.error("predicate failed, accepting the change", { error, kind: watch.resource.kind, what, entry });
      return true;
    }
  }

  /** An object was deleted before the cache had it: enqueues the key as for any other deletion. */
  #enqueueMissing(key: ObjectKey, resource: Resource, object: KubeObject, write: number | undefined): void {
    this.#deletedDependents.record(resource, object);
    const ref = refOf(resource, keyOf(object));
    const entry = this.#recorded?.enqueuedBy(ref, "owns", write, "queued", key);
    const cause: Cause = { source: resourceName(resource), change: "deleted", key: keyOf(object), entry };
    this.queue.add(key, { cause });
  }

  /** Enqueues the key after a delay, because an object that the cache cannot read would be found again and again. */
  #enqueueUnseen(key: ObjectKey, resource: Resource, object: KubeObject): void {
    const ref = refOf(resource, keyOf(object));
    const entry = this.#recorded?.enqueuedBy(ref, "owns", undefined, "queued", key);
    const cause: Cause = { source: resourceName(resource), change: "requeue", key: keyOf(object), entry };
    this.queue.addAfter(key, unseenRequeueMs, { cause });
  }

  async #runWorkers(stop: AbortSignal, kill: AbortSignal, externals: ExternalItems): Promise<void> {
    const { definition, reconcileMetrics, recovery } = this.#dependencies;
    const unreachableFailures = new UnreachableFailures();
    using _listening = recovery?.listen(() => unreachableFailures.retryAll(this.queue));
    using running = scope(kill);
    const { maxConcurrentReconciles = 1, maxRetries } = definition.options;
    reconcileMetrics?.setMaxWorkers(maxConcurrentReconciles);
    reconcileMetrics?.readParked(() => this.queue.counts.parked);
    const options = {
      queue: this.queue,
      ...this.#createAttempt(running.signal, externals),
      maxRetries,
      unreachableFailures,
      stoppedKeys: this.#stoppedKeys,
      recorded: this.#recorded,
      log: this.#log,
    };
    const runWorker = async () => {
      await this.#delayWorker(stop);
      await work(options, stop);
    };
    await Promise.all(Array.from({ length: maxConcurrentReconciles }, runWorker));
  }

  /** The delay spreads the first writes of the controllers of a new leader over time. */
  async #delayWorker(stop: AbortSignal): Promise<void> {
    const { definition, clock, random } = this.#dependencies;
    const { workerJitterMs = this.#dependencies.workerJitterMs ?? 0 } = definition.options;
    if (workerJitterMs > 0) await clock.sleep(random.next() * workerJitterMs, stop).catch(() => undefined);
  }

  #createAttempt(
    kill: AbortSignal,
    externals: ExternalItems,
  ): Pick<WorkerOptions, "attempt" | "reportStalled"> {
    const { definition, client, cluster, hub, turn, caches, events, clock, reconcileMetrics, shards } =
      this.#dependencies;
    const options: ReconcileAttemptOptions = {
      definition,
      ...{ client, cluster, hub },
      caches,
      informerOf: hasBounded(definition) ? (resource) => caches.findInformer(resource) : undefined,
      events,
      clock,
      kill,
      log: this.#log,
      deletedDependents: this.#deletedDependents,
      deletedObjects: this.#deletedObjects,
      externals,
      daemons: this.#daemons,
      writeThrough: this.#writeThrough,
      shardedKeys: this.#shardedKeys,
      namespaces: this.#namespaces,
      dependentLabels: shards && ((owner) => shards.dependentLabels(owner)),
      onRepair: (key) => (repair: FieldRepair) => this.#loopDetector.record(key, repair),
    };
    const attempt = createReconcileAttempt(options);
    const measured = reconcileMetrics === undefined ? attempt : measureAttempt(attempt, reconcileMetrics, clock);
    return {
      attempt: turn === undefined ? measured : takeTurns(measured, turn, kill),
      reportStalled: definition.options.reportsStalled === false ? undefined : createStallReporter(options),
    };
  }

  #runSources(stop: AbortSignal): readonly Promise<void>[] {
    const { definition, caches, clock, random } = this.#dependencies;
    const context = { clock, caches, keys: () => this.#primaryObjects().map(keyOf) };
    return definition.sources.map((source) => {
      const enqueue = (key: string) => this.#enqueueFrom(source.name, checkedKey(definition.primary, key));
      return keepSourceRunning(source, enqueue, stop, { context, random, log: this.#log });
    });
  }

  #findPrimary(key: ObjectKey): KubeObject | undefined {
    const { definition, caches } = this.#dependencies;
    return caches.findInformer(definition.primary)?.lister.find(key);
  }

  #primaryObjects(): readonly KubeObject[] {
    const { definition, caches } = this.#dependencies;
    return caches.findInformer(definition.primary)?.lister.list({}) ?? [];
  }

  /** A source asks for a reconcile. */
  #enqueueFrom(source: string, key: ObjectKey): void {
    if (!this.#isOurs(key)) return;
    const entry = this.#recorded?.enqueuedBy(
      { resource: source, kind: source, key },
      "source",
      undefined,
      "queued",
      key,
    );
    this.queue.add(key, { cause: { source, change: "requeue", key, entry } });
  }

  #createExternals(kill: AbortSignal): ExternalPollers {
    const { definition, caches, clock, random, reconcileMetrics } = this.#dependencies;
    const ours = (objects: readonly KubeObject[]) => objects.filter((object) => this.#isOurs(keyOf(object)));
    return createExternalPollers(definition, {
      ...{ clock, random, log: this.#log, metrics: reconcileMetrics },
      objects: () => ours(this.#primaryObjects()),
      objectsIn: (index, id) => ours(caches.findInformer(definition.primary)?.lister.byIndex(index, id) ?? []),
      enqueueFrom: (source, key) => this.#enqueueFrom(source, key),
      onFailure: (what, error, keys) => {
        for (const key of keys) this.#recorded?.failed(what, error, refOf(definition.primary, key));
      },
    }, kill);
  }

  #createDaemons(kill: AbortSignal): ObjectDaemons | undefined {
    const { definition, client, caches, events, clock, random, cluster, hub, reconcileMetrics } = this.#dependencies;
    const { daemon, options: { fieldManager = definition.name }, primary } = definition;
    if (daemon === undefined) return undefined;
    const daemons = new ObjectDaemons({
      ...{ definition: daemon, client, clock, random, log: this.#log },
      findPrimary: (key) => this.#findPrimary(key),
      readLive: async (key, client, signal) => await client.find(primary, key, { signal }) as KubeObject | undefined,
      begin: this.#shardedKeys && ((key) => this.#shardedKeys?.begin(key)),
      toolboxFor: (key, client, signal) => {
        const request = { key, ...splitKey(key), ...(cluster === undefined ? {} : { cluster }) };
        const of = { request, client, hub, caches, events, signal, log: this.#log.with({ key }), clock, fieldManager };
        return new Toolbox({ ...of, causes: [], retries: 0, onRepair: () => {} });
      },
      enqueue: (key) => this.#enqueueFrom("daemon", key),
      onFailure: (key, error) => this.#recorded?.failed("daemon", error, refOf(primary, key)),
      onEvent: (event) => onEvent?.(event),
    }, kill);
    const onEvent = reconcileMetrics?.daemons(() => daemons.counts);
    return daemons;
  }
}

/** A change as a cause. @param source the kind of its object */
function causeOf(source: string, { kind, object }: Change): Cause {
  return { source, change: kind, key: keyOf(object), resourceVersion: object.metadata.resourceVersion };
}

/** A resync delivers each cached object as an update of itself. */
function isResync(change: Change): boolean {
  return change.kind === "updated" && change.old === change.object;
}

function namespaceOfKey(key: ObjectKey): string {
  return key.slice(0, key.indexOf("/"));
}
