/**
 * GarbageCollector: deletes objects whose owners are gone, as kube-controller-manager's: background, foreground and
 * orphaning deletion, and references to owners that never existed.
 *
 * Guarantees: deletes an object only after the server has confirmed, at that moment, that each of its owners is gone or is
 * being deleted, and only exactly the object that it read (UID and version). It notices kinds that appear later (CRDs).
 */
import { builtin, keyOf, type KubeObject, type OwnerReference, type Resource, resourceId } from "../api/mod.ts";
import { type Clock, type Random, scope, systemClock, systemRandom } from "../async/mod.ts";
import { InformerFactory } from "../cache/mod.ts";
import { type Client, type DeleteOptions, Discovery, isConflict, isNotFound } from "../client/mod.ts";
import type { Life, Runnable } from "../manager/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { defaultRateLimiter, WorkQueue } from "../queue/mod.ts";

/** Milliseconds between two discoveries; a new CRD causes one at once. */
const discoveryIntervalMs = 30_000;

/** Failures in a row that are not logged: the owner's kind may have appeared a moment ago. */
const maxSilentRetries = 8;

/** Objects processed at the same time; kube-controller-manager's --concurrent-gc-syncs is 20, this is a small cluster. */
const workers = 5;

const foreground = "foregroundDeletion";
const orphan = "orphan";

/** Options of a {@link GarbageCollector}. */
export interface GarbageCollectorOptions {
  readonly client: Client;
  /** The kinds to collect. @default all kinds of the server, also those that appear later */
  readonly resources?: readonly Resource[];
  /**
   * False for an owner outside of what the server knows: it counts as present, and its dependents stay.
   * @default every owner is on this server
   */
  readonly isOwnerKnown?: (owner: OwnerReference) => boolean;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/** Deletes the dependents of deleted objects. */
export class GarbageCollector implements Runnable {
  readonly name = "garbage-collector";
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #discovery: Discovery;
  readonly #fixed: readonly Resource[] | undefined;
  readonly #isOwnerKnown: (owner: OwnerReference) => boolean;
  readonly #factory: InformerFactory;
  readonly #graph = new OwnerGraph();
  readonly #queue: WorkQueue<string>;
  readonly #log: Logger = logger("garbage-collector");
  /** By kind and group; one version of each is enough. */
  readonly #kinds = new Map<string, Resource<KubeObject>>();
  #wake: () => void = () => {};

  constructor(options: GarbageCollectorOptions) {
    const { client, resources, clock = systemClock, random = systemRandom } = options;
    this.#client = client;
    this.#clock = clock;
    this.#fixed = resources;
    this.#isOwnerKnown = options.isOwnerKnown ?? (() => true);
    this.#discovery = new Discovery(client, { clock });
    this.#queue = new WorkQueue({ name: this.name, rateLimiter: defaultRateLimiter({ clock }), clock });
    this.#factory = new InformerFactory({
      listWatch: (resource, { projection: _, ...selection }) =>
        client.listWatch(resource, { ...selection, metadataOnly: true }) as never, // metadata is all that it reads
      clock,
      random,
    });
  }

  async run({ stop }: Life): Promise<void> {
    const works = Array.from({ length: workers }, () => this.#work(stop));
    await Promise.all([this.#factory.run(stop), this.#watchKinds(stop), ...works]);
    this.#queue.shutDown();
  }

  /** Also collects these kinds, from now on. A kind that is already collected is ignored. */
  add(resources: readonly Resource[]): void {
    for (const resource of resources) {
      const kind = kindKey(resource.group, resource.kind);
      // The two kinds of Events are the same objects, and Events neither own objects nor have owners.
      if (this.#kinds.has(kind) || resource.kind === "Event") continue;
      this.#kinds.set(kind, resource as Resource<KubeObject>);
      this.#listen(resource as Resource<KubeObject>);
    }
  }

  /** Keeps the set of watched kinds equal to the kinds of the server. */
  async #watchKinds(stop: AbortSignal): Promise<void> {
    if (this.#fixed !== undefined) return this.add(this.#fixed);
    const wake = () => this.#wake();
    const definitions = this.#factory.informer(builtin.CustomResourceDefinition, { projection: "metadata" });
    definitions.addHandler({ onAdd: wake, onUpdate: wake });
    while (!stop.aborted) {
      using pause = scope(stop);
      this.#wake = () => pause.abort();
      await this.#discover(stop);
      await this.#clock.sleep(discoveryIntervalMs, pause.signal).catch(() => undefined);
    }
  }

  async #discover(stop: AbortSignal): Promise<void> {
    try {
      const found = await this.#discovery.refresh(stop);
      const needed = ["delete", "list", "watch", "patch"];
      this.add(
        found.filter(({ verbs }) => needed.every((verb) => verbs.includes(verb))).map(({ resource }) => resource),
      );
    } catch (error) {
      if (!stop.aborted) this.#log.warn("discovery failed, retrying", { error });
    }
  }

  #listen(resource: Resource<KubeObject>): void {
    this.#factory.informer(resource, { projection: "metadata" }).addHandler({
      onAdd: (object: KubeObject) => this.#onChange(resource, object),
      onUpdate: (_old: KubeObject, object: KubeObject) => this.#onChange(resource, object),
      onDelete: ({ lastKnown }: { readonly lastKnown: KubeObject }) => this.#onDelete(resource, lastKnown),
    });
  }

  #onChange(resource: Resource<KubeObject>, object: KubeObject): void {
    const { id } = this.#graph.put(resource, object);
    const { ownerReferences, deletionTimestamp, uid = "" } = object.metadata;
    if (ownerReferences !== undefined || deletionTimestamp !== undefined) this.#queue.add(id);
    if (deletionTimestamp !== undefined) this.#addDependents(uid);
  }

  #onDelete(resource: Resource<KubeObject>, object: KubeObject): void {
    this.#graph.remove(resource, object);
    this.#addDependents(object.metadata.uid ?? "");
    for (const owner of object.metadata.ownerReferences ?? []) this.#addOwner(owner, object.metadata.namespace);
  }

  #addDependents(uid: string): void {
    for (const { id } of this.#graph.dependentsOf(uid)) this.#queue.add(id);
  }

  /** An owner that is deleted in the foreground may wait for this dependent. */
  #addOwner(owner: OwnerReference, namespace: string | undefined): void {
    const resource = this.#kinds.get(kindKey(groupOf(owner.apiVersion), owner.kind));
    if (resource === undefined) return;
    const key = resource.scope === "Namespaced" ? `${namespace}/${owner.name}` : owner.name;
    const node = this.#graph.find(`${resourceId(resource)}/${key}`);
    if (node?.object.metadata.deletionTimestamp !== undefined) this.#queue.add(node.id);
  }

  async #work(stop: AbortSignal): Promise<void> {
    while (true) {
      using item = await this.#queue.take(stop);
      if (item === undefined) return;
      try {
        await this.#collect(item.key, stop);
        this.#queue.forget(item.key);
      } catch (error) {
        if (stop.aborted) return;
        const isLogged = !isConflict(error) && this.#queue.retries(item.key) >= maxSilentRetries;
        if (isLogged) this.#log.warn("collecting an object failed, retrying", { object: item.key, error });
        this.#queue.addRateLimited(item.key);
      }
    }
  }

  async #collect(id: string, signal: AbortSignal): Promise<void> {
    const node = this.#graph.find(id);
    if (node === undefined) return;
    await collect(node, {
      client: this.#client,
      graph: this.#graph,
      kindOf: (reference) => this.#kindOf(reference, signal),
      isOwnerKnown: this.#isOwnerKnown,
      enqueue: (other) => this.#queue.add(other),
      signal,
    });
  }

  async #kindOf({ apiVersion, kind }: OwnerReference, signal: AbortSignal): Promise<Resource<KubeObject> | undefined> {
    const group = groupOf(apiVersion);
    const known = this.#kinds.get(kindKey(group, kind));
    if (known !== undefined) return known;
    return (await this.#discovery.findKind({ group, kind }, signal))?.resource;
  }
}

function kindKey(group: string, kind: string): string {
  return `${kind}.${group}`;
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}

interface GraphNode {
  /** `deployments.v1.apps/default/web`: unique among all existing objects. */
  readonly id: string;
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
}

/**
 * Which objects name which UIDs as their owners, as far as the caches know. It only says which objects to check: what is
 * deleted is decided from live reads.
 */
class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  /** By the owner's UID. */
  readonly #dependents = new Map<string, Set<string>>();

  find(id: string): GraphNode | undefined {
    return this.#nodes.get(id);
  }

  dependentsOf(uid: string): readonly GraphNode[] {
    const ids = this.#dependents.get(uid);
    return ids === undefined ? [] : [...ids].flatMap((id) => this.#nodes.get(id) ?? []);
  }

  /** Adds an object, or replaces its state. */
  put(resource: Resource<KubeObject>, object: KubeObject): GraphNode {
    const node = { id: `${resourceId(resource)}/${keyOf(object)}`, resource, object };
    this.#unlink(node.id);
    this.#nodes.set(node.id, node);
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const ids = this.#dependents.get(uid) ?? new Set();
      this.#dependents.set(uid, ids.add(node.id));
    }
    return node;
  }

  remove(resource: Resource<KubeObject>, object: KubeObject): void {
    const id = `${resourceId(resource)}/${keyOf(object)}`;
    this.#unlink(id);
    this.#nodes.delete(id);
  }

  #unlink(id: string): void {
    for (const { uid } of this.#nodes.get(id)?.object.metadata.ownerReferences ?? []) {
      const ids = this.#dependents.get(uid);
      ids?.delete(id);
      if (ids?.size === 0) this.#dependents.delete(uid);
    }
  }
}

interface CollectParts {
  readonly client: Client;
  readonly graph: OwnerGraph;
  /** The kind that a reference names; undefined when the server has no such kind. */
  readonly kindOf: (reference: OwnerReference) => Promise<Resource<KubeObject> | undefined>;
  readonly isOwnerKnown: (owner: OwnerReference) => boolean;
  readonly enqueue: (id: string) => void;
  readonly signal: AbortSignal;
}

/** Processes one object. @throws Error when an owner cannot be read; the caller retries */
async function collect(node: GraphNode, parts: CollectParts): Promise<void> {
  const live = await readLive(node.resource, node.object, parts);
  if (live === undefined || live.metadata.uid !== node.object.metadata.uid) return;
  const { deletionTimestamp, finalizers = [], ownerReferences = [] } = live.metadata;
  if (deletionTimestamp !== undefined) {
    if (finalizers.includes(orphan)) return await orphanDependents(node, live, parts);
    if (finalizers.includes(foreground)) return await awaitDependents(node, live, parts);
    return;
  }
  if (ownerReferences.length > 0) await checkOwners(node, live, ownerReferences, parts);
}

/** "waiting": the owner is deleted in the foreground and waits for its dependents. The names follow kube-controller-manager. */
type Owner = { readonly kind: "solid" | "absent" | "waiting"; readonly reference: OwnerReference };

async function checkOwners(
  node: GraphNode,
  live: KubeObject,
  references: readonly OwnerReference[],
  parts: CollectParts,
): Promise<void> {
  const owners = await Promise.all(references.map((reference) => readOwner(reference, node, parts)));
  const dangling = owners.filter(({ kind }) => kind !== "solid").map(({ reference }) => reference.uid);
  if (dangling.length === 0) return;
  if (dangling.length < owners.length) return await removeReferences(node, live, new Set(dangling), parts);
  const isAwaited = owners.some(({ kind }) => kind === "waiting");
  const hasDependents = parts.graph.dependentsOf(live.metadata.uid ?? "").length > 0;
  await deleteObject(node, live, isAwaited && hasDependents ? "Foreground" : policyOf(live), parts);
}

async function readOwner(reference: OwnerReference, node: GraphNode, parts: CollectParts): Promise<Owner> {
  if (!parts.isOwnerKnown(reference)) return { kind: "solid", reference };
  const resource = await parts.kindOf(reference);
  if (resource === undefined) {
    throw new Error(
      `Cannot collect ${node.resource.kind} "${keyOf(node.object)}": its owner's kind ${reference.kind} is unknown`,
    );
  }
  const { namespace } = node.object.metadata;
  // A namespaced owner cannot own a cluster-scoped object: an object that says so is left alone.
  if (resource.scope === "Namespaced" && namespace === undefined) return { kind: "solid", reference };
  const key = resource.scope === "Namespaced" ? `${namespace}/${reference.name}` : reference.name;
  const owner = await parts.client.find(resource, key, { metadataOnly: true, signal: parts.signal });
  if (owner === undefined || owner.metadata.uid !== reference.uid) return { kind: "absent", reference };
  const isWaiting = owner.metadata.deletionTimestamp !== undefined &&
    owner.metadata.finalizers?.includes(foreground) === true;
  return { kind: isWaiting ? "waiting" : "solid", reference };
}

/** Foreground deletion: deletes the dependents first, and waits for those that block. */
async function awaitDependents(node: GraphNode, live: KubeObject, parts: CollectParts): Promise<void> {
  const { uid = "" } = live.metadata;
  const dependents = parts.graph.dependentsOf(uid);
  for (const { id } of dependents) parts.enqueue(id);
  const blocking = dependents.filter(({ object }) =>
    object.metadata.ownerReferences?.some((reference) => reference.uid === uid && reference.blockOwnerDeletion === true)
  );
  if (blocking.length === 0) await removeFinalizer(node, live, foreground, parts);
}

/** Orphaning deletion: the dependents stay, without the reference to this owner. */
async function orphanDependents(node: GraphNode, live: KubeObject, parts: CollectParts): Promise<void> {
  const { uid = "" } = live.metadata;
  for (const dependent of parts.graph.dependentsOf(uid)) {
    const object = await readLive(dependent.resource, dependent.object, parts);
    if (object !== undefined) await removeReferences(dependent, object, new Set([uid]), parts);
  }
  await removeFinalizer(node, live, orphan, parts);
}

async function removeReferences(
  node: GraphNode,
  live: KubeObject,
  uids: ReadonlySet<string>,
  parts: CollectParts,
): Promise<void> {
  const ownerReferences = live.metadata.ownerReferences?.filter((reference) => !uids.has(reference.uid)) ?? [];
  await patchMetadata(node, live, { ownerReferences }, parts);
}

async function removeFinalizer(node: GraphNode, live: KubeObject, name: string, parts: CollectParts): Promise<void> {
  const finalizers = live.metadata.finalizers?.filter((finalizer) => finalizer !== name) ?? [];
  await patchMetadata(node, live, { finalizers }, parts);
}

async function patchMetadata(node: GraphNode, live: KubeObject, change: object, parts: CollectParts): Promise<void> {
  const { uid, resourceVersion } = live.metadata;
  const value = { metadata: { ...change, uid, resourceVersion } };
  await parts.client.patch(node.resource, keyOf(live), { kind: "merge", value }, { signal: parts.signal }).catch(
    ignoreNotFound,
  );
}

async function deleteObject(
  node: GraphNode,
  live: KubeObject,
  policy: DeleteOptions["propagationPolicy"],
  parts: CollectParts,
): Promise<void> {
  const { uid, resourceVersion } = live.metadata;
  const options = { preconditions: { uid, resourceVersion }, propagationPolicy: policy, signal: parts.signal };
  await parts.client.delete(node.resource, keyOf(live), options).catch(ignoreNotFound);
}

/** The propagation policy that the finalizers of the object ask for. */
function policyOf(live: KubeObject): DeleteOptions["propagationPolicy"] {
  if (live.metadata.finalizers?.includes(orphan)) return "Orphan";
  return live.metadata.finalizers?.includes(foreground) ? "Foreground" : "Background";
}

async function readLive(
  resource: Resource<KubeObject>,
  object: KubeObject,
  parts: CollectParts,
): Promise<KubeObject | undefined> {
  return await parts.client.find(resource, keyOf(object), { metadataOnly: true, signal: parts.signal });
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
