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
  runNext(): Promise<true> | false {
    if (!this.#hasRelevantChange() && !this.#isCollectDue()) return false;
    const write = this.#startWrite();
    if (write !== undefined) return write.then(() => true);
    for (const [uid, at] of this.#collectsAt) if (at <= this.#clock.monotonic()) this.#collectsAt.delete(uid);
    this.#seenRevision = this.#server.revision;
    return false;
  }

  /** Starts the next write. @returns undefined when there is nothing to do, as the methods below do */
  #startWrite(): Promise<void> | undefined {
    let owners: ReadonlyMap<string, string | undefined> | undefined;
    const existing = () => owners ??= this.#namespaces();
    for (const view of this.#server.objects()) {
      const write = this.#react(view, existing);
      if (write !== undefined) return write;
    }
    return this.#continueNamespaceDeletion();
  }

  #react({ path, object }: StoredView, existing: ExistingOwners): Promise<void> | undefined {
    const status = readyStatus(object, this.#clock.now());
    if (status !== undefined) return this.#server.writeAsCluster(`${path}/status`, "PATCH", { status });
    if (isOrphan(object, existing) && this.#isDue(object)) {
      return this.#server.writeAsCluster(path, "DELETE", { preconditions: { uid: object.metadata.uid } });
    }
    return this.#continueForegroundDeletion(path, object) ?? this.#continueOrphaning(path, object) ??
      this.#endProtection(path, object) ?? this.#endPod(path, object);
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
    for (const at of this.#collectsAt.values()) if (at <= now) return true;
    return false;
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
  #continueForegroundDeletion(path: string, object: KubeObject): Promise<void> | undefined {
    const { finalizers = [], deletionTimestamp, uid = "" } = object.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes("foregroundDeletion")) return undefined;
    for (const dependent of this.#server.objects()) {
      if (!isDependentOf(dependent.object, uid)) continue;
      if (dependent.object.metadata.deletionTimestamp !== undefined) continue;
      return this.#server.writeAsCluster(dependent.path, "DELETE", {});
    }
    return this.#removeFinalizer(path, object, "foregroundDeletion");
  }

  /** Takes the dependents of an owner that is deleted without them from it, then lets it go. */
  #continueOrphaning(path: string, object: KubeObject): Promise<void> | undefined {
    const { finalizers = [], deletionTimestamp, uid = "" } = object.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes("orphan")) return undefined;
    for (const dependent of this.#server.objects()) {
      if (!isDependentOf(dependent.object, uid)) continue;
      const others = dependent.object.metadata.ownerReferences?.filter((owner) => owner.uid !== uid);
      return this.#server.writeAsCluster(dependent.path, "PATCH", { metadata: { ownerReferences: others } });
    }
    return this.#removeFinalizer(path, object, "orphan");
  }

  /** Lets a deleted claim or volume go that nothing uses, as the volume protection controllers do. */
  #endProtection(path: string, object: KubeObject): Promise<void> | undefined {
    const { finalizers = [], deletionTimestamp, namespace = "", name = "" } = object.metadata;
    const finalizer = finalizers.find((one) => protectionFinalizers.has(one));
    if (deletionTimestamp === undefined || finalizer === undefined) return undefined;
    if (this.#server.list("pods", namespace).some((pod) => usesClaim(pod, name))) return undefined;
    return this.#removeFinalizer(path, object, finalizer);
  }

  /** Removes a Pod whose containers a kubelet would have stopped. */
  #endPod(path: string, { apiVersion, kind, metadata }: KubeObject): Promise<void> | undefined {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata;
    if (apiVersion !== "v1" || kind !== "Pod" || deletionTimestamp === undefined) return undefined;
    if (deletionGracePeriodSeconds === 0 || finalizers.length > 0) return undefined;
    return this.#server.writeAsCluster(path, "DELETE", { gracePeriodSeconds: 0 });
  }

  /** Deletes the objects in a namespace that is deleted, then lets it go. */
  #continueNamespaceDeletion(): Promise<void> | undefined {
    for (const { metadata } of this.#server.list("namespaces")) {
      const { name = "", deletionTimestamp } = metadata;
      if (deletionTimestamp === undefined) continue;
      let isEmpty = true;
      for (const { path, object } of this.#server.objects(true)) {
        if (object.metadata.namespace !== name) continue;
        isEmpty = false;
        if (object.metadata.deletionTimestamp !== undefined) continue;
        return this.#server.writeAsCluster(path, "DELETE", {});
      }
      if (!isEmpty || metadata.finalizers !== undefined && metadata.finalizers.length > 0) continue;
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { name }, spec: { finalizers: [] } };
      return this.#server.writeAsCluster(`/api/v1/namespaces/${name}/finalize`, "PUT", body);
    }
    return undefined;
  }

  #removeFinalizer(path: string, { metadata }: KubeObject, finalizer: string): Promise<void> {
    const finalizers = metadata.finalizers?.filter((one) => one !== finalizer);
    return this.#server.writeAsCluster(path, "PATCH", { metadata: { finalizers } });
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
