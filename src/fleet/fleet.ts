/**
 * Fleet: one operator for many clusters. It runs the same controllers in each cluster that its provider reports, and engages
 * and disengages clusters while it runs.
 *
 *   ClusterProvider -> Fleet -> MemberCluster -> Manager -> caches, queues, backoff, Events of one cluster
 *                        `---> the Manager of the hub: leader election, servers, controllers with `runsIn: "hub"`
 *
 * Guarantees: each cluster has caches, queues, backoff and Events of its own, so one that is slow, gone or answers nonsense
 * delays no other one; the process leads in all clusters or in none, by one Lease in the hub, which is released when the
 * controllers of all clusters have ended. Disengaging a cluster deletes nothing in it.
 *
 * Caveats: the clusters share one event loop. Listing very many objects of one cluster takes time that the others wait.
 */
import { aborted, Backoff, scope, systemClock, systemRandom, untilAborted } from "../async/mod.ts";
import { type ControllerDefinition, type ControllerOptions, isInHub } from "../controller/mod.ts";
import {
  EventRecorder,
  type FleetMembership,
  type HubParts,
  hubPartsOf,
  type Life,
  type Manager,
  type ManagerOptions,
  type ParkedKey,
  type RetryingKey,
} from "../manager/mod.ts";
import { errorText, type Logger, logger } from "../observe/mod.ts";
import { HubTerms } from "./hub_terms.ts";
import { MemberCluster, type MemberManagerOptions } from "./member_cluster.ts";
import { type ClusterProvider, distinctClusters, type FleetCluster } from "./cluster_provider.ts";
import { ClusterTurns, ReconcileTurns } from "./reconcile_turns.ts";

/** Options of a {@link Fleet}. */
export interface FleetOptions {
  /** The Manager of the hub. Its options are those of the members, too, with the exception of client and leader election. */
  readonly hub: Manager;
  /** Reports the clusters. */
  readonly provider: ClusterProvider;
  /**
   * Reconciles at the same time in all clusters together. A cluster without a running reconcile may always begin one, so a
   * slow cluster cannot use up what the others need. The limits of the controllers hold for each cluster.
   * @default 100
   */
  readonly maxConcurrentReconciles?: number;
  /** Milliseconds after which a request to a cluster fails, with the exception of watches. @default no limit */
  readonly requestTimeoutMs?: number;
}

/** What a Fleet says about one of its clusters. */
export interface ClusterStatus {
  /** The name that the provider gave it. */
  readonly name: string;
  /** `connecting`, `running`, `failed`: tried again with backoff, or `draining`: it is being disengaged. */
  readonly state: "connecting" | "running" | "failed" | "draining";
  /** The URL of the API server. Absent while there is no connection. */
  readonly server?: string;
  /** What keeps it from being reconciled. Absent if nothing does. */
  readonly problem?: string;
}

/** How many clusters a message names. */
const maxNamed = 3;

/**
 * Runs controllers in many clusters. It has a Manager for its hub, which elects the leader and serves the endpoints, and makes
 * one for each cluster that the provider reports.
 *
 * @example
 * ```ts
 * import { clusterList, ConfigMap, controller, done, Fleet, Manager, manifest, Namespace } from "@pintle/controller";
 * import { Client } from "@pintle/controller/client";
 *
 * const list = { kind: "NamespaceList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] };
 * const transport = () => Promise.resolve(Response.json(list)); // clusterTransport(access)
 * const connect = () => Promise.resolve({ server: "https://east.example.dev", transport, [Symbol.dispose]() {} });
 *
 * const hub = new Manager({ client: new Client(transport), gracefulShutdownTimeoutMs: 5_000 });
 * const fleet = new Fleet({ hub, provider: clusterList({ east: connect }) });
 * fleet.add(controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
 *   const metadata = { namespace: ctx.object.metadata.name, name: "greeting" };
 *   await ctx.apply(manifest(ConfigMap, { metadata, data: { cluster: ctx.cluster?.name ?? "" } }));
 *   return done;
 * }));
 * const stop = new AbortController();
 * const running = fleet.run(stop.signal);
 * stop.abort();
 * await running;
 * console.assert(fleet.clusters().length === 0);
 * ```
 */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #parts: HubParts<ManagerOptions>;
  readonly #terms: HubTerms | undefined;
  readonly #turns: ReconcileTurns;
  readonly #controllers: ControllerDefinition[] = [];
  readonly #members = new Map<string, MemberCluster>();
  readonly #running = new Set<Promise<void>>();
  readonly #events: EventRecorder;
  readonly #log: Logger = logger("fleet");
  /** Aborts when the members must drain. */
  readonly #stopping = scope(new AbortController().signal);
  /** What the provider has reported last; undefined before its first report. */
  #reported: ReadonlyMap<string, FleetCluster> | undefined;
  #providerProblem: string | undefined;
  #isStarted = false;

  /** Creates a Fleet. It sends no request before {@link run}. @throws RangeError when the limit is below 1 */
  constructor(options: FleetOptions) {
    const { hub, maxConcurrentReconciles = 100 } = options;
    this.#options = options;
    if (hubPartsOf(hub).options.sharding !== undefined) {
      throw new TypeError("Cannot create a Fleet: the Manager of its hub has `sharding`, which is for one cluster");
    }
    this.#parts = hubPartsOf(hub);
    const { elector, client, options: { name = "pintle", instance = "local" } } = this.#parts;
    this.#terms = elector === undefined ? undefined : new HubTerms(elector);
    this.#turns = new ReconcileTurns(maxConcurrentReconciles);
    this.#events = new EventRecorder({
      ...{ client, reportingController: `${name}/fleet`, reportingInstance: instance },
      ...{ clock: this.#clock, random: this.#random, log: logger("events", "fleet") },
    });
    this.#parts.addLeaderPart((stop) => this.#lead(stop));
  }

  /**
   * Adds a controller: to all members, or to the hub if its option `runsIn` says so.
   *
   * @param options Overrides of the definition's options.
   * @throws TypeError when a controller with that name exists, or the Fleet has started.
   */
  add(definition: ControllerDefinition, options: ControllerOptions = {}): void {
    const merged = { ...definition, options: { ...definition.options, ...options } };
    if (this.#isStarted) throw new TypeError(`Cannot add controller "${merged.name}": the Fleet has started`);
    if (merged.options.runsIn === "hub") return this.#options.hub.add(merged);
    if (this.#controllers.some(({ name }) => name === merged.name)) {
      throw new TypeError(`Cannot add controller "${merged.name}": a controller with that name exists`);
    }
    for (const watch of merged.watches) {
      if (isInHub(watch.resource)) this.#parts.caches.declare(watch, merged);
    }
    this.#controllers.push(merged);
  }

  /** The clusters, with what they do, sorted by name. */
  clusters(): readonly ClusterStatus[] {
    return [...this.#members.values()].map((member): ClusterStatus => {
      const { name, state } = member;
      const problem = member.problem();
      return {
        name,
        state: state.kind,
        ...(state.kind === "running" ? { server: state.server } : {}),
        ...(problem === undefined ? {} : { problem }),
      };
    }).sort((left, right) => left.name < right.name ? -1 : 1);
  }

  /** The Managers of the clusters that run, by name. */
  managers(): ReadonlyMap<string, Manager> {
    return new Map(
      [...this.#members].flatMap(([name, { state }]) => state.kind === "running" ? [[name, state.manager]] : []),
    );
  }

  /**
   * True while the hub and all clusters run and no controller has anything to do.
   *
   * @param options `except`: names of clusters that do not count, such as those that cannot be connected. @default all count
   */
  isIdle({ except = new Set() }: { readonly except?: ReadonlySet<string> } = {}): boolean {
    const members = [...this.#members.values()].filter(({ name }) => !except.has(name));
    return this.#options.hub.isIdle() && this.#reported !== undefined &&
      members.every(({ state }) => state.kind === "running" && state.manager.isIdle());
  }

  /** The keys that failed and will be retried, in all clusters. */
  retrying(): readonly (RetryingKey & { readonly cluster: string })[] {
    return [...this.managers()].flatMap(([cluster, manager]) => manager.retrying().map((key) => ({ ...key, cluster })));
  }

  /** The keys that are not reconciled for a while, in all clusters. */
  parked(): readonly (ParkedKey & { readonly cluster: string })[] {
    return [...this.managers()].flatMap(([cluster, manager]) => manager.parked().map((key) => ({ ...key, cluster })));
  }

  /**
   * The health checks of the hub, and the readiness of the Fleet: the process is ready when the provider has reported and at
   * least one cluster works. A cluster with a problem is no reason to stop the work in the others; `clusters()` and the metric
   * `fleet_cluster_ready` show it.
   */
  checks(): ReturnType<Manager["checks"]> {
    return [...this.#options.hub.checks(), { name: "fleet", probe: "ready", problem: () => this.#problem() }];
  }

  /**
   * Runs the hub and all clusters until `stop`, then stops them in order.
   *
   * @throws What the Manager of the hub throws. The failure of a cluster does not end the Fleet.
   */
  async run(stop: AbortSignal): Promise<void> {
    const { hub } = this.#options;
    this.#isStarted = true;
    await hub.addRunnable({ name: "fleet", run: (life) => this.#run(life) });
    await hub.run(stop);
  }

  get #clock() {
    return this.#parts.options.clock ?? systemClock;
  }

  get #random() {
    return this.#parts.options.random ?? systemRandom;
  }

  async #run({ stop, kill }: Life): Promise<void> {
    const eventsStop = new AbortController();
    const sending = this.#events.run(eventsStop.signal, kill);
    const following = this.#followProvider(this.#stopping.signal);
    await untilAborted(following, stop).catch(() => undefined);
    await this.#drain();
    await following;
    eventsStop.abort();
    await sending;
  }

  /** Runs in each term: lets the members work. At the stop of the process, they drain before the Lease is released. */
  async #lead(stop: AbortSignal): Promise<void> {
    const term = this.#parts.elector?.leadership;
    const leading = this.#terms?.lead(stop);
    using stopped = aborted(stop);
    await stopped;
    // A process that has lost the Lease and stands by keeps its caches.
    if (term?.lost === undefined) await this.#drain();
    await leading;
  }

  /** Disengages all clusters, and waits until they have drained. */
  async #drain(): Promise<void> {
    this.#stopping.abort();
    for (const member of this.#members.values()) member.end();
    await Promise.all(this.#running);
  }

  /** Never throws. */
  async #followProvider(stop: AbortSignal): Promise<void> {
    const { provider } = this.#options;
    const [clock, random] = [this.#clock, this.#random];
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, jitter: 1, resetAfterMs: 120_000, clock, random });
    while (!stop.aborted) {
      try {
        const reports = provider.watch(stop)[Symbol.asyncIterator]();
        while (true) {
          // A provider that waits for something else than the signal does not keep the process from stopping.
          const report = await untilAborted(reports.next(), stop);
          if (report.done === true) throw new Error("it ended");
          this.#providerProblem = undefined;
          this.#report(report.value);
        }
      } catch (error) {
        if (stop.aborted) return;
        this.#providerProblem = errorText(error);
        this.#log.error("provider failed, trying again", { provider: provider.name, error });
        await clock.sleep(backoff.next(), stop).catch(() => undefined);
      }
    }
  }

  #report(clusters: readonly FleetCluster[]): void {
    const { clusters: reported, repeated } = distinctClusters(clusters);
    for (const cluster of repeated) {
      this.#log.error("several clusters have the same name, using the first one", { cluster });
    }
    this.#reported = reported;
    this.#converge();
  }

  /** Engages what is missing, updates what runs, and disengages what is not reported any more. */
  #converge(): void {
    for (const [name, member] of this.#members) if (!this.#reported?.has(name)) member.end();
    if (this.#stopping.signal.aborted) return;
    for (const [name, cluster] of this.#reported ?? []) {
      const member = this.#members.get(name);
      if (member === undefined) this.#engage(cluster);
      else if (!member.isEnding) member.update(cluster);
    }
  }

  #engage(cluster: FleetCluster): void {
    const { name } = cluster;
    const { metrics } = this.#parts.options;
    const turns = new ClusterTurns(this.#turns, name);
    const member = new MemberCluster(cluster, {
      manager: this.#managerOptions(name),
      membership: this.#membership(name, turns),
      onManagerEnded: () => turns[Symbol.dispose](),
      addControllers: (manager) => this.#controllers.forEach((controller) => manager.add(controller)),
      requestTimeoutMs: this.#options.requestTimeoutMs,
      onConnected: (connected) => this.#warnOfSecondName(connected),
      onProblem: (at, error) => this.#recordProblem(at, error),
      log: this.#log,
    });
    this.#members.set(name, member);
    metrics?.gauge({
      name: "fleet_cluster_ready",
      help: "Whether a cluster of the fleet is reconciled: 1, or 0 if it has a problem",
      labelNames: ["cluster"],
    }).labels({ cluster: name }).read(() => member.problem() === undefined ? 1 : 0);
    const running = member.run().finally(() => {
      this.#running.delete(running);
      this.#members.delete(name);
      metrics?.removeCells({ cluster: name });
      // It may have been reported again meanwhile.
      this.#converge();
    });
    this.#running.add(running);
  }

  /** Both names work, as two operators would: what depends on the name is written by each in turn. */
  #warnOfSecondName(member: MemberCluster): void {
    const other = [...this.#members.values()].find((one) => one !== member && one.isSameAs(member));
    if (other === undefined) return;
    const [cluster, sameAs] = [member.name, other.name];
    this.#log.warn("two clusters are the same one, so its objects are reconciled twice", { cluster, sameAs });
  }

  #managerOptions(cluster: string): MemberManagerOptions {
    const { client: _client, leaderElection: _election, prepare: _prepare, metrics, recorder, ...shared } =
      this.#parts.options;
    return {
      ...shared,
      clock: this.#clock,
      random: this.#random,
      metrics: metrics?.withLabels({ cluster }),
      recorder: recorder && {
        keepsStates: recorder.keepsStates,
        record: (entry) => recorder.record({ ...entry, cluster }),
        traceparentOf: (start) => recorder.traceparentOf?.(start),
      },
    };
  }

  #membership(cluster: string, turns: ClusterTurns): FleetMembership {
    const { client, caches } = this.#parts;
    const { take: turn } = turns;
    return { cluster, hub: { client, caches }, turn, ...(this.#terms === undefined ? {} : { terms: this.#terms }) };
  }

  #recordProblem({ name, regarding }: FleetCluster, error: unknown): void {
    if (regarding === undefined) return;
    const note = `Cluster "${name}" is not reconciled: ${errorText(error)}`;
    this.#events.record({ regarding, type: "Warning", reason: "ClusterNotConnected", action: "Connect", note });
  }

  #problem(): string | undefined {
    const { provider } = this.#options;
    if (this.#reported === undefined) {
      return `${provider.name} has reported no clusters yet${
        this.#providerProblem === undefined ? "" : `: ${this.#providerProblem}`
      }`;
    }
    const problems = this.clusters().flatMap(({ name, problem }) =>
      problem === undefined ? [] : [`${name}: ${problem}`]
    );
    if (problems.length === 0 || problems.length < this.#members.size) return undefined;
    const more = problems.length > maxNamed ? `; and ${problems.length - maxNamed} more` : "";
    return `no cluster works: ${problems.slice(0, maxNamed).join("; ")}${more}`;
  }
}
