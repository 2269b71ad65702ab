/**
 * Where faults can happen in a workload: every single fault, and random combinations of several (storms). The points are
 * those that a run without faults passed.
 */
import { type Random, seededRandom } from "../async/mod.ts";
import {
  crashMoments,
  eventActions,
  type Fault,
  type FaultKind,
  type FaultPlan,
  memberStates,
  userActions,
} from "./fault_plan.ts";

/** How often each kind of point occurred in a run. */
export interface PointCounts {
  writes: number;
  /** Writes of the Lease until the last of the other writes. */
  renewals: number;
  reads: number;
  events: number;
  /** Lists of a whole collection, by resource. */
  readonly lists: Map<string, number>;
  /** Faults that happened and that make a new list necessary. */
  relists: number;
}

/** The points of a run without faults. */
export interface FaultPoints {
  readonly points: Pick<PointCounts, "writes" | "reads" | "events" | "renewals" | "lists">;
  readonly stepRevisions: readonly number[];
  readonly replicas: number;
  /** The replicas divide the keys between them. @default false */
  readonly sharded?: boolean;
  /** The members of a fleet. @default 0: there is no fleet */
  readonly members?: number;
  /** The number of dependents at the end of each step. @default none */
  readonly dependents?: readonly number[];
}

/** Longer than controllers wait to see their own writes (10 s). */
const thawMs = 20_000;
const slowMs = 20_000;
const partitionMs = 20_000;
const stallMs = 5_000;
const downMs = 1_000;
const hourMs = 3_600_000;
/** Longer than the duration of a Lease (15 s), so that another process leads after the pause. */
const pauseMs = 20_000;
/** Longer than the renew deadline of a leader (10 s), shorter than the duration of the Lease. */
const lateMs = 12_000;
/** Longer than the duration of a Lease, so that the others have taken all over. */
const scaleMs = 30_000;
/** Longer than a cluster that failed waits until it is tried again (60 s). */
const troubleMs = 120_000;
/** A paused process must stand still in all clusters, and Leases are in the hub: faults of a fleet are those of one member. */
const singleClusterKinds: ReadonlySet<FaultKind> = new Set(["pause", "renewal"]);
/** How long the wall clock runs at a wrong speed. */
const driftMs = 60_000;
const driftRates = [0.2, 5];
/** Dependents that are deleted after each step. */
const maxDependents = 4;

/** Every possible single fault. @param kinds limits them to these kinds */
export function singleFaults(
  { points, stepRevisions, replicas, sharded = false, members = 0, dependents = [] }: FaultPoints,
  kinds: ReadonlySet<FaultKind>,
): readonly Fault[] {
  const all = [
    ...upTo(points.writes).flatMap((write) => writeFaults(write, replicas)),
    ...(sharded ? upTo(points.writes).flatMap(scaleFaults) : []),
    ...upTo(points.renewals).flatMap(renewalFaults),
    ...upTo(points.reads).flatMap(readFaults),
    ...upTo(points.events).flatMap((event) =>
      eventActions.map((action): Fault => ({ kind: "event", event, action, forMs: stallMs }))
    ),
    ...dependents.flatMap((count, index) => restarts(index + 1, count)),
    ...stepRevisions.flatMap((revisions, index) =>
      upTo(revisions).flatMap((back): Fault[] => [
        { kind: "stale", step: index + 1, back, thawMs },
        ...[...points.lists.keys()].flatMap((only): Fault[] => {
          const fault = { kind: "stale", step: index + 1, back, thawMs, only } as const;
          return index + 1 < stepRevisions.length ? [fault, { ...fault, early: true }] : [fault];
        }),
      ])
    ),
    ...stepRevisions.flatMap((_, index): Fault[] => [
      { kind: "skew", step: index + 1, byMs: hourMs },
      { kind: "skew", step: index + 1, byMs: -hourMs },
      ...driftRates.map((rate): Fault => ({ kind: "skew", step: index + 1, byMs: 0, rate, forMs: driftMs })),
    ]),
    ...(members > 0 ? stepRevisions.flatMap((_, index) => memberFaults(index + 1)) : []),
  ];
  return all.filter(({ kind }) => kinds.has(kind) && (members === 0 || !singleClusterKinds.has(kind)));
}

/** Storms: two to eight random faults. @returns a function that makes the storm of a seed; equal seeds give equal storms */
export function stormsOf(where: FaultPoints, kinds: ReadonlySet<FaultKind>): (seed: number) => FaultPlan {
  return stormsAmong(singleFaults(where, kinds));
}

/** The same of faults that are known; each kind is as frequent as another one. */
export function stormsAmong(all: readonly Fault[]): (seed: number) => FaultPlan {
  const choices = [...Map.groupBy(all, ({ kind }) => kind).values()];
  return (seed) => {
    const random = seededRandom(seed);
    const faults: Fault[] = [];
    for (let left = 2 + below(random, 7); left > 0 && choices.length > 0; left--) {
      const kind = choices[below(random, choices.length)] ?? [];
      const fault = kind[below(random, kind.length)];
      if (fault !== undefined) faults.push(fault);
    }
    return { faults };
  };
}

function restarts(step: number, dependents: number): readonly Fault[] {
  return [
    { kind: "restart", step },
    { kind: "restart", step, down: true },
    ...upTo(Math.min(dependents, maxDependents)).map((deletes): Fault => ({ kind: "restart", step, deletes })),
  ];
}

/** At most `count` of the values, as far from each other as possible. */
export function spread<Value>(values: readonly Value[], count: number): readonly Value[] {
  const step = Math.max(1, values.length / count);
  return values.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

function writeFaults(write: number, replicas: number): readonly Fault[] {
  return [
    ...crashMoments.map((moment): Fault => ({ kind: "crash", write, moment, downMs })),
    ...crashMoments.map((moment): Fault => ({ kind: "crash", write, moment, downMs, again: "committed" })),
    { kind: "reset", write, committed: false },
    { kind: "reset", write, committed: true },
    { kind: "answer", of: "write", request: write, code: 409 },
    { kind: "answer", of: "write", request: write, code: 429, retryAfterSeconds: 2 },
    { kind: "answer", of: "write", request: write, code: 500 },
    { kind: "answer", of: "write", request: write, code: 503 },
    { kind: "answer", of: "write", request: write, code: 504, committed: true },
    { kind: "slow", write, forMs: slowMs },
    { kind: "partition", write, forMs: partitionMs },
    ...userActions.map((act): Fault => ({ kind: "actor", write, act })),
    { kind: "pause", of: "write", request: write, forMs: pauseMs },
    ...(replicas > 1 ? leaderFaults(write) : []),
  ];
}

/** Faults that have an effect only with leader election. */
function leaderFaults(write: number): readonly Fault[] {
  return [
    { kind: "lease", write },
    { kind: "pause", of: "write", request: write, forMs: pauseMs, wallByMs: -hourMs },
    { kind: "partition", write, forMs: partitionMs, only: "leases" },
  ];
}

/** Faults that have an effect only when replicas divide the keys. */
function scaleFaults(write: number): readonly Fault[] {
  return [
    { kind: "scale", write, by: "join", forMs: scaleMs },
    { kind: "scale", write, by: "leave", forMs: scaleMs },
  ];
}

/** Faults that have an effect only in a fleet. */
function memberFaults(step: number): readonly Fault[] {
  return [
    ...memberStates.map((state): Fault => ({ kind: "member", step, state, forMs: troubleMs })),
    { kind: "member", step, state: "lost" },
  ];
}

function renewalFaults(renewal: number): readonly Fault[] {
  return [
    { kind: "renewal", renewal, committed: false, forMs: lateMs },
    { kind: "renewal", renewal, committed: true, forMs: lateMs },
    { kind: "pause", of: "renewal", request: renewal, forMs: pauseMs },
  ];
}

function readFaults(request: number): readonly Fault[] {
  return [
    { kind: "answer", of: "read", request, code: 410 },
    { kind: "answer", of: "read", request, code: 429, retryAfterSeconds: 2 },
    { kind: "answer", of: "read", request, code: 500 },
    { kind: "answer", of: "read", request, code: 503 },
  ];
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function below(random: Random, limit: number): number {
  return Math.floor(random.next() * limit);
}
