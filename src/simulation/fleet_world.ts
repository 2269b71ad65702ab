/**
 * FleetWorld: several API servers, a hub and its members, and one operator that works in all of them, on a virtual clock. A
 * test engages and disengages members, and makes the way to one of them slow, silent or cut.
 *
 * Guarantees: those of World for each server: writes are decoded, defaulted, validated and admitted as kube-apiserver does,
 * and the controllers may do only what they declare for the members and for the hub. The same seed gives the same run.
 */
import type { Infer, Resource } from "../api/mod.ts";
import { type KubernetesApi, kubernetesApi } from "../apiserver/mod.ts";
import { aborted, drain, type Random, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client, type Transport } from "../client/mod.ts";
import {
  ControllerAccounts,
  conversionsOf,
  findStoredObject,
  type InMemoryApi,
  installCustomResources,
  RequestTracker,
  storedObject,
  storedObjects,
} from "../cluster/mod.ts";
import { type ClusterConnection, type ClusterProvider, Fleet, type FleetCluster } from "../fleet/mod.ts";
import { type AccessPlace, Manager, type OperatorController } from "../manager/mod.ts";
import { refuseUnreachableOwners } from "./owner_references.ts";
import { type ServerFault, ServerLink } from "./server_link.ts";
import type { SettledOptions } from "./world.ts";

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
export class FleetServer implements Disposable {
  /** A client with all rights, which no fault affects. */
  readonly client: Client;
  readonly #api: KubernetesApi;
  readonly #stored: InMemoryApi;
  readonly #accounts: ControllerAccounts;
  readonly #requests: RequestTracker;
  readonly #link: ServerLink;

  /** Used by {@link FleetWorld}. */
  constructor(
    controllers: readonly OperatorController[],
    options: { readonly clock: VirtualClock; readonly random: Random; readonly place: AccessPlace },
  ) {
    const { clock, random, place } = options;
    this.#accounts = new ControllerAccounts({ controllers, name: "world", place });
    this.#api = kubernetesApi({ clock, random, accounts: this.#accounts.accounts });
    this.#stored = { server: this.#api.server, conversions: conversionsOf(controllers) };
    this.#requests = new RequestTracker(refuseUnreachableOwners(this.#api));
    this.#link = new ServerLink(this.#requests.fetch, clock);
    this.client = new Client(this.#requests.fetch, { clock });
  }

  /** The revision of the server, which grows with every write. */
  get revision(): number {
    return this.#api.server.storage.revision;
  }

  /** The stored object. @param key "namespace/name", or "name" if the kind is cluster-scoped. @throws Error when it does not exist */
  get<R extends Resource>(resource: R, key: string): Infer<R> {
    return storedObject(this.#stored, resource, key);
  }

  /** The stored object; undefined when it does not exist. @param key "namespace/name", or "name" if the kind is cluster-scoped. */
  find<R extends Resource>(resource: R, key: string): Infer<R> | undefined {
    return findStoredObject(this.#stored, resource, key);
  }

  /** All stored objects of a kind, sorted by name. @param namespace @default all namespaces */
  list<R extends Resource>(resource: R, namespace?: string): readonly Infer<R>[] {
    return storedObjects(this.#stored, resource, namespace);
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
 * await world.member("east").client.create(Namespace, { metadata: { name: "team-a" }, spec: {} });
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
  readonly #engaged: Set<string>;
  readonly #fleet: Fleet;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #failure: unknown;
  #changed = Promise.withResolvers<void>();

  private constructor(options: FleetWorldOptions) {
    const { controllers, members, clock = new VirtualClock(), seed = 1, maxConcurrentReconciles } = options;
    const random = seededRandom(seed);
    this.clock = clock;
    this.hub = new FleetServer(controllers, { clock, random, place: "hub" });
    const create = (name: string) => [name, new FleetServer(controllers, { clock, random, place: "members" })] as const;
    this.#members = new Map(members.map(create));
    this.#engaged = new Set(members);
    const { transport, transportFor } = this.hub.connection("hub");
    const client = new Client(transport, { clock });
    const hub = new Manager({ client, transportFor, name: "world", freezeCache: true, clock, random });
    this.#fleet = new Fleet({ hub, provider: this.#provider(), maxConcurrentReconciles });
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
    this.#engaged.add(name);
    this.#changed.resolve();
  }

  /** The provider does not report the member any more. */
  disengage(name: string): void {
    this.#engaged.delete(name);
    this.#changed.resolve();
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

  #provider(): ClusterProvider {
    // deno-lint-ignore no-this-alias -- a generator has no lexical this
    const world = this;
    return {
      name: "the world",
      async *watch(signal) {
        using stopped = aborted(signal);
        while (!signal.aborted) {
          world.#changed = Promise.withResolvers<void>();
          yield [...world.#engaged].map((name): FleetCluster => ({
            name,
            revision: "",
            connect: () => Promise.resolve(world.member(name).connection(`https://${name}.example.dev`)),
          }));
          await Promise.race([world.#changed.promise, stopped]);
        }
      },
    };
  }

  #isBusy(): boolean {
    const isEngaged = new Set(this.#fleet.clusters().map(({ name }) => name));
    if (isEngaged.size !== this.#engaged.size || [...this.#engaged].some((name) => !isEngaged.has(name))) return true;
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
