/**
 * Where faults can happen in a workload: every single one, and seeded storms of several. The points are those that a run
 * without faults came by.
 */
import { type Random, seededRandom } from "../async/mod.ts";
import type { PointCounts } from "./_gate_parts.ts";
import type { CrashMoment, EventAction, Fault, FaultPlan } from "./fault_plan.ts";

/** What a run without faults came by. */
export interface Points {
  readonly points: Pick<PointCounts, "writes" | "reads" | "events" | "renewals" | "lists">;
  readonly stepRevisions: readonly number[];
  readonly replicas: number;
}

const moments: readonly CrashMoment[] = ["before", "committed", "answered"];
const actions: readonly EventAction[] = ["merge", "stall", "duplicate", "cut", "corrupt", "gone", "error"];

/** Long enough that controllers give up waiting for what they wrote (10 s). */
const thawMs = 20_000;
const slowMs = 20_000;
const partitionMs = 20_000;
const stallMs = 5_000;
const downMs = 1_000;
const hourMs = 3_600_000;
/** Longer than a Lease lasts (15 s), so that another process leads by then. */
const pauseMs = 20_000;
/** Longer than a leader may go without a renewal (10 s), shorter than the Lease lasts. */
const lateMs = 12_000;
/** The wall clock runs wrong for so long, and so fast. */
const driftMs = 60_000;
const rates = [0.2, 5];

/** Every single fault there is. @param kinds those that are wanted */
export function singleFaults(
  { points, stepRevisions, replicas }: Points,
  kinds: ReadonlySet<Fault["kind"]>,
): readonly Fault[] {
  const all = [
    ...upTo(points.writes).flatMap((write) => writeFaults(write, replicas)),
    ...upTo(points.renewals).flatMap(renewalFaults),
    ...upTo(points.reads).flatMap(readFaults),
    ...upTo(points.events).flatMap((event) =>
      actions.map((action): Fault => ({ kind: "event", event, action, forMs: stallMs }))
    ),
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
      ...rates.map((rate): Fault => ({ kind: "skew", step: index + 1, byMs: 0, rate, forMs: driftMs })),
    ]),
  ];
  return all.filter(({ kind }) => kinds.has(kind));
}

/** Storms: from two to eight faults, anywhere. @returns what makes the storm of a seed, always the same one */
export function stormsOf(where: Points, kinds: ReadonlySet<Fault["kind"]>): (seed: number) => FaultPlan {
  const choices = [...Map.groupBy(singleFaults(where, kinds), ({ kind }) => kind).values()];
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

function writeFaults(write: number, replicas: number): readonly Fault[] {
  return [
    ...moments.map((moment): Fault => ({ kind: "crash", write, moment, downMs })),
    ...moments.map((moment): Fault => ({ kind: "crash", write, moment, downMs, again: "committed" })),
    { kind: "reset", write, committed: false },
    { kind: "reset", write, committed: true },
    { kind: "answer", of: "write", request: write, code: 409 },
    { kind: "answer", of: "write", request: write, code: 429, retryAfterSeconds: 2 },
    { kind: "answer", of: "write", request: write, code: 500 },
    { kind: "answer", of: "write", request: write, code: 503 },
    { kind: "answer", of: "write", request: write, code: 504, committed: true },
    { kind: "slow", write, forMs: slowMs },
    { kind: "partition", write, forMs: partitionMs },
    { kind: "actor", write, act: "delete" },
    { kind: "actor", write, act: "edit" },
    { kind: "actor", write, act: "replace" },
    { kind: "actor", write, act: "takeover" },
    { kind: "pause", of: "write", request: write, forMs: pauseMs },
    ...(replicas > 1 ? leaderFaults(write) : []),
  ];
}

/** Only an election can show them. */
function leaderFaults(write: number): readonly Fault[] {
  return [
    { kind: "lease", write },
    { kind: "pause", of: "write", request: write, forMs: pauseMs, wallByMs: -hourMs },
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
