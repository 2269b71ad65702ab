/**
 * DebugState: what a Manager does at this moment, as plain data for people and for the debug endpoint: its queues, their
 * keys, its caches, and what `why` needs beside the recording.
 *
 * Guarantees: nothing is changed; answers are bounded by a limit; error texts are without secrets. Caveat: the size of a
 * cache is estimated from a sample of its objects.
 */
import {
  compareResourceVersions,
  formatLabelSelector,
  isComparable,
  type KubeObject,
  type ObjectKey,
  type Resource,
  resourceName,
  type ResourceVersion,
} from "../../api/mod.ts";
import {
  type CacheProgress,
  ConditionalInformer,
  keptPart,
  problemOf,
  type ReflectorStatus,
  type SharedInformer,
} from "../../cache/mod.ts";
import type { Client } from "../../client/mod.ts";
import { type ControllerDefinition, inactivityOf } from "../../controller/mod.ts";
import type { KindNames, KnownController, ProcessFacts, ShardFact, Subject } from "../../explain/mod.ts";
import { redactText } from "../../observe/mod.ts";
import type { QueueCounts } from "../../queue/mod.ts";
import { type ShardMember, type ShardState, shardStateOf, slotOfObject } from "../sharding/mod.ts";
import { type ControllerState, controllerState, type DebugMember } from "./controller_states.ts";
import { type KeysPage, type KeysQuestion, listKeys } from "./key_states.ts";
import { type ObjectRow, objectRow } from "./object_row.ts";

/** What DebugState reads. */
export interface DebugStateOptions {
  readonly members: () => readonly DebugMember[];
  readonly informers: () => readonly SharedInformer<KubeObject>[];
  /** The cache of a controller for a kind that it watches. */
  readonly findInformer: (
    definition: ControllerDefinition,
    resource: Resource,
  ) => SharedInformer<KubeObject> | undefined;
  /** Those of the caches at this moment; undefined: all. */
  readonly namespaces: () => readonly string[] | undefined;
  /** This replica in its group. @default the Manager does not shard */
  readonly shards?: ShardMember | undefined;
  /** Reads objects that other replicas have. */
  readonly client: Client;
  readonly parked: () => readonly { readonly controller: string; readonly key: string; readonly reason: string }[];
}

/** One queue. */
export interface QueueState extends QueueCounts {
  readonly controller: string;
  /** False while the controller does not run, as in a standby. */
  readonly isRunning: boolean;
}

/** One cache: of a kind in the whole cluster, or in one namespace. */
export interface CacheState {
  readonly name: string;
  readonly hasSynced: boolean;
  readonly state: ReflectorStatus["kind"];
  /** Why it does not follow the server. */
  readonly problem?: string;
  /** When the next attempt begins, milliseconds since the epoch. */
  readonly nextAttemptAt?: number;
  readonly objects: number;
  /** Estimated bytes of its objects as JSON: their number, times the mean size of some objects of the kind. */
  readonly bytes: number;
  /** The version up to which it is complete. Absent before the first full state, as are the next three. */
  readonly resourceVersion?: string;
  /** The latest version of the kind that this process knows: from any of its caches, or the response to a write or read. */
  readonly latestResourceVersion?: string;
  /**
   * `latestResourceVersion` minus `resourceVersion`; the server counts the changes of all kinds with one number, so it is the
   * most changes that the cache can lack. Absent if the versions of the server have no order.
   */
  readonly versionsBehind?: number;
  /**
   * Seconds since the server last proved that the cache is current, by a full state, an event or a bookmark. A server sends a
   * bookmark each minute, so up to 60 is usual for a quiet kind; more means that the cache does not follow.
   */
  readonly lagSeconds?: number;
  /** Own writes that the watch has not shown yet. */
  readonly unconfirmedWrites: number;
  readonly quarantinedLines: number;
}

/** A version of 64 bits has at most 20. */
const maxVersionDigits = 40;
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

  /** What each controller has done since the process began, and what it has to do. */
  controllerStates(): readonly ControllerState[] {
    return this.#options.members().map((member) => {
      const { watches } = member.definition;
      const statuses = watches.flatMap(({ resource }) =>
        this.#options.findInformer(member.definition, resource)?.statuses() ?? []
      );
      return controllerState(member, statuses, this.#inactiveKinds(member.definition));
    });
  }

  /** One sentence for each kind that a controller does not watch at this moment. */
  #inactiveKinds(definition: ControllerDefinition): readonly string[] {
    return definition.watches.flatMap(({ resource }) => {
      const why = inactivityOf(this.#options.findInformer(definition, resource)?.activation);
      return why === undefined ? [] : [`${resourceName(resource)} is not active: ${why}`];
    });
  }

  /** One page of the keys of all queues. */
  keys(question: KeysQuestion): KeysPage {
    return listKeys(this.#options.members(), question);
  }

  /** The objects in the caches, each once. @param limit the most objects */
  objects(limit: number): readonly ObjectRow[] {
    const rows: ObjectRow[] = [];
    const seen = new Set<SharedInformer<KubeObject>>();
    for (const { definition } of this.#options.members()) {
      for (const { resource } of [{ resource: definition.primary }, ...definition.watches]) {
        const informer = this.#options.findInformer(definition, resource);
        // Controllers that watch a kind under conditions share one cache.
        const cache = informer instanceof ConditionalInformer ? informer.current : informer;
        if (informer === undefined || cache === undefined || seen.has(cache)) continue;
        seen.add(cache);
        const names = { resource: resourceName(resource), kind: resource.kind };
        for (const object of informer.lister.list()) {
          if (rows.length >= limit) return rows;
          rows.push(objectRow(names, keptPart(object)));
        }
      }
    }
    return rows;
  }

  caches(): readonly CacheState[] {
    return this.#options.informers().flatMap((informer) => {
      const statuses = informer.statuses();
      const meanBytes = meanSize(informer);
      const latest = latestOf(statuses.flatMap(({ progress }) => progress?.latestVersion ?? []));
      return statuses.map((status): CacheState => {
        const { name, hasSynced, reflector, objects, quarantined } = status;
        const problem = problemOf(status);
        return {
          name,
          hasSynced,
          state: reflector.kind,
          ...(problem === undefined ? {} : { problem: redactText(problem) }),
          ...(reflector.kind === "waiting" ? { nextAttemptAt: reflector.nextAttemptAt } : {}),
          objects,
          bytes: Math.round(meanBytes * objects),
          ...lagOf(status.progress, latest),
          unconfirmedWrites: informer.unconfirmedWrites,
          quarantinedLines: quarantined.length,
        };
      });
    });
  }

  /** The namespaces of the caches at this moment; undefined: all. */
  get namespaces(): readonly string[] | undefined {
    return this.#options.namespaces();
  }

  /** This replica and its group; undefined if the Manager does not shard. */
  shards(): ShardState | undefined {
    const { shards } = this.#options;
    return shards && shardStateOf(shards);
  }

  /** The replica that reconciles an object; undefined if each has it, or if that cannot be told. Reads the object. */
  async shardOf({ resource: name, key }: Subject, signal: AbortSignal): Promise<ShardFact | undefined> {
    const { shards, client } = this.#options;
    if (shards === undefined) return undefined;
    for (const { definition } of this.#options.members()) {
      const resource = definition.watches.find((watch) => resourceName(watch.resource) === name)?.resource;
      if (resource === undefined) continue;
      const read = () =>
        client.get(resource, key as ObjectKey, { signal }).then((found) => found as KubeObject, () => undefined);
      const slot = await slotOfObject({ definition, resource, key: key as ObjectKey, read });
      if (slot === undefined) continue;
      const holder = shards.holders.get(slot);
      return { slot, replica: shards.name, ...(holder === undefined ? {} : { holder }) };
    }
    return undefined;
  }

  /** What `why --not` needs beside the recording. */
  facts({ resource, key }: Subject): ProcessFacts {
    const { namespaces } = this;
    const members = this.#options.members();
    const selectors = members.flatMap(({ definition: { name, options: { selector } } }) =>
      selector === undefined ? [] : [[name, formatLabelSelector(selector)] as const]
    );
    const informers = members.flatMap(({ definition }) =>
      definition.watches.filter((watch) => resourceName(watch.resource) === resource)
        .flatMap((watch) => this.#options.findInformer(definition, watch.resource) ?? [])
        // What is not watched may exist all the same.
        .filter(({ activation }) => inactivityOf(activation) === undefined)
    );
    const leaderOnly = members.filter(({ runsOn }) => runsOn === "leader").map(({ definition: { name } }) => name);
    const problems = informers.flatMap((informer) => informer.statuses()).flatMap((status) => problemOf(status) ?? []);
    const isSynced = informers.length > 0 && informers.every(({ hasSynced }) => hasSynced);
    return {
      ...(namespaces === undefined ? {} : { namespaces }),
      selectors: Object.fromEntries(selectors),
      ...(leaderOnly.length === members.length ? {} : { leaderOnly }),
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

/** The latest of the versions; of versions without an order, any. */
function latestOf(versions: readonly ResourceVersion[]): ResourceVersion | undefined {
  let latest: ResourceVersion | undefined;
  for (const version of versions) {
    if (latest === undefined || (compareResourceVersions(version, latest) ?? 0) > 0) latest = version;
  }
  return latest;
}

function lagOf(progress: CacheProgress | undefined, latest: ResourceVersion | undefined): Partial<CacheState> {
  if (progress === undefined || latest === undefined) return {};
  const { version, unconfirmedMs } = progress;
  const behind = versionsBetween(version, latest);
  return {
    resourceVersion: version,
    latestResourceVersion: latest,
    ...(behind === undefined ? {} : { versionsBehind: behind }),
    lagSeconds: unconfirmedMs / 1000,
  };
}

/** How far apart two versions are; undefined if they have no order. Versions may be too large for a number. */
function versionsBetween(version: ResourceVersion, later: ResourceVersion): number | undefined {
  const isNumber = (one: ResourceVersion) => isComparable(one) && one.length <= maxVersionDigits;
  return isNumber(version) && isNumber(later) ? Number(BigInt(later) - BigInt(version)) : undefined;
}

/** The mean bytes of some objects of a cache, as JSON. */
function meanSize({ lister }: SharedInformer<KubeObject>): number {
  let [measured, bytes] = [0, 0];
  for (const object of lister.list({ filter: () => measured++ < sampleSize })) {
    bytes += JSON.stringify(keptPart(object)).length;
  }
  return measured === 0 ? 0 : bytes / Math.min(measured, sampleSize);
}
