/**
 * Manager: runs controllers and whatever else a process consists of, over one shared cache, from start to a clean end.
 *
 * Start order: HTTP servers, webhooks, caches, others, and, once this process leads, the controllers. Stop order:
 * others, controllers, Events, caches, webhooks, HTTP; the Lease is given up after the last write. As
 * controller-runtime's, so that health answers from the first moment to the last.
 *
 * Guarantees: what is being reconciled at the stop may finish within the grace period; one controller that cannot run
 * (no permission, no CRD, a defect) degrades alone, says so in readiness, and heals; `run` leaves nothing behind.
 */
import { type Clock, onAbort, type Random, type Scope, scope, systemClock, systemRandom } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import type { ControllerDefinition, ControllerOptions } from "../controller/mod.ts";
import { type Logger, logger, type MetricsRegistry } from "../observe/mod.ts";
import { ControllerFleet, type ParkedKey, type RetryingKey } from "./_controller_fleet.ts";
import { ProblemLog } from "./_problem_log.ts";
import { type Check, syncCheck } from "./_sync_check.ts";
import { cacheMetrics } from "./cache_metrics.ts";
import { withinGrace } from "./_within_grace.ts";
import { fencedTransport } from "./fence.ts";
import { LeaderElector, type LeaderElectorOptions } from "./leader_elector.ts";
import { LeaseLostError } from "./lease_lost_error.ts";
import { leaderElectionMetrics } from "./metrics.ts";
import type { Runnable } from "./runnable.ts";
import { RunnableGroup } from "./runnable_group.ts";
import { type CacheRule, SharedCaches } from "./shared_caches.ts";

/** Election settings of a {@link Manager}: those of the elector, with the client and the clock filled in. */
export type ManagerElection = Omit<LeaderElectorOptions, "client" | "clock" | "random" | "metrics"> & {
  /** A client with a connection of its own, so that renewals do not wait behind other requests. @default the Manager's */
  readonly client?: Client;
};

/** Options of a {@link Manager}. */
export interface ManagerOptions {
  readonly client: Client;
  /** Name that Events carry as their reporter. @default "pintle" */
  readonly name?: string;
  /** Which replica this is, e.g. its host name. @default "local" */
  readonly instance?: string;
  /** Namespaces to watch. @default all */
  readonly namespaces?: readonly string[];
  /** What is kept of single kinds, and which kinds must not be cached. @default everything but managedFields */
  readonly cacheRules?: readonly CacheRule[];
  /** Milliseconds between two resyncs, and up to a tenth more, for controllers that do not say. @default none */
  readonly resyncMs?: number;
  /** Longest time in milliseconds by which each worker begins later, for controllers that do not say. @default 0 */
  readonly workerJitterMs?: number;
  /** Refuses requests of controllers that they did not declare, as their own RBAC rules would. For tests. @default false */
  readonly strictAccess?: boolean;
  /** Asks the server to validate every write of the controllers and to store none. @default false */
  readonly dryRun?: boolean;
  /** Only one of the replicas that use the same Lease runs the controllers. @default this one runs them */
  readonly leaderElection?: ManagerElection;
  /** Where the numbers go. @default nowhere */
  readonly metrics?: MetricsRegistry;
  /**
   * How long what runs may take to finish after the stop, in milliseconds: 0 does not wait, Infinity waits for ever.
   * A lost Lease does not wait either way. @default 30_000
   */
  readonly gracefulShutdownTimeoutMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/** When a Runnable starts, and, from back to front, when it stops. */
export type Phase = "http" | "webhooks" | "others";

/**
 * Runs controllers.
 *
 * @example Running one controller until a signal aborts
 * ```ts ignore
 * const manager = new Manager({ client });
 * manager.add(fooController);
 * await manager.run(stop.signal);
 * ```
 */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #caches: SharedCaches;
  readonly #fleet: ControllerFleet;
  readonly #elector: LeaderElector | undefined;
  readonly #phases: Readonly<Record<Phase, RunnableGroup>>;
  readonly #killing: Scope = scope(new AbortController().signal);
  readonly #failing: Scope = scope(new AbortController().signal);
  readonly #log: Logger = logger("manager");
  #state: "new" | "running" | "stopped" = "new";

  constructor(options: ManagerOptions) {
    const { client, namespaces, cacheRules, metrics, clock = systemClock, random = systemRandom } = options;
    const { leaderElection, dryRun = false, name = "pintle", instance = "local" } = options;
    const { resyncMs, workerJitterMs, strictAccess = false } = options;
    this.#options = options;
    this.#clock = clock;
    this.#elector = leaderElection === undefined ? undefined : new LeaderElector({
      client,
      ...leaderElection,
      clock,
      random,
      ...(metrics === undefined ? {} : { metrics: leaderElectionMetrics(metrics, { name: leaderElection.name }) }),
    });
    const cached = metrics === undefined ? undefined : cacheMetrics(metrics);
    this.#caches = new SharedCaches({ client, namespaces, rules: cacheRules, metrics: cached, clock, random });
    const writer = this.#fenced(dryRun ? client.dryRunClient() : client);
    const caches = this.#caches;
    const told = { resyncMs, workerJitterMs, strictAccess, metrics, clock, random };
    this.#fleet = new ControllerFleet({ client: writer, caches, name, instance, ...told });
    this.#phases = { http: this.#group("http"), webhooks: this.#group("webhooks"), others: this.#group("others") };
  }

  /** The shared caches, for reading and for tests. */
  get caches(): SharedCaches {
    return this.#caches;
  }

  /** Who is elected; undefined without leader election. */
  get elector(): LeaderElector | undefined {
    return this.#elector;
  }

  /** True while the controllers run and none has anything to do; a key that is to be tried again later is no work yet. */
  isIdle(): boolean {
    return this.#fleet.isIdle();
  }

  /** The keys that failed and are to be tried again. */
  retrying(): readonly RetryingKey[] {
    return this.#fleet.retrying();
  }

  /** The keys that controllers do not work on any more, because their own writes brought them back again and again. */
  parked(): readonly ParkedKey[] {
    return this.#fleet.parked();
  }

  /** What readiness asks: one check per controller, and one for the Lease where there is one. */
  checks(): readonly Check[] {
    const elector = this.#elector;
    const lease: Check = {
      name: "leader-election",
      problem: () => elector?.isHealthy() === false ? `${elector.lease} is overdue` : undefined,
    };
    const syncs = this.#fleet.definitions.map((definition) => syncCheck(definition, this.#caches, this.#fleet));
    return elector === undefined ? syncs : [...syncs, lease];
  }

  /**
   * Takes a controller on.
   *
   * @param options Overrides of the definition's own.
   * @throws TypeError when one of that name is there already, or the Manager runs.
   */
  add(definition: ControllerDefinition, options: ControllerOptions = {}): void {
    if (this.#state !== "new") throw new TypeError(`Cannot add controller "${definition.name}": the Manager has run`);
    this.#fleet.add({ ...definition, options: { ...definition.options, ...options } });
  }

  /**
   * Takes anything else on: a server, a poller. What is added while the Manager runs starts at once.
   *
   * @throws TypeError when it was added before, Error when the Manager is stopping.
   */
  async addRunnable(runnable: Runnable, phase: Phase = "others"): Promise<void> {
    await this.#phases[phase].add(runnable);
  }

  /**
   * Runs everything until `stop`, then ends it in order.
   *
   * @throws The first error that ended a part of it for good, LeaseLostError among them; an AggregateError of all when
   * the stop brought up more.
   */
  async run(stop: AbortSignal): Promise<void> {
    if (this.#state !== "new") throw new TypeError("Cannot run the Manager: it has run already");
    this.#state = "running";
    using stopping = scope(stop);
    using _failing = onAbort(this.#failing.signal, () => stopping.abort(this.#failing.signal.reason));
    using _grace = this.#killLate(stopping.signal);
    const errors = await this.#live(stopping);
    this.#state = "stopped";
    this.#killing[Symbol.dispose]();
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, `Cannot run the Manager: ${errors.map(String).join("; ")}`);
  }

  /** Starts everything in order, works until told to stop, and stops it in order. @returns What went wrong. */
  async #live(stopping: Scope): Promise<readonly unknown[]> {
    const { http, webhooks, others } = this.#phases;
    const cachesStop = new AbortController();
    const errors: unknown[] = [];
    let caches: Promise<void> | undefined;
    try {
      await others.add(new ProblemLog({ checks: () => this.checks(), clock: this.#clock, log: this.#log }));
      await http.start();
      await webhooks.start();
      caches = this.#caches.run(cachesStop.signal);
      await others.start();
      await this.#lead(stopping.signal);
    } catch (error) {
      errors.push(...error instanceof AggregateError ? error.errors : [error]);
      // Before others take over, all of this process must be gone.
      if (errors.some((one) => one instanceof LeaseLostError)) this.#killing.abort(error);
      stopping.abort(error);
    }
    errors.push(...await this.#stopGroup(others));
    cachesStop.abort();
    await caches;
    errors.push(...await this.#stopGroup(webhooks), ...await this.#stopGroup(http));
    return errors;
  }

  /** Runs the controllers while this process leads, from the first term to the last. */
  async #lead(stop: AbortSignal): Promise<void> {
    const kill = this.#killing.signal;
    this.#fleet.warmUp();
    if (this.#elector === undefined) return await this.#runFleet(stop, kill);
    await this.#elector.run(async (term) => {
      // A lost Lease ends a term without grace: somebody else may be writing already.
      using ending = scope(stop);
      using killed = scope(kill);
      using _losing = onAbort(term.signal, () => {
        ending.abort(term.signal.reason);
        killed.abort(term.signal.reason);
      });
      try {
        await this.#runFleet(ending.signal, killed.signal);
      } catch (error) {
        throw term.lost === undefined ? error : new AggregateError([term.lost, error], String(error));
      }
    }, stop);
  }

  async #runFleet(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const what = () => "the controllers";
    await withinGrace(this.#fleet.run(stop, kill), { kill, what, clock: this.#clock });
  }

  #fenced(client: Client): Client {
    const elector = this.#elector;
    return elector === undefined ? client : client.over((transport) => fencedTransport(transport, elector));
  }

  #group(name: Phase): RunnableGroup {
    const failed = (error: Error) => this.#failing.abort(error);
    return new RunnableGroup({ name, kill: this.#killing.signal, failed });
  }

  async #stopGroup(group: RunnableGroup): Promise<readonly unknown[]> {
    const what = () => `${group.name} (${group.running.join(", ")})`;
    try {
      return await withinGrace(group.stop(), { kill: this.#killing.signal, what, clock: this.#clock });
    } catch (error) {
      return [error];
    }
  }

  /** Arms the kill when the stop comes. */
  #killLate(stop: AbortSignal): Disposable {
    const { gracefulShutdownTimeoutMs: graceMs = 30_000 } = this.#options;
    let timer: Disposable | undefined;
    const kill = () => this.#killing.abort(new DOMException("The grace period is over", "AbortError"));
    const arm = () => {
      if (this.#killing.signal.aborted) return this.#log.info("stopping at once");
      this.#log.info("stopping, what runs may finish", { graceMs });
      if (graceMs <= 0) return kill();
      if (graceMs !== Infinity) timer = this.#clock.timer(graceMs, kill);
    };
    const arming = onAbort(stop, arm);
    return {
      [Symbol.dispose]: () => {
        arming[Symbol.dispose]();
        timer?.[Symbol.dispose]();
      },
    };
  }
}
