/**
 * ReplayedController: the decisions and the reconciler of a controller without its queue, its watches and its workers. Whoever
 * replays a recording decides when a key is reconciled, what the caches have and how the server answers.
 *
 *   change -> decide() -> keys        request -> reconcile() -> reads, writes, Events -> outcome
 *
 * Guarantees: an attempt is that of a worker (`_worker.ts`), with the same Toolbox; reads and writes go to the parts of its
 * request only. What a controller remembers from one attempt to the next (how the server normalizes values, which dependents
 * were deleted) it remembers here, too.
 */
import { keyOf, type KubeObject, type ObjectKey, type Resource, resourceId } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { logger } from "../observe/mod.ts";
import { acceptsChange } from "./_accepted_changes.ts";
import { DeletedDependents } from "./_deleted_dependents.ts";
import type { AttemptRecord } from "./_recorded_controller.ts";
import { createReconcileAttempt, type Outcome } from "./_worker.ts";
import type { CacheReader } from "./caches.ts";
import type { ControllerDefinition, WatchDefinition } from "./controller_definition.ts";
import { DeletedObjects } from "./deleted_objects.ts";
import type { Change } from "./predicate.ts";
import type { Cause, EventSink } from "./request.ts";

/** Options of a {@link ReplayedController}. */
export interface ReplayedControllerOptions {
  readonly definition: ControllerDefinition;
  /** What mappings of changes read, and who the owners of deleted dependents are. */
  readonly caches: CacheReader;
  readonly clock: Clock;
  /** The cluster in which a Fleet ran it. @default no Fleet, or its hub */
  readonly cluster?: string;
}

/** One attempt. */
export interface ReplayedRequest {
  readonly key: ObjectKey;
  readonly causes: readonly Cause[];
  /** Failures in a row before. */
  readonly retries: number;
  readonly caches: CacheReader;
  readonly client: Client;
  readonly events: EventSink;
}

/** How an attempt ended. */
export type ReplayedOutcome = Outcome;

/** What a controller decides about a change. */
export type ReplayedDecision =
  | { readonly kind: "rejected" }
  /** None: the change concerns no key. */
  | { readonly kind: "accepted"; readonly keys: readonly ObjectKey[] };

/** A controller whose inputs come from a recording. */
export class ReplayedController {
  readonly definition: ControllerDefinition;
  readonly #options: ReplayedControllerOptions;
  readonly #deletedDependents: DeletedDependents;
  readonly #deletedObjects = new DeletedObjects();
  readonly #attempt: (request: ReplayedRequest) => Promise<Outcome>;

  constructor(options: ReplayedControllerOptions) {
    const { definition, caches } = options;
    this.definition = definition;
    this.#options = options;
    const findPrimary = (key: ObjectKey) => caches.find(definition.primary, key) as KubeObject | undefined;
    this.#deletedDependents = new DeletedDependents(definition.primary, findPrimary, definition.name);
    this.#attempt = this.#createAttempt();
  }

  /** Reconciles a key once. Never rejects. */
  async reconcile(request: ReplayedRequest): Promise<ReplayedOutcome> {
    return await this.#attempt(request);
  }

  /** Takes note of a deletion, as the watch of a controller does. */
  observeDeletion(resource: Resource, object: KubeObject): void {
    const { primary, deleted } = this.definition;
    if (resourceId(resource) !== resourceId(primary)) this.#deletedDependents.record(resource, object);
    else if (deleted !== undefined) this.#deletedObjects.record(keyOf(object), { object, isFinalStateKnown: true });
  }

  /** Decides which keys a change concerns. A predicate that throws accepts the change. */
  decide(watch: WatchDefinition, change: Change): ReplayedDecision {
    if (!isAccepted(this.definition, watch, change)) return { kind: "rejected" };
    const { caches } = this.#options;
    const keys = new Set(watch.keysOf(change.object, caches));
    if (change.kind === "updated" && watch.role !== "for") {
      for (const key of watch.keysOf(change.old, caches)) keys.add(key);
    }
    return { kind: "accepted", keys: [...keys] };
  }

  #createAttempt(): (request: ReplayedRequest) => Promise<Outcome> {
    const { definition, caches, clock, cluster } = this.#options;
    // One function for all attempts: what it remembers is part of the controller.
    const attempt = createReconcileAttempt({
      ...{ definition, caches, clock, ...(cluster === undefined ? {} : { cluster }) },
      client: new Client(() => Promise.reject(new Error("Cannot send a request outside of an attempt"))),
      events: { record: () => {} },
      kill: new AbortController().signal,
      log: logger("controller", definition.name),
      deletedDependents: this.#deletedDependents,
      deletedObjects: this.#deletedObjects,
      writeThrough: {
        clientFor: (_key, client, _signal, parts) => parts instanceof ReplayedParts ? parts.client : client,
        observeLive: () => {},
        isUnsettled: () => false,
        settle: () => Promise.resolve(),
      },
      onRepair: () => () => {},
    });
    return (request) => attempt(request.key, request.causes, request.retries, new ReplayedParts(request));
  }
}

/** The parts of a request, where the attempt of a worker has its recording. */
class ReplayedParts implements AttemptRecord {
  readonly client: Client;
  readonly #request: ReplayedRequest;

  constructor(request: ReplayedRequest) {
    this.client = request.client;
    this.#request = request;
  }

  caches(): CacheReader {
    return this.#request.caches;
  }

  events(): EventSink {
    return this.#request.events;
  }

  requests(): Record<never, never> {
    return {};
  }

  leftAlone(): void {}

  writeOf(): undefined {}
}

function isAccepted(definition: ControllerDefinition, watch: WatchDefinition, change: Change): boolean {
  try {
    return acceptsChange(definition, watch, change);
  } catch {
    return true;
  }
}
