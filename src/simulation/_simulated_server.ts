/**
 * SimulatedServer: the API server of a run, with the users that change objects and the small part of a cluster that the
 * simulation needs (see ClusterReactions).
 *
 * Guarantees: everything that differs between two clusters with equal objects differs between servers with different random
 * sequences: UIDs, resource versions and times.
 */
import {
  apiVersionOf,
  controllerOf,
  isJsonObject,
  type KubeObject,
  parseExactJson,
  printExactJson,
  splitKey,
} from "../api/mod.ts";
import { type KubernetesApi, kubernetesApi } from "../apiserver/mod.ts";
import { runTurns, seededRandom, type VirtualClock } from "../async/mod.ts";
import { ApiError, Client, type Transport } from "../client/mod.ts";
import { type ControllerAccounts, webhookCaller } from "../cluster/mod.ts";
import type { AccessPlace, ObjectName, OperatorController, WorkloadStep } from "../manager/mod.ts";
import { baselineOf } from "./_baseline.ts";
import { CachingServer, CountingRandom, WholeSecondClock } from "./_response_cache.ts";
import type { NotedChange } from "../observe/mod.ts";
import { ClusterReactions, type Method } from "./_cluster_reactions.ts";
import { type StoredView, storedViews, transientCollections } from "./_stored_views.ts";
import type { RunRecorder } from "./_run_recorder.ts";
import { collectionOfPath, type SentWrite } from "./_sent_fields.ts";
import { changesSince, notedChanges } from "./_server_changes.ts";

/** Options of a {@link SimulatedServer}. */
export interface SimulatedServerOptions {
  readonly controllers: readonly OperatorController[];
  /** What of a fleet it is. @default "cluster": there is no fleet */
  readonly place?: AccessPlace;
  readonly clock: VirtualClock;
  /** @default nothing is recorded */
  readonly recorder?: RunRecorder;
  /** The seed of the run. */
  readonly seed: number;
}

/** The field manager of the users. */
export const userFieldManager = "user";

/**
 * Servers have only this many different random sequences, because only servers with the same sequence can share responses. A
 * reference is learned from as many consecutive seeds, so it covers all of them.
 */
const randomSequences = 3;

/** What depends on the time since the start differs between servers with different sequences, as UIDs and versions do. */
const delayStepMs = 1_700;

type ServerStep = Exclude<WorkloadStep, { kind: "stop" | "advance" }>;

/** The server of one run. */
export class SimulatedServer implements Disposable {
  readonly client: Client;
  /** The result of each step: `done`, `rejected 422`. */
  readonly outcomes: string[] = [];
  /** The UIDs of the objects that steps have created. */
  readonly createdBySteps = new Set<string>();
  readonly #options: SimulatedServerOptions;
  #api: KubernetesApi | undefined;
  #accounts: ControllerAccounts | undefined;
  #server: CachingServer | undefined;
  readonly #cluster: ClusterReactions;
  #lastChangeAt = 0;
  #lastStepAt = -Infinity;
  #delayMs = 0;
  #firstRevision = 0;

  constructor(options: SimulatedServerOptions) {
    this.#options = options;
    this.client = new Client((request) => this.fetch(request), { clock: options.clock });
    this.#cluster = new ClusterReactions(this, options.clock);
  }

  /** Starts the server from the baseline of the controllers. */
  async start(): Promise<void> {
    const { controllers, place, clock, seed } = this.#options;
    const sequence = 1 + Math.abs(seed - 1) % randomSequences;
    const { storage: baseline, accounts, cache } = await baselineOf(controllers, sequence, place);
    this.#delayMs = (sequence - 1) * delayStepMs;
    const random = new CountingRandom(seededRandom(sequence * 2 + 1));
    const storage = baseline.copy();
    const callWebhook = webhookCaller(controllers, clock);
    const serverClock = new WholeSecondClock(clock);
    this.#api = kubernetesApi({ clock: serverClock, random, storage, callWebhook, accounts: accounts.accounts });
    this.#accounts = accounts;
    const server = this.#api.server.fetch;
    this.#server = new CachingServer({ cache, server, storage, clock: serverClock, random });
    await runTurns(); // the server begins to serve the kinds of the stored CRDs
    this.#firstRevision = this.revision;
  }

  get api(): KubernetesApi {
    if (this.#api === undefined) throw new Error("Cannot use the simulated server: it has not been started");
    return this.#api;
  }

  /** The users that the controllers are. */
  get accounts(): ControllerAccounts {
    if (this.#accounts === undefined) throw new Error("Cannot use the simulated server: it has not been started");
    return this.#accounts;
  }

  /** The transport of the operator and of the users. */
  fetch(request: Request): ReturnType<Transport> {
    if (this.#server === undefined) {
      return Promise.reject(new Error("Cannot use the simulated server: it has not been started"));
    }
    return this.#server.fetch(request);
  }

  get revision(): number {
    return this.api.server.storage.revision;
  }

  /** The revision at the start of the run. */
  get firstRevision(): number {
    return this.#firstRevision;
  }

  /** Virtual milliseconds that pass before the first step: runs with another random sequence begin at another time. */
  get delayMs(): number {
    return this.#delayMs;
  }

  /** Virtual time of the last step of the workload, or of the end of a foreign object. */
  get lastStepAt(): number {
    return this.#lastStepAt;
  }

  /** The writes that reached the server, in order. */
  get writes(): readonly SentWrite[] {
    return this.#server?.writes ?? [];
  }

  /** The namespaces that were deleted since the start. */
  deletedNamespaces(): ReadonlySet<string> {
    const names = new Set<string>();
    for (const { collection, change: { current } } of this.api.server.storage.changesAfter(this.#firstRevision)) {
      const { metadata } = current.object as unknown as KubeObject;
      if (collection === "namespaces" && metadata.deletionTimestamp !== undefined) names.add(metadata.name ?? "");
    }
    return names;
  }

  /** Virtual time of the last change by a user or the cluster. */
  get lastChangeAt(): number {
    return this.#lastChangeAt;
  }

  /** Performs a step of a workload as a user. A rejected request is an outcome. */
  async perform(step: ServerStep): Promise<void> {
    const { recorder } = this.#options;
    const since = this.revision;
    this.noteChange();
    this.#lastStepAt = this.#lastChangeAt;
    const name = step.kind === "create" ? nameOf(step.object) : step.object;
    const key = name.namespace === undefined ? name.name : `${name.namespace}/${name.name}`;
    const what = `${step.kind} ${name.kind} ${key}`;
    try {
      await this.#sendStep(step, name);
      this.outcomes.push("done");
      if (step.kind === "create") this.createdBySteps.add(this.at(this.#pathOf(name))?.metadata.uid ?? "");
      recorder?.note("user", what, { since });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.outcomes.push(`rejected ${error.code}`);
      recorder?.note("user", what, { since, detail: `rejected ${error.code} ${error.reason}` });
    }
  }

  /** Lets the cluster make one write. @returns false when it has nothing to do */
  runCluster(): Promise<true> | false {
    return this.#cluster.runNext();
  }

  /** True while an orphan waits to be deleted. */
  isBusy(): boolean {
    return this.#cluster.isCollecting();
  }

  /** The objects that workloads and controllers are about, with their paths. @param all includes all other objects */
  objects(all = false): Iterable<StoredView> {
    return storedViews(this.api, all ? undefined : ignoredCollections);
  }

  /** The objects that a controller owns. */
  dependents(): readonly StoredView[] {
    return [...this.objects()].filter(({ object }) => controllerOf(object) !== undefined);
  }

  /** The object with a path, among those of {@link objects}. */
  at(path: string, all = false): KubeObject | undefined {
    for (const view of this.objects(all)) if (view.path === path) return view.object;
    return undefined;
  }

  /** True for the path of an object that exists, or has existed since the start of the run. */
  hasExisted(path: string): boolean {
    const [collection, name] = [collectionOfPath(path), path.slice(path.lastIndexOf("/") + 1)];
    const namespace = /\/namespaces\/([^/]+)\/[^/]+\/[^/]+$/.exec(path)?.[1];
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    return this.at(path, true) !== undefined ||
      this.api.server.storage.changesAfter(this.#firstRevision).some(({ collection: of, change }) =>
        of === collection && change.current.key === key
      );
  }

  /** A stored object. */
  find(collection: string, namespace: string, name: string): KubeObject | undefined {
    return this.api.server.storage.get(collection, namespace, name) as unknown as KubeObject | undefined;
  }

  /** The revision at which a stored object changed last; undefined when it does not exist. */
  revisionOf(collection: string, namespace: string, name: string): number | undefined {
    return this.api.server.storage.find(collection, namespace, name)?.revision;
  }

  /** The collection of each change since the start, oldest first; none when the history does not go back to it. */
  changedCollections(): readonly string[] {
    const changes = [...this.api.server.storage.changesAfter(this.#firstRevision)];
    return changes.length < this.revision - this.#firstRevision ? [] : changes.map(({ collection }) => collection);
  }

  /** The changes since a revision, oldest first, but for those of Events and Leases. */
  changesSince(revision: number, withStates: boolean): readonly NotedChange[] {
    return notedChanges(changesSince(this.api.server.storage, revision, transientCollections), withStates);
  }

  /** The stored objects of a collection. */
  list(collection: string, namespace?: string): readonly KubeObject[] {
    return [...this.api.server.storage.list(collection, namespace)] as unknown as readonly KubeObject[];
  }

  /**
   * Deletes or edits the object of a write as a user. An object without an owner is left alone: it was created by a user.
   *
   * @param body of the write
   */
  async changeAsUser(action: "delete" | "edit", path: string, body: string): Promise<void> {
    const object = this.at(path);
    const patch = action === "edit" ? conflictingPatch(body) : {};
    if (object?.metadata.ownerReferences === undefined || patch === undefined) return;
    this.noteChange();
    const since = this.revision;
    await this.trySend(path, action === "delete" ? "DELETE" : "PATCH", patch);
    this.#options.recorder?.note("user", `${action} ${path}`, { since, detail: "fault" });
  }

  /** Sends a write as a user, who ignores a rejection. */
  async trySend(path: string, method: Method, body: object): Promise<void> {
    try {
      await this.#send(path, method, body);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#api?.server[Symbol.dispose]();
  }

  async #sendStep(step: ServerStep, name: ObjectName): Promise<void> {
    const path = this.#pathOf(name);
    switch (step.kind) {
      case "create":
        return await this.#send(path.slice(0, path.lastIndexOf("/")), "POST", step.object);
      case "patch": {
        const target = step.subresource === undefined ? path : `${path}/${step.subresource}`;
        return await this.#send(target, "PATCH", step.patch);
      }
      case "delete":
        return await this.#send(path, "DELETE", {});
      default:
        step satisfies never;
    }
  }

  #pathOf({ apiVersion, kind, name, namespace = "default" }: ObjectName): string {
    const { namespace: group = "", name: version } = splitKey(apiVersion);
    const known = this.api.server.kinds.findKind(group, version, kind)?.kind;
    if (known === undefined) {
      throw new TypeError(`Cannot run the workload: the server does not know ${kind} of ${apiVersion}`);
    }
    const root = group === "" ? `/api/${version}` : `/apis/${apiVersionOf(known)}`;
    const inside = known.scope === "Cluster" ? "" : `/namespaces/${namespace}`;
    return `${root}${inside}/${known.plural}/${name}`;
  }

  /** Sends a write of the cluster. @param path within the server */
  async writeAsCluster(path: string, method: Method, body: object): Promise<void> {
    this.noteChange();
    const since = this.revision;
    await this.trySend(path, method, body);
    this.#options.recorder?.note("cluster", `${method} ${path}`, { since });
  }

  /** Deletes as kubectl and the garbage collector do: the API's own default leaves the Pods of a Job behind. */
  async #send(path: string, method: Method, body: object): Promise<void> {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const url = `${path}?fieldManager=${userFieldManager}`;
    const sent = method === "DELETE" ? { propagationPolicy: "Background", ...body } : body;
    await this.client.raw(url, { method, body: printExactJson(sent), contentType });
  }

  /** A user removes what was in the operator's way: everything settles anew after it, and failed keys are retried. */
  noteEndOfForeignObject(): void {
    this.noteChange();
    this.#lastStepAt = this.#lastChangeAt;
  }

  /** A change of a user or the cluster: everything settles anew after it. */
  noteChange(): void {
    this.#lastChangeAt = this.#options.clock.monotonic();
  }
}

/** Collections that are not compared between runs, because workloads and controllers are not about them. */
export const ignoredCollections: ReadonlySet<string> = new Set([
  ...transientCollections,
  "namespaces",
  "customresourcedefinitions.apiextensions.k8s.io",
  "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
]);

function nameOf({ apiVersion, kind, metadata: { name = "", namespace } }: KubeObject): ObjectName {
  return { apiVersion, kind, name, namespace };
}

/** A merge patch that changes one of the fields that a write has set. @returns undefined when there is no such field */
export function conflictingPatch(text: string): object | undefined {
  const body = parseExactJson(text);
  if (!isJsonObject(body)) return undefined;
  const spec = Object.hasOwn(body, "spec") ? body.spec : undefined;
  if (isJsonObject(spec)) {
    for (const [key, value] of Object.entries(spec)) {
      const changed = withOtherNumber(value);
      if (changed !== value) return { spec: { [key]: changed } };
    }
  }
  const metadata = isJsonObject(body.metadata) ? body.metadata : {};
  const [label] = isJsonObject(metadata.labels) ? Object.keys(metadata.labels) : [];
  return label === undefined ? undefined : { metadata: { labels: { [label]: "edited" } } };
}

/** Numbers that identify the item of a list: with another one, it is another item. */
const itemKeys: ReadonlySet<string> = new Set(["port", "containerPort", "hostPort", "nodePort"]);

/** The value with its first number increased by one. @returns the same value when it has no number */
function withOtherNumber(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (Array.isArray(value)) {
    const changed = value.map((item: unknown) => withOtherNumber(item));
    return changed.some((item, index) => item !== value[index]) ? changed : value;
  }
  if (!isJsonObject(value)) return value;
  for (const [key, inner] of Object.entries(value)) {
    if (itemKeys.has(key)) continue;
    const changed = withOtherNumber(inner);
    if (changed !== inner) return { ...value, [key]: changed };
  }
  return value;
}
