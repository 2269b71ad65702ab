/**
 * Where faults can happen in a workload: every single one, and seeded storms of several. The points are those that a run
 * without faults came by.
 */
import { type Random, seededRandom } from "../async/mod.ts";
import type { PointCounts } from "./_gate.ts";
import type { CrashMoment, EventAction, Fault, FaultPlan } from "./fault_plan.ts";

/** What a run without faults came by. */
export interface Points {
  readonly points: Pick<PointCounts, "writes" | "reads" | "events">;
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

/** Every single fault there is. @param kinds those that are wanted */
export function singleFaults(
  { points, stepRevisions, replicas }: Points,
  kinds: ReadonlySet<Fault["kind"]>,
): readonly Fault[] {
  const all = [
    ...upTo(points.writes).flatMap((write) => writeFaults(write, replicas)),
    ...upTo(points.reads).flatMap(readFaults),
    ...upTo(points.events).flatMap((event) =>
      actions.map((action): Fault => ({ kind: "event", event, action, forMs: stallMs }))
    ),
    ...stepRevisions.flatMap((revisions, index) =>
      upTo(revisions).map((back): Fault => ({ kind: "stale", step: index + 1, back, thawMs }))
    ),
    ...stepRevisions.flatMap((_, index): Fault[] => [
      { kind: "skew", step: index + 1, byMs: hourMs },
      { kind: "skew", step: index + 1, byMs: -hourMs },
    ]),
  ];
  return all.filter(({ kind }) => kinds.has(kind));
}

/** From two to eight faults, anywhere. The same seed gives the same storm. */
export function storm(where: Points, kinds: ReadonlySet<Fault["kind"]>, seed: number): FaultPlan {
  const random = seededRandom(seed);
  const byKind = new Map<Fault["kind"], Fault[]>();
  for (const fault of singleFaults(where, kinds)) {
    const others = byKind.get(fault.kind);
    if (others === undefined) byKind.set(fault.kind, [fault]);
    else others.push(fault);
  }
  const choices = [...byKind.values()];
  const faults: Fault[] = [];
  for (let left = 2 + below(random, 7); left > 0 && choices.length > 0; left--) {
    const kind = choices[below(random, choices.length)] ?? [];
    const fault = kind[below(random, kind.length)];
    if (fault !== undefined) faults.push(fault);
  }
  return { faults };
}

function writeFaults(write: number, replicas: number): readonly Fault[] {
  return [
    ...moments.map((moment): Fault => ({ kind: "crash", write, moment, downMs })),
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
    ...(replicas > 1 ? [{ kind: "lease", write } as const] : []),
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
