/**
 * shrinkFinding(): leaves out the faults and the steps that a finding does not need. A workload without some of its steps leads to
 * another state, so what is expected is learned anew for it.
 *
 * Guarantees: what is returned was seen twice, or it is the finding that was given. The number of runs is bounded.
 */
import { smallestSubset } from "../engine.ts";
import type { FaultPlan } from "../fault_plan.ts";
import type { Violation } from "../violation.ts";
import { stepOf } from "./passed_points.ts";
import type { ProgramFinding } from "./simulate_options.ts";

/** A workload whose findings can be shrunk. */
export interface ShrinkableWorkload {
  /** The numbers of the steps that are performed. */
  readonly performedSteps: readonly number[];
  /** The runs that were needed to learn it. */
  readonly schedules: number;
  /** The same workload with some of its steps. @returns undefined when it is broken without faults, too */
  withSteps(numbers: readonly number[]): Promise<ShrinkableWorkload | undefined>;
  /** Runs a plan once. @returns undefined when it does not break the invariant of the violation */
  reproduce(plan: FaultPlan, options: ReproduceOptions): Promise<ProgramFinding | undefined>;
}

/** Options of {@link ShrinkableWorkload.reproduce}. */
export interface ReproduceOptions {
  readonly violation: Violation | undefined;
  /** Waits longer for what may only be slow. */
  readonly isPatient: boolean;
}

/** Each takes one run. */
const maxFaultTries = 20;
/** Each takes about four runs: those without faults, and one with them. */
const maxStepTries = 8;
/** Runs of the result, of which one must show the violation again. */
const confirmingRuns = 2;

/** The smallest plan of a finding, on the smallest workload. @returns the finding itself if it needs all faults and steps */
export async function shrinkFinding(workload: ShrinkableWorkload, finding: ProgramFinding): Promise<ProgramFinding> {
  return await new FindingShrinker(workload, finding).run();
}

class FindingShrinker {
  readonly #workload: ShrinkableWorkload;
  readonly #given: ProgramFinding;
  readonly #violation: Violation | undefined;
  #schedules = 0;

  constructor(workload: ShrinkableWorkload, finding: ProgramFinding) {
    this.#workload = workload;
    this.#given = finding;
    this.#violation = finding.violations[0];
  }

  async run(): Promise<ProgramFinding> {
    const given = this.#given;
    if (given.plan.faults.length === 0) return given;
    const faults = await smallestSubset(
      given.plan.faults,
      async (fewer) => await this.#reproduce(this.#workload, { faults: fewer }) !== undefined,
      { maxTries: maxFaultTries },
    );
    const plan = { faults };
    const shorter = await this.#shorten(plan);
    const steps = shorter.performedSteps;
    const isSmaller = faults.length < given.plan.faults.length || steps.length < this.#workload.performedSteps.length;
    const seen = isSmaller ? await this.#confirm(shorter, plan) : undefined;
    if (seen === undefined) return given;
    return {
      ...seen,
      ...(steps.length < this.#workload.performedSteps.length ? { steps } : {}),
      shrunk: {
        faults: [given.plan.faults.length, faults.length],
        steps: [this.#workload.performedSteps.length, steps.length],
        schedules: this.#schedules,
      },
    };
  }

  /** The workload with as few steps as the plan needs. */
  async #shorten(plan: FaultPlan): Promise<ShrinkableWorkload> {
    const named = new Set(plan.faults.map(stepOf));
    const { performedSteps } = this.#workload;
    const others = performedSteps.filter((number) => !named.has(number));
    let shortest = this.#workload;
    const isEnough = async (kept: readonly number[]) => {
      const numbers = performedSteps.filter((number) => named.has(number) || kept.includes(number));
      const shorter = numbers.length === 0 ? undefined : await this.#workload.withSteps(numbers);
      this.#schedules += shorter?.schedules ?? 0;
      if (shorter === undefined || await this.#reproduce(shorter, plan) === undefined) return false;
      shortest = shorter;
      return true;
    };
    if (others.length > 0 && !await isEnough([])) {
      await smallestSubset(others, isEnough, { maxTries: maxStepTries - 1 });
    }
    return shortest;
  }

  async #confirm(workload: ShrinkableWorkload, plan: FaultPlan): Promise<ProgramFinding | undefined> {
    // It was seen once when it became the smallest one.
    let seen = 1;
    let last: ProgramFinding | undefined;
    for (let run = 1; run <= confirmingRuns; run++) {
      const again = await this.#reproduce(workload, plan, run === 1);
      if (again === undefined) continue;
      seen++;
      last = again;
    }
    return last && { ...last, seen, runs: 1 + confirmingRuns };
  }

  async #reproduce(
    workload: ShrinkableWorkload,
    plan: FaultPlan,
    isPatient = false,
  ): Promise<ProgramFinding | undefined> {
    this.#schedules++;
    return await workload.reproduce(plan, { violation: this.#violation, isPatient });
  }
}
