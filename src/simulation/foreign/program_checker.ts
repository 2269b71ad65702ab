/**
 * ProgramChecker: runs the workloads of a program in this process: first without faults, to learn what is expected, then under
 * the plans that it is asked to check. What breaks an invariant is run again before it is a finding.
 *
 * Guarantees: nothing of the program lives after a run. A finding has the plan that reproduces it.
 */
import type { Entry } from "../../observe/mod.ts";
import { faultKinds, type FaultPlan, noFaults } from "../fault_plan.ts";
import { focusedTimeline } from "../timeline.ts";
import { nameOf, shownName, violationNotes } from "../engine.ts";
import type { Violation } from "../violation.ts";
import { type ForeignWorkload, performedSteps, withSteps } from "./foreign_workload.ts";
import { firstStepOf } from "./passed_points.ts";
import { atNearestPoint } from "./nearest_point.ts";
import { leaderFaultKinds, programFaults } from "./program_faults.ts";
import { compareRun, wasDifferentBefore } from "./compare_run.ts";
import { faultFreeReport, runsWithoutFaults } from "./fault_free_runs.ts";
import { newErrors } from "./error_logs.ts";
import { canHeal, patienceOf } from "./healing.ts";
import { startFailure } from "./program_exits.ts";
import { type ProgramReference, referenceOf } from "./program_reference.ts";
import { ProgramSimulation } from "./program_simulation.ts";
import { provenStarts } from "./proven_starts.ts";
import { type ReproduceOptions, type ShrinkableWorkload, shrinkFinding } from "./shrink_finding.ts";
import type { ForeignRunResult, PerformedStep, RunPace } from "./run_options.ts";
import type {
  CheckedPlan,
  FaultFreeReport,
  FaultFreeRunner,
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

const referenceRuns = 2;
const confirmingRuns = 2;
/** Runs of a fault that does not come to its point: where a step ends may differ in each of them. */
const maxMoves = 4;
/** Without faults once more, before a difference is believed. */
const extraReferenceRuns = 1;
/** The same when the program itself has raced with the cluster in a run, before its fault. */
const maxExtraReferenceRuns = 4;

/** Prepares a program, and runs its plans in this process. */
export class ProgramChecker implements PlanChecker, FaultFreeRunner {
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

  /** @throws ProgramStartError */
  async runWithoutFaults(workload: string, count: number): Promise<FaultFreeReport> {
    const { startMs, quietMs, onProgress } = this.#options;
    const known = this.#workloadNamed(workload);
    const { runs } = await runsWithoutFaults(this.#simulation, known, {
      ...{ runs: count, endsAtFailure: true, startMs, quietMs },
      onRun: (schedules) =>
        onProgress?.({ workload, stage: "reference", schedules, all: count, findings: 0, shrinking: 0 }),
    });
    for (const { result } of runs) startedRun(result);
    return faultFreeReport(known, runs);
  }

  async check(workload: string, plan: FaultPlan): Promise<CheckedPlan> {
    return await (await this.#stateOf(workload)).check(plan);
  }

  async shrink(workload: string, finding: ProgramFinding): Promise<ProgramFinding> {
    return await shrinkFinding(await this.#stateOf(workload), finding);
  }

  #stateOf(name: string): Promise<WorkloadState> {
    const known = this.#states.get(name);
    const state = known ?? WorkloadState.learn(this.#simulation, this.#workloadNamed(name), this.#options);
    this.#states.set(name, state);
    return state;
  }

  #workloadNamed(name: string): ForeignWorkload {
    const workload = this.#options.workloads.find((one) => one.name === name);
    if (workload === undefined) throw new TypeError(`Cannot simulate the workload "${name}": it is not known`);
    return workload;
  }
}

/** How a plan is run. */
interface PlanRun {
  /** A step that runs may start at. @default 1 */
  readonly firstStep?: number;
  /** @default that of all runs */
  readonly minPatienceMs?: number;
}

/** A run of a plan that came to its fault, if that was possible. */
interface ReachingRun {
  /** The plan as it was run. */
  readonly plan: FaultPlan;
  readonly result: ForeignRunResult;
  readonly schedules: number;
}

/** The simulation of one workload. */
class WorkloadState implements ShrinkableWorkload {
  readonly #simulation: ProgramSimulation;
  readonly #workload: ForeignWorkload;
  readonly #options: SimulateProgramOptions;
  readonly #references: ForeignRunResult[];
  readonly #firstPace: RunPace;
  #reference: ProgramReference;
  /** The steps at which runs may start. */
  #starts: ReadonlySet<number> = new Set();
  readonly #findings: ProgramFinding[] = [];
  /** Runs without faults. */
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
    const { startMs, quietMs, onProgress } = options;
    const { runs, pace } = await runsWithoutFaults(simulation, workload, {
      ...{ runs: referenceRuns, keepsSnapshots: true, startMs, quietMs },
      onRun: (number) => {
        const stage = "reference";
        onProgress?.({
          workload: workload.name,
          stage,
          schedules: number,
          all: referenceRuns,
          findings: 0,
          shrinking: 0,
        });
      },
    });
    const references = runs.map(({ result }) => startedRun(result));
    const state = new WorkloadState(simulation, workload, options, { references, pace });
    state.#schedules = references.length;
    await state.#proveStarts();
    return state;
  }

  /** What the runs without faults have shown. */
  learned(): LearnedWorkload {
    const [first] = this.#references;
    const { violations } = this.#reference;
    const { replicas = 1, kinds = replicas > 1 ? leaderFaultKinds : new Set(faultKinds) } = this.#options;
    const isBroken = violations.length > 0 && first !== undefined;
    return {
      faults: isBroken ? [] : programFaults(this.#reference, kinds, replicas),
      ...(isBroken ? { finding: this.#findingOf(noFaults, first, { violations, seen: 1, runs: 1 }) } : {}),
      failedSteps: (first?.performed ?? []).filter(({ kind }) => kind !== "done").map(failedStepText),
      schedules: this.#schedules,
      convergenceMs: Math.max(0, (first?.steps[1]?.tookMs ?? 0) - this.#firstPace.quietMs),
      starts: [1, ...this.#starts],
      leftovers: [...this.#reference.leftovers].map(shownName),
    };
  }

  /** Finds the steps at which runs may start. A single plan is run from the start: that takes no longer. */
  async #proveStarts(): Promise<void> {
    const { snapshots = true, plan } = this.#options;
    if (!snapshots || plan !== undefined || this.#reference.violations.length > 0) return;
    this.#starts = await provenStarts(this.#reference, (firstStep) => {
      this.#schedules++;
      return this.#run(noFaults, { firstStep });
    });
  }

  get performedSteps(): readonly number[] {
    return performedSteps(this.#workload);
  }

  /** The same workload with some of its steps. @returns undefined when it is broken without faults, too */
  async withSteps(numbers: readonly number[]): Promise<WorkloadState | undefined> {
    try {
      const shorter = withSteps(this.#workload, numbers);
      const state = await WorkloadState.learn(this.#simulation, shorter, { ...this.#options, snapshots: false });
      return state.#reference.violations.length === 0 ? state : undefined;
    } catch (error) {
      if (error instanceof ProgramStartError) return undefined;
      throw error;
    }
  }

  get schedules(): number {
    return this.#schedules;
  }

  /** Runs a plan once. @returns undefined when it does not break the invariant of a violation */
  async reproduce(
    plan: FaultPlan,
    { violation, isPatient }: ReproduceOptions,
  ): Promise<ProgramFinding | undefined> {
    const result = await this.#run(
      plan,
      isPatient ? { minPatienceMs: patienceOf(plan) } : { firstStep: this.#startOf(plan) },
    );
    const violations = compareRun(this.#reference, result, plan);
    const isSame = violations.some(({ invariant, object }) =>
      invariant === violation?.invariant && object === violation.object
    );
    return isSame ? this.#findingOf(plan, result, { violations, seen: 1, runs: 1 }) : undefined;
  }

  /** Runs a plan, and confirms what it breaks. */
  async check(planned: FaultPlan): Promise<CheckedPlan> {
    const { plan, result, schedules: tried } = await this.#runReaching(planned);
    const isReached = plan.faults.length === 0 || result.applied > 0;
    const clean = { isUnconfirmed: false, isReached };
    const violations = compareRun(this.#reference, result, plan);
    const { isRecorded = false, plan: given } = this.#options;
    const passed = isRecorded && given !== undefined ? { passed: result.entries } : {};
    if (violations.length === 0 || this.#isKnown(violations)) return { ...clean, ...passed, schedules: tried };
    const schedules = tried + await this.#learnMore(wasDifferentBefore(this.#reference, result, plan));
    if (compareRun(this.#reference, result, plan).length === 0) return { ...clean, schedules };
    let seen = 1;
    let [worst, worstViolations] = [result, violations];
    for (let number = 1; number <= confirmingRuns; number++) {
      // One of them waits longer: a program may only be slow to recover.
      const isPatient = number === 1;
      const again = await this.#run(plan, { minPatienceMs: isPatient ? patienceOf(plan) : 0 });
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

  /**
   * More runs without faults, whose differences are not reported either.
   *
   * @param isVaried a run has differed before its fault
   * @returns how many there were
   */
  async #learnMore(isVaried: boolean): Promise<number> {
    const wanted = referenceRuns + (isVaried ? maxExtraReferenceRuns : extraReferenceRuns);
    const missing = Math.max(0, wanted - this.#references.length);
    for (let run = 0; run < missing; run++) {
      this.#references.push(await this.#simulation.runOnce(this.#workload, { pace: this.#firstPace }));
    }
    if (missing > 0) this.#reference = referenceOf(this.#references, this.#simulation.firstRevision, this.#firstPace);
    return missing;
  }

  /** Runs a plan from the last step that is possible. A fault whose point does not come is moved to the nearest one. */
  async #runReaching(planned: FaultPlan): Promise<ReachingRun> {
    let plan = planned;
    for (let schedules = 1;; schedules++) {
      const result = await this.#run(plan, { firstStep: this.#startOf(plan) });
      const [fault, another] = plan.faults;
      const isOver = fault === undefined || another !== undefined || result.applied > 0 || schedules === maxMoves;
      const moved = isOver ? undefined : atNearestPoint(fault, result.points);
      if (moved === undefined) return { plan, result, schedules };
      plan = { faults: [moved] };
    }
  }

  /** The last step at which a run of a plan may start. */
  #startOf({ faults }: FaultPlan): number {
    const latest = faults.length === 0 ? 1 : Math.min(...faults.map(firstStepOf));
    return Math.max(1, ...[...this.#starts].filter((step) => step <= latest));
  }

  /** Runs a plan once. Without a first step it is the run that a user gets with `--plan`. */
  async #run(plan: FaultPlan, { firstStep = 1, minPatienceMs = 0 }: PlanRun = {}): Promise<ForeignRunResult> {
    const { pace, steps, masked, learned, watches } = this.#reference;
    const snapshot = steps.find(({ step }) => step === firstStep - 1)?.snapshot;
    return await this.#simulation.runOnce(this.#workload, {
      plan,
      pace: {
        ...pace,
        patienceMs: Math.max(pace.patienceMs, minPatienceMs),
        laterPatienceMs: pace.patienceMs,
        settleMs: Math.max(pace.settleMs, minPatienceMs * 2),
      },
      expected: new Map(steps.map(({ step, summary }) => [step, summary.fields])),
      starts: this.#starts,
      learned,
      masked,
      watches,
      ...(snapshot === undefined || firstStep === 1 ? {} : { ...snapshot, firstStep }),
    });
  }

  #findingOf(
    plan: FaultPlan,
    result: ForeignRunResult,
    { violations, seen, runs }: Pick<ProgramFinding, "violations" | "seen" | "runs">,
  ): ProgramFinding {
    const { output } = result;
    const entries = [...result.entries, ...violationNotes(violations, result.entries.at(-1))];
    const shown = entries.filter((entry) => !isDiscovery(entry));
    const timeline = focusedTimeline(shown, objectsOf(violations, result));
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

function failedStepText({ step, message }: PerformedStep): string {
  return `step ${step} fails: ${message}`;
}

/** The run itself. @throws ProgramStartError when the program has opened no watch in it */
function startedRun(run: ForeignRunResult): ForeignRunResult {
  const { hasStarted, exits, output, violations } = run;
  if (hasStarted) return run;
  const denied = violations.filter(({ invariant }) => invariant === "declared-access").map(({ message }) => message);
  throw new ProgramStartError([startFailure(exits), ...denied].join("; "), output);
}
