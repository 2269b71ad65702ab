/**
 * Controller: a ControllerDefinition at work. Ties the caches of what it watches to its queue, and its queue to the
 * reconciler.
 *
 * Guarantees: no key is reconciled before every watched kind has been listed and delivered; one key never runs twice
 * at once; a reconcile that throws, hangs or is too slow concerns its own key alone. On `stop` nothing new is taken
 * and what runs may finish; on `kill` what runs is aborted.
 */
import { keyOf, type KubeObject, type ObjectKey, type Resource, resourceName } from "../api/mod.ts";
import { type Clock, jittered, type Random, scope } from "../async/mod.ts";
import type { HandlerRegistration } from "../cache/mod.ts";
import type { Client } from "../client/mod.ts";
import { errorText, type Logger, logger } from "../observe/mod.ts";
import { defaultRateLimiter, lowPriority, type QueueMetrics, WorkQueue } from "../queue/mod.ts";
import { type Attempt, attemptWith, measured } from "./_attempt.ts";
import { LoopDetector } from "./_loop_detector.ts";
import { LostChildren } from "./_lost_children.ts";
import { Outages } from "./_outages.ts";
import { OwnWrites } from "./_own_writes.ts";
import { work } from "./_worker.ts";
import type { Caches } from "./caches.ts";
import type { ControllerDefinition } from "./controller_definition.ts";
import { keepSourceRunning } from "./event_source.ts";
import type { ReconcileMetrics } from "./metrics.ts";
import type { Change } from "./predicate.ts";
import type { Cause, EventSink } from "./reconciler.ts";
import type { FieldChange } from "./toolbox.ts";
import { checkedKey, type WatchDefinition } from "./watch_definition.ts";

/** What a Controller works with; the Manager gives it. */
export interface ControllerParts {
  readonly definition: ControllerDefinition;
  readonly client: Client;
  readonly caches: Caches;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds between two resyncs, for controllers that do not say. @default none */
  readonly resyncMs?: number;
  /** Longest time in milliseconds by which each worker begins later, for controllers that do not say. @default 0 */
  readonly workerJitterMs?: number;
  readonly queueMetrics?: QueueMetrics;
  readonly reconcileMetrics?: ReconcileMetrics;
}

/** Part of a resync period by which it may be longer. */
const resyncJitter = 0.1;

export class Controller {
  readonly #parts: ControllerParts;
  readonly #log: Logger;
  readonly #ownWrites: OwnWrites;
  readonly #lost: LostChildren;
  readonly #loops: LoopDetector;
  readonly queue: WorkQueue<ObjectKey, Cause>;
  #isSynced = false;

  constructor(parts: ControllerParts) {
    const { definition, clock, caches, queueMetrics } = parts;
    const { queueName = definition.name, rateLimiter } = definition.options;
    this.#parts = parts;
    this.#log = logger("controller", definition.name);
    const primaryOf = (key: ObjectKey) => caches.findInformer(definition.primary)?.lister.find(key);
    this.#lost = new LostChildren(definition.primary, primaryOf);
    this.#ownWrites = new OwnWrites(caches, this.#log, {
      released: (key, cause) => this.queue.add(key, { cause }),
      vanished: (key, resource, object) => this.#vanished(key, resource, object),
    });
    this.queue = new WorkQueue({
      name: queueName,
      rateLimiter: rateLimiter?.() ?? defaultRateLimiter({ clock }),
      clock,
      metrics: queueMetrics,
    });
    this.#loops = new LoopDetector({
      queue: this.queue,
      events: parts.events,
      primaryOf,
      clock,
      log: this.#log,
    });
  }

  get name(): string {
    return this.#parts.definition.name;
  }

  get definition(): ControllerDefinition {
    return this.#parts.definition;
  }

  /** True while there is nothing to do: all is listed, no key waits or runs, and the caches have what was written. */
  isIdle(): boolean {
    const { queued, running } = this.queue.counts;
    return this.#isSynced && queued + running === 0 && this.#ownWrites.isSettled();
  }

  /** Runs until `stop`, then until what is in hand is finished. */
  async run(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const { definition, caches } = this.#parts;
    for (const { resource, indices } of definition.watches) {
      if (indices !== undefined) caches.informer(resource).addIndexers(indices);
    }
    const registrations = definition.watches.map((watch) => this.#listen(watch));
    try {
      await Promise.all(registrations.map((registration) => registration.synced(stop)));
      this.#isSynced = true;
      this.#log.info("workers start", { workers: definition.options.maxConcurrentReconciles ?? 1 });
      await Promise.all([this.#runWorkers(stop, kill), ...this.#runSources(stop)]);
    } catch (error) {
      if (!stop.aborted) throw error;
    } finally {
      this.queue.shutDown();
      await Promise.all(registrations.map((registration) => registration.remove()));
      this.#ownWrites[Symbol.dispose]();
      this.#loops[Symbol.dispose]();
    }
  }

  async #runWorkers(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const { definition, reconcileMetrics } = this.#parts;
    using running = scope(kill);
    const attempt = this.#attempt(running.signal);
    const { maxConcurrentReconciles = 1, maxRetries } = definition.options;
    reconcileMetrics?.workers(maxConcurrentReconciles);
    const held = (key: ObjectKey) => this.#ownWrites.hold(key);
    const dropped = (key: ObjectKey, error: unknown) => this.#tellDropped(key, error);
    const outages = new Outages();
    const job = { queue: this.queue, attempt, held, maxRetries, outages, dropped, log: this.#log };
    const begin = async () => {
      await this.#workerDelay(stop);
      await work(job, stop);
    };
    await Promise.all(Array.from({ length: maxConcurrentReconciles }, begin));
  }

  /** So that the controllers of a process that was just made the leader do not all write in the same moment. */
  async #workerDelay(stop: AbortSignal): Promise<void> {
    const { definition, clock, random } = this.#parts;
    const { workerJitterMs = this.#parts.workerJitterMs ?? 0 } = definition.options;
    if (workerJitterMs > 0) await clock.sleep(random.next() * workerJitterMs, stop).catch(() => undefined);
  }

  #runSources(stop: AbortSignal): readonly Promise<void>[] {
    const { definition, clock, random } = this.#parts;
    return definition.sources.map((source) => {
      const enqueue = (key: string) => {
        const cause: Cause = { source: source.name, change: "requeue", key };
        this.queue.add(checkedKey(definition.primary, key), { cause });
      };
      return keepSourceRunning(source, enqueue, stop, { clock, random, log: this.#log });
    });
  }

  #attempt(kill: AbortSignal): Attempt {
    const { definition, client, caches, events, clock, reconcileMetrics } = this.#parts;
    const wrote = (key: ObjectKey) => (resource: Resource, object: KubeObject) =>
      this.#ownWrites.remember(key, resource, object);
    const met = (key: ObjectKey) => (resource: Resource, object: KubeObject) =>
      this.#ownWrites.meet(key, resource, object);
    const repaired = (key: ObjectKey) => (change: FieldChange) => this.#loops.note(key, change);
    const [log, lost] = [this.#log, this.#lost];
    const attempt = attemptWith({ definition, client, caches, events, clock, kill, log, lost, wrote, met, repaired });
    return reconcileMetrics === undefined ? attempt : measured(attempt, reconcileMetrics, clock);
  }

  /** Tells those who look at the object, where the controller wants it. */
  #tellDropped(key: ObjectKey, error: unknown): void {
    const { caches, definition, events } = this.#parts;
    const { droppedReason: reason, maxRetries } = definition.options;
    const regarding = caches.findInformer(definition.primary)?.lister.find(key);
    if (reason === undefined || regarding === undefined) return;
    const note = `Given up after ${maxRetries} retries, until something changes: ${errorText(error)}`;
    events.record({ regarding, type: "Warning", reason, note });
  }

  #listen(watch: WatchDefinition): HandlerRegistration {
    const { caches, definition, random } = this.#parts;
    const { resyncMs = this.#parts.resyncMs } = definition.options;
    const source = resourceName(watch.resource);
    const changes = (change: Change, initial: boolean) => this.#changed(watch, source, change, initial);
    return caches.informer(watch.resource).addHandler({
      added: (object, { initial }) => changes({ kind: "added", object }, initial),
      updated: (old, object) => changes({ kind: "updated", object, old }, false),
      deleted: ({ lastKnown }) => {
        if (watch.role === "owns") this.#lost.note(watch.resource, lastKnown);
        changes({ kind: "deleted", object: lastKnown }, false);
      },
    }, {
      name: `${definition.name}/${source}`,
      // Kinds resync at different moments, as controller-runtime's informers do.
      resyncMs: resyncMs === undefined ? undefined : jittered(resyncMs, resyncJitter, random),
    });
  }

  /** What was created is gone before the cache had it: an end like any other. */
  #vanished(key: ObjectKey, resource: Resource, object: KubeObject): void {
    this.#lost.note(resource, object);
    const cause: Cause = { source: resourceName(resource), change: "deleted", key: keyOf(object) };
    this.queue.add(key, { cause });
  }

  /** The hot path from cache to queue: synchronous, and without allocation where a predicate says no. */
  #changed(watch: WatchDefinition, source: string, change: Change, initial: boolean): void {
    if (watch.when !== undefined && !this.#passes(watch, change)) return;
    const { object } = change;
    const cause: Cause = {
      source,
      change: change.kind,
      key: keyOf(object),
      resourceVersion: object.metadata.resourceVersion,
    };
    const priority = initial ? lowPriority : undefined;
    const { caches } = this.#parts;
    const keys = watch.keysOf(object, caches);
    for (const key of keys) this.queue.add(key, { cause, priority });
    if (change.kind !== "updated" || watch.role === "for") return;
    // An object that moved from one owner to another concerns both; whoever keeps it is told once.
    for (const key of watch.keysOf(change.old, caches)) {
      if (!keys.includes(key)) this.queue.add(key, { cause, priority });
    }
  }

  #passes(watch: WatchDefinition, change: Change): boolean {
    try {
      return watch.when === undefined || watch.when(change);
    } catch (error) {
      this.#log.error("predicate failed, the change is let through", { error, kind: watch.resource.kind });
      return true;
    }
  }
}
