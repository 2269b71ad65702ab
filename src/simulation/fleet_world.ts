/**
 * FleetWorld: several API servers, a hub and its members, and one operator that works in all of them, on a virtual clock. A
 * test engages and disengages members, and makes the way to one of them slow, silent or cut.
 *
 * Guarantees: those of World for each server: writes are decoded, defaulted, validated and admitted as kube-apiserver does,
 * and the controllers may do only what they declare for the members and for the hub. The same seed gives the same run.
 */
import type { KubernetesApi } from "../apiserver/mod.ts";
import { drain, type Random, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client, type Transport } from "../client/mod.ts";
import { ControllerAccounts, installCustomResources, type RequestTracker } from "../cluster/mod.ts";
import { type ClusterConnection, Fleet } from "../fleet/mod.ts";
import { type AccessPlace, Manager, type OperatorController } from "../manager/mod.ts";
import { ReportedClusters } from "./reported_clusters.ts";
import { type ServerFault, ServerLink } from "./server_link.ts";
import type { SettledOptions } from "./world.ts";
import { WorldServer, worldServerParts } from "./world_server.ts";

/** Options of {@link FleetWorld.start}. */
export interface FleetWorldOptions {
  /** The controllers under test. Their CRDs are installed in the hub and in all members first. */
  readonly controllers: readonly OperatorController[];
  /** The names of the members. All are engaged at the start. */
  readonly members: readonly string[];
  /** The time of the world. @default a new one */
  readonly clock?: VirtualClock;
  /** The source of randomness. @default 1 */
  readonly seed?: number;
  /** The limit of reconciles in all members together. @default that of a Fleet */
  readonly maxConcurrentReconciles?: number;
}

/** One API server of a {@link FleetWorld}. There are no nodes and no garbage collector. */
export class FleetServer extends WorldServer implements Disposable {
  readonly #api: KubernetesApi;
  readonly #accounts: ControllerAccounts;
  readonly #requests: RequestTracker;
  readonly #link: ServerLink;

  /** Used by {@link FleetWorld}. */
  constructor(
    controllers: readonly OperatorController[],
    options: { readonly clock: VirtualClock; readonly random: Random; readonly place: AccessPlace },
  ) {
    const { clock, random, place } = options;
    const accounts = new ControllerAccounts({ controllers, name: "world", place });
    const parts = worldServerParts(controllers, { clock, random, accounts: accounts.accounts });
    super(parts);
    this.#accounts = accounts;
    this.#api = parts.api;
    this.#requests = parts.requests;
    this.#link = new ServerLink(parts.requests.fetch, clock);
  }

  /** Changes the way of the operator to this server, from now on. */
  setFault(fault: ServerFault): void {
    this.#link.set(fault);
  }

  /** The connection of the operator. Used by {@link FleetWorld}. */
  connection(server: string): ClusterConnection {
    const { operatorTransport, transportFor } = this.#accounts;
    const transport: Transport = operatorTransport(this.#link.transport);
    return { server, transport, transportFor, [Symbol.dispose]() {} };
  }

  /** Waits until no request is being answered. */
  async idle(): Promise<void> {
    await this.#requests.idle();
  }

  /** Ends the server. */
  [Symbol.dispose](): void {
    this.#api.server[Symbol.dispose]();
  }
}

/**
 * A test environment for an operator of many clusters: a hub, members and one operator, with a virtual clock.
 *
 * @example A member is lost, and the other one does not notice
 * ```ts
 * import { ConfigMap, controller, done, manifest, Namespace } from "@pintle/controller";
 * import { FleetWorld } from "@pintle/controller/testing";
 *
 * const greeter = controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
 *   const metadata = { namespace: ctx.object.metadata.name, name: "greeting" };
 *   await ctx.apply(manifest(ConfigMap, { metadata, data: { cluster: ctx.cluster?.name ?? "" } }));
 *   return done;
 * });
 * await using world = await FleetWorld.start({ controllers: [greeter], members: ["east", "west"] });
 * world.member("west").setFault({ kind: "lost" });
 * await world.member("east").create(Namespace, { name: "team-a" });
 * await world.settled();
 * console.assert(world.member("east").get(ConfigMap, "team-a/greeting").data?.cluster === "east");
 * ```
 */
export class FleetWorld implements AsyncDisposable {
  /** The time of the world. */
  readonly clock: VirtualClock;
  /** The hub. It is not a member. */
  readonly hub: FleetServer;
  readonly #members: ReadonlyMap<string, FleetServer>;
  readonly #reported: ReportedClusters;
  readonly #fleet: Fleet;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #failure: unknown;

  private constructor(options: FleetWorldOptions) {
    const { controllers, members, clock = new VirtualClock(), seed = 1, maxConcurrentReconciles } = options;
    const random = seededRandom(seed);
    this.clock = clock;
    this.hub = new FleetServer(controllers, { clock, random, place: "hub" });
    const create = (name: string) => [name, new FleetServer(controllers, { clock, random, place: "members" })] as const;
    this.#members = new Map(members.map(create));
    this.#reported = new ReportedClusters(members);
    const { transport, transportFor } = this.hub.connection("hub");
    const client = new Client(transport, { clock });
    const hub = new Manager({ client, transportFor, name: "world", freezeCache: true, clock, random });
    const connect = (member: string) => this.member(member).connection(`https://${member}.example.dev`);
    this.#fleet = new Fleet({ hub, provider: this.#reported.provider(connect), maxConcurrentReconciles });
    for (const controller of controllers) this.#fleet.add(controller);
  }

  /** Starts a world. Use it with `await using`. @throws ApiError when a CRD is invalid */
  static async start(options: FleetWorldOptions): Promise<FleetWorld> {
    const world = new FleetWorld(options);
    for (const server of [world.hub, ...world.#members.values()]) {
      await installCustomResources(server.client, options.controllers);
    }
    world.#running = world.#fleet.run(world.#stop.signal).catch((error: unknown) => void (world.#failure = error));
    await drain();
    return world;
  }

  /** The server of a member. @throws TypeError when there is none of that name */
  member(name: string): FleetServer {
    const server = this.#members.get(name);
    if (server === undefined) throw new TypeError(`Cannot find member "${name}": the world has none of that name`);
    return server;
  }

  /** What the Fleet says about its clusters. */
  clusters(): ReturnType<Fleet["clusters"]> {
    return this.#fleet.clusters();
  }

  /** The provider reports the member again. */
  engage(name: string): void {
    this.member(name);
    this.#reported.engage(name);
  }

  /** The provider does not report the member any more. */
  disengage(name: string): void {
    this.#reported.disengage(name);
  }

  /**
   * Advances the clock until nothing happens any more: there was no write for a while, and no cluster that works has anything to
   * do. Clusters with a problem are not waited for.
   *
   * @throws Error when this takes too long, or the operator has ended
   */
  async settled(options: SettledOptions = {}): Promise<void> {
    const { withinMs = 600_000, quietMs = 3_000 } = options;
    const until = this.clock.monotonic() + withinMs;
    let [revision, quietSince] = ["", 0];
    while (true) {
      if (this.#failure !== undefined) {
        throw new Error("Cannot settle: the operator has ended", { cause: this.#failure });
      }
      const now = this.clock.monotonic();
      const current = [this.hub, ...this.#members.values()].map((server) => server.revision).join();
      if (current !== revision || this.#isBusy()) [revision, quietSince] = [current, now];
      if (now - quietSince >= quietMs) return;
      if (now >= until) throw new Error(`Cannot settle within ${withinMs} ms: ${this.#busyText()}`);
      await this.clock.advance(Math.min(this.clock.nextTimerInMs ?? quietMs, quietMs));
    }
  }

  /** Stops the operator, then the servers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const ended = Promise.resolve(this.#running).then(() => true);
    const tick = async () => {
      await this.clock.advance(this.clock.nextTimerInMs ?? 0);
      return false;
    };
    while (!await Promise.race([ended, tick()]));
    for (const server of [this.hub, ...this.#members.values()]) server[Symbol.dispose]();
  }

  #isBusy(): boolean {
    const engaged = new Set(this.#fleet.clusters().map(({ name }) => name));
    if (engaged.symmetricDifference(this.#reported.names).size > 0) return true;
    const troubled = new Set(
      this.#fleet.clusters().flatMap(({ name, problem }) => problem === undefined ? [] : [name]),
    );
    return [...this.#fleet.managers()].some(([name, manager]) =>
      !troubled.has(name) && (!manager.isIdle() || manager.retrying().length > 0)
    );
  }

  #busyText(): string {
    return this.#fleet.clusters().map(({ name, state, problem = "no problem" }) => `${name} is ${state}, ${problem}`)
      .join("; ");
  }
}
