/**
 * What a controller has done since its process began, and what it has to do, for `/debug/controllers`. Rates and quantiles
 * are differences of two answers: who asks decides about which time.
 */
import type { ObjectKey } from "../../api/mod.ts";
import { type InformerStatus, problemOf } from "../../cache/mod.ts";
import type { Cause, ControllerDefinition, DaemonCounts, StoppedKey } from "../../controller/mod.ts";
import { errorText, redactText } from "../../observe/mod.ts";
import type { WorkQueue } from "../../queue/mod.ts";
import type { ReconcileTally } from "./reconcile_tally.ts";

/** A controller, and its queue while it runs. */
export interface DebugMember {
  readonly definition: ControllerDefinition;
  readonly tally: ReconcileTally;
  readonly runsOn: ControllerState["runsOn"];
  readonly queue: WorkQueue<ObjectKey, Cause> | undefined;
  /** The keys that failed and are not retried until something changes. */
  readonly stoppedKeys: () => readonly StoppedKey[];
  /** The error that ended its last run; undefined while it runs. */
  readonly failure: unknown;
}

/** One controller. */
export interface ControllerState {
  readonly controller: string;
  /** The replicas that run it: the leader, each for its part of the keys, or every one for all keys. */
  readonly runsOn: "leader" | "shards" | "every";
  /** False while it does not run, as in a standby. */
  readonly isRunning: boolean;
  /** Why it does not run, or why one of its caches does not follow the server. */
  readonly problems: readonly string[];
  /** The kinds that are not watched now, because their conditions do not hold, and why. Absent if there are none. */
  readonly inactive?: readonly string[];
  /** Reconciles that may run at the same time, and those that run now. */
  readonly workers: number;
  readonly busyWorkers: number;
  /** Reconciles that have ended since the process began, and those of them that failed. */
  readonly reconciles: number;
  readonly failures: number;
  /** How many of them took how long: counts for each of the `durationBoundsMs` of the answer, and one for all that were longer. */
  readonly durations: readonly number[];
  /** Keys that failed when they were reconciled last. */
  readonly failing: number;
  /** Daemons of objects. Absent for a controller without. */
  readonly daemons?: DaemonCounts;
  readonly queued: number;
  readonly waiting: number;
  readonly parked: number;
  /** The lanes with the most queued keys, most first; at most 10. A queue without lanes has one with the name "". */
  readonly lanes: readonly { readonly lane: string; readonly queued: number }[];
  /** How many lanes have queued keys, those that are not shown included. */
  readonly laneCount: number;
  /** The queued key that has waited longest, and since when: milliseconds since the epoch. */
  readonly oldest?: { readonly key: string; readonly lane: string; readonly addedAt: number };
  /** The lag of the cache that is furthest behind, see `/debug/caches`. Absent while a cache has no full state. */
  readonly lagSeconds?: number;
}

const maxLanes = 10;

/** Describes one controller. @param statuses those of its caches @param inactive the kinds that it does not watch now, and why */
export function controllerState(
  member: DebugMember,
  statuses: readonly InformerStatus[],
  inactive: readonly string[] = [],
): ControllerState {
  const { definition: { name }, tally, runsOn, queue, failure } = member;
  const backlog = queue?.backlog() ?? { lanes: new Map<string, number>() };
  const lanes = [...backlog.lanes].map(([lane, queued]) => ({ lane, queued })).sort((a, b) => b.queued - a.queued);
  const { queued = 0, waiting = 0, parked = 0 } = queue?.counts ?? {};
  const problems = statuses.flatMap((status) => problemOf(status) ?? []);
  if (failure !== undefined) problems.unshift(errorText(failure));
  const ages = statuses.map(({ progress }) => progress?.unconfirmedMs);
  const isKnown = ages.length > 0 && !ages.includes(undefined);
  return {
    controller: name,
    runsOn,
    isRunning: queue !== undefined,
    problems: problems.map(redactText),
    ...(inactive.length === 0 ? {} : { inactive: inactive.map(redactText) }),
    workers: tally.maxWorkers,
    busyWorkers: tally.busy,
    reconciles: tally.reconciles,
    failures: tally.failures,
    durations: tally.durations,
    failing: tally.failing,
    ...(tally.daemons === undefined ? {} : { daemons: tally.daemons() }),
    queued,
    waiting,
    parked,
    lanes: lanes.slice(0, maxLanes),
    laneCount: lanes.length,
    ...(backlog.oldest === undefined ? {} : { oldest: backlog.oldest }),
    ...(isKnown ? { lagSeconds: Math.max(...ages.map((ms) => ms ?? 0)) / 1000 } : {}),
  };
}
