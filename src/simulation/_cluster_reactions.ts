/**
 * ClusterReactions: the small part of a cluster that the simulation needs. Deployments, StatefulSets, DaemonSets and ReplicaSets
 * become available without Pods, Pods become ready, Jobs complete and claims are bound; dependents of deleted owners are
 * collected, deleted claims are let go when no Pod uses them, and a deleted namespace takes its objects along.
 *
 * It does much less than SimulatedCluster and is many times faster.
 */
import type { KubeObject } from "../api/mod.ts";
import type { KubernetesApi } from "../apiserver/mod.ts";
import type { VirtualClock } from "../async/mod.ts";
import { readyStatus } from "./_ready_status.ts";
import { type StoredView, transientCollections } from "./_stored_views.ts";

/** A write of a user or the cluster. */
export type Method = "POST" | "PUT" | "PATCH" | "DELETE";

/** The server of the cluster. */
export interface ClusterServer {
  readonly api: KubernetesApi;
  readonly revision: number;
  objects(all?: boolean): Iterable<StoredView>;
  list(collection: string, namespace?: string): readonly KubeObject[];
  writeAsCluster(path: string, method: Method, body: object): Promise<void>;
}

/** Virtual milliseconds between the deletion of an owner and that of its dependents. */
const collectDelayMs = 200;

/** What admission adds to claims and volumes. */
const protectionFinalizers: ReadonlySet<string> = new Set([
  "kubernetes.io/pvc-protection",
  "kubernetes.io/pv-protection",
]);

/** The part of a Pod that names its claims. */
type PodVolumes = KubeObject & {
  readonly spec?: { readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[] };
  readonly status?: { readonly phase?: string };
};

/** The controllers of the cluster, which make one write at a time. */
export class ClusterReactions {
  readonly #server: ClusterServer;
  readonly #clock: VirtualClock;
  #seenRevision = -1;
  /** When orphans are deleted, by UID. */
  readonly #collectsAt = new Map<string, number>();

  constructor(server: ClusterServer, clock: VirtualClock) {
    this.#server = server;
    this.#clock = clock;
  }

  /** True while an orphan waits to be deleted. */
  isCollecting(): boolean {
    return this.#collectsAt.size > 0;
  }

  /** Makes one write. @returns false when there is nothing to do */
  async runNext(): Promise<boolean> {
    if (!this.#hasRelevantChange() && !this.#isCollectDue()) return false;
    let owners: ReadonlyMap<string, string | undefined> | undefined;
    const existing = () => owners ??= this.#namespaces();
    for (const view of this.#server.objects()) if (await this.#react(view, existing)) return true;
    if (await this.#continueNamespaceDeletion()) return true;
    for (const [uid, at] of this.#collectsAt) if (at <= this.#clock.monotonic()) this.#collectsAt.delete(uid);
    this.#seenRevision = this.#server.revision;
    return false;
  }

  async #react({ path, object }: StoredView, existing: ExistingOwners): Promise<boolean> {
    const status = readyStatus(object, this.#clock.now());
    if (status !== undefined) {
      await this.#server.writeAsCluster(`${path}/status`, "PATCH", { status });
      return true;
    }
    if (isOrphan(object, existing) && this.#isDue(object)) {
      await this.#server.writeAsCluster(path, "DELETE", { preconditions: { uid: object.metadata.uid } });
      return true;
    }
    return await this.#continueForegroundDeletion(path, object) || await this.#continueOrphaning(path, object) ||
      await this.#endProtection(path, object) || await this.#endPod(path, object);
  }

  /** True after a write that the cluster may have to react to. Leases and Events are written all the time. */
  #hasRelevantChange(): boolean {
    const { storage } = this.#server.api.server;
    if (storage.revision === this.#seenRevision) return false;
    if (this.#seenRevision < 0) return true;
    for (const { collection, change } of storage.changesAfter(this.#seenRevision)) {
      if (change.kind === "deleted" || !transientCollections.has(collection)) return true;
    }
    this.#seenRevision = storage.revision;
    return false;
  }

  #namespaces(): ReadonlyMap<string, string | undefined> {
    const namespaces = new Map<string, string | undefined>();
    for (const { object: { metadata } } of this.#server.objects(true)) {
      namespaces.set(metadata.uid ?? "", metadata.namespace);
    }
    return namespaces;
  }

  #isCollectDue(): boolean {
    const now = this.#clock.monotonic();
    return [...this.#collectsAt.values()].some((at) => at <= now);
  }

  /** An orphan is deleted some time after its owner, as by a real garbage collector. */
  #isDue({ metadata: { uid = "" } }: KubeObject): boolean {
    const dueAt = this.#collectsAt.get(uid);
    if (dueAt === undefined) {
      this.#collectsAt.set(uid, this.#clock.monotonic() + collectDelayMs);
      this.#clock.timer(collectDelayMs, () => {});
      return false;
    }
    if (this.#clock.monotonic() < dueAt) return false;
    this.#collectsAt.delete(uid);
    return true;
  }

  /** Deletes the dependents of an owner that is deleted in the foreground, then the owner. */
  async #continueForegroundDeletion(path: string, object: KubeObject): Promise<boolean> {
    const { finalizers = [], deletionTimestamp, uid = "" } = object.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes("foregroundDeletion")) return false;
    for (const dependent of this.#server.objects()) {
      if (!isDependentOf(dependent.object, uid)) continue;
      if (dependent.object.metadata.deletionTimestamp !== undefined) continue;
      await this.#server.writeAsCluster(dependent.path, "DELETE", {});
      return true;
    }
    await this.#removeFinalizer(path, object, "foregroundDeletion");
    return true;
  }

  /** Takes the dependents of an owner that is deleted without them from it, then lets it go. */
  async #continueOrphaning(path: string, object: KubeObject): Promise<boolean> {
    const { finalizers = [], deletionTimestamp, uid = "" } = object.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes("orphan")) return false;
    for (const dependent of this.#server.objects()) {
      if (!isDependentOf(dependent.object, uid)) continue;
      const others = dependent.object.metadata.ownerReferences?.filter((owner) => owner.uid !== uid);
      await this.#server.writeAsCluster(dependent.path, "PATCH", { metadata: { ownerReferences: others } });
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
    if (this.#server.list("pods", namespace).some((pod) => usesClaim(pod, name))) return false;
    await this.#removeFinalizer(path, object, finalizer);
    return true;
  }

  /** Removes a Pod whose containers a kubelet would have stopped. */
  async #endPod(path: string, { apiVersion, kind, metadata }: KubeObject): Promise<boolean> {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata;
    if (apiVersion !== "v1" || kind !== "Pod" || deletionTimestamp === undefined) return false;
    if (deletionGracePeriodSeconds === 0 || finalizers.length > 0) return false;
    await this.#server.writeAsCluster(path, "DELETE", { gracePeriodSeconds: 0 });
    return true;
  }

  /** Deletes the objects in a namespace that is deleted, then lets it go. */
  async #continueNamespaceDeletion(): Promise<boolean> {
    for (const { metadata } of this.#server.list("namespaces")) {
      const { name = "", deletionTimestamp } = metadata;
      if (deletionTimestamp === undefined) continue;
      let isEmpty = true;
      for (const { path, object } of this.#server.objects(true)) {
        if (object.metadata.namespace !== name) continue;
        isEmpty = false;
        if (object.metadata.deletionTimestamp !== undefined) continue;
        await this.#server.writeAsCluster(path, "DELETE", {});
        return true;
      }
      if (!isEmpty || metadata.finalizers !== undefined && metadata.finalizers.length > 0) continue;
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { name }, spec: { finalizers: [] } };
      await this.#server.writeAsCluster(`/api/v1/namespaces/${name}/finalize`, "PUT", body);
      return true;
    }
    return false;
  }

  async #removeFinalizer(path: string, { metadata }: KubeObject, finalizer: string): Promise<void> {
    const finalizers = metadata.finalizers?.filter((one) => one !== finalizer);
    await this.#server.writeAsCluster(path, "PATCH", { metadata: { finalizers } });
  }
}

/** A Pod that has ended uses no claim. */
function usesClaim({ spec, status }: PodVolumes, name: string): boolean {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return false;
  return spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name) ?? false;
}

/** The namespaces of all objects by their UIDs; undefined for cluster-scoped ones. */
type ExistingOwners = () => ReadonlyMap<string, string | undefined>;

/**
 * True when none of the object's owners exists. As for a real garbage collector, an owner in another namespace is absent; a
 * cluster-scoped object is never collected for a namespaced owner, which cannot be looked up.
 */
function isOrphan({ metadata }: KubeObject, existing: ExistingOwners): boolean {
  const { ownerReferences = [], deletionTimestamp, namespace } = metadata;
  if (ownerReferences.length === 0 || deletionTimestamp !== undefined) return false;
  return !ownerReferences.some(({ uid }) => {
    const ownerNamespace = existing().get(uid);
    if (!existing().has(uid)) return false;
    return ownerNamespace === undefined || namespace === undefined || ownerNamespace === namespace;
  });
}

function isDependentOf({ metadata }: KubeObject, uid: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}
