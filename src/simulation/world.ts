/**
 * World: the environment for tests of controllers: an API server, a simulated cluster and the controllers in one process, with a
 * virtual clock. No test sleeps, no socket is opened, and the same seed gives the same run.
 *
 * Guarantees: `settled()` returns when all effects of the last change are complete, however long that would take in a real
 * cluster. The server decodes, defaults, validates and admits writes as kube-apiserver does; only an owner reference that
 * the garbage collector could not follow is refused (`owner_references.ts`). Cached objects are frozen: a
 * controller that changes one fails in its test, and not only in a cluster.
 */
import { builtin, type LabelSelector, type Resource, resourceId } from "../api/mod.ts";
import type { KubernetesApi } from "../apiserver/mod.ts";
import { drain, type Random, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client, type Transport } from "../client/mod.ts";
import {
  ControllerAccounts,
  installCustomResources,
  installWebhooks,
  type RequestTracker,
  SimulatedCluster,
  webhookCaller,
} from "../cluster/mod.ts";
import { Manager, type OperatorController } from "../manager/mod.ts";
import type { Recorder } from "../observe/mod.ts";
import { WorldServer, worldServerParts } from "./world_server.ts";

/** Options of {@link World.start}. */
export interface WorldOptions {
  /** The controllers under test. Their CRDs and webhooks are installed first. */
  readonly controllers: readonly OperatorController[];
  /** The time of the world. @default a new one */
  readonly clock?: VirtualClock;
  /** The source of randomness: UIDs, generated names, jitter. @default 1 */
  readonly seed?: number;
  /** Runs the simulated nodes and the controllers of Deployments, namespaces and so on. @default true */
  readonly cluster?: boolean;
  /** The number of simulated nodes. @default 3 */
  readonly nodes?: number;
  /**
   * What the controllers may do. "declared": only what they declare, as in a cluster with the roles that `manifests` prints;
   * every other request gets a 403 that names the missing declaration. "unchecked": everything. @default "declared"
   */
  readonly access?: "declared" | "unchecked";
  /** The labels of the namespaces that the controllers watch, as an option of a Manager. @default all namespaces */
  readonly namespaceSelector?: LabelSelector;
  /** Wraps the transport of the controllers, to observe or change their requests. @default unchanged */
  readonly wrap?: (transport: Transport) => Transport;
  /** Records what the controllers see, decide and do, e.g. a `Recording`. @default nothing is recorded */
  readonly recorder?: Recorder;
}

/** Options of {@link World.settled}. */
export interface SettledOptions {
  /** Virtual milliseconds after which it fails. @default 600_000 */
  readonly withinMs?: number;
  /** Virtual milliseconds without a write after which the world has settled. @default 3_000 */
  readonly quietMs?: number;
}

/**
 * A test environment for controllers: an API server, a simulated cluster and the controllers in this process, with a
 * virtual clock. No test sleeps, no socket is opened, and the same seed gives the same run.
 *
 * @example
 * ```ts
 * import { ConfigMap, controller, done, manifest, Namespace } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
 *   const namespace = ctx.object.metadata.name;
 *   await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: "greeting" }, data: { text: "hello" } }));
 *   return done;
 * });
 * await using world = await World.start({ controllers: [greeter] });
 * await world.create(Namespace, { name: "team-a" });
 * await world.settled();
 * console.assert(world.get(ConfigMap, "team-a/greeting").data?.text === "hello");
 * ```
 */
export class World extends WorldServer implements AsyncDisposable {
  /** The time of the world. {@link settled} advances it; a test may do so too. */
  readonly clock: VirtualClock;
  readonly #api: KubernetesApi;
  /** Undefined when the controllers may do everything. */
  readonly #accounts: ControllerAccounts | undefined;
  readonly #requests: RequestTracker;
  readonly #options: WorldOptions;
  readonly #random: Random;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #failures: unknown[] = [];
  #manager: Manager | undefined;

  private constructor(options: WorldOptions) {
    const { clock = new VirtualClock(), seed = 1, controllers, access = "declared" } = options;
    const random = seededRandom(seed);
    const callWebhook = webhookCaller(controllers, clock);
    const selectsNamespaces = options.namespaceSelector !== undefined;
    const accounts = access === "declared"
      ? new ControllerAccounts({ controllers, name: "world", selectsNamespaces })
      : undefined;
    const parts = worldServerParts(controllers, { clock, random, callWebhook, accounts: accounts?.accounts });
    super(parts);
    this.#options = options;
    this.clock = clock;
    this.#random = random;
    this.#accounts = accounts;
    this.#api = parts.api;
    this.#requests = parts.requests;
  }

  /**
   * Starts a world: installs the CRDs and webhooks of the controllers, and runs the controllers. Use it with `await using`,
   * so that the controllers stop at the end of the test.
   *
   * @throws ApiError when a CRD or a webhook is invalid; TypeError when two controllers have the same name, or a kind has
   * several versions and nothing converts between them.
   */
  static async start(options: WorldOptions): Promise<World> {
    const world = new World(options);
    await world.#start();
    return world;
  }

  /**
   * Advances the clock until the world has settled: all caches are current, all queues are empty, and there was no write for
   * a while.
   *
   * @throws Error when this takes too long; the message names the controller that is still busy, and the last error of a
   *   key that still fails
   */
  async settled(options: SettledOptions = {}): Promise<void> {
    const { withinMs = 600_000, quietMs = 3_000 } = options;
    const until = this.clock.monotonic() + withinMs;
    let [revision, quietSince] = [-1, 0];
    while (true) {
      await this.#requests.idle();
      const [failure] = this.#failures;
      if (failure !== undefined) {
        throw new Error("Cannot settle: a controller or the cluster has ended", { cause: failure });
      }
      const now = this.clock.monotonic();
      if (this.revision !== revision || this.#isBusy()) {
        [revision, quietSince] = [this.revision, now];
      }
      if (now - quietSince >= quietMs) return;
      if (now >= until) throw new Error(`Cannot settle within ${withinMs} ms: ${this.#busyText()}`);
      await this.clock.advance(Math.min(this.clock.nextTimerInMs ?? quietMs, quietMs));
    }
  }

  /** Stops the controllers in order, then the cluster and the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const ended = Promise.allSettled(this.#running).then(() => true);
    while (!await Promise.race([ended, this.#tick()]));
    this.#api.server[Symbol.dispose]();
  }

  async #start(): Promise<void> {
    const { controllers, cluster = true, nodes } = this.#options;
    await installCustomResources(this.client, controllers);
    await installWebhooks(this.client, controllers, { name: "world" });
    if (cluster) this.#run(this.#clusterOf(collectedKinds(controllers), nodes));
    this.#manager = this.#managerOf(controllers);
    this.#track(this.#manager.run(this.#stop.signal));
    await drain();
  }

  #clusterOf(collected: readonly Resource[], nodes: number | undefined): SimulatedCluster {
    const { client, clock } = this;
    const { storage } = this.#api.server;
    return new SimulatedCluster({ client, storage, clock, random: this.#random, collected, nodes });
  }

  #run(cluster: SimulatedCluster): void {
    const { signal } = this.#stop;
    this.#track(cluster.run({ stop: signal, kill: signal }));
  }

  /** Records why a part ended before the world was stopped. */
  #track(running: Promise<void>): void {
    this.#running.push(running.catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#failures.push(error);
    }));
  }

  #managerOf(controllers: readonly OperatorController[]): Manager {
    const { namespaceSelector, wrap = (transport) => transport } = this.#options;
    const { operatorTransport = (transport: Transport) => transport, transportFor } = this.#accounts ?? {};
    const client = new Client(wrap(operatorTransport(this.#requests.fetch)), { clock: this.clock });
    const manager = new Manager({
      transportFor,
      client,
      name: "world",
      ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
      recorder: this.#options.recorder,
      freezeCache: true,
      clock: this.clock,
      random: this.#random,
    });
    for (const controller of controllers) manager.add(controller);
    return manager;
  }

  /** Advances the clock for parts that wait for it while they stop. */
  async #tick(): Promise<false> {
    await this.clock.advance(this.clock.nextTimerInMs ?? 0);
    return false;
  }

  #isBusy(): boolean {
    return this.#manager !== undefined && (!this.#manager.isIdle() || this.#manager.retrying().length > 0);
  }

  #busyText(): string {
    const [retrying] = this.#manager?.retrying() ?? [];
    if (retrying !== undefined) {
      const { controller, key, retries, error } = retrying;
      return `controller ${controller} still retries "${key}" (${retries} failures, the last one: ${error})`;
    }
    const parked = this.#manager?.parked() ?? [];
    if (parked.length > 0) {
      return parked.map(({ controller, key, reason }) => `${controller} ${key}: ${reason}`).join("; ");
    }
    return this.#manager?.isIdle() === false ? "a controller is busy" : "there are still writes";
  }
}

/** The kinds whose owner references the garbage collector of a world follows. */
function collectedKinds(controllers: readonly OperatorController[]): readonly Resource[] {
  const watched = controllers.flatMap(({ watches }) => watches.map(({ resource }) => resource));
  const workloads = [
    builtin.Deployment,
    builtin.ReplicaSet,
    builtin.StatefulSet,
    builtin.DaemonSet,
    builtin.Job,
    builtin.Pod,
  ];
  const all: readonly Resource[] = [...watched, ...workloads, builtin.Service];
  return [...new Map(all.map((resource) => [resourceId(resource), resource])).values()];
}
