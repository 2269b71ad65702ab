/**
 * Controller: a running ControllerDefinition. It connects the caches of the watched kinds to its queue, and the queue to
 * its workers: `#enqueueChange` turns a watch event into keys, `_worker.ts` reconciles the keys.
 *
 * Guarantees: no key is reconciled before all watched kinds have been listed and delivered; one key is never reconciled
 * twice at the same time; a reconcile that throws or takes too long affects only its own key. On `stop`, workers take no
 * more keys and running reconciles may finish; on `kill`, running reconciles are aborted.
 */
import { keyOf, type KubeObject, type ObjectKey, type Resource, resourceName } from "../api/mod.ts";
import { type Clock, jittered, type Random, scope } from "../async/mod.ts";
import type { HandlerRegistration } from "../cache/mod.ts";
import type { Client } from "../client/mod.ts";
import { errorText, type Logger, logger } from "../observe/mod.ts";
import { defaultRateLimiter, lowPriority, type QueueMetrics, WorkQueue } from "../queue/mod.ts";
import { DeletedDependents } from "./_deleted_dependents.ts";
import { LoopDetector } from "./_loop_detector.ts";
import { OwnWrites } from "./_own_writes.ts";
import { createReconcileAttempt, measureAttempt, type ReconcileAttempt, UnreachableFailures, work } from "./_worker.ts";
import type { Caches } from "./caches.ts";
import { checkedKey, type ControllerDefinition, type WatchDefinition } from "./controller_definition.ts";
import { keepSourceRunning } from "./event_source.ts";
import type { ReconcileMetrics } from "./metrics.ts";
import type { Change } from "./predicate.ts";
import type { Cause, EventSink } from "./request.ts";
import type { FieldRepair } from "./toolbox.ts";

/** What a Controller needs. The Manager provides it. */
export interface ControllerDependencies {
  readonly definition: ControllerDefinition;
  readonly client: Client;
  readonly caches: Caches;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds between two resyncs, if the definition has none. @default no resync */
  readonly resyncMs?: number;
  /** Maximum milliseconds of the random delay before each worker starts, if the definition has none. @default 0 */
  readonly workerJitterMs?: number;
  readonly queueMetrics?: QueueMetrics;
  readonly reconcileMetrics?: ReconcileMetrics;
}

/** Part of a resync period by which it may be longer. */
const resyncJitter = 0.1;

export class Controller {
  readonly #dependencies: ControllerDependencies;
  readonly #log: Logger;
  readonly #ownWrites: OwnWrites;
  readonly #deletedDependents: DeletedDependents;
  readonly #loopDetector: LoopDetector;
  readonly queue: WorkQueue<ObjectKey, Cause>;
  #isSynced = false;

  constructor(dependencies: ControllerDependencies) {
    const { definition, clock, caches, queueMetrics } = dependencies;
    const { queueName = definition.name, rateLimiter } = definition.options;
    this.#dependencies = dependencies;
    this.#log = logger("controller", definition.name);
    const findPrimary = (key: ObjectKey) => caches.findInformer(definition.primary)?.lister.find(key);
    this.#deletedDependents = new DeletedDependents(definition.primary, findPrimary, definition.name);
    this.#ownWrites = new OwnWrites(caches, this.#log, {
      onRelease: (key, cause) => this.queue.add(key, { cause }),
      onMissing: (key, resource, object) => this.#enqueueMissing(key, resource, object),
    });
    this.queue = new WorkQueue({
      name: queueName,
      rateLimiter: rateLimiter?.() ?? defaultRateLimiter({ clock }),
      clock,
      metrics: queueMetrics,
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

  /** True while there is nothing to do: all kinds are listed, no key is queued or running, the caches have all writes. */
  isIdle(): boolean {
    const { queued, running } = this.queue.counts;
    return this.#isSynced && queued + running === 0 && this.#ownWrites.isSettled();
  }

  /** Runs until `stop`, then until running reconciles have finished. */
  async run(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const { definition, caches } = this.#dependencies;
    for (const { resource, indices } of definition.watches) {
      if (indices !== undefined) caches.informer(resource).addIndexers(indices);
    }
    const registrations = definition.watches.map((watch) => this.#addHandler(watch));
    try {
      await Promise.all(registrations.map((registration) => registration.synced(stop)));
      this.#isSynced = true;
      this.#log.info("starting workers", { count: definition.options.maxConcurrentReconciles ?? 1 });
      await Promise.all([this.#runWorkers(stop, kill), ...this.#runSources(stop)]);
    } catch (error) {
      if (!stop.aborted) throw error;
    } finally {
      this.queue.shutDown();
      await Promise.all(registrations.map((registration) => registration.remove()));
      this.#ownWrites[Symbol.dispose]();
      this.#loopDetector[Symbol.dispose]();
    }
  }

  #addHandler(watch: WatchDefinition): HandlerRegistration {
    const { caches, definition, random } = this.#dependencies;
    const { resyncMs = this.#dependencies.resyncMs } = definition.options;
    const source = resourceName(watch.resource);
    const onChange = (change: Change, isInitial: boolean) => this.#enqueueChange(watch, source, change, isInitial);
    return caches.informer(watch.resource).addHandler({
      onAdd: (object, { isInInitialList }) => onChange({ kind: "added", object }, isInInitialList),
      onUpdate: (old, object) => onChange({ kind: "updated", object, old }, false),
      onDelete: ({ lastKnown }) => {
        if (watch.role === "owns") this.#deletedDependents.record(watch.resource, lastKnown);
        onChange({ kind: "deleted", object: lastKnown }, false);
      },
    }, {
      name: `${definition.name}/${source}`,
      // The jitter spreads the resyncs of the kinds over time, as controller-runtime's informers do.
      resyncMs: resyncMs === undefined ? undefined : jittered(resyncMs, resyncJitter, random),
    });
  }

  /** The hot path from the cache to the queue: synchronous, and without allocation if the predicate rejects the change. */
  #enqueueChange(watch: WatchDefinition, source: string, change: Change, isInitial: boolean): void {
    if (watch.when !== undefined && !this.#isAccepted(watch, change)) return;
    const { object } = change;
    const cause: Cause = {
      source,
      change: change.kind,
      key: keyOf(object),
      resourceVersion: object.metadata.resourceVersion,
    };
    const priority = isInitial ? lowPriority : undefined;
    const { caches } = this.#dependencies;
    const keys = watch.keysOf(object, caches);
    for (const key of keys) this.queue.add(key, { cause, priority });
    if (change.kind !== "updated" || watch.role === "for") return;
    // If a dependent got another owner, the previous owner is reconciled too.
    for (const key of watch.keysOf(change.old, caches)) {
      if (!keys.includes(key)) this.queue.add(key, { cause, priority });
    }
  }

  #isAccepted(watch: WatchDefinition, change: Change): boolean {
    try {
      return watch.when === undefined || watch.when(change);
    } catch (error) {
      this.#log.error("predicate failed, accepting the change", { error, kind: watch.resource.kind });
      return true;
    }
  }

  /** An object was deleted before the cache had it: enqueues the key as for any other deletion. */
  #enqueueMissing(key: ObjectKey, resource: Resource, object: KubeObject): void {
    this.#deletedDependents.record(resource, object);
    const cause: Cause = { source: resourceName(resource), change: "deleted", key: keyOf(object) };
    this.queue.add(key, { cause });
  }

  async #runWorkers(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const { definition, reconcileMetrics } = this.#dependencies;
    using running = scope(kill);
    const { maxConcurrentReconciles = 1, maxRetries } = definition.options;
    reconcileMetrics?.setMaxWorkers(maxConcurrentReconciles);
    const options = {
      queue: this.queue,
      attempt: this.#createAttempt(running.signal),
      isHeld: (key: ObjectKey) => this.#ownWrites.hold(key),
      maxRetries,
      unreachableFailures: new UnreachableFailures(),
      onDrop: (key: ObjectKey, error: unknown) => this.#recordDropEvent(key, error),
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

  #createAttempt(kill: AbortSignal): ReconcileAttempt {
    const { definition, client, caches, events, clock, reconcileMetrics } = this.#dependencies;
    const attempt = createReconcileAttempt({
      definition,
      client,
      caches,
      events,
      clock,
      kill,
      log: this.#log,
      deletedDependents: this.#deletedDependents,
      onWrite: (key) => (resource, object) => this.#ownWrites.record(key, resource, object),
      observeUncached: (key) => (resource, object) => this.#ownWrites.observeUncached(key, resource, object),
      onRepair: (key) => (repair: FieldRepair) => this.#loopDetector.record(key, repair),
    });
    return reconcileMetrics === undefined ? attempt : measureAttempt(attempt, reconcileMetrics, clock);
  }

  #runSources(stop: AbortSignal): readonly Promise<void>[] {
    const { definition, clock, random } = this.#dependencies;
    return definition.sources.map((source) => {
      const enqueue = (key: string) => {
        const cause: Cause = { source: source.name, change: "requeue", key };
        this.queue.add(checkedKey(definition.primary, key), { cause });
      };
      return keepSourceRunning(source, enqueue, stop, { clock, random, log: this.#log });
    });
  }

  /** Records an Event about an object whose key is dropped, if the definition has a reason for it. */
  #recordDropEvent(key: ObjectKey, error: unknown): void {
    const { caches, definition, events } = this.#dependencies;
    const { droppedReason: reason, maxRetries } = definition.options;
    const regarding = caches.findInformer(definition.primary)?.lister.find(key);
    if (reason === undefined || regarding === undefined) return;
    const note = `Given up after ${maxRetries} retries, until something changes: ${errorText(error)}`;
    events.record({ regarding, type: "Warning", reason, note });
  }
}
