/**
 * The oracles of informers. HandlerOracle checks what handlers get during a run: for each object added, then any number of
 * updates, then deleted, and no update from one UID to another. cacheViolations() compares the caches with the server at the
 * end of a run.
 */
import { keyOf, type KubeObject, type ObjectKey, type Resource, resourceName } from "../api/mod.ts";
import type { CachePart, SharedInformer } from "../cache/mod.ts";
import { type ActivationCondition, isInHub } from "../controller/mod.ts";
import {
  type AccessPlace,
  controllerCacheOf,
  type Manager,
  type OperatorController,
  shardsOf,
} from "../manager/mod.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import type { SimulatedServer } from "./_simulated_server.ts";
import { differingKeys } from "./summary.ts";
import type { PointCounts } from "./fault_points.ts";
import type { Violation } from "./violation.ts";

/** Violations that are reported for one run. */
const maxReported = 5;

/** A process, or the Manager that it has for one cluster of a fleet. */
export interface ObservedProcess {
  readonly id: number;
  readonly manager: Manager;
  /** Its handlers get no more events. */
  readonly hasEnded: boolean;
}

/** The controllers that run in a place of a fleet, with what they watch there. */
export function controllersIn(
  place: AccessPlace,
  controllers: readonly OperatorController[],
): readonly OperatorController[] {
  if (place === "cluster") return controllers;
  return controllers.flatMap((controller) => {
    const runsHere = (controller.options.runsIn === "hub") === (place === "hub");
    const watches = controller.watches.filter(({ resource }) => runsHere || isInHub(resource))
      .filter(({ resource }) => place === "hub" || !isInHub(resource));
    return watches.length === 0 ? [] : [{ ...controller, watches }];
  });
}

/** A handler at every informer of every process. */
export class HandlerOracle {
  readonly #watched: readonly WatchedResource[];
  readonly #recorders: HandlerRecorder[] = [];
  readonly #problems: string[] = [];

  constructor(controllers: readonly OperatorController[]) {
    this.#watched = watchedResources(controllers);
  }

  /** Adds the handlers to a process that was just started. */
  observe(process: ObservedProcess): void {
    const shards = shardsOf(process.manager);
    for (const { watched, informer, part } of cachesOf(process, this.#watched)) {
      const recorder = new HandlerRecorder({
        ...{ process, watched, part, isSeen: () => isSeen(informer) },
        onProblem: (text) => this.#problems.push(text),
      });
      this.#recorders.push(recorder);
      shards?.holds.listen({ onEnded: () => recorder.forgetOthers() });
      informer.activation?.listen(() => isSeen(informer) || recorder.forgetAll());
      informer.addHandler(recorder, { name: "simulation" });
    }
  }

  /** The problems so far, and the differences between the handlers' objects and those of the server. */
  violations(server: SimulatedServer): readonly Violation[] {
    const running = this.#recorders.filter(({ process }) => !process.hasEnded);
    const problems = [...this.#problems, ...running.flatMap((recorder) => recorder.differences(server))];
    return problems.slice(0, maxReported).map((message) => ({ invariant: "handler-events", message }));
  }
}

/** Options of a {@link HandlerRecorder}. */
export interface HandlerRecorderOptions {
  readonly process: Pick<ObservedProcess, "id" | "hasEnded">;
  readonly watched: Pick<WatchedResource, "resource" | "namespace">;
  /** The part of the kind that the replica has. @default everything */
  readonly part?: Pick<CachePart, "includes"> | undefined;
  /** False while the kind is not watched, because of its activation. @default it is watched */
  readonly isSeen?: () => boolean;
  readonly onProblem: (message: string) => void;
}

/**
 * A handler that records the objects it was notified of. What leaves the part of a replica is forgotten without events, and what
 * handlers hear of it later does not count.
 */
export class HandlerRecorder {
  readonly #options: HandlerRecorderOptions;
  readonly #objects = new Map<ObjectKey, KubeObject>();

  constructor(options: HandlerRecorderOptions) {
    this.#options = options;
  }

  get process(): HandlerRecorderOptions["process"] {
    return this.#options.process;
  }

  /** Must be called when the part has become smaller. */
  forgetOthers(): void {
    for (const [key, object] of this.#objects) if (!this.#includes(object)) this.#objects.delete(key);
  }

  /** Must be called when the kind is no longer watched. */
  forgetAll(): void {
    this.#objects.clear();
  }

  onAdd(object: KubeObject): void {
    if (!this.#includes(object)) return;
    const key = keyOf(object);
    if (this.#objects.has(key)) this.#report(`${key} was added twice without a deletion in between`);
    this.#objects.set(key, object);
  }

  onUpdate(old: KubeObject, object: KubeObject): void {
    if (!this.#includes(object)) return;
    const key = keyOf(object);
    const { uid } = object.metadata;
    if (!this.#objects.has(key)) this.#report(`${key} was updated before it was added`);
    else if (old.metadata.uid !== uid || this.#uidOf(key) !== uid) this.#report(`an update of ${key} changed the UID`);
    this.#objects.set(key, object);
  }

  onDelete({ key, lastKnown }: { readonly key: ObjectKey; readonly lastKnown: KubeObject }): void {
    if (!this.#objects.has(key)) {
      if (this.#includes(lastKnown)) this.#report(`${key} was deleted before it was added`);
    } else if (this.#uidOf(key) !== lastKnown.metadata.uid) {
      this.#report(`the deletion of ${key} had the UID of another object`);
    }
    this.#objects.delete(key);
  }

  /** The differences between the recorded objects and those of the server. */
  differences(server: Pick<SimulatedServer, "list">): readonly string[] {
    const { watched: { resource, namespace }, isSeen = () => true } = this.#options;
    const objects = isSeen() ? server.list(resourceName(resource), namespace) : [];
    const included = objects.filter((object) => this.#includes(object));
    const stored = new Map(included.map((object) => [keyOf(object), object.metadata.uid]));
    const recorded = new Map([...this.#objects].map(([key, { metadata: { uid } }]) => [key, uid]));
    return differingKeys(stored, recorded).map((key) => {
      const change = !stored.has(key) ? "was deleted" : recorded.has(key) ? "was replaced" : "was created";
      return `${this.#name}: ${key} ${change}, and the handlers were not notified`;
    });
  }

  #includes(object: KubeObject): boolean {
    return this.#options.part?.includes(object) ?? true;
  }

  #uidOf(key: ObjectKey): string | undefined {
    return this.#objects.get(key)?.metadata.uid;
  }

  #report(message: string): void {
    this.#options.onProblem(`${this.#name}: ${message}`);
  }

  get #name(): string {
    return `process ${this.process.id}, ${resourceName(this.#options.watched.resource)}`;
  }
}

/** The differences between the caches of the processes and the server. */
export function cacheViolations(
  server: SimulatedServer,
  processes: readonly Pick<ObservedProcess, "id" | "manager">[],
  controllers: readonly OperatorController[],
): readonly Violation[] {
  const watched = watchedResources(controllers);
  return processes.flatMap((process) =>
    cachesOf(process, watched).flatMap((cache) => [
      ...activationDifferences(server, process, cache),
      ...cacheDifferences(server, process, cache),
    ])
  );
}

/** A kind is active if and only if its condition holds for the object that the server has. */
function activationDifferences(
  server: SimulatedServer,
  process: Pick<ObservedProcess, "id">,
  { watched: { resource, condition }, informer: { activation } }: WatchedCache,
): readonly Violation[] {
  if (condition === undefined || activation === undefined) return [];
  const stored = server.list(resourceName(condition.resource)).find((object) => keyOf(object) === condition.key);
  const answer = condition.evaluate(stored);
  if ((answer === true) === (activation.state.kind === "active")) return [];
  const message = `process ${process.id} has ${resourceName(resource)} as ${activation.state.kind}, its condition ` +
    (answer === true ? "holds" : `does not hold: ${answer}`);
  return [{ invariant: "activations", message }];
}

/** False for a cache whose condition does not hold. */
function isSeen({ activation }: SharedInformer<KubeObject>): boolean {
  return activation === undefined || activation.state.kind === "active";
}

function cacheDifferences(
  server: SimulatedServer,
  process: Pick<ObservedProcess, "id">,
  { watched: { resource, namespace }, informer, part }: WatchedCache,
): readonly Violation[] {
  const objects = isSeen(informer) ? server.list(resourceName(resource), namespace) : [];
  const included = objects.filter((object) => part?.includes(object) ?? true);
  const stored = new Map<string, string | undefined>(
    included.map((object) => [keyOf(object), object.metadata.resourceVersion]),
  );
  const cached = new Map<string, string | undefined>(
    informer.lister.list().map((object) => [keyOf(object), object.metadata.resourceVersion]),
  );
  return differingKeys(stored, cached).map((key) => ({
    invariant: "cache-contents",
    message: `process ${process.id} has ${resourceName(resource)} ${key} at version ${cached.get(key) ?? "none"}, ` +
      `the server at version ${stored.get(key) ?? "none"}`,
  }));
}

/** A resource that a controller watches. */
interface WatchedResource {
  readonly controller: OperatorController;
  readonly resource: Resource;
  /** @default all namespaces, or the resource is cluster-scoped */
  readonly namespace: string | undefined;
  /** The condition under which it is watched. @default it is always watched */
  readonly condition: ActivationCondition | undefined;
}

function watchedResources(controllers: readonly OperatorController[]): readonly WatchedResource[] {
  return controllers.flatMap((controller) =>
    controller.watches.map(({ resource, activation }) => ({
      controller,
      resource,
      condition: activation,
      namespace: resource.scope === "Namespaced" ? controller.options.namespace : undefined,
    }))
  );
}

/** The cache of a process for a resource. */
interface WatchedCache {
  readonly watched: WatchedResource;
  readonly informer: SharedInformer<KubeObject>;
  /** @default everything */
  readonly part: CachePart | undefined;
}

/** The caches of a process, each once. Sharded controllers with different shard keys have different parts of a kind. */
function cachesOf(process: Pick<ObservedProcess, "manager">, all: readonly WatchedResource[]): readonly WatchedCache[] {
  const { manager } = process;
  const isSharded = shardsOf(manager) !== undefined;
  const caches = all.map((watched): WatchedCache => {
    const { controller, resource, namespace, condition } = watched;
    if (isSharded || condition !== undefined) return { watched, ...controllerCacheOf(manager, controller, resource) };
    return { watched, informer: manager.caches.informer(resource, namespace), part: undefined };
  });
  return [...new Map(caches.map((cache) => [cache.informer, cache])).values()];
}

/** True when a controller of a process caches an object as it is on the server. */
export function isKept(
  { manager }: OperatorProcess,
  controller: OperatorController,
  { resource, stored }: { readonly resource: Resource; readonly stored: KubeObject },
): boolean {
  if (shardsOf(manager) === undefined) return true;
  return controllerCacheOf(manager, controller, resource).part?.includes(stored) ?? true;
}

/** What decides how often the processes of a run may list. */
export interface ListLimits {
  readonly controllers: readonly OperatorController[];
  /** All processes that were started. */
  readonly processes: readonly OperatorProcess[];
  readonly replicas: number;
  readonly sharded: boolean;
  /** How often all replicas were started at most. */
  readonly starts: number;
}

/** The collections that were listed more often than starts, gains of slots and faults make necessary. */
export function listViolations(
  { lists, relists }: Pick<PointCounts, "lists" | "relists">,
  limits: ListLimits,
): readonly Violation[] {
  return [...lists].flatMap(([collection, count]) => {
    const needed = limits.sharded ? neededLists(collection, limits) : plainLists(collection, limits);
    if (count <= needed + relists) return [];
    return [{
      invariant: "list-count",
      message: `${collection} was listed ${count} times, ${needed + relists} are enough`,
    }];
  });
}

/** Each replica lists a kind once, the object of each condition once, and a kind with a condition each time that it begins. */
function plainLists(collection: string, { controllers, processes, replicas, starts }: ListLimits): number {
  const watched = watchedResources(controllers).filter(({ resource }) => resourceName(resource) === collection);
  const conditions = conditionsOn(collection, controllers);
  const caches = conditions + (watched.length > 0 ? 1 : 0);
  return Math.max(1, caches) * replicas * starts + repeatedBeginnings(processes, watched);
}

/** How many objects of a kind decide about watches. */
function conditionsOn(collection: string, controllers: readonly OperatorController[]): number {
  const conditions = watchedResources(controllers).flatMap(({ condition }) => condition ?? []);
  return new Set(conditions.filter(({ resource }) => resourceName(resource) === collection).map(({ key }) => key)).size;
}

/** How often a kind was watched again, because its condition began to hold once more. */
function repeatedBeginnings(processes: readonly OperatorProcess[], watched: readonly WatchedResource[]): number {
  const conditional = watched.filter(({ condition }) => condition !== undefined);
  return processes.flatMap((process) => cachesOf(process, conditional))
    .reduce((sum, { informer: { activation } }) => sum + Math.max(0, (activation?.beginnings ?? 0) - 1), 0);
}

/** A sharded replica lists its part again each time that it has gained slots. */
function neededLists(collection: string, { controllers, processes }: ListLimits): number {
  const watched = watchedResources(controllers).filter(({ resource }) => resourceName(resource) === collection);
  const conditions = conditionsOn(collection, controllers);
  return processes.reduce((sum, process) => {
    const gains = shardsOf(process.manager)?.holds.generation ?? 0;
    return sum + conditions + cachesOf(process, watched).length * Math.max(1, gains);
  }, repeatedBeginnings(processes, watched));
}
