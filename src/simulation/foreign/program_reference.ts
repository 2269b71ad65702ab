/**
 * ProgramReference: what a workload leads to without faults, learned from several runs: the state after each step, how long it
 * takes to come to rest, which points there are, and what differs between equal runs. Other runs are compared with it.
 *
 * Guarantees: what differed between two runs without faults is never reported.
 */
import type { LearnedNames } from "../engine.ts";
import { differingKeys } from "../summary.ts";
import type { Violation } from "../violation.ts";
import { itemPatternOf } from "./cluster_state.ts";
import { clusterSummary, learnedNames, leftoverNames, uncomparedCollections } from "./cluster_summary.ts";
import { errorPattern } from "./error_logs.ts";
import { exitViolations } from "./program_exits.ts";
import type { ForeignRunResult, PerformedStep, RunPace, StepEnd } from "./run_options.ts";
import type { PassedPoint } from "./passed_points.ts";
import { type NamedChange, namedChanges } from "./stale_revision.ts";

/** The expected result of a workload. */
export interface ProgramReference {
  /** Of the first run. Step 0 is the start of the program. */
  readonly steps: readonly StepEnd[];
  readonly learned: LearnedNames;
  /** Fields and lifecycles that differ between runs, and the patterns of list items that only some of them have. */
  readonly masked: ReadonlySet<string>;
  /** The steps of the user that ended differently, from 1. */
  readonly varyingSteps: ReadonlySet<number>;
  /** The points that every run has passed. */
  readonly points: readonly PassedPoint[];
  /** The changes on the server that every run had, with the revisions of the first one. */
  readonly changes: readonly NamedChange[];
  readonly watches: number;
  readonly collections: readonly string[];
  readonly pace: RunPace;
  /** Violations without faults. */
  readonly violations: readonly Violation[];
  /** What stays of deleted objects without faults, by name, see {@link leftoverNames}. */
  readonly leftovers: ReadonlySet<string>;
  /** The patterns of the errors in the logs, see {@link errorPattern}. */
  readonly errors: ReadonlySet<string>;
  readonly runs: number;
  readonly ms: number;
}

const none: ReadonlyMap<string, string> = new Map();

const minQuietMs = 300;
const maxQuietMs = 2_000;
/** The longest gap before a change without faults, with some reserve. */
const quietFactor = 1.5;
/** In another state than the expected one, a run waits longer by this factor: it may be slowed down by other runs. */
const patienceFactor = 5;
const minPatienceMs = 5_000;
const maxPatienceMs = 30_000;
const minSettleMs = 30_000;

/** Learns a reference from runs without faults. @param firstRevision the revision before the first step */
export function referenceOf(runs: readonly ForeignRunResult[], firstRevision: number, pace: RunPace): ProgramReference {
  const [first, ...others] = runs;
  const end = first?.steps.at(-1);
  if (first === undefined || end === undefined) throw new RangeError("Cannot learn a reference: there is no run");
  const learned = learnedNames(runs.flatMap(({ steps }) => steps.at(-1)?.state ?? []));
  const [steps, ...otherSteps] = runs.map((run) =>
    run.steps.map((one) => {
      return { ...one, summary: clusterSummary(one.state, learned) };
    })
  );
  const masked = new Set<string>();
  for (const [index, { summary }] of (steps ?? []).entries()) {
    for (const other of otherSteps) {
      const { fields, lifecycles } = other[index]?.summary ?? { fields: none, lifecycles: none };
      for (const key of differingKeys(summary.fields, fields)) {
        masked.add(key);
        if (summary.fields.has(key) !== fields.has(key) && key.includes("[")) masked.add(itemPatternOf(key));
      }
      for (const key of differingKeys(summary.lifecycles, lifecycles)) masked.add(key);
    }
  }
  const pointSets = others.map(({ points }) => new Set(points.map(pointKey)));
  return {
    steps: steps ?? [],
    learned,
    masked,
    varyingSteps: varyingSteps(runs),
    points: first.points.filter((point) => pointSets.every((keys) => keys.has(pointKey(point)))),
    changes: end.snapshot === undefined ? [] : namedChanges(end.snapshot.storage, firstRevision, uncomparedCollections),
    watches: Math.min(...runs.map(({ watches }) => watches)),
    collections: first.collections,
    pace: paceOf(runs, pace),
    violations: [...first.violations, ...exitViolations(first, false)],
    leftovers: new Set(runs.flatMap((run) => [...leftoverNames(run, learned).keys()])),
    errors: new Set(runs.flatMap(({ errors }) => errors.map(errorPattern))),
    runs: runs.length,
    ms: runs.reduce((sum, { ms }) => sum + ms, 0),
  };
}

/** The steps whose outcome is not the same in all runs. */
function varyingSteps(runs: readonly ForeignRunResult[]): ReadonlySet<number> {
  const [first = [], ...others] = runs.map(({ steps }) => steps.at(-1)?.outcomes ?? []);
  const isSame = ({ step, kind }: PerformedStep) =>
    others.every((outcomes) => outcomes.some((one) => one.step === step && one.kind === kind));
  return new Set(first.flatMap((outcome) => isSame(outcome) ? [] : [outcome.step]));
}

function pointKey({ kind, verb, resource, name, occurrence, step }: PassedPoint): string {
  return `${kind} ${verb} ${resource} ${name} ${occurrence} ${step}`;
}

/** How long later runs wait: as long as the runs without faults were quiet before a change, and some more. */
function paceOf(runs: readonly ForeignRunResult[], pace: RunPace): RunPace {
  const steps = runs.flatMap((run) => run.steps);
  const gapMs = Math.max(0, ...steps.map(({ maxGapMs }) => maxGapMs));
  // That of the start is the start of the process, for which a run waits anyway.
  const workGapMs = Math.max(0, ...steps.filter(({ step }) => step > 0).map(({ maxGapMs }) => maxGapMs));
  const slowestMs = Math.max(0, ...steps.map(({ tookMs }) => tookMs));
  const quietMs = Math.min(maxQuietMs, Math.max(minQuietMs, Math.round(gapMs * quietFactor)));
  return {
    quietMs,
    patienceMs: Math.min(maxPatienceMs, Math.max(minPatienceMs, Math.round(workGapMs * patienceFactor))),
    startMs: pace.startMs,
    settleMs: Math.max(minSettleMs, Math.round(slowestMs * 4)),
  };
}
