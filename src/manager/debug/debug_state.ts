/**
 * DebugState: what a Manager does at this moment, as plain data for people and for the debug endpoint: its queues, their
 * keys, its caches, and what `why` needs beside the recording.
 *
 * Guarantees: nothing is changed; answers are bounded by a limit; error texts are without secrets. Caveat: the size of a
 * cache is estimated from a sample of its objects.
 */
import { formatLabelSelector, type KubeObject, type ObjectKey, type Resource, resourceName } from "../../api/mod.ts";
import { problemOf, type ReflectorStatus, type SharedInformer } from "../../cache/mod.ts";
import type { Cause, ControllerDefinition } from "../../controller/mod.ts";
import type { KindNames, KnownController, ProcessFacts, Subject } from "../../explain/mod.ts";
import { redactText } from "../../observe/mod.ts";
import type { QueueCounts, QueueEntry, WorkQueue } from "../../queue/mod.ts";

/** A controller, and its queue while it runs. */
export interface DebugMember {
  readonly definition: ControllerDefinition;
  readonly queue: WorkQueue<ObjectKey, Cause> | undefined;
}

/** What DebugState reads. */
export interface DebugStateOptions {
  readonly members: () => readonly DebugMember[];
  readonly informers: () => readonly SharedInformer<KubeObject>[];
  /** The cache of a controller for a kind that it watches. */
  readonly findInformer: (
    definition: ControllerDefinition,
    resource: Resource,
  ) => SharedInformer<KubeObject> | undefined;
  /** @default all */
  readonly namespaces?: readonly string[] | undefined;
  readonly parked: () => readonly { readonly controller: string; readonly key: string; readonly reason: string }[];
}

/** One queue. */
export interface QueueState extends QueueCounts {
  readonly controller: string;
  /** False while the controller does not run, as in a standby. */
  readonly isRunning: boolean;
}

/** The states by which keys can be asked for. A key that waits after a failure is `failing`, too. */
export const keyStates = ["failing", "parked", "waiting", "running", "queued"] as const;
/** One of {@link keyStates}. */
export type KeyStateName = (typeof keyStates)[number];

/** One key of a queue. */
export interface KeyState {
  readonly controller: string;
  readonly key: string;
  readonly state: Exclude<KeyStateName, "failing">;
  /** Since when, or until when it waits: milliseconds since the epoch. */
  readonly at: number;
  readonly priority: number;
  readonly lane: string;
  /** Failures in a row. */
  readonly retries: number;
  /** Why it is parked, or the error that is retried. */
  readonly reason?: string;
  /** Why it is in the queue, oldest first: `updated deployments.apps default/web`. */
  readonly causes: readonly string[];
}

/** One cache. */
export interface CacheState {
  readonly name: string;
  readonly hasSynced: boolean;
  readonly state: ReflectorStatus["kind"];
  /** Why it does not follow the server. */
  readonly problem?: string;
  /** When the next attempt begins, milliseconds since the epoch. */
  readonly nextAttemptAt?: number;
  readonly objects: number;
  /** Estimated bytes of its objects as JSON; of all its namespaces. */
  readonly bytes: number;
  /** Own writes that the watch has not shown yet, which is how many versions it is known to lag behind. */
  readonly unconfirmedWrites: number;
  readonly quarantinedLines: number;
}

/** Objects of a cache whose size is measured. */
const sampleSize = 50;

export class DebugState {
  readonly #options: DebugStateOptions;

  constructor(options: DebugStateOptions) {
    this.#options = options;
  }

  /** The controllers, with the names of their kinds. */
  controllers(): readonly KnownController[] {
    return this.#options.members().map(({ definition }) => knownController(definition));
  }

  queues(): readonly QueueState[] {
    const none: QueueCounts = { queued: 0, running: 0, runningDirty: 0, waiting: 0, parked: 0 };
    return this.#options.members().map(({ definition, queue }) => ({
      controller: definition.name,
      isRunning: queue !== undefined,
      ...(queue?.counts ?? none),
    }));
  }

  /** The keys of all queues in one state, or in any. @param limit the most keys */
  keys(state: KeyStateName | undefined, limit: number): readonly KeyState[] {
    const found: KeyState[] = [];
    for (const { definition, queue } of this.#options.members()) {
      for (const entry of queue?.snapshot() ?? []) {
        if (found.length >= limit) return found;
        const key = keyState(definition.name, entry);
        const isFailing = key.retries > 0;
        if (state === undefined || state === key.state || (state === "failing" && isFailing)) found.push(key);
      }
    }
    return found;
  }

  caches(): readonly CacheState[] {
    return this.#options.informers().flatMap((informer) => {
      const bytes = estimatedBytes(informer);
      return informer.statuses().map((status): CacheState => {
        const { name, hasSynced, reflector, objects, quarantined } = status;
        const problem = problemOf(status);
        return {
          name,
          hasSynced,
          state: reflector.kind,
          ...(problem === undefined ? {} : { problem: redactText(problem) }),
          ...(reflector.kind === "waiting" ? { nextAttemptAt: reflector.nextAttemptAt } : {}),
          objects,
          bytes,
          unconfirmedWrites: informer.unconfirmedWrites,
          quarantinedLines: quarantined.length,
        };
      });
    });
  }

  /** What `why --not` needs beside the recording. */
  facts({ resource, key }: Subject): ProcessFacts {
    const { namespaces } = this.#options;
    const members = this.#options.members();
    const selectors = members.flatMap(({ definition: { name, options: { selector } } }) =>
      selector === undefined ? [] : [[name, formatLabelSelector(selector)] as const]
    );
    const informers = members.flatMap(({ definition }) =>
      definition.watches.filter((watch) => resourceName(watch.resource) === resource)
        .flatMap((watch) => this.#options.findInformer(definition, watch.resource) ?? [])
    );
    const problems = informers.flatMap((informer) => informer.statuses()).flatMap((status) => problemOf(status) ?? []);
    const isSynced = informers.length > 0 && informers.every(({ hasSynced }) => hasSynced);
    return {
      ...(namespaces === undefined ? {} : { namespaces }),
      selectors: Object.fromEntries(selectors),
      ...(isSynced ? { isCached: informers.some(({ lister }) => lister.find(key as ObjectKey) !== undefined) } : {}),
      cacheProblems: problems.map(redactText),
      parked: this.#options.parked(),
    };
  }
}

/** The names of the kinds of a controller. */
export function knownController({ name, primary, watches }: ControllerDefinition): KnownController {
  const own = resourceName(primary);
  const others = new Map(watches.map(({ resource }) => [resourceName(resource), kindNames(resource)]));
  others.delete(own);
  return { name, primary: kindNames(primary), watched: [...others.values()] };
}

function kindNames(resource: Resource): KindNames {
  const { kind, scope } = resource;
  const names = namesOf(resource);
  return {
    resource: resourceName(resource),
    kind,
    ...(names?.singular === undefined ? {} : { singular: names.singular }),
    ...(names?.shortNames === undefined ? {} : { shortNames: names.shortNames }),
    ...(scope === "Cluster" ? { isClusterScoped: true } : {}),
  };
}

/** The names in the definition of a custom resource. */
function namesOf(
  resource: Resource & {
    readonly crd?: {
      readonly spec?: { readonly names?: { readonly singular?: string; readonly shortNames?: readonly string[] } };
    };
  },
) {
  return resource.crd?.spec?.names;
}

function keyState(controller: string, entry: QueueEntry<ObjectKey, Cause>): KeyState {
  const { key, state, priority, lane, retries, causes } = entry;
  const error = causes.findLast(({ change }) => change === "retry")?.error;
  const reason = state.kind === "parked" ? state.reason : error;
  return {
    controller,
    key,
    ...stateOf(state),
    priority,
    lane,
    retries,
    ...(reason === undefined ? {} : { reason: redactText(reason) }),
    causes: causes.map(({ change, source, key }) => `${change} ${source} ${key}`),
  };
}

function stateOf(state: QueueEntry<ObjectKey, Cause>["state"]): Pick<KeyState, "state" | "at"> {
  switch (state.kind) {
    case "queued":
      return { state: "queued", at: state.addedAt };
    case "running":
    case "runningDirty":
      return { state: "running", at: state.startedAt };
    case "waiting":
      return { state: "waiting", at: state.dueAt };
    case "parked":
      return { state: "parked", at: state.parkedAt };
    default:
      return state satisfies never;
  }
}

/** The mean size of some objects, times their number. */
function estimatedBytes({ lister }: SharedInformer<KubeObject>): number {
  let [measured, bytes] = [0, 0];
  for (const object of lister.list({ filter: () => measured++ < sampleSize })) bytes += JSON.stringify(object).length;
  return measured === 0 ? 0 : Math.round(bytes / Math.min(measured, sampleSize) * lister.size);
}
