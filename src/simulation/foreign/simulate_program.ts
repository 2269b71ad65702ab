/**
 * simulateProgram(): runs the workloads of a program under every single fault, and under storms. PlanCheckers do that: this
 * process, or several others, each of which takes the next plan when it is done with the last one.
 *
 * Guarantees: findings with the same first violation are reported once; a workload ends early when there are enough. An
 * interrupted simulation reports what it has tried.
 */
import { type FaultKind, type FaultPlan } from "../fault_plan.ts";
import { spread, stormsAmong } from "../fault_points.ts";
import type { ForeignWorkload } from "./foreign_workload.ts";
import { isSameFinding, ProgramChecker } from "./program_checker.ts";
import type {
  CheckedPlan,
  PlanChecker,
  ProgramFinding,
  ProgramReport,
  SimulateProgramOptions,
  WorkloadReport,
} from "./simulate_options.ts";
import type { Violation } from "../violation.ts";

/** Simulates a program. @throws PrepareError when an object cannot be created @throws ProgramStartError */
export async function simulateProgram(options: SimulateProgramOptions): Promise<ProgramReport> {
  const { jobs = 1, workloads } = options;
  const checkers = options.checkers ?? Array(jobs).fill(await ProgramChecker.prepare(options));
  const reports: WorkloadReport[] = [];
  for (const workload of workloads) {
    if (options.signal.aborted) break;
    reports.push(await new WorkloadSimulation(workload, options, checkers).run());
  }
  return { workloads: reports };
}

/** The simulation of one workload. */
class WorkloadSimulation {
  readonly #workload: ForeignWorkload;
  readonly #options: SimulateProgramOptions;
  readonly #checkers: readonly PlanChecker[];
  readonly #findings: ProgramFinding[] = [];
  /** The violations of the findings, also of those that are being shrunk. */
  readonly #known: (readonly Violation[])[] = [];
  readonly #covered = new Map<FaultKind, { tested: number; all: number }>();
  #passed: CheckedPlan["passed"];
  #schedules = 0;
  /** Plans whose result is there. */
  #taken = 0;
  #unconfirmed = 0;
  #unreached = 0;

  constructor(workload: ForeignWorkload, options: SimulateProgramOptions, checkers: readonly PlanChecker[]) {
    this.#workload = workload;
    this.#options = options;
    this.#checkers = checkers;
  }

  async run(): Promise<WorkloadReport> {
    const { clock, plan, points = Infinity, storms = 0, firstSeed = 1, onLearned } = this.#options;
    const { name } = this.#workload;
    // Each one learns for itself, at the same time.
    const learned = await Promise.all([...new Set(this.#checkers)].map((checker) => checker.learn(name)));
    for (const { schedules } of learned) this.#schedules += schedules;
    const [first] = learned;
    if (first !== undefined) onLearned?.(first);
    const startedAt = clock.monotonic();
    const { faults = [], finding, convergenceMs = 0, starts = [1], leftovers = [] } = first ?? {};
    for (const { kind } of faults) this.#coverageOf(kind).all++;
    if (finding !== undefined) this.#add(finding);
    else if (plan !== undefined) await this.#checkAll([plan]);
    else {
      const stormOf = stormsAmong(faults);
      await this.#checkAll([
        ...spread(faults, points).map((fault) => ({ faults: [fault] })),
        ...Array.from({ length: faults.length === 0 ? 0 : storms }, (_, index) => stormOf(firstSeed + index)),
      ]);
    }
    return {
      ...{ workload: name, schedules: this.#schedules, covered: this.#covered, findings: this.#findings },
      ...(this.#passed === undefined ? {} : { passed: this.#passed }),
      ...{ unconfirmed: this.#unconfirmed, unreached: this.#unreached },
      ...{ convergenceMs, starts, leftovers, ms: clock.monotonic() - startedAt },
    };
  }

  async #checkAll(plans: readonly FaultPlan[]): Promise<void> {
    const { maxFindings = 3, signal, onProgress } = this.#options;
    const { name } = this.#workload;
    let next = 0;
    const onTaken = () => {
      const [findings, shrinking] = [this.#known.length, this.#known.length - this.#findings.length];
      onProgress?.({
        ...{ workload: name, stage: "faults" as const, schedules: this.#taken, all: plans.length },
        ...{ findings, shrinking },
      });
    };
    const work = async (checker: PlanChecker) => {
      while (next < plans.length && this.#known.length < maxFindings && !signal.aborted) {
        const plan = plans[next++];
        if (plan === undefined) return;
        const checked = await checker.check(name, plan).catch((error: unknown) => {
          // The report of an interrupted simulation has what was tried.
          if (!signal.aborted) throw error;
          return undefined;
        });
        if (checked === undefined) return;
        this.#taken++;
        await this.#take(checked, checker, onTaken);
        // A storm tests combinations.
        if (plan.faults.length === 1) { for (const { kind } of plan.faults) this.#coverageOf(kind).tested++; }
        onTaken();
      }
    };
    await Promise.all(this.#checkers.map(work));
  }

  /** @param onShrinking called before the finding of a plan is shrunk, which takes many schedules */
  async #take(checked: CheckedPlan, checker: PlanChecker, onShrinking: () => void): Promise<void> {
    const { finding, isUnconfirmed, isReached, schedules } = checked;
    this.#schedules += schedules;
    this.#passed = checked.passed;
    if (!isReached) this.#unreached++;
    if (isUnconfirmed) this.#unconfirmed++;
    if (finding === undefined || this.#known.some((known) => isSameFinding(known, finding.violations))) return;
    this.#known.push(finding.violations);
    // A plan of the user is played as it is.
    const { plan: given, signal } = this.#options;
    onShrinking();
    const shrunk = given !== undefined
      ? finding
      : await checker.shrink(this.#workload.name, finding).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        return finding;
      });
    this.#schedules += shrunk.shrunk?.schedules ?? 0;
    this.#add(shrunk);
  }

  #add(finding: ProgramFinding): void {
    this.#findings.push(finding);
    this.#options.onFinding?.(finding);
  }

  #coverageOf(kind: FaultKind): { tested: number; all: number } {
    const count = this.#covered.get(kind) ?? { tested: 0, all: 0 };
    this.#covered.set(kind, count);
    return count;
  }
}
