/**
 * World: controllers, an API server and a cluster in one process, under a clock that moves only when it is told to. What
 * a test of a controller runs in: nothing sleeps, no socket is opened, and the same seed gives the same run.
 *
 * Guarantees: `settled()` returns when everything that was started by the last change is over, however long that would take
 * in a real cluster; what a controller writes is decoded, defaulted, validated and admitted as by a kube-apiserver.
 */
import { type Infer, type KubeObject, type ObjectMeta, type Resource } from "../api/mod.ts";
import { type KubernetesApi, kubernetesApi } from "../apiserver/mod.ts";
import { drain, type Random, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client, type DeleteOptions, type NewObject, type Partly, type Patch, type Transport } from "../client/mod.ts";
import {
  customResourcesOf,
  findStoredObject,
  installWebhooks,
  SimulatedCluster,
  storedObject,
  storedObjects,
  webhookCaller,
} from "../cluster/mod.ts";
import { Manager, type OperatorController } from "../manager/mod.ts";
import { collectedKinds } from "./_kinds_of.ts";
import { Traffic } from "./traffic.ts";

/** Options of {@link World.start}. */
export interface WorldOptions {
  readonly controllers: readonly OperatorController[];
  /** @default a new one */
  readonly clock?: VirtualClock;
  /** What chance is made from: UIDs, generated names, jitter. @default 1 */
  readonly seed?: number;
  /** Whether Deployments get Pods, owners are followed and namespaces can end. @default true */
  readonly cluster?: boolean;
  /** Simulated nodes. @default 3 */
  readonly nodes?: number;
  /** Stands between the controllers and the server: to see what they send, or to harm it. @default nothing */
  readonly wrap?: (transport: Transport) => Transport;
}

/** Options of {@link World.settled}. */
export interface SettledOptions {
  /** Virtual milliseconds after which it gives up. @default 600_000 */
  readonly withinMs?: number;
  /** Virtual milliseconds without a write that count as settled. @default 3_000 */
  readonly quietMs?: number;
}

/** What an object is created from: identity and whatever else its kind has. */
export type WorldObject<R extends Resource> =
  & Pick<ObjectMeta, "labels" | "annotations" | "finalizers" | "ownerReferences">
  & { readonly name: string; /** @default "default", for kinds in namespaces */ readonly namespace?: string }
  & Partly<Omit<Infer<R>, "apiVersion" | "kind" | "metadata" | "status">>;

/**
 * A small world.
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
export class World implements AsyncDisposable {
  readonly clock: VirtualClock;
  /** A client of the server that is nobody's field manager, may do everything and meets no fault. */
  readonly client: Client;
  readonly #api: KubernetesApi;
  readonly #traffic: Traffic;
  readonly #options: WorldOptions;
  readonly #random: Random;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #failures: unknown[] = [];
  #manager: Manager | undefined;

  private constructor(options: WorldOptions) {
    const { clock = new VirtualClock(), seed = 1, controllers } = options;
    this.#options = options;
    this.clock = clock;
    this.#random = seededRandom(seed);
    const callWebhook = webhookCaller(controllers, clock);
    this.#api = kubernetesApi({ clock, random: this.#random, callWebhook });
    this.#traffic = new Traffic(this.#api.server.fetch);
    this.client = new Client(this.#traffic.fetch, { clock });
  }

  /** Starts a world: kinds and webhooks of the controllers are there, the controllers run. */
  static async start(options: WorldOptions): Promise<World> {
    const world = new World(options);
    await world.#begin();
    return world;
  }

  /** What every write has done so far: the server's revision. */
  get revision(): number {
    return this.#api.server.storage.revision;
  }

  /** Creates an object. @throws ApiError when the server refuses it */
  async create<R extends Resource>(resource: R, object: WorldObject<R>): Promise<Infer<R>> {
    const { name, namespace = "default", labels, annotations, finalizers, ownerReferences, ...rest } = object;
    const home = resource.scope === "Namespaced" ? { namespace } : {};
    const metadata = { name, ...home, labels, annotations, finalizers, ownerReferences };
    // The parts of the kind are checked by the parameter's type; identity is what the client wants apart.
    return await this.client.create(resource, { metadata, ...rest } as unknown as NewObject<R>);
  }

  /** The object as the server has it now. @throws Error when there is none */
  get<R extends Resource>(resource: R, key: string): Infer<R> {
    return storedObject(this.#api, resource, key);
  }

  /** The object as the server has it now. */
  find<R extends Resource>(resource: R, key: string): Infer<R> | undefined {
    return findStoredObject(this.#api, resource, key);
  }

  /** All objects of a kind, in the order of their names. */
  list<R extends Resource>(resource: R, namespace?: string): readonly Infer<R>[] {
    return storedObjects(this.#api, resource, namespace);
  }

  /** Changes some fields of an object, as somebody with kubectl would. */
  async patch<R extends Resource>(resource: R, key: string, patch: Patch<R>, subresource?: string): Promise<Infer<R>> {
    return await this.client.patch(resource, key, patch, { subresource, fieldManager: "somebody" });
  }

  /** Deletes an object; its finalizers are waited for by {@link settled}, not here. */
  async delete<R extends Resource>(resource: R, key: string, options: DeleteOptions = {}): Promise<void> {
    await this.client.delete(resource, key, options);
  }

  /**
   * Lets time pass until nothing happens any more: all caches in step, all queues empty, and nobody has written for a
   * while.
   *
   * @throws Error when that does not come about in time; the message names what still works
   */
  async settled(options: SettledOptions = {}): Promise<void> {
    const { withinMs = 600_000, quietMs = 3_000 } = options;
    const until = this.clock.monotonic() + withinMs;
    let [revision, quietSince] = [-1, 0];
    while (true) {
      await this.#traffic.rest();
      const [failure] = this.#failures;
      if (failure !== undefined) throw new Error("Cannot settle: a part of the world has ended", { cause: failure });
      const now = this.clock.monotonic();
      if (this.revision !== revision || this.#isBusy()) {
        [revision, quietSince] = [this.revision, now];
      }
      if (now - quietSince >= quietMs) return;
      if (now >= until) throw new Error(`Cannot settle: ${this.#unrest()} after ${withinMs} ms`);
      await this.clock.advance(Math.min(this.clock.nextTimerInMs ?? quietMs, quietMs));
    }
  }

  /** Ends the controllers in order, then the cluster and the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const ended = Promise.allSettled(this.#running).then(() => true);
    while (!await Promise.race([ended, this.#tick()]));
    this.#api.server[Symbol.dispose]();
  }

  async #begin(): Promise<void> {
    const { controllers, cluster = true, nodes } = this.#options;
    for (const { crd } of customResourcesOf(controllers)) {
      await this.#post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
    }
    await installWebhooks(this.client, controllers, "world");
    if (cluster) this.#run(this.#clusterOf(collectedKinds(controllers), nodes));
    this.#manager = this.#managerOf(controllers);
    this.#keep(this.#manager.run(this.#stop.signal));
    await drain();
  }

  #clusterOf(collected: readonly Resource[], nodes: number | undefined): SimulatedCluster {
    return new SimulatedCluster({ client: this.client, clock: this.clock, random: this.#random, collected, nodes });
  }

  #run(cluster: SimulatedCluster): void {
    const { signal } = this.#stop;
    this.#keep(cluster.run({ stop: signal, kill: signal }));
  }

  /** Remembers why something ended that should not have. */
  #keep(running: Promise<void>): void {
    this.#running.push(running.catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#failures.push(error);
    }));
  }

  #managerOf(controllers: readonly OperatorController[]): Manager {
    const { wrap = (transport) => transport } = this.#options;
    const client = new Client(wrap(this.#traffic.fetch), { clock: this.clock });
    const manager = new Manager({ client, name: "world", clock: this.clock, random: this.#random });
    for (const controller of controllers) manager.add(controller);
    return manager;
  }

  async #post(path: string, body: KubeObject): Promise<void> {
    await this.client.raw(path, { method: "POST", body: JSON.stringify(body) });
  }

  /** Moves time on, for what waits for it while it ends. */
  async #tick(): Promise<false> {
    await this.clock.advance(this.clock.nextTimerInMs ?? 0);
    return false;
  }

  #isBusy(): boolean {
    return this.#manager !== undefined && (!this.#manager.isIdle() || this.#manager.retrying().length > 0);
  }

  #unrest(): string {
    const [retrying] = this.#manager?.retrying() ?? [];
    if (retrying !== undefined) {
      return `controller ${retrying.controller} still tries "${retrying.key}" (${retrying.retries} failures)`;
    }
    const parked = this.#manager?.parked() ?? [];
    if (parked.length > 0) {
      return parked.map(({ controller, key, reason }) => `${controller} ${key}: ${reason}`).join("; ");
    }
    return this.#manager?.isIdle() === false ? "a controller still works" : "somebody still writes";
  }
}
