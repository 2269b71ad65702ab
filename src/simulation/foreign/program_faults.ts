/**
 * programFaults(): every single fault of a workload with a program: at each of its writes, at each event that it gets, and a
 * restart after each step on a server that shows an earlier state. Points are named by what happens there.
 *
 * Guarantees: faults that find most come first, so that a simulation that is ended early has tried them.
 */
import { crashMoments, type Fault, type FaultKind, type NamedPoint, userActions } from "../fault_plan.ts";
import type { PassedPoint } from "./passed_points.ts";
import type { ProgramReference } from "./program_reference.ts";
import type { NamedChange } from "./stale_revision.ts";

/** Shorter than in virtual time: what waits for the end of a fault waits really. */
const downMs = 50;
const thawMs = 3_000;
const slowMs = 2_000;
const partitionMs = 2_000;
const pauseMs = 2_000;
/** A standby tries to acquire a free lock every 2 s, and then begins to work. */
const leaderPauseMs = 8_000;
const stallMs = 1_500;

/** The same request or event in one step: later ones are retries and refreshes like the first. */
const maxOccurrences = 3;

/** The kinds that can change the leader: what is tried with several replicas. */
export const leaderFaultKinds: ReadonlySet<FaultKind> = new Set(["crash", "partition", "lease", "pause"]);

/** The single faults of some kinds. @param replicas of the program */
export function programFaults(
  reference: ProgramReference,
  kinds: ReadonlySet<FaultKind>,
  replicas = 1,
): readonly Fault[] {
  const points = reference.points.filter(({ occurrence }) => occurrence <= maxOccurrences);
  const writes = points.filter(({ kind }) => kind === "write").map(namedPoint);
  const events = points.filter(({ kind, verb }) => kind === "event" && verb !== "BOOKMARK").map(namedPoint);
  // What a program does not watch, it cannot repair.
  const isWatched = ({ resource }: NamedPoint) => reference.collections.includes(resource.split("/")[0] ?? "");
  const all = [
    ...writes.flatMap(crashes),
    ...staleStarts(reference),
    ...writes.flatMap(answers),
    ...events.flatMap(eventFaults),
    ...writes.filter(isWatched).flatMap(userFaults),
    ...writes.flatMap((write) => slowness(write, replicas > 1 ? leaderPauseMs : pauseMs)),
  ];
  return all.filter(({ kind }) => kinds.has(kind));
}

/** Occurrences count within the step, so a request more or less in an earlier step does not matter. */
function namedPoint({ verb, resource, name, occurrence, step }: PassedPoint): NamedPoint {
  return { verb, resource, ...(name === "" ? {} : { name }), occurrence, ...(step === 0 ? {} : { step }) };
}

function crashes(write: NamedPoint): readonly Fault[] {
  return crashMoments.filter((moment) => moment !== "answered").map((moment): Fault => {
    return { kind: "crash", write, moment, downMs };
  });
}

function answers(write: NamedPoint): readonly Fault[] {
  return [
    { kind: "answer", of: "write", request: write, code: 504, committed: true },
    { kind: "reset", write, committed: true },
    { kind: "answer", of: "write", request: write, code: 409 },
    { kind: "answer", of: "write", request: write, code: 500 },
    { kind: "answer", of: "write", request: write, code: 429, retryAfterSeconds: 1 },
  ];
}

function eventFaults(event: NamedPoint): readonly Fault[] {
  return [
    { kind: "event", event, action: "merge", forMs: stallMs },
    { kind: "event", event, action: "gone", forMs: 0 },
  ];
}

function userFaults(write: NamedPoint): readonly Fault[] {
  return userActions.map((act): Fault => ({ kind: "actor", write, act }));
}

function slowness(write: NamedPoint, forMs: number): readonly Fault[] {
  return [
    { kind: "pause", of: "write", request: write, forMs },
    { kind: "slow", write, forMs: slowMs },
    { kind: "partition", write, forMs: partitionMs },
    { kind: "lease", write },
  ];
}

/** Restarts on a server that shows one collection as it was after one of its changes. */
function staleStarts({ steps, changes, collections }: ProgramReference): readonly Fault[] {
  return steps.flatMap(({ revision, step }): readonly Fault[] => {
    if (step === 0) return [];
    return collections.flatMap((only) => {
      const past = changes.filter((change) => change.resource === only && change.revision <= revision);
      return earlierStates(past, steps.map((end) => end.revision)).map((at): Fault => {
        return { kind: "stale", step, back: 0, at, thawMs, only };
      });
    });
  });
}

/** The changes after which a collection was in a state that a program may take for the present one, but the newest. */
function earlierStates(past: readonly NamedChange[], stepRevisions: readonly number[]): readonly NamedPoint[] {
  const counts = new Map<string, number>();
  const isLastOfStep = ({ revision }: NamedChange, next: NamedChange | undefined) =>
    next !== undefined && stepRevisions.some((end) => revision <= end && next.revision > end);
  return past.flatMap((change, index) => {
    const { verb, resource, name } = change;
    const key = `${verb} ${name}`;
    const occurrence = (counts.get(key) ?? 0) + 1;
    counts.set(key, occurrence);
    const isNewest = index === past.length - 1;
    if (isNewest || (verb === "MODIFIED" && !isLastOfStep(change, past[index + 1]))) return [];
    return [{ verb, resource, name, occurrence }];
  });
}
