/**
 * The environment of one run of a workload on a real control plane: a separate namespace, or, for cluster-scoped kinds,
 * the whole cluster until the run is over. It runs the steps of a user, and returns the state in the form in which the
 * simulation compares runs.
 *
 * Fields that the control plane sets differ between runs and are left out: the status of Nodes and Deployments, the
 * addresses of Services, the taints of Nodes without a kubelet.
 */
import type { KubeObject } from "../../src/api/mod.ts";
import { ApiError, Client, type ClusterTransport, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import type { ObjectName, WorkloadStep } from "../../src/manager/mod.ts";
import { fieldsOf, lifecyclesOf, type SummaryChange, type SummaryObject } from "../../src/simulation/mod.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { createNamespace } from "../controlplane/test.ts";

/** A kind of a workload. */
export interface CrashKind {
  /** `deployments.apps` */
  readonly collection: string;
  /** `/apis/apps/v1` */
  readonly root: string;
  readonly kind: string;
  readonly plural: string;
}

/** A state: the values of all fields, by path. */
export type Fields = ReturnType<typeof fieldsOf>;

/** A list response. */
interface List {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly KubeObject[];
}

/** A line of a watch. */
interface WatchLine {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject;
}

interface WithStatus extends KubeObject {
  readonly spec?: object;
  readonly status?: unknown;
}

interface SiteOptions {
  readonly kinds: readonly CrashKind[];
  readonly isNamespaced: boolean;
}

const changeKinds = { ADDED: "added", MODIFIED: "modified", DELETED: "deleted" } as const;
/** Length of the watch that reads the history. The server sends it at once; the rest is reserve for a busy machine. */
const historySeconds = 1;

/** The environment of one run; disposing deletes the objects of the run. */
export class CrashEnvironment implements AsyncDisposable {
  /** undefined if the run uses the whole cluster. */
  readonly namespace: string | undefined;
  /** The outcome of each step: `done`, `refused 422`. */
  readonly outcomes: string[] = [];
  readonly #kinds: readonly CrashKind[];
  readonly #transport: ClusterTransport;
  readonly #client: Client;
  /** The version of each collection before the run. */
  readonly #firstVersions = new Map<string, string>();
  /** UIDs of objects that existed before the run. */
  readonly #preexisting = new Set<string | undefined>();

  private constructor(transport: ClusterTransport, kinds: readonly CrashKind[], namespace: string | undefined) {
    this.#transport = transport;
    this.#client = new Client(transport);
    this.#kinds = kinds;
    this.namespace = namespace;
  }

  static async open(controlPlane: ControlPlane, { kinds, isNamespaced }: SiteOptions): Promise<CrashEnvironment> {
    const overrides = { kubeconfig: controlPlane.kubeconfig };
    const access = await loadClusterAccess({ environment: {}, overrides, workingDirectory: "/" });
    const namespace = isNamespaced ? await createNamespace(controlPlane) : undefined;
    const site = new CrashEnvironment(clusterTransport(access, { userAgent: "crash-site/1" }), kinds, namespace);
    for (const kind of kinds) {
      const { metadata, items } = await site.#list(kind);
      site.#firstVersions.set(kind.collection, metadata.resourceVersion);
      for (const { metadata: { uid } } of items) site.#preexisting.add(uid);
    }
    return site;
  }

  /** Runs a step of a workload; an error of the server is an outcome. */
  async perform(step: Exclude<WorkloadStep, { kind: "stop" | "advance" }>): Promise<void> {
    try {
      await this.#do(step);
      this.outcomes.push("done");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.outcomes.push(`refused ${error.code}`);
    }
  }

  /** The present state. */
  async fields(): Promise<Fields> {
    return fieldsOf(
      (await this.#objects()).map(({ collection, object }) => ({ collection, object: comparable(object) })),
    );
  }

  /** True while the cluster must still delete objects: terminating ones, and dependents without an owner. */
  async isCollecting(): Promise<boolean> {
    const objects = (await this.#objects()).map(({ object: { metadata } }) => metadata);
    const living = new Set(objects.map(({ uid }) => uid));
    return objects.some(({ deletionTimestamp, ownerReferences = [] }) =>
      deletionTimestamp !== undefined ||
      (ownerReferences.length > 0 && !ownerReferences.some(({ uid }) => living.has(uid)))
    );
  }

  /** How often each object was created and deleted since the run began. */
  async lives(): Promise<ReadonlyMap<string, string>> {
    return lifecyclesOf((await Promise.all(this.#kinds.map((kind) => this.#history(kind)))).flat());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _ = this.#transport;
    if (this.namespace !== undefined) return; // the namespace is not used again
    for (const { object } of await this.#objects()) {
      const { apiVersion, kind, metadata: { name = "" } } = object;
      const path = this.#pathOf({ apiVersion, kind, name });
      const isHeld = object.metadata.finalizers !== undefined;
      if (isHeld) await this.#send(path, "PATCH", { metadata: { finalizers: null } });
      await this.#send(path, "DELETE", {}).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 404) throw error; // deleted together with its owner
      });
    }
  }

  async #do(step: Exclude<WorkloadStep, { kind: "stop" | "advance" }>): Promise<void> {
    switch (step.kind) {
      case "create": {
        const { apiVersion, kind, metadata: { name = "" } } = step.object;
        const path = this.#pathOf({ apiVersion, kind, name });
        const metadata = { ...step.object.metadata, namespace: this.namespace };
        return await this.#send(path.slice(0, path.lastIndexOf("/")), "POST", { ...step.object, metadata });
      }
      case "patch": {
        const inside = step.subresource === undefined ? "" : `/${step.subresource}`;
        return await this.#send(`${this.#pathOf(step.object)}${inside}`, "PATCH", step.patch);
      }
      case "delete":
        return await this.#send(this.#pathOf(step.object), "DELETE", {});
      default:
        step satisfies never;
    }
  }

  async #objects(): Promise<readonly SummaryObject[]> {
    const lists = await Promise.all(this.#kinds.map(async (kind) => ({ kind, items: (await this.#list(kind)).items })));
    return lists.flatMap(({ kind: { collection, root, kind }, items }) =>
      items.filter(({ metadata: { uid } }) => !this.#preexisting.has(uid))
        .map((item) => ({ collection, object: this.#renamed({ ...item, apiVersion: versionOf(root), kind }) }))
    );
  }

  async #list(kind: CrashKind): Promise<List> {
    return JSON.parse(await this.#client.raw(this.#collectionOf(kind)));
  }

  /** All events of a collection since the run began. */
  async #history(kind: CrashKind): Promise<readonly SummaryChange[]> {
    const after = this.#firstVersions.get(kind.collection);
    const query = `watch=true&resourceVersion=${after}&timeoutSeconds=${historySeconds}`;
    const text = await this.#client.raw(`${this.#collectionOf(kind)}?${query}`);
    const changes: SummaryChange[] = [];
    for (const line of text.split("\n").filter((line) => line !== "")) {
      const { type, object }: WatchLine = JSON.parse(line);
      if (type === "ERROR") throw new Error(`Cannot tell the lives of ${kind.collection}: ${line}`);
      const { name = "", uid, resourceVersion } = object.metadata;
      if (type === "BOOKMARK" || this.#preexisting.has(uid)) continue;
      const change = { kind: changeKinds[type], revision: Number(resourceVersion), current: { key: name, object } };
      changes.push({ collection: kind.collection, change });
    }
    return changes;
  }

  #collectionOf({ root, plural }: CrashKind): string {
    return `${root}${this.namespace === undefined ? "" : `/namespaces/${this.namespace}`}/${plural}`;
  }

  #pathOf({ apiVersion, kind, name }: ObjectName): string {
    const known = this.#kinds.find((one) => one.kind === kind && versionOf(one.root) === apiVersion);
    if (known === undefined) {
      throw new TypeError(`Cannot run a workload: the server does not serve ${kind} of ${apiVersion}`);
    }
    return `${this.#collectionOf(known)}/${name}`;
  }

  async #send(path: string, method: "POST" | "PATCH" | "DELETE", body: object): Promise<void> {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    await this.#client.raw(`${path}?fieldManager=user`, { method, body: JSON.stringify(body), contentType });
  }

  /** Replaces the namespace of the run with a fixed name. */
  #renamed(object: KubeObject): KubeObject {
    return this.namespace === undefined
      ? object
      : JSON.parse(JSON.stringify(object).replaceAll(this.namespace, "here"));
  }
}

/** Removes the fields that the control plane sets at some time. */
function comparable(object: WithStatus): KubeObject {
  const { status, spec, ...rest } = object;
  const isOfCluster = ["Node", "Deployment", "Service", "Ingress"].includes(object.kind);
  const kept = Object.entries(spec ?? {})
    .filter(([key]) => key !== "clusterIP" && key !== "clusterIPs")
    .map(([key, value]) => [key, key === "taints" && Array.isArray(value) ? value.filter(isOwnTaint) : value]);
  const whole: WithStatus = { ...rest, spec: Object.fromEntries(kept) };
  const all: WithStatus = { ...whole, status };
  return isOfCluster ? whole : all;
}

function isOwnTaint({ key }: { readonly key: string }): boolean {
  return !key.startsWith("node.kubernetes.io/");
}

/** `apps/v1` of `/apis/apps/v1`. */
function versionOf(root: string): string {
  return root.split("/").slice(2).join("/");
}
