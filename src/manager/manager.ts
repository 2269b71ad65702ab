/**
 * Manager: runs controllers in one process over one shared cache, from start to a clean end.
 *
 * Guarantees: caches run before workers and end after them; on `stop` no new key is taken, what is being reconciled
 * may finish within the grace period and is aborted after it, accepted Events are sent; `run` returns when nothing of
 * it is left. The first thing that fails for good stops the rest and is what `run` throws.
 */
import { type Clock, type Random, scope, systemClock, systemRandom } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import { Controller, type ControllerDefinition, type ControllerOptions } from "../controller/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { EventRecorder } from "./event_recorder.ts";
import { SharedCaches } from "./shared_caches.ts";

/** Options of a {@link Manager}. */
export interface ManagerOptions {
  readonly client: Client;
  /** Name that Events carry as their reporter. @default "pintle" */
  readonly name?: string;
  /** Which replica this is, e.g. its host name. @default "local" */
  readonly instance?: string;
  /** Namespaces to watch. @default all */
  readonly namespaces?: readonly string[];
  /** Milliseconds between two resyncs, for controllers that do not say. @default none */
  readonly resyncMs?: number;
  /** How long running reconciles may take to finish after the stop, in milliseconds. @default 30_000 */
  readonly gracefulShutdownTimeoutMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/**
 * Runs controllers.
 *
 * @example Running one controller until Ctrl-C
 * ```ts ignore
 * const manager = new Manager({ client });
 * manager.add(fooController);
 * await manager.run(stop.signal);
 * ```
 */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #caches: SharedCaches;
  readonly #controllers: Controller[] = [];
  readonly #recorders: EventRecorder[] = [];
  readonly #log: Logger = logger("manager");
  #state: "new" | "running" | "stopped" = "new";

  constructor(options: ManagerOptions) {
    const { client, namespaces, clock = systemClock, random = systemRandom } = options;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#caches = new SharedCaches({ client, namespaces, clock, random });
  }

  /** The shared caches, for health and for tests. */
  get caches(): SharedCaches {
    return this.#caches;
  }

  /** What runs, for health and for tests. */
  get controllers(): readonly Controller[] {
    return this.#controllers;
  }

  /**
   * Takes a controller on.
   *
   * @param options Overrides of the definition's own.
   * @throws TypeError when one of that name is there already, or the Manager runs.
   */
  add(definition: ControllerDefinition, options: ControllerOptions = {}): void {
    const { client, resyncMs, name = "pintle", instance = "local" } = this.#options;
    if (this.#state !== "new") throw new TypeError(`Cannot add controller "${definition.name}": the Manager has run`);
    if (this.#controllers.some((other) => other.name === definition.name)) {
      throw new TypeError(`Cannot add controller "${definition.name}": there is one of that name`);
    }
    const events = new EventRecorder({
      client,
      reportingController: `${name}/${definition.name}`,
      reportingInstance: instance,
      clock: this.#clock,
      random: this.#random,
      log: logger("events", definition.name),
    });
    this.#recorders.push(events);
    const { fieldManager = definition.name } = { ...definition.options, ...options };
    for (const { resource, writes } of definition.watches) {
      if (writes) this.#caches.keepFieldsOf(resource, fieldManager);
    }
    this.#controllers.push(
      new Controller({
        definition: { ...definition, options: { ...definition.options, ...options } },
        client,
        caches: this.#caches,
        events,
        clock: this.#clock,
        random: this.#random,
        resyncMs,
      }),
    );
  }

  /**
   * Runs everything until `stop`, then ends it in order.
   *
   * @throws The first error that ended a part of it for good.
   */
  async run(stop: AbortSignal): Promise<void> {
    if (this.#state !== "new") throw new TypeError("Cannot run the Manager: it has run already");
    this.#state = "running";
    using stopping = scope(stop);
    using killing = scope(new AbortController().signal);
    const eventsStop = new AbortController();
    const cachesStop = new AbortController();
    const caches = this.#caches.run(cachesStop.signal);
    const events = this.#recorders.map((recorder) => recorder.run(eventsStop.signal, killing.signal));
    using _deadline = this.#killLate(stopping.signal, killing);
    try {
      await this.#runControllers(stopping, killing.signal);
    } finally {
      eventsStop.abort();
      await Promise.all(events);
      cachesStop.abort();
      await caches;
      this.#state = "stopped";
    }
  }

  async #runControllers(stopping: ReturnType<typeof scope>, kill: AbortSignal): Promise<void> {
    const runs = this.#controllers.map(async (controller) => {
      try {
        await controller.run(stopping.signal, kill);
      } catch (error) {
        stopping.abort(error);
        throw new Error(`Cannot run controller "${controller.name}": ${String(error)}`, { cause: error });
      }
    });
    const failed = (await Promise.allSettled(runs)).filter((run) => run.status === "rejected");
    if (failed.length === 1) throw failed[0]?.reason;
    if (failed.length > 1) throw new AggregateError(failed.map((run) => run.reason), "Cannot run controllers");
  }

  /** Arms the kill when the stop comes. Infinity waits for ever, 0 does not wait. */
  #killLate(stop: AbortSignal, killing: ReturnType<typeof scope>): Disposable {
    const { gracefulShutdownTimeoutMs: graceMs = 30_000 } = this.#options;
    let timer: Disposable | undefined;
    const arm = () => {
      this.#log.info("stopping, running reconciles may finish", { graceMs });
      if (graceMs === Infinity) return;
      timer = this.#clock.timer(graceMs, () => {
        this.#log.warn("the grace period is over, aborting what still runs", { graceMs });
        killing.abort(new DOMException("The grace period is over", "AbortError"));
      });
    };
    if (stop.aborted) arm();
    else stop.addEventListener("abort", arm, { once: true });
    return {
      [Symbol.dispose]: () => {
        stop.removeEventListener("abort", arm);
        timer?.[Symbol.dispose]();
      },
    };
  }
}
