/**
 * ControllerFleet: the controllers of a Manager, run for one term after another. A Controller runs once; a process that
 * stepped down and leads again gets new ones over the same warm caches.
 *
 * Guarantees: a controller that fails is started again with growing delays (1 s to 1 min) while the others go on; the
 * Events that the controllers recorded are sent before `run` returns, so before the Lease is given up.
 */
import { Backoff, type Clock, isAbortOf, type Random } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import { Controller, type ControllerDefinition, reconcileMetrics } from "../controller/mod.ts";
import { type Logger, logger, type MetricsRegistry } from "../observe/mod.ts";
import { queueMetrics } from "../queue/mod.ts";
import { EventRecorder } from "./event_recorder.ts";
import type { SharedCaches } from "./shared_caches.ts";

/** What the controllers of a fleet share. */
export interface ControllerFleetParts {
  readonly client: Client;
  readonly caches: SharedCaches;
  readonly name: string;
  readonly instance: string;
  readonly resyncMs: number | undefined;
  readonly metrics: MetricsRegistry | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

export class ControllerFleet {
  readonly #parts: ControllerFleetParts;
  readonly #definitions: ControllerDefinition[] = [];
  readonly #failures = new Map<string, unknown>();
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

  /** @throws TypeError when there is a controller of that name. */
  add(definition: ControllerDefinition): void {
    if (this.#definitions.some((other) => other.name === definition.name)) {
      throw new TypeError(`Cannot add controller "${definition.name}": there is one of that name`);
    }
    this.#definitions.push(definition);
    const { fieldManager = definition.name } = definition.options;
    for (const { resource, writes } of definition.watches) {
      if (writes) this.#parts.caches.keepFieldsOf(resource, fieldManager);
    }
  }

  /** Asks for every cache the controllers will need, so that a standby has them when it takes over. */
  warmUp(): void {
    for (const definition of this.#definitions) {
      for (const { resource } of definition.watches) this.#parts.caches.informer(resource);
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
    const { client, caches, clock, random, resyncMs, metrics } = this.#parts;
    const { name, options } = definition;
    const events = this.#recorder(name);
    const eventsStop = new AbortController();
    const sending = events.run(eventsStop.signal, kill);
    const named = { name: options.queueName ?? name, controller: name };
    const measured = metrics === undefined ? undefined : queueMetrics(metrics, named);
    const counted = metrics === undefined ? undefined : reconcileMetrics(metrics, { controller: name });
    const shared = { definition, client, caches, events, clock, random, resyncMs };
    const parts = { ...shared, queueMetrics: measured, reconcileMetrics: counted };
    this.#failures.delete(name);
    try {
      await new Controller(parts).run(stop, kill);
    } finally {
      eventsStop.abort();
      await sending;
    }
  }

  #recorder(controller: string): EventRecorder {
    const { client, name, instance, clock, random } = this.#parts;
    const reportingController = `${name}/${controller}`;
    const log = logger("events", controller);
    return new EventRecorder({ client, reportingController, reportingInstance: instance, clock, random, log });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
