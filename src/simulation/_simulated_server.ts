/**
 * SimulatedServer: the API server of a run, with the users that change objects and the small part of a cluster that the
 * simulation needs: Deployments, StatefulSets and ReplicaSets become available without Pods, and dependents of deleted owners
 * are collected. It does much less than SimulatedCluster and is many times faster.
 */
import { apiVersionOf, type KubeObject, parseExactJson, printExactJson, splitKey } from "../api/mod.ts";
import { type KubernetesApi, kubernetesApi } from "../apiserver/mod.ts";
import { runTurns, seededRandom, type VirtualClock } from "../async/mod.ts";
import { ApiError, Client, type Transport } from "../client/mod.ts";
import { type ControllerAccounts, webhookCaller } from "../cluster/mod.ts";
import type { ObjectName, OperatorController, WorkloadStep } from "../manager/mod.ts";
import { baselineOf } from "./_baseline.ts";
import { CachingServer, CountingRandom } from "./_response_cache.ts";
import type { NotedChange, Plain } from "../observe/mod.ts";
import type { RunRecorder } from "./_run_recorder.ts";
import { changesSince } from "./_server_changes.ts";

/** Options of a {@link SimulatedServer}. */
export interface SimulatedServerOptions {
  readonly controllers: readonly OperatorController[];
  readonly clock: VirtualClock;
  /** @default nothing is recorded */
  readonly recorder?: RunRecorder;
  /** The seed of the run. */
  readonly seed: number;
}

/** A stored object with its collection (`deployments.apps`) and path. */
export interface StoredView {
  readonly collection: string;
  readonly path: string;
  readonly object: KubeObject;
}

/** The field manager of the users. */
export const userFieldManager = "user";

/** Virtual milliseconds between the deletion of an owner and that of its dependents. */
const collectDelayMs = 200;

/**
 * Servers have only this many different random sequences, because only servers with the same sequence can share responses. A
 * reference is learned from as many consecutive seeds, so it covers all of them.
 */
const randomSequences = 3;

/** What admission adds to claims and volumes. */
const protectionFinalizers: ReadonlySet<string> = new Set([
  "kubernetes.io/pvc-protection",
  "kubernetes.io/pv-protection",
]);

/** The part of a Pod that names its claims. */
type PodVolumes = KubeObject & {
  readonly spec?: { readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[] };
};

function mountsClaim({ spec }: PodVolumes, name: string): boolean {
  return spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name) ?? false;
}

type Method = "POST" | "PATCH" | "DELETE";

type ServerStep = Exclude<WorkloadStep, { kind: "stop" | "advance" }>;

/** The server of one run. */
export class SimulatedServer implements Disposable {
  readonly client: Client;
  /** The result of each step: `done`, `rejected 422`. */
  readonly outcomes: string[] = [];
  readonly #options: SimulatedServerOptions;
  #api: KubernetesApi | undefined;
  #accounts: ControllerAccounts | undefined;
  #server: CachingServer | undefined;
  #seenRevision = -1;
  /** When orphans are deleted, by UID. */
  readonly #collectsAt = new Map<string, number>();
  #lastChangeAt = 0;
  #firstRevision = 0;

  constructor(options: SimulatedServerOptions) {
    this.#options = options;
    this.client = new Client((request) => this.fetch(request), { clock: options.clock });
  }

  /** Starts the server from the baseline of the controllers. */
  async start(): Promise<void> {
    const { controllers, clock, seed } = this.#options;
    const sequence = 1 + Math.abs(seed - 1) % randomSequences;
    const { storage: baseline, accounts, cache } = await baselineOf(controllers, sequence);
    const random = new CountingRandom(seededRandom(sequence * 2 + 1));
    const storage = baseline.copy();
    const callWebhook = webhookCaller(controllers, clock);
    this.#api = kubernetesApi({ clock, random, storage, callWebhook, accounts: accounts.accounts });
    this.#accounts = accounts;
    const server = this.#api.server.fetch;
    this.#server = new CachingServer({ cache, server, storage, clock, random });
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

  /** Virtual time of the last change by a user or the cluster. */
  get lastChangeAt(): number {
    return this.#lastChangeAt;
  }

  /** Performs a step of a workload as a user. A rejected request is an outcome. */
  async perform(step: ServerStep): Promise<void> {
    const { recorder } = this.#options;
    const since = this.revision;
    this.#noteChange();
    const name = step.kind === "create" ? nameOf(step.object) : step.object;
    const key = name.namespace === undefined ? name.name : `${name.namespace}/${name.name}`;
    const what = `${step.kind} ${name.kind} ${key}`;
    try {
      await this.#sendStep(step, name);
      this.outcomes.push("done");
      recorder?.note("user", what, { since });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.outcomes.push(`rejected ${error.code}`);
      recorder?.note("user", what, { since, detail: `rejected ${error.code} ${error.reason}` });
    }
  }

  /** Lets the cluster make one write. @returns false when it has nothing to do */
  async runCluster(): Promise<boolean> {
    if (!this.#hasRelevantChange() && !this.#isCollectDue()) return false;
    let uids: ReadonlySet<string> | undefined;
    const existing = () => uids ??= this.#uids();
    for (const { path, object } of this.objects()) {
      const status = readyStatus(object);
      if (status !== undefined) {
        await this.#writeAsCluster(`${path}/status`, "PATCH", { status });
        return true;
      }
      if (isOrphan(object, existing) && this.#isDue(object)) {
        await this.#writeAsCluster(path, "DELETE", { preconditions: { uid: object.metadata.uid } });
        return true;
      }
      if (
        await this.#continueForegroundDeletion(path, object) || await this.#continueOrphaning(path, object) ||
        await this.#endProtection(path, object)
      ) {
        return true;
      }
    }
    for (const [uid, at] of this.#collectsAt) if (at <= this.#options.clock.monotonic()) this.#collectsAt.delete(uid);
    this.#seenRevision = this.revision;
    return false;
  }

  /** True while an orphan waits to be deleted. */
  isBusy(): boolean {
    return this.#collectsAt.size > 0;
  }

  /** The objects that workloads and controllers are about, with their paths. @param all includes all other objects */
  *objects(all = false): Generator<StoredView> {
    const { kinds, storage } = this.api.server;
    for (const { collection, size } of storage.collections()) {
      const family = kinds.family(collection);
      if (family === undefined || size === 0 || (!all && ignoredCollections.has(collection))) continue;
      const { group, version, plural } = family.storage;
      const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      for (const object of this.list(collection)) {
        const { namespace, name = "" } = object.metadata;
        const inside = namespace === undefined ? "" : `/namespaces/${namespace}`;
        yield { collection, path: `${root}${inside}/${plural}/${name}`, object };
      }
    }
  }

  /** The object with a path, among those of {@link objects}. */
  at(path: string, all = false): KubeObject | undefined {
    for (const view of this.objects(all)) if (view.path === path) return view.object;
    return undefined;
  }

  /** A stored object. */
  find(collection: string, namespace: string, name: string): KubeObject | undefined {
    return this.api.server.storage.get(collection, namespace, name) as unknown as KubeObject | undefined;
  }

  /** The changes since a revision, oldest first, but for those of Events and Leases. */
  changesSince(revision: number, withStates: boolean): readonly NotedChange[] {
    const changes = changesSince(this.api.server.storage, revision, transientCollections);
    return changes.map(({ collection, change: { kind, revision, current } }) => {
      const object = current.object as KubeObject;
      return {
        change: kind === "modified" ? "updated" : kind,
        object: { resource: collection, kind: object.kind, key: current.key },
        resourceVersion: String(revision),
        ...(withStates ? { state: object as unknown as Plain } : {}),
      };
    });
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
    this.#noteChange();
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

  /** True after a write that the cluster may have to react to. Leases and Events are written all the time. */
  #hasRelevantChange(): boolean {
    const { storage } = this.api.server;
    if (storage.revision === this.#seenRevision) return false;
    if (this.#seenRevision < 0) return true;
    for (const { collection, change } of storage.changesAfter(this.#seenRevision)) {
      if (change.kind === "deleted" || !transientCollections.has(collection)) return true;
    }
    this.#seenRevision = storage.revision;
    return false;
  }

  #uids(): ReadonlySet<string> {
    const uids = new Set<string>();
    for (const { object: { metadata } } of this.objects(true)) uids.add(metadata.uid ?? "");
    return uids;
  }

  #isCollectDue(): boolean {
    const now = this.#options.clock.monotonic();
    return [...this.#collectsAt.values()].some((at) => at <= now);
  }

  /** An orphan is deleted some time after its owner, as by a real garbage collector. */
  #isDue({ metadata: { uid = "" } }: KubeObject): boolean {
    const { clock } = this.#options;
    const dueAt = this.#collectsAt.get(uid);
    if (dueAt === undefined) {
      this.#collectsAt.set(uid, clock.monotonic() + collectDelayMs);
      clock.timer(collectDelayMs, () => {});
      return false;
    }
    if (clock.monotonic() < dueAt) return false;
    this.#collectsAt.delete(uid);
    return true;
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

  /** Deletes the dependents of an owner that is deleted in the foreground, then the owner. */
  async #continueForegroundDeletion(path: string, object: KubeObject): Promise<boolean> {
    const { finalizers = [], deletionTimestamp, uid = "" } = object.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes("foregroundDeletion")) return false;
    for (const dependent of this.objects()) {
      if (!isDependentOf(dependent.object, uid)) continue;
      if (dependent.object.metadata.deletionTimestamp !== undefined) continue;
      await this.#writeAsCluster(dependent.path, "DELETE", {});
      return true;
    }
    await this.#removeFinalizer(path, object, "foregroundDeletion");
    return true;
  }

  /** Takes the dependents of an owner that is deleted without them from it, then lets it go. */
  async #continueOrphaning(path: string, object: KubeObject): Promise<boolean> {
    const { finalizers = [], deletionTimestamp, uid = "" } = object.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes("orphan")) return false;
    for (const dependent of this.objects()) {
      if (!isDependentOf(dependent.object, uid)) continue;
      const others = dependent.object.metadata.ownerReferences?.filter((owner) => owner.uid !== uid);
      await this.#writeAsCluster(dependent.path, "PATCH", { metadata: { ownerReferences: others } });
      return true;
    }
    await this.#removeFinalizer(path, object, "orphan");
    return true;
  }

  /** Lets a deleted claim or volume go that nothing uses, as the volume protection controllers do. */
  async #endProtection(path: string, object: KubeObject): Promise<boolean> {
    const { finalizers = [], deletionTimestamp, namespace = "", name = "" } = object.metadata;
    const finalizer = finalizers.find((one) => protectionFinalizers.has(one));
    if (deletionTimestamp === undefined || finalizer === undefined) return false;
    if (this.list("pods", namespace).some((pod) => mountsClaim(pod, name))) return false;
    await this.#removeFinalizer(path, object, finalizer);
    return true;
  }

  async #removeFinalizer(path: string, { metadata }: KubeObject, finalizer: string): Promise<void> {
    const finalizers = metadata.finalizers?.filter((one) => one !== finalizer);
    await this.#writeAsCluster(path, "PATCH", { metadata: { finalizers } });
  }

  async #writeAsCluster(path: string, method: "PATCH" | "DELETE", body: object): Promise<void> {
    this.#noteChange();
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

  #noteChange(): void {
    this.#lastChangeAt = this.#options.clock.monotonic();
  }
}

/** Collections whose writes the cluster does not react to. */
const transientCollections: ReadonlySet<string> = new Set([
  "events",
  "events.events.k8s.io",
  "leases.coordination.k8s.io",
]);

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

interface WithReplicas extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: Readonly<Record<string, unknown>>;
}

/** The status fields that count Pods, by kind. */
const countFields: ReadonlyMap<string, readonly string[]> = new Map([
  ["Deployment", ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"]],
  ["StatefulSet", ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "currentReplicas"]],
  ["ReplicaSet", ["replicas", "readyReplicas", "availableReplicas"]],
]);

/** The status of a workload with all Pods available; undefined when it has that status, or is no workload. */
function readyStatus(object: WithReplicas): object | undefined {
  const fields = object.apiVersion === "apps/v1" ? countFields.get(object.kind) : undefined;
  if (fields === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const replicas = object.spec?.replicas ?? 1;
  const generation = object.metadata.generation ?? 0;
  const status = object.status ?? {};
  const valueOf = (name: string) => Object.hasOwn(status, name) ? status[name] : 0;
  const isCurrent = valueOf("observedGeneration") === generation && fields.every((name) => valueOf(name) === replicas);
  if (isCurrent) return undefined;
  return Object.fromEntries([["observedGeneration", generation], ...fields.map((name) => [name, replicas])]);
}

/** True when none of the object's owners exists. @param existing the UIDs of all objects */
function isOrphan({ metadata }: KubeObject, existing: () => ReadonlySet<string>): boolean {
  const { ownerReferences = [], deletionTimestamp } = metadata;
  if (ownerReferences.length === 0 || deletionTimestamp !== undefined) return false;
  return !ownerReferences.some(({ uid }) => existing().has(uid));
}

function isDependentOf({ metadata }: KubeObject, uid: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}

/** A merge patch that changes one of the fields that a write has set. @returns undefined when there is no such field */
function conflictingPatch(text: string): object | undefined {
  const body = parseExactJson(text);
  if (!isRecord(body)) return undefined;
  const spec = Object.hasOwn(body, "spec") ? body.spec : undefined;
  if (isRecord(spec)) {
    for (const [key, value] of Object.entries(spec)) {
      const changed = withOtherNumber(value);
      if (changed !== value) return { spec: { [key]: changed } };
    }
  }
  const metadata = isRecord(body.metadata) ? body.metadata : {};
  const [label] = isRecord(metadata.labels) ? Object.keys(metadata.labels) : [];
  return label === undefined ? undefined : { metadata: { labels: { [label]: "edited" } } };
}

/** The value with its first number increased by one. @returns the same value when it has no number */
function withOtherNumber(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (Array.isArray(value)) {
    const changed = value.map(withOtherNumber);
    return changed.some((item, index) => item !== value[index]) ? changed : value;
  }
  if (!isRecord(value)) return value;
  for (const [key, inner] of Object.entries(value)) {
    const changed = withOtherNumber(inner);
    if (changed !== inner) return { ...value, [key]: changed };
  }
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
