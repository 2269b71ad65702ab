/**
 * ProgramReference: what a workload leads to without faults, learned from several runs: the state after each step, how long it
 * takes to come to rest, which points there are, and what differs between equal runs. Other runs are compared with it.
 *
 * Guarantees: what differed between two runs without faults is never reported.
 */
import type { LearnedNames } from "../engine.ts";
import { type FaultPlan } from "../fault_plan.ts";
import { differingKeys } from "../summary.ts";
import type { Violation } from "../violation.ts";
import { isMasked, itemPatternOf } from "./cluster_state.ts";
import { clusterSummary, learnedNames, uncomparedCollections } from "./cluster_summary.ts";
import type { ForeignRunResult, RunPace, StepEnd } from "./run_options.ts";
import type { PassedPoint } from "./passed_points.ts";
import { type NamedChange, namedChanges } from "./stale_revision.ts";

/** The expected result of a workload. */
export interface ProgramReference {
  /** Of the first run. Step 0 is the start of the program. */
  readonly steps: readonly StepEnd[];
  readonly learned: LearnedNames;
  /** Fields and lifecycles that differ between runs, and the patterns of list items that only some of them have. */
  readonly masked: ReadonlySet<string>;
  /** The points that every run has passed. */
  readonly points: readonly PassedPoint[];
  /** The changes on the server that every run had, with the revisions of the first one. */
  readonly changes: readonly NamedChange[];
  readonly watches: number;
  readonly collections: readonly string[];
  readonly pace: RunPace;
  /** Violations without faults. */
  readonly violations: readonly Violation[];
  readonly runs: number;
  readonly ms: number;
}

const none: ReadonlyMap<string, string> = new Map();

const minQuietMs = 300;
const maxQuietMs = 2_000;
/** The longest gap before a change without faults, with some reserve. */
const quietFactor = 1.5;
const minPatienceMs = 5_000;
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
    points: first.points.filter((point) => pointSets.every((keys) => keys.has(pointKey(point)))),
    changes: end.storage === undefined ? [] : namedChanges(end.storage, firstRevision, uncomparedCollections),
    watches: Math.min(...runs.map(({ watches }) => watches)),
    collections: first.collections,
    pace: paceOf(runs, pace),
    violations: first.violations,
    runs: runs.length,
    ms: runs.reduce((sum, { ms }) => sum + ms, 0),
  };
}

function pointKey({ kind, verb, resource, name, occurrence, step }: PassedPoint): string {
  return `${kind} ${verb} ${resource} ${name} ${occurrence} ${step}`;
}

/** How long later runs wait: as long as the runs without faults were quiet before a change, and some more. */
function paceOf(runs: readonly ForeignRunResult[], pace: RunPace): RunPace {
  const steps = runs.flatMap((run) => run.steps);
  const gapMs = Math.max(0, ...steps.map(({ maxGapMs }) => maxGapMs));
  const slowestMs = Math.max(0, ...steps.map(({ tookMs }) => tookMs));
  const quietMs = Math.min(maxQuietMs, Math.max(minQuietMs, Math.round(gapMs * quietFactor)));
  return {
    quietMs,
    patienceMs: Math.max(minPatienceMs, quietMs * 3),
    startMs: pace.startMs,
    settleMs: Math.max(minSettleMs, Math.round(slowestMs * 4)),
  };
}

/** Differences that are reported for one run. */
const maxReported = 5;

/** All violations of a run: those that it found itself, and the differences from the reference. */
export function compareRun(
  reference: ProgramReference,
  result: ForeignRunResult,
  plan: FaultPlan,
): readonly Violation[] {
  const found = result.violations.filter(({ invariant }) => isReported(invariant, result, plan));
  const [last, expected] = [result.steps.at(-1), reference.steps[result.firstStep + result.steps.length - 2]];
  if (last?.isSettled === false && expected?.isSettled === true) {
    found.push({
      invariant: "quiescence",
      message: `the cluster was not at rest ${Math.round(last.tookMs / 1000)} s later`,
    });
  }
  // A user who deletes or replaces an object makes the program create it again.
  const comparesLives = plan.faults.every(({ kind }) => kind !== "actor");
  if (last === undefined || expected === undefined) return found;
  for (const [index, outcome] of last.state.outcomes.entries()) {
    const step = result.firstStep + index;
    const wanted = expected.state.outcomes[step - 1];
    if (wanted === undefined || wanted === outcome) continue;
    found.push({ invariant: "end-state", message: `step ${step} ended "${outcome}", without faults "${wanted}"` });
  }
  const [wanted, actual] = [expected.summary, last.summary];
  if (comparesLives) found.push(...differences(reference, wanted.lifecycles, actual.lifecycles, "object-lifecycle"));
  found.push(...differences(reference, wanted.fields, actual.fields, "end-state"));
  return found;
}

/** After a fault a program may end once or twice, and is started again; only a crash loop is a violation. */
function isReported(invariant: Violation["invariant"], { violations, applied }: ForeignRunResult, plan: FaultPlan) {
  if (invariant !== "process-exit" || plan.faults.length === 0 || applied === 0) return true;
  return violations.filter((one) => one.invariant === "process-exit").length >= crashLoopExits;
}

/** Exits without a new fault that make a crash loop. */
const crashLoopExits = 3;

function differences(
  { masked }: ProgramReference,
  expected: ReadonlyMap<string, string>,
  actual: ReadonlyMap<string, string>,
  invariant: "end-state" | "object-lifecycle",
): readonly Violation[] {
  const keys = differingKeys(expected, actual).filter((key) => !isMasked(key, masked));
  const violations = new Map<string, Violation>();
  for (const key of keys) {
    const object = objectOf(key);
    const message = invariant === "object-lifecycle"
      ? `${key} is ${actual.get(key) ?? "missing"}, without faults ${expected.get(key) ?? "missing"}`
      : fieldMessage(key, { expected, actual });
    violations.set(message, { invariant, message, object });
  }
  return [...violations.values()].slice(0, maxReported);
}

/** One message for all fields of an object that only one of the states has. */
function fieldMessage(
  key: string,
  { expected, actual }: {
    readonly expected: ReadonlyMap<string, string>;
    readonly actual: ReadonlyMap<string, string>;
  },
): string {
  const object = objectOf(key);
  // Every object has a kind.
  const kindKey = `${object} .kind`;
  if (!actual.has(kindKey)) return `${object} does not exist, without faults it does`;
  if (!expected.has(kindKey)) return `${object} exists, without faults it does not`;
  return `${key} is ${actual.get(key) ?? "missing"}, without faults ${expected.get(key) ?? "missing"}`;
}

/** `configmaps default/a` of `configmaps default/a .data.user`. */
function objectOf(key: string): string {
  return key.split(" ").slice(0, 2).join(" ");
}
