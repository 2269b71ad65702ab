/**
 * ProgramChecker: runs the workloads of a program in this process: first without faults, to learn what is expected, then under
 * the plans that it is asked to check. What breaks an invariant is run again before it is a finding.
 *
 * Guarantees: nothing of the program lives after a run. A finding has the plan that reproduces it.
 */
import type { Entry } from "../../observe/mod.ts";
import { faultKinds, type FaultPlan, noFaults } from "../fault_plan.ts";
import { focusedTimeline } from "../timeline.ts";
import { nameOf, shownName } from "../engine.ts";
import type { Violation } from "../violation.ts";
import { isEqual } from "./cluster_state.ts";
import type { ForeignWorkload } from "./foreign_workload.ts";
import { firstStepOf } from "./passed_points.ts";
import { programFaults } from "./program_faults.ts";
import { compareRun } from "./compare_run.ts";
import { newErrors } from "./error_logs.ts";
import { startFailure } from "./program_exits.ts";
import { type ProgramReference, referenceOf } from "./program_reference.ts";
import { ProgramSimulation } from "./program_simulation.ts";
import type { ForeignRunResult, RunPace } from "./run_options.ts";
import type {
  CheckedPlan,
  LearnedWorkload,
  PlanChecker,
  ProgramFinding,
  SimulateProgramOptions,
} from "./simulate_options.ts";

/** The program did not start, or opened no watch. */
export class ProgramStartError extends Error {
  override readonly name = "ProgramStartError";
  /** The last lines that it has printed. */
  readonly output: readonly string[];

  constructor(state: string, output: readonly string[]) {
    super(`Cannot simulate the program: ${state}`);
    this.output = output;
  }
}

/** Quiet milliseconds in a run without faults, at least. */
const minReferenceQuietMs = 1_000;
const referenceRuns = 2;
const confirmingRuns = 2;
/** How long one of them waits in another state than the expected one: a minute is a usual delay before a retry. */
const patientRetryMs = 70_000;
/** The same for a process that was started anew: it retries nothing. */
const patientStartMs = 15_000;
/** Without faults once more, before a difference is believed. */
const extraReferenceRuns = 1;

/** Prepares a program, and runs its plans in this process. */
export class ProgramChecker implements PlanChecker {
  readonly #options: SimulateProgramOptions;
  readonly #simulation: ProgramSimulation;
  readonly #states = new Map<string, Promise<WorkloadState>>();

  private constructor(options: SimulateProgramOptions, simulation: ProgramSimulation) {
    this.#options = options;
    this.#simulation = simulation;
  }

  /** @throws PrepareError when an object cannot be created */
  static async prepare(options: SimulateProgramOptions): Promise<ProgramChecker> {
    return new ProgramChecker(options, await ProgramSimulation.prepare(options));
  }

  /** @throws ProgramStartError */
  async learn(workload: string): Promise<LearnedWorkload> {
    return (await this.#stateOf(workload)).learned();
  }

  async check(workload: string, plan: FaultPlan): Promise<CheckedPlan> {
    return await (await this.#stateOf(workload)).check(plan);
  }

  #stateOf(name: string): Promise<WorkloadState> {
    const workload = this.#options.workloads.find((one) => one.name === name);
    if (workload === undefined) throw new TypeError(`Cannot simulate the workload "${name}": it is not known`);
    const state = this.#states.get(name) ?? WorkloadState.learn(this.#simulation, workload, this.#options);
    this.#states.set(name, state);
    return state;
  }
}

/** The simulation of one workload. */
class WorkloadState {
  readonly #simulation: ProgramSimulation;
  readonly #workload: ForeignWorkload;
  readonly #options: SimulateProgramOptions;
  readonly #references: ForeignRunResult[];
  readonly #firstPace: RunPace;
  #reference: ProgramReference;
  #hasSnapshots = false;
  readonly #findings: ProgramFinding[] = [];
  /** Runs without faults, and that of the snapshots. */
  #schedules = 0;

  private constructor(
    simulation: ProgramSimulation,
    workload: ForeignWorkload,
    options: SimulateProgramOptions,
    learned: { readonly references: ForeignRunResult[]; readonly pace: RunPace },
  ) {
    this.#simulation = simulation;
    this.#workload = workload;
    this.#options = options;
    this.#references = learned.references;
    this.#firstPace = learned.pace;
    this.#reference = referenceOf(learned.references, simulation.firstRevision, learned.pace);
  }

  static async learn(
    simulation: ProgramSimulation,
    workload: ForeignWorkload,
    options: SimulateProgramOptions,
  ): Promise<WorkloadState> {
    const { startMs = 60_000, quietMs = 3_000, onProgress } = options;
    let pace = { quietMs, patienceMs: quietMs, startMs, settleMs: Math.max(60_000, quietMs * 4) };
    const references: ForeignRunResult[] = [];
    for (let number = 1; number <= referenceRuns; number++) {
      const stage = "reference";
      onProgress?.({ workload: workload.name, stage, schedules: number, all: referenceRuns, findings: 0 });
      const result = await simulation.runOnce(workload, { pace, keepsSnapshots: number === 1 });
      if (result.watches === 0) throw notStarted(result);
      references.push(result);
      // The next runs need not be as careful as the first one.
      const gapMs = Math.max(...result.steps.map(({ maxGapMs }) => maxGapMs));
      const shorterMs = Math.min(quietMs, Math.max(minReferenceQuietMs, Math.round(gapMs * 3)));
      pace = { ...pace, quietMs: shorterMs, patienceMs: shorterMs };
    }
    const state = new WorkloadState(simulation, workload, options, { references, pace });
    state.#schedules = references.length;
    await state.#trySnapshots();
    return state;
  }

  /** What the runs without faults have shown. */
  learned(): LearnedWorkload {
    const [first] = this.#references;
    const { violations } = this.#reference;
    const { kinds = new Set(faultKinds) } = this.#options;
    const isBroken = violations.length > 0 && first !== undefined;
    return {
      faults: isBroken ? [] : programFaults(this.#reference, kinds),
      ...(isBroken ? { finding: this.#findingOf(noFaults, first, { violations, seen: 1, runs: 1 }) } : {}),
      schedules: this.#schedules,
      convergenceMs: Math.max(0, (first?.steps[1]?.tookMs ?? 0) - this.#firstPace.quietMs),
      hasSnapshots: this.#hasSnapshots,
      leftovers: [...this.#reference.leftovers].map(shownName),
    };
  }

  /** Uses snapshots if a run from the state before the last step ends as the others. */
  async #trySnapshots(): Promise<void> {
    const { snapshots = true } = this.#options;
    const last = this.#workload.steps.length;
    if (!snapshots || last < 2 || this.#reference.violations.length > 0) return;
    this.#hasSnapshots = true;
    this.#schedules++;
    const result = await this.#runPlan(noFaults, last);
    const end = result.steps.at(-1);
    const expected = this.#reference.steps.at(-1);
    this.#hasSnapshots = end !== undefined && expected !== undefined &&
      isEqual(expected.summary.fields, end.summary.fields, this.#reference.masked) &&
      isEqual(expected.summary.lifecycles, end.summary.lifecycles, this.#reference.masked);
  }

  /** Runs a plan, and confirms what it breaks. */
  async check(plan: FaultPlan): Promise<CheckedPlan> {
    const result = await this.#runPlan(plan);
    const isReached = plan.faults.length === 0 || result.applied > 0;
    const clean = { isUnconfirmed: false, isReached };
    const violations = compareRun(this.#reference, result, plan);
    if (violations.length === 0 || this.#isKnown(violations)) return { ...clean, schedules: 1 };
    const schedules = 1 + await this.#learnMore();
    if (compareRun(this.#reference, result, plan).length === 0) return { ...clean, schedules };
    let seen = 1;
    let [worst, worstViolations] = [result, violations];
    for (let number = 1; number <= confirmingRuns; number++) {
      // One of them waits longer: a program may only be slow to recover.
      const isPatient = number === 1;
      const again = await this.#runPlan(plan, 1, isPatient ? patienceOf(plan) : 0);
      const found = compareRun(this.#reference, again, plan);
      // What heals in time is no violation.
      if (isPatient && found.length === 0 && canHeal(plan, violations)) break;
      if (!found.some(({ invariant }) => invariant === violations[0]?.invariant)) continue;
      seen++;
      [worst, worstViolations] = [again, found];
    }
    const all = schedules + confirmingRuns;
    if (seen === 1) return { isUnconfirmed: true, isReached, schedules: all };
    const finding = this.#findingOf(plan, worst, { violations: worstViolations, seen, runs: 1 + confirmingRuns });
    this.#findings.push(finding);
    return { ...clean, finding, schedules: all };
  }

  /** Another run without faults, whose differences are not reported either. @returns how many there were */
  async #learnMore(): Promise<number> {
    if (this.#references.length >= referenceRuns + extraReferenceRuns) return 0;
    this.#references.push(await this.#simulation.runOnce(this.#workload, { pace: this.#firstPace }));
    this.#reference = referenceOf(this.#references, this.#simulation.firstRevision, this.#firstPace);
    return 1;
  }

  /** @param atLeast the step to start with, if there are snapshots @param minPatienceMs of a patient run */
  async #runPlan(plan: FaultPlan, atLeast = 1, minPatienceMs = 0): Promise<ForeignRunResult> {
    const { pace, steps, masked, learned, watches } = this.#reference;
    const first = plan.faults.length === 0 ? atLeast : Math.min(...plan.faults.map(firstStepOf));
    const snapshot = this.#hasSnapshots && first > 1
      ? steps.find(({ step }) => step === first - 1)?.snapshot
      : undefined;
    return await this.#simulation.runOnce(this.#workload, {
      plan,
      pace: {
        ...pace,
        patienceMs: Math.max(pace.patienceMs, minPatienceMs),
        settleMs: Math.max(pace.settleMs, minPatienceMs * 2),
      },
      expected: new Map(steps.map(({ step, summary }) => [step, summary.fields])),
      learned,
      masked,
      watches,
      ...(snapshot === undefined ? {} : { ...snapshot, firstStep: first }),
    });
  }

  #findingOf(
    plan: FaultPlan,
    result: ForeignRunResult,
    { violations, seen, runs }: Pick<ProgramFinding, "violations" | "seen" | "runs">,
  ): ProgramFinding {
    const { output } = result;
    const entries = result.entries.filter((entry) => !isDiscovery(entry));
    const timeline = focusedTimeline(entries, objectsOf(violations, result));
    const errors = newErrors(result.errors, this.#reference.errors);
    return { workload: this.#workload.name, plan, violations, seen, runs, timeline, entries, output, errors };
  }

  #isKnown(violations: readonly Violation[]): boolean {
    return this.#findings.some((finding) => isSameFinding(finding.violations, violations));
  }
}

/** The objects of violations, by the names that they have in a run. */
function objectsOf(violations: readonly Violation[], { steps }: ForeignRunResult): readonly string[] {
  const named = steps.at(-1)?.summary.objects;
  return violations.flatMap(({ object }) => {
    if (object === undefined) return [];
    const live = named?.get(object);
    return [live === undefined ? object : nameOf(object.split(" ")[0] ?? "", live)];
  });
}

/** True for a read of what the server serves, which each process begins with. */
function isDiscovery(entry: Entry): boolean {
  return entry.kind === "note" && /^GET \/(api|apis|openapi|version)(\/|\s|$)/.test(entry.what);
}

/** True when the first violations are equal. */
export function isSameFinding([one]: readonly Violation[], [other]: readonly Violation[]): boolean {
  return one?.invariant === other?.invariant && one?.object === other?.object && one?.message === other?.message;
}

function notStarted({ exits, output }: ForeignRunResult): ProgramStartError {
  return new ProgramStartError(startFailure(exits), output);
}

/** Violations that a program may only be slow to repair. */
const healing: ReadonlySet<Violation["invariant"]> = new Set(["end-state", "quiescence"]);

/** A process that goes on may repeat everything later. One that was started anew after each fault has done all that it will do. */
function canHeal(plan: FaultPlan, violations: readonly Violation[]): boolean {
  return !hasRestart(plan) || violations.every(({ invariant }) => healing.has(invariant));
}

function patienceOf(plan: FaultPlan): number {
  return hasRestart(plan) ? patientStartMs : patientRetryMs;
}

function hasRestart({ faults }: FaultPlan): boolean {
  return faults.some(({ kind }) => kind === "crash" || kind === "stale");
}
