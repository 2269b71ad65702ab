/**
 * PlannedCluster: the snapshot of a cluster as the state of an API server in this process, with a simulated cluster and a
 * virtual clock that starts at the time of the snapshot. Controllers run on it until nothing is left to do.
 *
 * Guarantees: the objects are stored as they were read, with UIDs, versions, status and managedFields. What nobody changes
 * stays: the simulated cluster works only on objects that are new or were changed here, and its garbage collector treats
 * owners outside of the snapshot as present. No request leaves this process.
 *
 * Assumptions: rollouts succeed and images exist. Admission webhooks and policies of others are not called.
 */
import { builtin, isJsonObject, type KubeObject, type Resource, resourceName } from "../../api/mod.ts";
import { type KubernetesApi, kubernetesApi, ObjectStorage } from "../../apiserver/mod.ts";
import { drain, type Random, seededRandom, VirtualClock } from "../../async/mod.ts";
import { Client, isAlreadyExists, type Transport } from "../../client/mod.ts";
import {
  ControllerAccounts,
  installCustomResources,
  installWebhooks,
  RequestTracker,
  SimulatedCluster,
  webhookCaller,
} from "../../cluster/mod.ts";
import { done } from "../../controller/mod.ts";
import { Manager, type ManagerOptions, type OperatorController, requestInfo } from "../../manager/mod.ts";
import { errorText, maskedText } from "../../observe/mod.ts";
import { Convergence } from "../convergence/mod.ts";
import { Journal, type Origin } from "./journal.ts";
import type { PlannedKind } from "./planned_kinds.ts";
import type { PlannedProblem } from "./plan_result.ts";
import { restoreObjects } from "./restore_objects.ts";
import type { Snapshot } from "./snapshot.ts";

/** Options of {@link PlannedCluster.start}. */
export interface PlannedClusterOptions extends Pick<ManagerOptions, "cacheRules"> {
  readonly snapshot: Snapshot;
  readonly kinds: readonly PlannedKind[];
  /** Configured as for `run`. Their Runnables do not run. */
  readonly controllers: readonly OperatorController[];
  /** Returns the options of one controller that the command line overrides, as for `run`. */
  readonly optionsOf: (controller: OperatorController) => Parameters<Manager["add"]>[1];
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  readonly operatorName: string;
  /** Virtual milliseconds after which writes that still happen count as endless. */
  readonly horizonMs: number;
  /** Keys that are reconciled at most; the others are counted. @default Infinity */
  readonly maxKeys?: number;
  /** Simulates also what no controller of the plan sees. */
  readonly showsCluster: boolean;
  /** Ends the plan. */
  readonly signal: AbortSignal;
}

/** Virtual milliseconds without a write after which nothing is left to do. */
const quietMs = 3_000;
/** The same while a controller has asked to be called again later, and was not called twice since the last write. */
const waitingQuietMs = 30 * 60_000;
/** Virtual milliseconds at the end in which a write counts as endless. */
const lastWritesMs = 10 * 60_000;
/** Retries of a failing key: with the usual backoff 20 s of virtual time. */
const maxRetries = 12;
/** How often one reconciled object may write one other object, and with the same content. */
const limits = { maxWrites: 250, maxRepetitions: 6 };

/** Kinds that show how a rollout proceeds. */
const podKinds = ["pods", "replicasets.apps", "endpointslices.discovery.k8s.io", "endpoints"];

/** A cluster in memory that is about to be changed. */
export class PlannedCluster implements AsyncDisposable {
  readonly clock: VirtualClock;
  readonly journal: Journal;
  /** A client with all rights, for what a user does first. */
  readonly client: Client;
  /** The outcomes of the reconciles. */
  readonly convergence: Convergence;
  readonly storage: ObjectStorage;
  readonly #options: PlannedClusterOptions;
  readonly #api: KubernetesApi;
  readonly #accounts: ControllerAccounts;
  readonly #requests: RequestTracker;
  readonly #random: Random = seededRandom(1);
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #failures: unknown[] = [];
  /** Reconciles of each key since the last write. */
  readonly #reconciles = new Map<string, number>();
  /** The keys that were reconciled, and those that came when there were enough of them: `foo default/web`. */
  readonly #keys = new Set<string>();
  readonly #leftOut = new Map<string, Set<string>>();
  readonly #daemonErrors = new Map<string, string>();
  #manager: Manager | undefined;

  private constructor(options: PlannedClusterOptions) {
    const { snapshot, controllers, namespaces, operatorName: name } = options;
    this.#options = options;
    this.clock = new VirtualClock({ startAt: snapshot.takenAt });
    this.journal = new Journal(() => this.clock.monotonic(), limits);
    this.convergence = new Convergence(this.clock);
    this.storage = new ObjectStorage({
      ...{ onChange: this.journal.onChange, maxBytes: 2 ** 29, maxObjectBytes: 2 ** 23 },
    });
    restoreObjects(this.storage, snapshot, controllers);
    this.#accounts = new ControllerAccounts({ controllers, name, namespaces });
    this.#api = kubernetesApi({
      clock: this.clock,
      random: this.#random,
      storage: this.storage,
      accounts: this.#accounts.accounts,
      callWebhook: webhookCaller(controllers, this.clock),
      onError: (error) => this.#failures.push(error),
    });
    this.#requests = new RequestTracker((request) => this.#fetch(request));
    this.client = new Client(this.#requests.fetch, { clock: this.clock });
  }

  /** Starts a cluster with the objects of a snapshot; nothing runs yet. */
  static async start(options: PlannedClusterOptions): Promise<PlannedCluster> {
    const cluster = new PlannedCluster(options);
    await cluster.#prepare();
    return cluster;
  }

  /** The server, for questions about kinds. */
  get server(): KubernetesApi["server"] {
    return this.#api.server;
  }

  /** Does what a user does before the controllers run. */
  async as<T>(kind: "files" | "crds", work: () => Promise<T>): Promise<T> {
    return await this.journal.as({ kind }, work);
  }

  /** Runs the controllers until nothing is left to do, or only what goes on for ever. */
  async runControllers(): Promise<void> {
    const { controllers, optionsOf } = this.#options;
    await installWebhooks(this.client, controllers, { name: "plan" });
    const manager = this.#createManager();
    this.#manager = manager;
    for (const controller of controllers) {
      const observed = this.convergence.observe(this.#withOrigin(controller), { maxRetries });
      const { maxRetries: given } = observed.options;
      // A key that only the plan gives up would be retried by `run`.
      const reportsStalled = controller.options.maxRetries !== undefined && controller.options.reportsStalled;
      manager.add(observed, { ...optionsOf(controller), resyncMs: 0, maxRetries: given, reportsStalled });
    }
    this.#track(manager.run(this.#stop.signal));
    await drain();
    await this.#settle();
  }

  /** The writes that did not come to rest. */
  get endless(): Journal["endless"] {
    const now = this.clock.monotonic();
    const found = this.journal.endless;
    if (now < this.#options.horizonMs) return found;
    return [...found, ...this.journal.writtenSince(now - lastWritesMs).filter((one) => !found.includes(one))];
  }

  /** The number of reconciled keys. */
  get keys(): number {
    return this.#keys.size;
  }

  /** For each controller, how many of its keys were not reconciled because of the limit. */
  get leftOut(): readonly { readonly controller: string; readonly keys: number }[] {
    return [...this.#leftOut].map(([controller, { size: keys }]) => ({ controller, keys }));
  }

  /** By the names of controllers, the first error of a daemon: without what it waits for, the plan lacks what it would do. */
  get daemonErrors(): ReadonlyMap<string, string> {
    return this.#daemonErrors;
  }

  /** The keys that the engine stopped, because their writes were reverted again and again. */
  parked(): ReturnType<Manager["parked"]> {
    return this.#manager?.parked() ?? [];
  }

  /** The Events of type Warning that the controllers recorded. */
  warnings(): readonly PlannedProblem[] {
    const { operatorName, controllers } = this.#options;
    const components = new Map(
      controllers.map(({ name, options }) => [options.eventComponent ?? `${operatorName}/${name}`, name]),
    );
    return [...this.storage.list("events")].flatMap((event) => {
      const controller = components.get(`${event["reportingComponent"] ?? event["reportingController"]}`);
      if (controller === undefined || event["type"] !== "Warning") return [];
      const about = event["involvedObject"] ?? event["regarding"];
      const { kind, namespace, name } = isJsonObject(about) ? about : {};
      const key = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
      return [{ controller, key, problem: `${event["reason"]}: ${event["message"] ?? event["note"]}` }];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const ended = Promise.allSettled(this.#running).then(() => true);
    while (!await Promise.race([ended, this.#tick()]));
    this.#api.server[Symbol.dispose]();
  }

  async #prepare(): Promise<void> {
    const { controllers, snapshot, kinds, namespaces } = this.#options;
    // Those that could not be read are assumed to be the ones of this program; those that are missing come with --crds.
    const unreadable = new Set(snapshot.unreadable);
    const assumed = controllers.map((controller) => ({
      ...controller,
      watches: controller.watches.filter(({ resource }) => unreadable.has(resourceName(resource))),
    })).filter(({ watches }) => watches.length > 0);
    if (assumed.length > 0) await installCustomResources(this.client, assumed);
    const known = snapshot.objects.flatMap(({ collection, object: { metadata } }) =>
      collection === "namespaces" ? metadata.name ?? [] : metadata.namespace ?? []
    );
    const isDeclared = kinds.some(({ resource }) => resourceName(resource) === "serviceaccounts");
    for (const name of new Set(["default", ...namespaces, ...known])) {
      await this.#assumeNamespace(name);
      // Its controller leaves the Namespaces of the snapshot alone, and Pods cannot be created without it.
      if (!isDeclared) await this.#assume(builtin.ServiceAccount, { namespace: name, name: "default" });
    }
    this.storage.compact(this.storage.revision);
    const cluster = this.#simulatedCluster(kinds);
    this.#track(cluster.run({ stop: this.#stop.signal, kill: this.#stop.signal }));
    await Promise.race([cluster.nodesCreated, ...this.#running]);
    await drain();
    this.journal.start();
  }

  async #assumeNamespace(name: string): Promise<void> {
    if (this.storage.find("namespaces", "", name) === undefined) await this.#assume(builtin.Namespace, { name });
  }

  /** Creates an object that exists in the cluster, although the snapshot does not have it. */
  async #assume(
    resource: Resource,
    metadata: { readonly namespace?: string; readonly name: string },
  ): Promise<void> {
    const { namespace = "", name } = metadata;
    if (this.storage.find(resourceName(resource), namespace, name) !== undefined) return;
    const object = { metadata, ...(resource.kind === "Namespace" ? { spec: {} } : {}) };
    await this.client.create(resource as Resource<KubeObject>, object as never).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }

  /** Every request. A write can need objects that exist in the cluster, and that the snapshot does not have. */
  async #fetch(request: Request): Promise<Response> {
    const info = request.method === "POST" || request.method === "PATCH" ? requestInfo(request) : undefined;
    const { namespace } = info ?? {};
    if (info !== undefined && namespace !== undefined && info.resource !== "namespaces") {
      if (!this.#options.snapshot.hasNamespaces && this.storage.find("namespaces", "", namespace) === undefined) {
        await this.journal.as({ kind: "cluster" }, async () => {
          await this.#assumeNamespace(namespace);
          await this.#assume(builtin.ServiceAccount, { namespace, name: "default" });
        });
      }
      if (info.resource === "pods" && request.method === "POST") await this.#assumeServiceAccount(request, namespace);
    }
    return await this.#api.server.fetch(request);
  }

  async #assumeServiceAccount(request: Request, namespace: string): Promise<void> {
    if (this.#options.kinds.some(({ resource }) => resourceName(resource) === "serviceaccounts")) return;
    const name = /"serviceAccountName":"([a-z0-9.-]{1,253})"/.exec(await request.clone().text())?.[1] ?? "default";
    await this.journal.as({ kind: "cluster" }, () => this.#assume(builtin.ServiceAccount, { namespace, name }));
  }

  #simulatedCluster(kinds: readonly PlannedKind[]): SimulatedCluster {
    const { showsCluster } = this.#options;
    const declared = new Set(kinds.map(({ resource }) => resourceName(resource)));
    const hasNodes = declared.has("nodes");
    const transport: Transport = (request) => this.journal.as({ kind: "cluster" }, () => this.#requests.fetch(request));
    const workloads: readonly Resource[] = [
      ...[builtin.Deployment, builtin.ReplicaSet, builtin.StatefulSet, builtin.DaemonSet, builtin.Job, builtin.Pod],
      builtin.Service,
    ];
    const collected = [...workloads, ...kinds.map(({ resource }) => resource)];
    return new SimulatedCluster({
      client: new Client(transport, { clock: this.clock }),
      storage: this.storage,
      clock: this.clock,
      random: this.#random,
      // The Nodes of the cluster, when the controllers see them.
      nodes: hasNodes ? 0 : undefined,
      runsPodsOn: "all",
      // The claims and volumes of the cluster are not here, unless the controllers see them.
      volumes: "assumed",
      // Who sees no Pods reads only the status.
      rollouts: showsCluster || podKinds.some((name) => declared.has(name)) ? "simulated" : "assumed",
      collected: [...new Map(collected.map((resource) => [resourceName(resource), resource])).values()],
      isOwnerKnown: ({ uid }) => this.journal.hasSeen(uid),
      isLeftAlone: (resource, key) => this.journal.isUntouched(resourceName(resource), key),
    });
  }

  #createManager(): Manager {
    const { namespaces, cacheRules, operatorName: name } = this.#options;
    const { operatorTransport, transportFor } = this.#accounts;
    return new Manager({
      client: new Client(operatorTransport(this.#requests.fetch), { clock: this.clock }),
      transportFor: (controller, transport) => {
        const send = transportFor(controller, transport);
        return (request) => this.journal.asIfNone({ kind: "controller", controller }, () => send(request));
      },
      name,
      namespaces: namespaces.length === 0 ? undefined : namespaces,
      cacheRules,
      freezeCache: true,
      gracefulShutdownTimeoutMs: 0,
      clock: this.clock,
      random: this.#random,
    });
  }

  /** The controller, whose writes are recorded with the key that it reconciles; a key that never rests is stopped. */
  #withOrigin(controller: OperatorController): OperatorController {
    const { name, primary: { kind }, reconciler, daemon } = controller;
    return {
      ...controller,
      daemon: daemon && { ...daemon, run: (...args) => this.#noteDaemonError(name, daemon.run(...args)) },
      reconciler: (request, toolbox) => {
        const origin: Origin = { kind: "controller", controller: name, primary: { kind, key: request.key } };
        if (this.journal.isEndless(origin)) return Promise.resolve(done);
        const id = `${name} ${request.key}`;
        if (!this.#hasRoom(name, request.key)) return Promise.resolve(done);
        this.#reconciles.set(id, (this.#reconciles.get(id) ?? 0) + 1);
        return this.journal.as(origin, () => reconciler(request, toolbox));
      },
    };
  }

  async #noteDaemonError(controller: string, running: Promise<void>): Promise<void> {
    try {
      await running;
    } catch (error) {
      if (!this.#daemonErrors.has(controller)) this.#daemonErrors.set(controller, maskedText(errorText(error)));
      throw error;
    }
  }

  /** True for a key that is one of the first ones. */
  #hasRoom(controller: string, key: string): boolean {
    const { maxKeys = Infinity } = this.#options;
    const id = `${controller} ${key}`;
    if (this.#keys.has(id)) return true;
    if (this.#keys.size < maxKeys) {
      this.#keys.add(id);
      return true;
    }
    const others = this.#leftOut.get(controller) ?? new Set<string>();
    this.#leftOut.set(controller, others.add(key));
    return false;
  }

  #track(running: Promise<void>): void {
    this.#running.push(running.catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#failures.push(error);
    }));
  }

  async #settle(): Promise<void> {
    const { horizonMs, signal } = this.#options;
    for (let [revision, quietSince] = [-1, 0];;) {
      await this.#requests.idle();
      signal.throwIfAborted();
      const [failure] = this.#failures;
      if (failure !== undefined) throw new Error("Cannot plan: a part of the plan has ended", { cause: failure });
      const now = this.clock.monotonic();
      if (this.storage.revision !== revision) this.#reconciles.clear();
      if (this.storage.revision !== revision || this.#manager?.isIdle() !== true || this.#isRetrying()) {
        [revision, quietSince] = [this.storage.revision, now];
      }
      if (now - quietSince >= (this.#isWaiting() ? waitingQuietMs : quietMs) || now >= horizonMs) return;
      await this.clock.advance(Math.min(this.clock.nextTimerInMs ?? quietMs, quietMs));
    }
  }

  #isRetrying(): boolean {
    return (this.#manager?.retrying().length ?? 0) > 0;
  }

  /** True while keys wait for a time that they asked for, and have not shown yet that they then change nothing. */
  #isWaiting(): boolean {
    const waiting = (this.#manager?.activity() ?? []).reduce((sum, activity) => sum + activity.waiting, 0);
    const shown = [...this.#reconciles.values()].filter((times) => times >= 2).length;
    return waiting > shown;
  }

  async #tick(): Promise<false> {
    await this.clock.advance(this.clock.nextTimerInMs ?? 0);
    return false;
  }
}
