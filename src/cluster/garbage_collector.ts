/**
 * GarbageCollector: deletes what belongs to nobody any more, as kube-controller-manager's: background, foreground and
 * orphaning deletion, and references to owners that never were.
 *
 * Guarantees: an object goes only when the server itself, asked now, says that each of its owners is gone or going;
 * and only the very object that was looked at (UID and version). Kinds that come later (CRDs) are noticed.
 */
import { builtin, type KubeObject, type OwnerReference, type Resource, resourceId } from "../api/mod.ts";
import { type Clock, type Random, scope, systemClock, systemRandom } from "../async/mod.ts";
import { InformerFactory } from "../cache/mod.ts";
import { type Client, Discovery, isConflict } from "../client/mod.ts";
import type { Life, Runnable } from "../manager/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { defaultRateLimiter, WorkQueue } from "../queue/mod.ts";
import { collect } from "./_collect.ts";
import { OwnerGraph } from "./_owner_graph.ts";

/** Milliseconds between two looks at which kinds there are; a new CRD causes one at once. */
const discoverEveryMs = 30_000;

/** Failures in a row that nobody hears of: the kind of an owner may have come a moment ago. */
const usualRetries = 8;

/** Objects looked at at the same time; as kube-controller-manager's --concurrent-gc-syncs, for a small cluster. */
const workers = 5;

/** Options of a {@link GarbageCollector}. */
export interface GarbageCollectorOptions {
  readonly client: Client;
  /** The kinds to look at. @default all that the server has, and those that come */
  readonly resources?: readonly Resource[];
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/** Deletes dependents of what is gone. */
export class GarbageCollector implements Runnable {
  readonly name = "garbage-collector";
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #discovery: Discovery;
  readonly #fixed: readonly Resource[] | undefined;
  readonly #factory: InformerFactory;
  readonly #graph = new OwnerGraph();
  readonly #queue: WorkQueue<string>;
  readonly #log: Logger = logger("garbage-collector");
  /** By kind and group, whatever the version. */
  readonly #kinds = new Map<string, Resource<KubeObject>>();
  #wake: () => void = () => {};

  constructor(options: GarbageCollectorOptions) {
    const { client, resources, clock = systemClock, random = systemRandom } = options;
    this.#client = client;
    this.#clock = clock;
    this.#fixed = resources;
    this.#discovery = new Discovery(client, { clock });
    this.#queue = new WorkQueue({ name: this.name, rateLimiter: defaultRateLimiter({ clock }), clock });
    this.#factory = new InformerFactory({
      listWatch: (resource, { projection: _, ...selection }) =>
        client.listWatch(resource, { ...selection, metadataOnly: true }) as never, // of all kinds nothing else is read
      clock,
      random,
    });
  }

  async run({ stop }: Life): Promise<void> {
    const works = Array.from({ length: workers }, () => this.#work(stop));
    await Promise.all([this.#factory.run(stop), this.#watchKinds(stop), ...works]);
    this.#queue.shutDown();
  }

  /** Keeps the set of watched kinds as the server's. */
  async #watchKinds(stop: AbortSignal): Promise<void> {
    if (this.#fixed !== undefined) return this.#add(this.#fixed);
    const wake = () => this.#wake();
    const definitions = this.#factory.informer(builtin.CustomResourceDefinition, { projection: "metadata" });
    definitions.addHandler({ added: wake, updated: wake });
    while (!stop.aborted) {
      using pause = scope(stop);
      this.#wake = () => pause.abort();
      await this.#discover(stop);
      await this.#clock.sleep(discoverEveryMs, pause.signal).catch(() => undefined);
    }
  }

  async #discover(stop: AbortSignal): Promise<void> {
    try {
      const found = await this.#discovery.refresh(stop);
      const needed = ["delete", "list", "watch", "patch"];
      this.#add(
        found.filter(({ verbs }) => needed.every((verb) => verbs.includes(verb))).map(({ resource }) => resource),
      );
    } catch (error) {
      if (!stop.aborted) this.#log.warn("kinds cannot be discovered, will be tried again", { error });
    }
  }

  #add(resources: readonly Resource[]): void {
    for (const resource of resources) {
      const kind = kindKey(resource.group, resource.kind);
      // The two kinds of Events are the same objects, and nobody owns or is owned by one.
      if (this.#kinds.has(kind) || resource.kind === "Event") continue;
      this.#kinds.set(kind, resource as Resource<KubeObject>);
      this.#listen(resource as Resource<KubeObject>);
    }
  }

  #listen(resource: Resource<KubeObject>): void {
    this.#factory.informer(resource, { projection: "metadata" }).addHandler({
      added: (object: KubeObject) => this.#seen(resource, object),
      updated: (_old: KubeObject, object: KubeObject) => this.#seen(resource, object),
      deleted: ({ lastKnown }: { readonly lastKnown: KubeObject }) => this.#gone(resource, lastKnown),
    });
  }

  #seen(resource: Resource<KubeObject>, object: KubeObject): void {
    const { id } = this.#graph.put(resource, object);
    const { ownerReferences, deletionTimestamp, uid = "" } = object.metadata;
    if (ownerReferences !== undefined || deletionTimestamp !== undefined) this.#queue.add(id);
    if (deletionTimestamp !== undefined) this.#addDependents(uid);
  }

  #gone(resource: Resource<KubeObject>, object: KubeObject): void {
    this.#graph.remove(resource, object);
    this.#addDependents(object.metadata.uid ?? "");
    for (const owner of object.metadata.ownerReferences ?? []) this.#addOwner(owner, object.metadata.namespace);
  }

  #addDependents(uid: string): void {
    for (const { id } of this.#graph.dependentsOf(uid)) this.#queue.add(id);
  }

  /** An owner that is deleted in the foreground may have waited for this dependent. */
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
        await this.#look(item.key, stop);
        this.#queue.forget(item.key);
      } catch (error) {
        if (stop.aborted) return;
        const isUnusual = !isConflict(error) && this.#queue.retries(item.key) >= usualRetries;
        if (isUnusual) this.#log.warn("cannot collect, will be tried again", { object: item.key, error });
        this.#queue.addRateLimited(item.key);
      }
    }
  }

  async #look(id: string, signal: AbortSignal): Promise<void> {
    const node = this.#graph.find(id);
    if (node === undefined) return;
    await collect(node, {
      client: this.#client,
      graph: this.#graph,
      kindOf: (reference) => this.#kindOf(reference, signal),
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
