/**
 * simulateProgram(): runs the workloads of a program under every single fault. PlanCheckers do that: this process, or several
 * others, each of which takes the next fault when it is done with the last one.
 *
 * Guarantees: findings with the same first violation are reported once; a workload ends early when there are enough. An
 * interrupted simulation reports what it has tried.
 */
import { type FaultKind, type FaultPlan } from "../fault_plan.ts";
import { spread } from "../fault_points.ts";
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
  readonly #covered = new Map<FaultKind, { tested: number; all: number }>();
  #schedules = 0;
  #unconfirmed = 0;
  #unreached = 0;

  constructor(workload: ForeignWorkload, options: SimulateProgramOptions, checkers: readonly PlanChecker[]) {
    this.#workload = workload;
    this.#options = options;
    this.#checkers = checkers;
  }

  async run(): Promise<WorkloadReport> {
    const { clock, plan, points = Infinity, onLearned } = this.#options;
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
    else await this.#checkAll(spread(faults, points).map((fault) => ({ faults: [fault] })));
    return {
      ...{ workload: name, schedules: this.#schedules, covered: this.#covered, findings: this.#findings },
      ...{ unconfirmed: this.#unconfirmed, unreached: this.#unreached },
      ...{ convergenceMs, starts, leftovers, ms: clock.monotonic() - startedAt },
    };
  }

  async #checkAll(plans: readonly FaultPlan[]): Promise<void> {
    const { maxFindings = 3, signal, onProgress } = this.#options;
    const { name } = this.#workload;
    let [next, done] = [0, 0];
    const work = async (checker: PlanChecker) => {
      while (next < plans.length && this.#findings.length < maxFindings && !signal.aborted) {
        const plan = plans[next++];
        if (plan === undefined) return;
        const checked = await checker.check(name, plan).catch((error: unknown) => {
          // The report of an interrupted simulation has what was tried.
          if (!signal.aborted) throw error;
          return undefined;
        });
        if (checked === undefined) return;
        this.#take(checked);
        for (const { kind } of plan.faults) this.#coverageOf(kind).tested++;
        const progress = { schedules: ++done, all: plans.length, findings: this.#findings.length };
        onProgress?.({ workload: name, stage: "faults", ...progress });
      }
    };
    await Promise.all(this.#checkers.map(work));
  }

  #take({ finding, isUnconfirmed, isReached, schedules }: CheckedPlan): void {
    this.#schedules += schedules;
    if (!isReached) this.#unreached++;
    if (isUnconfirmed) this.#unconfirmed++;
    if (finding === undefined) return;
    const isKnown = this.#findings.some(({ violations }) => isSameFinding(violations, finding.violations));
    if (!isKnown) this.#add(finding);
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
