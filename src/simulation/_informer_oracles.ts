/**
 * The oracles of informers. HandlerOracle checks what handlers get during a run: for each object added, then any number of
 * updates, then deleted, and no update from one UID to another. cacheViolations() compares the caches with the server at the
 * end of a run.
 */
import { keyOf, type KubeObject, type ObjectKey, type Resource, resourceId, resourceName } from "../api/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import type { SimulatedServer } from "./_simulated_server.ts";
import { differingKeys } from "./summary.ts";
import type { Violation } from "./violation.ts";

/** Violations that are reported for one run. */
const maxReported = 5;

/** A handler at every informer of every process. */
export class HandlerOracle {
  readonly #watched: readonly WatchedResource[];
  readonly #recorders: HandlerRecorder[] = [];
  readonly #problems: string[] = [];

  constructor(controllers: readonly OperatorController[]) {
    this.#watched = watchedResources(controllers);
  }

  /** Adds the handlers to a process that was just started. */
  observe(process: OperatorProcess): void {
    for (const watched of this.#watched) {
      const recorder = new HandlerRecorder(process, watched, (problem) => this.#problems.push(problem));
      this.#recorders.push(recorder);
      const informer = process.manager.caches.informer(watched.resource, watched.namespace);
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

/** A handler that records the UIDs of the objects it was notified of. */
export class HandlerRecorder {
  readonly process: Pick<OperatorProcess, "id" | "hasEnded">;
  readonly #watched: WatchedResource;
  readonly #onProblem: (message: string) => void;
  readonly #uids = new Map<ObjectKey, string | undefined>();

  constructor(process: HandlerRecorder["process"], watched: WatchedResource, onProblem: (message: string) => void) {
    this.process = process;
    this.#watched = watched;
    this.#onProblem = onProblem;
  }

  onAdd(object: KubeObject): void {
    const key = keyOf(object);
    if (this.#uids.has(key)) this.#report(`${key} was added twice without a deletion in between`);
    this.#uids.set(key, object.metadata.uid);
  }

  onUpdate(old: KubeObject, object: KubeObject): void {
    const key = keyOf(object);
    const { uid } = object.metadata;
    if (!this.#uids.has(key)) this.#report(`${key} was updated before it was added`);
    else if (old.metadata.uid !== uid || this.#uids.get(key) !== uid) {
      this.#report(`an update of ${key} changed the UID`);
    }
    this.#uids.set(key, uid);
  }

  onDelete({ key, lastKnown }: { readonly key: ObjectKey; readonly lastKnown: KubeObject }): void {
    if (!this.#uids.has(key)) this.#report(`${key} was deleted before it was added`);
    else if (this.#uids.get(key) !== lastKnown.metadata.uid) {
      this.#report(`the deletion of ${key} had the UID of another object`);
    }
    this.#uids.delete(key);
  }

  /** The differences between the recorded objects and those of the server. */
  differences(server: Pick<SimulatedServer, "list">): readonly string[] {
    const { resource, namespace } = this.#watched;
    const stored = new Map<ObjectKey, string | undefined>(
      server.list(resourceName(resource), namespace).map((object) => [keyOf(object), object.metadata.uid]),
    );
    return differingKeys(stored, this.#uids).map((key) => {
      const change = !stored.has(key) ? "was deleted" : this.#uids.has(key) ? "was replaced" : "was created";
      return `${this.#name}: ${key} ${change}, and the handlers were not notified`;
    });
  }

  #report(message: string): void {
    this.#onProblem(`${this.#name}: ${message}`);
  }

  get #name(): string {
    return `process ${this.process.id}, ${resourceName(this.#watched.resource)}`;
  }
}

/** The differences between the caches of the processes and the server. */
export function cacheViolations(
  server: SimulatedServer,
  processes: readonly OperatorProcess[],
  controllers: readonly OperatorController[],
): readonly Violation[] {
  const watched = watchedResources(controllers);
  return processes.flatMap((process) => watched.flatMap((one) => cacheDifferences(server, process, one)));
}

function cacheDifferences(
  server: SimulatedServer,
  process: OperatorProcess,
  { resource, namespace }: WatchedResource,
): readonly Violation[] {
  const informer = process.manager.caches.findInformer(resource, namespace);
  if (informer === undefined) return [];
  const stored = new Map<string, string | undefined>(
    server.list(resourceName(resource), namespace).map((object) => [keyOf(object), object.metadata.resourceVersion]),
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

/** A resource that controllers watch. */
export interface WatchedResource {
  readonly resource: Resource;
  /** @default all namespaces, or the resource is cluster-scoped */
  readonly namespace: string | undefined;
}

function watchedResources(controllers: readonly OperatorController[]): readonly WatchedResource[] {
  const watched = controllers.flatMap(({ watches, options: { namespace } }) =>
    watches.map(({ resource }): WatchedResource => ({
      resource,
      namespace: resource.scope === "Namespaced" ? namespace : undefined,
    }))
  );
  return [...new Map(watched.map((one) => [`${resourceId(one.resource)} ${one.namespace}`, one])).values()];
}
