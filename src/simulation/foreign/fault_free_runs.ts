/**
 * Runs of a workload without faults: the reference that runs with faults are compared with, and a report of them alone, which
 * says whether the program does what the workload waits for, how long each step takes, and what the program uses.
 *
 * Guarantees: one run comes after the other, so that their times and their CPU time are those of a single one.
 */
import { shownName } from "../engine.ts";
import { leftoverNames } from "./cluster_summary.ts";
import { type ForeignWorkload, stepText } from "./foreign_workload.ts";
import { hasFailed } from "./perform_step.ts";
import { exitViolations } from "./program_exits.ts";
import type { ProgramSimulation } from "./program_simulation.ts";
import { runDifferences } from "./run_differences.ts";
import type { ForeignRunResult, PerformedStep, RunPace } from "./run_options.ts";
import type { FaultFreeReport, FaultFreeRun, FaultFreeStep } from "./simulate_options.ts";

/** Quiet milliseconds in a run without faults, at least. */
const minQuietMs = 1_000;
const defaultStartMs = 60_000;
const defaultQuietMs = 3_000;

/** Options of {@link runsWithoutFaults}. */
export interface FaultFreeRunOptions {
  /** How many. */
  readonly runs: number;
  /** See ForeignRunOptions; the first run keeps its snapshots. @default false */
  readonly keepsSnapshots?: boolean;
  /** See ForeignRunOptions. @default false */
  readonly endsAtFailure?: boolean;
  /** See SimulateProgramOptions. @default 60000 */
  readonly startMs?: number;
  /** See SimulateProgramOptions. @default 3000 */
  readonly quietMs?: number;
  /** Called before each run. @param number from 1 */
  readonly onRun?: (number: number) => void;
}

/** A run, and how long it has waited for changes. */
interface PacedRun {
  readonly result: ForeignRunResult;
  readonly pace: RunPace;
}

/** Runs a workload again and again. @returns the runs, and the pace that is right for further ones */
export async function runsWithoutFaults(
  simulation: Pick<ProgramSimulation, "runOnce">,
  workload: ForeignWorkload,
  options: FaultFreeRunOptions,
): Promise<{ readonly runs: readonly PacedRun[]; readonly pace: RunPace }> {
  const { startMs = defaultStartMs, quietMs = defaultQuietMs, endsAtFailure, keepsSnapshots = false } = options;
  let pace: RunPace = { quietMs, patienceMs: quietMs, startMs, settleMs: Math.max(60_000, quietMs * 4) };
  const runs: PacedRun[] = [];
  for (let number = 1; number <= options.runs; number++) {
    options.onRun?.(number);
    const isKept = keepsSnapshots && number === 1;
    const result = await simulation.runOnce(workload, { pace, endsAtFailure, keepsSnapshots: isKept });
    runs.push({ result, pace });
    // A program that has opened no watch has not started, and further runs would show the same.
    if (!result.hasStarted) break;
    // The next runs need not be as careful as the first one.
    const gapMs = Math.max(0, ...result.steps.map(({ maxGapMs }) => maxGapMs));
    const shorterMs = Math.min(quietMs, Math.max(minQuietMs, Math.round(gapMs * 3)));
    pace = { ...pace, quietMs: shorterMs, patienceMs: shorterMs };
  }
  return { runs, pace };
}

/** What runs without faults have shown. */
export function faultFreeReport(workload: ForeignWorkload, runs: readonly PacedRun[]): FaultFreeReport {
  const results = runs.map(({ result }) => result);
  return {
    workload: workload.name,
    runs: runs.map((one) => shownRun(workload, one)),
    failures: [...stepFailures(workload, results), ...violationTexts(results)],
    differences: runDifferences(results.filter(({ performed }) => !performed.some(hasFailed))),
  };
}

function shownRun(workload: ForeignWorkload, { result, pace }: PacedRun): FaultFreeRun {
  const { performed, usage, output } = result;
  const [start] = result.steps;
  const steps: FaultFreeStep[] = [
    { step: 0, text: "start the operator", kind: "done", ms: Math.max(0, (start?.tookMs ?? 0) - pace.patienceMs) },
    ...performed.map((one) => shownStep(workload, one, { result, pace })),
  ];
  return {
    ...{ steps, ms: steps.reduce((sum, { ms }) => sum + ms, 0), output },
    leftovers: [...leftoverNames(result).keys()].map(shownName),
    ...(usage === undefined ? {} : usage),
  };
}

function shownStep(workload: ForeignWorkload, one: PerformedStep, { result, pace }: PacedRun): FaultFreeStep {
  const { step, kind, message, tookMs } = one;
  const action = workload.steps[step - 1];
  const end = result.steps.find((settled) => settled.step === step);
  return {
    ...{ step, kind, text: action === undefined ? "" : stepText(action) },
    ...(message === undefined ? {} : { message }),
    ms: tookMs + Math.max(0, (end?.tookMs ?? 0) - pace.patienceMs),
    ...(end?.isSettled === false ? { isBusy: true } : {}),
  };
}

/** Steps that no workload intends to fail, and those that are rejected in some runs only. */
function stepFailures(workload: ForeignWorkload, results: readonly ForeignRunResult[]): readonly string[] {
  const all = results.flatMap(({ performed }) => performed);
  return workload.steps.flatMap((action, index): readonly string[] => {
    const outcomes = all.filter(({ step }) => step === index + 1);
    const bad = outcomes.filter(({ kind }) => kind !== "done");
    const [first] = bad;
    if (first === undefined || (bad.length === outcomes.length && !bad.some(hasFailed))) return [];
    const times = `in ${bad.length} of ${results.length} runs`;
    return [`step ${index + 1}, ${stepText(action)}, fails ${times}: ${first.message ?? first.kind}`];
  });
}

/** What the runs break without any fault: the program ends, or sends requests that its rules do not allow. */
function violationTexts(results: readonly ForeignRunResult[]): readonly string[] {
  const texts = results.flatMap((
    result,
  ) => [...new Set([...result.violations, ...exitViolations(result, false)].map(({ message }) => message))]);
  return [...Map.groupBy(texts, (text) => text)].map(([text, same]) =>
    `${text}, in ${same.length} of ${results.length} runs`
  );
}
