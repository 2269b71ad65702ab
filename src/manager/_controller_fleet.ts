/**
 * ControllerFleet: the controllers of a Manager, run for one term after another. A Controller runs once; a process that
 * stepped down and leads again gets new ones over the same warm caches.
 *
 * Guarantees: a controller that fails is started again with growing delays (1 s to 1 min) while the others go on; the
 * Events that the controllers recorded are sent before `run` returns, so before the Lease is given up.
 */
import { aborted, Backoff, type Clock, isAbortOf, type Random } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import { Controller, type ControllerDefinition, reconcileMetrics } from "../controller/mod.ts";
import { type Logger, logger, type MetricsRegistry } from "../observe/mod.ts";
import { queueMetrics } from "../queue/mod.ts";
import { Refusals } from "./_refusals.ts";
import { declaredTransport } from "./declared_transport.ts";
import { EventRecorder } from "./event_recorder.ts";
import type { SharedCaches } from "./shared_caches.ts";

/** What the controllers of a fleet share. */
export interface ControllerFleetParts {
  readonly client: Client;
  readonly caches: SharedCaches;
  readonly name: string;
  readonly instance: string;
  readonly resyncMs: number | undefined;
  readonly workerJitterMs: number | undefined;
  /** Refuses what a controller did not declare. */
  readonly strictAccess: boolean;
  readonly metrics: MetricsRegistry | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** A key that a controller does not work on any more, because its own writes bring it back again and again. */
export interface ParkedKey {
  readonly controller: string;
  readonly key: string;
  readonly reason: string;
}

/** A key that failed and is to be tried again. */
export interface RetryingKey {
  readonly controller: string;
  readonly key: string;
  readonly retries: number;
}

export class ControllerFleet {
  readonly #parts: ControllerFleetParts;
  readonly #definitions: ControllerDefinition[] = [];
  readonly #failures = new Map<string, unknown>();
  readonly #running = new Map<string, Controller>();
  readonly #refusals = new Map<string, Refusals>();
  readonly #log: Logger = logger("manager");

  constructor(parts: ControllerFleetParts) {
    this.#parts = parts;
  }

  get definitions(): readonly ControllerDefinition[] {
    return this.#definitions;
  }

  /** Why a controller is not running at the moment; undefined when it runs or was not started. */
  failureOf(name: string): unknown {
    return this.#failures.get(name);
  }

  /** The RBAC rules that a controller was found to miss, as YAML. */
  refusalsOf(name: string): readonly string[] {
    return this.#refusals.get(name)?.rules ?? [];
  }

  /** @throws TypeError when there is a controller of that name, or it watches what shall not be cached. */
  add(definition: ControllerDefinition): void {
    if (this.#definitions.some((other) => other.name === definition.name)) {
      throw new TypeError(`Cannot add controller "${definition.name}": there is one of that name`);
    }
    const { fieldManager = definition.name } = definition.options;
    for (const { resource } of definition.watches) this.#parts.caches.declare(resource, definition.name);
    this.#definitions.push(definition);
    this.#refusals.set(definition.name, new Refusals(definition.primary, this.#parts.clock));
    for (const { resource, writes } of definition.watches) {
      if (writes) this.#parts.caches.keepFieldsOf(resource, fieldManager);
    }
  }

  /** True while all controllers run and none has anything to do. */
  isIdle(): boolean {
    return this.#definitions.every(({ name }) => this.#running.get(name)?.isIdle() === true);
  }

  /** The keys that were taken out of circulation, and why. */
  parked(): readonly ParkedKey[] {
    return [...this.#running.values()].flatMap(({ name: controller, queue }) =>
      queue.counts.parked === 0
        ? []
        : queue.snapshot().flatMap(({ key, state }) =>
          state.kind === "parked" ? [{ controller, key, reason: state.reason }] : []
        )
    );
  }

  /** The keys that failed and are to be tried again. */
  retrying(): readonly RetryingKey[] {
    return [...this.#running.values()].flatMap(({ name: controller, queue }) =>
      queue.counts.waiting === 0
        ? []
        : queue.snapshot().flatMap(({ key, state, retries }) =>
          state.kind === "waiting" && retries > 0 ? [{ controller, key, retries }] : []
        )
    );
  }

  /** Asks for every cache the controllers will need, so that a standby has them when it takes over. */
  warmUp(): void {
    for (const definition of this.#definitions) {
      const caches = this.#parts.caches.within(definition.options.namespace);
      for (const { resource } of definition.watches) caches.informer(resource);
    }
  }

  /** Runs all controllers until `stop`, then until what they have in hand is finished and told. */
  async run(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const running = this.#definitions.map((definition) => this.#keepRunning(definition, stop, kill));
    // Without controllers too: servers and others run until the stop.
    await Promise.all([...running, aborted(stop)]);
  }

  async #keepRunning(definition: ControllerDefinition, stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const { clock, random } = this.#parts;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, jitter: 1, resetAfterMs: 120_000, clock, random });
    while (!stop.aborted) {
      try {
        return await this.#runOnce(definition, stop, kill);
      } catch (error) {
        if (isAbortOf(kill, error)) return;
        this.#failures.set(definition.name, error);
        this.#log.error("controller failed, will be started again", { controller: definition.name, error });
        await clock.sleep(backoff.next(), stop).catch(() => undefined);
      }
    }
  }

  async #runOnce(definition: ControllerDefinition, stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const { caches, clock, random, resyncMs, workerJitterMs, metrics } = this.#parts;
    const { name, options } = definition;
    const client = this.#clientOf(definition);
    const events = this.#recorder(definition, client);
    const eventsStop = new AbortController();
    const sending = events.run(eventsStop.signal, kill);
    const named = { name: options.queueName ?? name, controller: name };
    const measured = metrics === undefined ? undefined : queueMetrics(metrics, named);
    const counted = metrics === undefined ? undefined : reconcileMetrics(metrics, { controller: name });
    const own = { definition, client, caches: caches.within(options.namespace), events };
    const shared = { clock, random, resyncMs, workerJitterMs };
    const parts = { ...own, ...shared, queueMetrics: measured, reconcileMetrics: counted };
    this.#failures.delete(name);
    const controller = new Controller(parts);
    this.#running.set(name, controller);
    try {
      await controller.run(stop, kill);
    } finally {
      this.#running.delete(name);
      eventsStop.abort();
      await sending;
    }
  }

  #clientOf(definition: ControllerDefinition): Client {
    const { client, strictAccess } = this.#parts;
    const held = strictAccess ? client.over((transport) => declaredTransport(transport, definition)) : client;
    const refusals = this.#refusals.get(definition.name);
    return refusals === undefined ? held : held.over((transport) => refusals.over(transport));
  }

  #recorder(definition: ControllerDefinition, client: Client): EventRecorder {
    const { name, instance, clock, random } = this.#parts;
    const { eventComponent: reportingController = `${name}/${definition.name}` } = definition.options;
    const log = logger("events", definition.name);
    return new EventRecorder({ client, reportingController, reportingInstance: instance, clock, random, log });
  }
}
