/**
 * Stage: the server of a run, what people do to it, and what a cluster does by itself, as far as the simulation needs it:
 * Deployments and their like become available, what belongs to nobody is deleted. Much less than a SimulatedCluster, and
 * many times faster.
 */
import { apiVersionOf, type KubeObject, splitKey } from "../api/mod.ts";
import { type KubernetesApi, kubernetesApi } from "../apiserver/mod.ts";
import { hop, seededRandom, type VirtualClock } from "../async/mod.ts";
import { ApiError, Client, type Transport } from "../client/mod.ts";
import { webhookCaller } from "../cluster/mod.ts";
import type { ObjectName, OperatorController, WorkloadStep } from "../manager/mod.ts";
import { isDependentOf, isOrphan, readyStatus, type StoredView } from "./_cluster_rules.ts";
import { spoiling } from "./_edit.ts";
import { sceneOf } from "./_scene.ts";
import { CountedRandom, RememberingServer } from "./_server_memory.ts";
import type { Trace } from "./trace.ts";

/** What a stage is made with. */
export interface StageOptions {
  readonly controllers: readonly OperatorController[];
  readonly clock: VirtualClock;
  readonly trace: Trace;
  /** What the server's chance is made from: UIDs, addresses, ends of names. */
  readonly seed: number;
}

/** Virtual milliseconds between the end of an owner and that of what it owned. */
const collectorMs = 200;

/**
 * Servers have so many kinds of luck, and those of one kind can remember what others did. A reference is learnt from as many
 * seeds, one after the other, so it meets all of them.
 */
const chances = 3;

/** How somebody changes something. */
type Method = "POST" | "PATCH" | "DELETE";

/** A server with kinds, people and a little of a cluster. */
export class Stage implements Disposable {
  readonly client: Client;
  /** What came of each step: `created`, `refused 422`. */
  readonly outcomes: string[] = [];
  readonly #options: StageOptions;
  #api: KubernetesApi | undefined;
  #server: RememberingServer | undefined;
  #seenRevision = -1;
  /** When objects that belong to nobody are deleted, by UID. */
  readonly #collects = new Map<string, number>();
  #lastChangeAt = 0;
  #firstRevision = 0;

  constructor(options: StageOptions) {
    this.#options = options;
    this.client = new Client((request) => this.fetch(request), { clock: options.clock });
  }

  /** Starts the server, with all that the controllers need. */
  async begin(): Promise<void> {
    const { controllers, clock, seed } = this.#options;
    const chance = 1 + Math.abs(seed - 1) % chances;
    const { storage: beginning, memory } = await sceneOf(controllers, chance);
    const random = new CountedRandom(seededRandom(chance * 2 + 1));
    const storage = beginning.copy();
    const callWebhook = webhookCaller(controllers, clock);
    this.#api = kubernetesApi({ clock, random, storage, callWebhook });
    const server = this.#api.server.fetch;
    this.#server = new RememberingServer({ memory, server, storage, clock, random });
    await hop(); // then it serves the kinds of the definitions that it found
    this.#firstRevision = this.revision;
  }

  get api(): KubernetesApi {
    if (this.#api === undefined) throw new Error("Cannot ask a stage: it was not begun");
    return this.#api;
  }

  /** The server, for whoever writes to it. */
  fetch(request: Request): ReturnType<Transport> {
    if (this.#server === undefined) return Promise.reject(new Error("Cannot ask a stage: it was not begun"));
    return this.#server.fetch(request);
  }

  get revision(): number {
    return this.api.server.storage.revision;
  }

  /** Of the first write that was not its own. */
  get firstRevision(): number {
    return this.#firstRevision;
  }

  /** Virtual time at which somebody or the cluster last did something. */
  get lastChangeAt(): number {
    return this.#lastChangeAt;
  }

  /** Does a step of a workload. */
  async perform(step: Exclude<WorkloadStep, { kind: "stop" }>): Promise<void> {
    const { trace } = this.#options;
    this.#touch();
    const named = step.kind === "create" ? nameIn(step.object) : step.object;
    const what = `${step.kind} ${named.kind} ${
      named.namespace === undefined ? "" : `${named.namespace}/`
    }${named.name}`;
    try {
      await this.#do(step, named);
      this.outcomes.push("done");
      trace.add("somebody", what);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.outcomes.push(`refused ${error.code}`);
      trace.add("somebody", what, { detail: `refused ${error.code} ${error.reason}` });
    }
  }

  /** Lets the cluster do one thing. @returns false when it has nothing to do */
  async turn(): Promise<boolean> {
    if (!this.#isConcerned() && !this.#isCollecting()) return false;
    let uids: ReadonlySet<string> | undefined;
    const living = () => uids ??= this.#uids();
    for (const { path, object } of this.objects()) {
      const status = readyStatus(object);
      if (status !== undefined) {
        await this.#acts(`${path}/status`, "PATCH", { status });
        return true;
      }
      if (isOrphan(object, living) && this.#isDue(object)) {
        await this.#acts(path, "DELETE", { preconditions: { uid: object.metadata.uid } });
        return true;
      }
      if (await this.#finishesForeground(path, object)) return true;
    }
    for (const [uid, at] of this.#collects) if (at <= this.#options.clock.monotonic()) this.#collects.delete(uid);
    this.#seenRevision = this.revision;
    return false;
  }

  /** True while something is about to be deleted. */
  isBusy(): boolean {
    return this.#collects.size > 0;
  }

  /** All objects that a cluster looks after, with their paths. @param all those that no workload is about, too */
  *objects(all = false): Generator<StoredView> {
    const { kinds, storage } = this.api.server;
    for (const { collection, size } of storage.collections()) {
      const family = kinds.family(collection);
      if (family === undefined || size === 0 || (!all && uninteresting.has(collection))) continue;
      const { group, version, plural } = family.storage;
      const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      for (const object of this.list(collection)) {
        const { namespace, name = "" } = object.metadata;
        const inside = namespace === undefined ? "" : `/namespaces/${namespace}`;
        yield { collection, path: `${root}${inside}/${plural}/${name}`, object };
      }
    }
  }

  /** The object of a path, among those that {@link objects} has. */
  at(path: string, all = false): KubeObject | undefined {
    for (const view of this.objects(all)) if (view.path === path) return view.object;
    return undefined;
  }

  /** An object as it is stored. */
  find(collection: string, namespace: string, name: string): KubeObject | undefined {
    return this.api.server.storage.get(collection, namespace, name) as unknown as KubeObject | undefined;
  }

  /** The objects of a collection. */
  list(collection: string, namespace?: string): readonly KubeObject[] {
    return [...this.api.server.storage.list(collection, namespace)] as unknown as readonly KubeObject[];
  }

  /**
   * Changes or deletes what a controller made, as somebody who should not.
   *
   * @param path of what was written; an object without an owner is somebody's own, and left alone
   * @param wanted the body it was written with
   */
  async act(act: "delete" | "edit", path: string, wanted: string): Promise<void> {
    const object = this.at(path);
    const patch = act === "edit" ? spoiling(wanted) : {};
    if (object?.metadata.ownerReferences === undefined || patch === undefined) return;
    this.#touch();
    this.#options.trace.add("somebody", `${act} ${path}`, { detail: "a fault" });
    await this.meddle(path, act === "delete" ? "DELETE" : "PATCH", patch);
  }

  /** Sends a request as somebody who does not mind being refused. */
  async meddle(path: string, method: Method, body: object): Promise<void> {
    try {
      await this.#send(path, method, body);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#api?.server[Symbol.dispose]();
  }

  async #do(step: Exclude<WorkloadStep, { kind: "stop" }>, named: ObjectName): Promise<void> {
    const path = this.#pathOf(named);
    switch (step.kind) {
      case "create": {
        const collection = path.slice(0, path.lastIndexOf("/"));
        await this.#send(collection, "POST", step.object);
        break;
      }
      case "patch":
        await this.#send(step.subresource === undefined ? path : `${path}/${step.subresource}`, "PATCH", step.patch);
        break;
      case "delete":
        await this.#send(path, "DELETE", {});
        break;
      default:
        step satisfies never;
    }
  }

  /** True when something was written that a cluster looks after; a Lease is renewed all the time. */
  #isConcerned(): boolean {
    const { storage } = this.api.server;
    if (storage.revision === this.#seenRevision) return false;
    if (this.#seenRevision < 0) return true;
    for (const { collection, change } of storage.changesAfter(this.#seenRevision)) {
      if (change.kind === "deleted" || !passing.has(collection)) return true;
    }
    this.#seenRevision = storage.revision;
    return false;
  }

  #uids(): ReadonlySet<string> {
    const uids = new Set<string>();
    for (const { object: { metadata } } of this.objects(true)) uids.add(metadata.uid ?? "");
    return uids;
  }

  #isCollecting(): boolean {
    const now = this.#options.clock.monotonic();
    return [...this.#collects.values()].some((at) => at <= now);
  }

  /** An object is deleted some time after its owner has gone, as in a real cluster. */
  #isDue({ metadata: { uid = "" } }: KubeObject): boolean {
    const { clock } = this.#options;
    const dueAt = this.#collects.get(uid);
    if (dueAt === undefined) {
      this.#collects.set(uid, clock.monotonic() + collectorMs);
      clock.timer(collectorMs, () => {});
      return false;
    }
    if (clock.monotonic() < dueAt) return false;
    this.#collects.delete(uid);
    return true;
  }

  #pathOf({ apiVersion, kind, name, namespace = "default" }: ObjectName): string {
    const { namespace: group = "", name: version } = splitKey(apiVersion);
    const known = this.api.server.kinds.findKind(group, version, kind)?.kind;
    if (known === undefined) throw new TypeError(`Cannot play a workload: nobody knows ${kind} of ${apiVersion}`);
    const root = group === "" ? `/api/${version}` : `/apis/${apiVersionOf(known)}`;
    const inside = known.scope === "Cluster" ? "" : `/namespaces/${namespace}`;
    return `${root}${inside}/${known.plural}/${name}`;
  }

  /** An owner that waits for its dependents goes after them. */
  async #finishesForeground(path: string, object: KubeObject): Promise<boolean> {
    const { finalizers = [], deletionTimestamp, uid = "" } = object.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes("foregroundDeletion")) return false;
    for (const dependent of this.objects()) {
      if (!isDependentOf(dependent.object, uid)) continue;
      if (dependent.object.metadata.deletionTimestamp !== undefined) continue;
      await this.#acts(dependent.path, "DELETE", {});
      return true;
    }
    const rest = finalizers.filter((one) => one !== "foregroundDeletion");
    await this.#acts(path, "PATCH", { metadata: { finalizers: rest } });
    return true;
  }

  async #acts(path: string, method: "PATCH" | "DELETE", body: object): Promise<void> {
    this.#options.trace.add("cluster", `${method} ${path}`);
    this.#touch();
    await this.meddle(path, method, body);
  }

  async #send(path: string, method: Method, body: object): Promise<void> {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    await this.client.raw(`${path}?fieldManager=somebody`, { method, body: JSON.stringify(body), contentType });
  }

  #touch(): void {
    this.#lastChangeAt = this.#options.clock.monotonic();
  }
}

/** A cluster does nothing about what is written here. */
const passing: ReadonlySet<string> = new Set(["events", "events.events.k8s.io", "leases.coordination.k8s.io"]);

/** Nothing in them is an object of a workload. */
export const uninteresting: ReadonlySet<string> = new Set([
  ...passing,
  "namespaces",
  "customresourcedefinitions.apiextensions.k8s.io",
  "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
]);

function nameIn({ apiVersion, kind, metadata: { name = "", namespace } }: KubeObject): ObjectName {
  return { apiVersion, kind, name, namespace };
}
