/**
 * Manager: runs the controllers and all other parts of a process, over one shared cache, from start to stop.
 *
 * Start order: HTTP servers, webhooks, caches, others, and the controllers once this process leads. Stop order: others,
 * controllers, Events, caches, webhooks, HTTP servers; the Lease is released after the last write. This is the order of
 * controller-runtime, so that health endpoints respond from the first moment to the last.
 *
 * Guarantees: a reconcile that runs at the stop may finish within the grace period. A controller that cannot run, because
 * a permission or a CRD is missing or it has a defect, affects no other controller; readiness shows the problem, and it
 * recovers without a restart. `run` returns only when everything has ended.
 */
import { aborted, type Clock, onAbort, Recovery, type Scope, scope, systemClock, systemRandom } from "../async/mod.ts";
import { type Client, recoveryTransport } from "../client/mod.ts";
import type { KubeObject, Resource } from "../api/mod.ts";
import type { CachePart, SharedInformer } from "../cache/mod.ts";
import type { ControllerDefinition, ControllerOptions } from "../controller/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { cacheMetrics, namespaceCount } from "./cache_metrics.ts";
import {
  ControllerGroup,
  type ParkedKey,
  type RequeuedKey,
  type RetryingKey,
  type RunsOn,
} from "./controller_group.ts";
import { DebugState } from "./debug/mod.ts";
import { EventRecorder } from "./event_recorder.ts";
import { leaderElectionMetrics, LeaderElector, type Leadership, LeaseLostError } from "./election/mod.ts";
import { type ImmediateCheck, ProblemLog } from "./health/mod.ts";
import { type FleetMembership, type HubParts, type LeaderPart, membershipOf } from "./membership.ts";
import { type Runnable, RunnableGroup } from "./runnable_group.ts";
import type { ManagerOptions } from "./manager_options.ts";
import { leaseCheck, runTogether, type TermRunOptions, withFence } from "./replica.ts";
import { dividedWork, ShardMember, shardMetrics } from "./sharding/mod.ts";
import { type ManagerCaches, SharedCaches } from "./shared_caches.ts";
import { withinGrace } from "./within_grace.ts";

/** A resync is a second chance for what a reconciler missed; 10 h, as controller-runtime's SyncPeriod. */
const defaultResyncMs = 10 * 3_600_000;

const notPrepared = "it has not started: the API server was not reached yet, or no controller can run on it";

/** The phases in which Runnables start; they stop in the reverse order. */
type Phase = "http" | "webhooks" | "others";

/** The state of queues and caches at this moment, for the debug endpoint. No method, since users do not need it. */
export let debugStateOf: (manager: Manager) => DebugState;

/** This replica in its group; undefined without sharding. For the debug endpoint and the simulation. */
export let shardsOf: (manager: Manager) => ShardMember | undefined;

/** The cache of a controller for a kind that it watches, and the part of the kind that it has. For the simulation. */
export let controllerCacheOf: (
  manager: Manager,
  definition: ControllerDefinition,
  resource: Resource,
) => { readonly informer: SharedInformer<KubeObject>; readonly part: CachePart | undefined };

/** What a Fleet needs of the Manager of its hub. No property, since users do not need it. */
export let hubPartsOf: (manager: Manager) => HubParts<ManagerOptions>;

/**
 * Runs controllers over one shared cache, from start to stop. `operatorCli` creates one; programs that are not a command
 * line create their own. In tests of controllers, use a `World`.
 *
 * @example Running one controller until a signal aborts
 * ```ts
 * import { controller, done, Manager, Namespace } from "@pintle/controller";
 * import { Client } from "@pintle/controller/client";
 *
 * const list = { kind: "NamespaceList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] };
 * const client = new Client(() => Promise.resolve(Response.json(list))); // new Client(clusterTransport(access))
 * const manager = new Manager({ client, gracefulShutdownTimeoutMs: 5_000 });
 * manager.add(controller("greeter").for(Namespace).reconcile(() => Promise.resolve(done)));
 * const stop = new AbortController();
 * const running = manager.run(stop.signal);
 * stop.abort();
 * await running;
 * console.assert(manager.retrying().length === 0);
 * ```
 */
export class Manager {
  static {
    debugStateOf = (manager) =>
      new DebugState({
        members: () => manager.#controllers.members(),
        informers: () => manager.#caches.informers(),
        findInformer: (definition, resource) => manager.#caches.of(definition).findInformer(resource),
        namespaces: () => manager.#caches.namespaces,
        shards: manager.#shards,
        client: manager.#options.client,
        parked: () => manager.#controllers.parked(),
      });
    shardsOf = (manager) => manager.#shards;
    controllerCacheOf = (manager, definition, resource) => ({
      informer: manager.#caches.of(definition).informer(resource),
      part: manager.#caches.partOf(definition, resource),
    });
    hubPartsOf = (manager) => ({
      options: manager.#options,
      client: manager.#fencedClient,
      caches: manager.#caches,
      elector: manager.#elector,
      addLeaderPart: (part) => void manager.#leaderParts.push(part),
    });
  }

  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #caches: SharedCaches;
  readonly #controllers: ControllerGroup;
  /** Run beside the controllers, in each term of this process. */
  readonly #leaderParts: LeaderPart[] = [];
  readonly #elector: LeaderElector | undefined;
  /** Present in the Manager of a member of a Fleet. */
  readonly #membership: FleetMembership | undefined;
  /** This replica in its group. */
  readonly #shards: ShardMember | undefined;
  /** Sends the writes of this process, only while it leads. */
  readonly #fencedClient: Client;
  readonly #phases: Readonly<Record<Phase, RunnableGroup>>;
  /** Aborts at the end of the grace period, and when the Lease is lost. */
  readonly #killing: Scope = scope(new AbortController().signal);
  /** Aborts when a Runnable fails. */
  readonly #failing: Scope = scope(new AbortController().signal);
  readonly #log: Logger;
  #state: "new" | "preparing" | "running" | "stopped" = "new";

  /** Creates a Manager. It sends no request before {@link run}. */
  constructor(options: ManagerOptions) {
    const { client, namespaces, namespaceSelector, cacheRules, metrics, clock = systemClock, random = systemRandom } =
      options;
    const { leaderElection, dryRun = false, name = "pintle", instance = "local" } = options;
    const { resyncMs = defaultResyncMs, workerJitterMs, strictAccess = false, transportFor, recorder } = options;
    if (namespaces !== undefined && namespaceSelector !== undefined) {
      throw new TypeError(
        "Cannot create a Manager: it has both namespaces and a namespaceSelector. Leave one of them out",
      );
    }
    this.#options = options;
    this.#clock = clock;
    this.#membership = membershipOf(options);
    this.#log = this.#logOf("manager");
    const recovery = new Recovery(clock, random);
    const observe = (client: Client) => client.withTransport((next) => recoveryTransport(next, recovery, { clock }));
    const observed = observe(client);
    this.#elector = leaderElection === undefined ? undefined : new LeaderElector({
      ...leaderElection,
      // A renewal is a sign of life for all others.
      client: observe(leaderElection.client ?? client),
      recorder,
      clock,
      random,
      ...(metrics === undefined ? {} : { metrics: leaderElectionMetrics(metrics, { name: leaderElection.name }) }),
    });
    const { sharding } = options;
    this.#shards = sharding && new ShardMember({
      ...sharding,
      client: observe(sharding.client ?? client),
      work: () => dividedWork(this.#controllers.divided, { namespaces, namespaceSelector }),
      clock,
      random,
      ...(metrics === undefined ? {} : { metrics: shardMetrics(metrics, sharding) }),
    });
    this.#caches = new SharedCaches({
      holds: this.#shards?.holds,
      client: observed,
      recovery,
      namespaces,
      namespaceSelector,
      ...(metrics === undefined ? {} : { setNamespaceCount: namespaceCount(metrics) }),
      rules: cacheRules,
      freeze: options.freezeCache,
      metrics: metrics === undefined ? undefined : cacheMetrics(metrics),
      recorder,
      log: this.#logOf("cache"),
      clock,
      random,
    });
    const writing = dryRun ? observed.dryRunClient() : observed;
    this.#fencedClient = withFence(writing, this.#elector ?? this.#membership?.terms);
    this.#controllers = new ControllerGroup({
      clients: { leader: this.#fencedClient, shards: withFence(writing, this.#shards), every: writing },
      shards: this.#shards,
      caches: this.#caches,
      membership: this.#membership,
      name,
      instance,
      resyncMs,
      workerJitterMs,
      strictAccess,
      transportFor,
      metrics,
      recorder,
      recovery,
      clock,
      random,
    });
    this.#phases = {
      http: this.#createPhase("http"),
      webhooks: this.#createPhase("webhooks"),
      others: this.#createPhase("others"),
    };
  }

  /** The shared caches, for reading and for tests. */
  get caches(): ManagerCaches {
    return this.#caches;
  }

  /** The elector of this process; undefined without leader election. */
  get elector(): LeaderElector | undefined {
    return this.#elector;
  }

  /** True while the controllers run and none has anything to do. A key that waits for its retry does not count. */
  isIdle(): boolean {
    return this.#controllers.isIdle() && this.#shards?.isSettled() !== false;
  }

  /** What each running controller has to do, for a display. */
  activity(): readonly {
    /** The name of the controller. */
    readonly controller: string;
    /** Primary objects in the cache. */
    readonly objects: number;
    /** Keys that wait for a worker. */
    readonly queued: number;
    /** Keys that are reconciled now. */
    readonly running: number;
    /** Keys that will be queued later: for a retry, or because the controller asked for it. */
    readonly waiting: number;
  }[] {
    return this.#controllers.activity();
  }

  /** The keys that failed and will be retried. */
  retrying(): readonly RetryingKey[] {
    return this.#controllers.retrying();
  }

  /** The keys that will be reconciled again at a time that their controllers asked for, as with `requeueAfter`. */
  requeued(): readonly RequeuedKey[] {
    return this.#controllers.requeued();
  }

  /** The keys that are not reconciled for a while, because the controllers' writes were reverted again and again. */
  parked(): readonly ParkedKey[] {
    return this.#controllers.parked();
  }

  /** The health checks: readiness of each controller, and liveness of the leader election if there is one. */
  checks(): readonly {
    /** The name of the controller, or "leader-election". */
    readonly name: string;
    /** "live": if it fails, the process should be restarted. "ready": if it fails, the process should get no requests. */
    readonly probe: "live" | "ready";
    /** Returns the problem in one sentence, or undefined if there is none. */
    readonly problem: () => string | undefined;
  }[] {
    const [elector, shards] = [this.#elector, this.#shards];
    const controllers = this.#controllers.checks().map((check) => ({
      ...check,
      problem: () => this.#state === "preparing" ? notPrepared : check.problem(),
    }));
    const namespaces: readonly ImmediateCheck[] = this.#options.namespaceSelector === undefined
      ? []
      : [{ name: "namespaces", probe: "ready", problem: () => this.#caches.namespaceProblem() }];
    const leases: readonly ImmediateCheck[] = [
      ...(elector === undefined ? [] : [leaseCheck("leader-election", elector)]),
      ...(shards === undefined ? [] : [leaseCheck("shards", shards)]),
    ];
    return [...namespaces, ...controllers, ...leases];
  }

  /**
   * Adds a controller.
   *
   * @param options Overrides of the definition's options.
   * @throws TypeError when a controller with that name exists, or the Manager has started.
   */
  add(definition: ControllerDefinition, options: ControllerOptions = {}): void {
    if (this.#state !== "new") {
      throw new TypeError(`Cannot add controller "${definition.name}": the Manager has started`);
    }
    this.#controllers.add({ ...definition, options: { ...definition.options, ...options } });
  }

  /**
   * Adds another part of the process, such as a server or a poller. If the Manager is running, it starts immediately.
   *
   * @param phase When it starts: HTTP servers first, then webhooks and caches, then others, the controllers last. Parts stop
   *   in the reverse order.
   * @throws TypeError when it was already added, Error when the Manager is stopping.
   */
  async addRunnable(runnable: Runnable, phase: "http" | "webhooks" | "others" = "others"): Promise<void> {
    await this.#phases[phase].add(runnable);
  }

  /**
   * Runs everything until `stop`, then stops it in order.
   *
   * @throws The error that ended a part of the process, such as a LeaseLostError; an AggregateError if the stop led to
   *   further errors.
   */
  async run(stop: AbortSignal): Promise<void> {
    if (this.#state !== "new") throw new TypeError("Cannot run the Manager: it has already run");
    if (this.#shards !== undefined && this.#elector === undefined && this.#controllers.has("leader")) {
      throw new TypeError('Cannot run the Manager: a controller has replicas: "one". Set leaderElection as well');
    }
    this.#state = "preparing";
    using stopping = scope(stop);
    using _failing = onAbort(this.#failing.signal, () => stopping.abort(this.#failing.signal.reason));
    using _grace = this.#killAfterGracePeriod(stopping.signal);
    const errors = await this.#runPhases(stopping);
    this.#state = "stopped";
    this.#killing[Symbol.dispose]();
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, `Cannot run the Manager: ${errors.map(String).join("; ")}`);
  }

  /** Starts everything in order, runs the controllers until the stop, and stops everything in order. @returns All errors. */
  async #runPhases(stopping: Scope): Promise<readonly unknown[]> {
    const { http, webhooks, others } = this.#phases;
    const cachesStop = new AbortController();
    const errors: unknown[] = [];
    let caches: Promise<void> | undefined;
    try {
      await others.add(new ProblemLog({ checks: () => this.checks(), clock: this.#clock, log: this.#log }));
      await http.start(stopping.signal);
      await this.#options.prepare?.(stopping.signal);
      this.#state = "running";
      await webhooks.start(stopping.signal);
      caches = this.#caches.run(cachesStop.signal);
      await others.start(stopping.signal);
      await this.#caches.namespacesKnown(stopping.signal);
      await this.#runReplica(stopping);
    } catch (error) {
      errors.push(...errorsIn(error));
      this.#stopAfter(error, stopping);
    }
    errors.push(...await this.#stopPhase(others));
    cachesStop.abort();
    if (caches !== undefined) errors.push(...await this.#endOfCaches(caches));
    errors.push(...await this.#stopPhase(webhooks), ...await this.#stopPhase(http));
    return errors;
  }

  /** Ends the process after an error. */
  #stopAfter(error: unknown, stopping: Scope): void {
    // The process must end before another one takes the Lease, so there is no grace period.
    if (errorsIn(error).some((one) => one instanceof LeaseLostError)) this.#killing.abort(error);
    stopping.abort(error);
  }

  /** Runs the controllers of this replica: those that all replicas run, and while it leads those that one runs. */
  async #runReplica(stopping: Scope): Promise<void> {
    this.#controllers.warmUp();
    const [shards, kill] = [this.#shards, this.#killing.signal];
    const onEvery = (stop: AbortSignal) => this.#runControllers(stop, kill, "every");
    const onShards = (stop: AbortSignal) =>
      shards?.run((term) => this.#runInTerm(term, { stop, kill, runsOn: "shards" }), stop) ?? aborted(stop);
    const isLeaderNeeded = shards === undefined || this.#elector !== undefined;
    const onLeader = (stop: AbortSignal) => isLeaderNeeded ? this.#runWhileLeading(stop) : aborted(stop);
    await runTogether([onEvery, onShards, onLeader], stopping, (error) => this.#stopAfter(error, stopping));
  }

  /** Runs the controllers during each term of this process; without leader election, until `stop`. */
  async #runWhileLeading(stop: AbortSignal): Promise<void> {
    const [kill, runsOn] = [this.#killing.signal, "leader"] as const;
    const terms = this.#elector ?? this.#membership?.terms;
    if (terms === undefined) return await this.#runControllers(stop, kill, runsOn);
    await terms.run(
      (term) => this.#runInTerm(term, { stop, kill, runsOn, recordTerm: (kill) => this.#recordLeader(kill) }),
      stop,
    );
  }

  /** Runs controllers until `stop`, or until the term is lost. */
  async #runInTerm(term: Pick<Leadership, "signal" | "lost">, options: TermRunOptions): Promise<void> {
    const { stop, kill, runsOn, recordTerm } = options;
    // A lost Lease ends the term without grace period, because another process may already write.
    using stopping = scope(stop);
    using killing = scope(kill);
    using _losing = onAbort(term.signal, () => {
      stopping.abort(term.signal.reason);
      killing.abort(term.signal.reason);
    });
    const recording = recordTerm?.(killing.signal) ?? Promise.resolve();
    try {
      await this.#runControllers(stopping.signal, killing.signal, runsOn);
    } catch (error) {
      throw term.lost === undefined ? error : new AggregateError([term.lost, error], String(error));
    } finally {
      const nameWork = () => "the Event about the leader";
      await withinGrace(recording, { kill: killing.signal, nameWork, clock: this.#clock }).catch(() => undefined);
    }
  }

  /** Records on the Lease that this process leads, as client-go does. Never throws. */
  async #recordLeader(kill: AbortSignal): Promise<void> {
    const { name = "pintle", instance = "local", random = systemRandom } = this.#options;
    const lease = this.#elector?.leaseObject;
    if (lease === undefined) return;
    // A recorder of its own for each term: a repeated Event would be a patch, which needs another permission.
    const recorder = new EventRecorder({
      client: this.#fencedClient,
      reportingController: name,
      reportingInstance: instance,
      clock: this.#clock,
      random,
      log: logger("events", "leader"),
    });
    const note = `${this.#elector?.identity} became leader`;
    recorder.record({ regarding: lease, type: "Normal", reason: "LeaderElection", action: "LeaderElection", note });
    await recorder.run(AbortSignal.abort(), kill);
  }

  async #runControllers(stop: AbortSignal, kill: AbortSignal, runsOn: RunsOn): Promise<void> {
    const nameWork = () => "the controllers";
    const parts = runsOn === "leader" ? this.#leaderParts.map((leaderPart) => leaderPart(stop, kill)) : [];
    const running = Promise.all([this.#controllers.run(stop, kill, runsOn), ...parts]).then(() => undefined);
    await withinGrace(running, { kill, nameWork, clock: this.#clock });
  }

  #logOf(category: string): Logger {
    const cluster = this.#membership?.cluster;
    return cluster === undefined ? logger(category) : logger(category).with({ cluster });
  }

  #createPhase(name: Phase): RunnableGroup {
    const onFailure = (error: Error) => this.#failing.abort(error);
    return new RunnableGroup({ name, kill: this.#killing.signal, onFailure });
  }

  async #stopPhase(group: RunnableGroup): Promise<readonly unknown[]> {
    const nameWork = () => `${group.name} (${group.running.join(", ")})`;
    try {
      return await withinGrace(group.stop(), { kill: this.#killing.signal, nameWork, clock: this.#clock });
    } catch (error) {
      return [error];
    }
  }

  async #endOfCaches(caches: Promise<void>): Promise<readonly unknown[]> {
    try {
      await withinGrace(caches, { kill: this.#killing.signal, nameWork: () => "the caches", clock: this.#clock });
      return [];
    } catch (error) {
      return [error];
    }
  }

  /** Starts the timer of the grace period when `stop` aborts. */
  #killAfterGracePeriod(stop: AbortSignal): Disposable {
    const { gracefulShutdownTimeoutMs: graceMs = 30_000 } = this.#options;
    let timer: Disposable | undefined;
    const kill = () => this.#killing.abort(new DOMException("The grace period is over", "AbortError"));
    const startTimer = () => {
      // Nothing runs yet that must end.
      if (this.#state === "preparing") return;
      if (this.#killing.signal.aborted) return this.#log.info("stopping without grace period");
      this.#log.info("stopping, waiting for running work", { graceMs });
      if (graceMs <= 0) return kill();
      if (graceMs !== Infinity) timer = this.#clock.timer(graceMs, kill);
    };
    const listening = onAbort(stop, startTimer);
    return {
      [Symbol.dispose]: () => {
        listening[Symbol.dispose]();
        timer?.[Symbol.dispose]();
      },
    };
  }
}

function errorsIn(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? error.errors : [error];
}
