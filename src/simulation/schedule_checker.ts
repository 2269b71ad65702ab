/**
 * ScheduleChecker: runs the schedules of one controller and compares each with a reference: the result of the workload without
 * faults, learned from several runs with different seeds. What differs between those runs is not compared.
 *
 * Guarantees: a {@link PlannedSchedule} is plain JSON and its violations do not depend on the process that checks it, so other
 * processes of the same program can help.
 */
import type { OperatorController, Workload } from "../manager/mod.ts";
import type { Entry } from "../observe/mod.ts";
import { declaredParts, declaredStateViolations } from "./_declared_state.ts";
import type { FaultPlan } from "./fault_plan.ts";
import { recordSchedule, violationNotes } from "./recorded_schedule.ts";
import { compareWithReference, haveSameResult, memoryViolations, type Reference, referenceOf } from "./reference.ts";
import type { RunTotals } from "./run_totals.ts";
import { runSchedule } from "./schedule.ts";
import type { ScheduleOptions, ScheduleResult } from "./schedule_result.ts";
import type { Violation } from "./violation.ts";

/** A run to be checked. */
export interface PlannedSchedule {
  /** The name of a workload. */
  readonly workload: string;
  readonly plan: FaultPlan;
  readonly seed: number;
  readonly replicas: number;
  /** The replicas divide the keys between them. @default false */
  readonly sharded?: boolean;
  /** The members of a fleet. @default 0: one cluster */
  readonly members?: number;
}

/** How the operator of a schedule runs. */
type Replicas = Pick<PlannedSchedule, "replicas" | "sharded" | "members">;

/** The result of a checked run. Plain JSON, too. */
export interface CheckResult {
  readonly violations: readonly Violation[];
  readonly totals: RunTotals;
}

/** The result of {@link ScheduleChecker.confirm}. */
export interface Confirmation {
  /** None when runs without faults show the same. */
  readonly violations: readonly Violation[];
  /** Further event orders, and in how many of them the same invariant was broken. */
  readonly orders: { readonly tried: number; readonly failed: number };
  /** What happened in the runs for it. */
  readonly runs: readonly RunTotals[];
}

/** Checks one schedule, in this or another process. */
export type CheckSchedule = (schedule: PlannedSchedule) => Promise<CheckResult>;

/** Checks schedules one by one. */
export class ScheduleChecker {
  readonly #controllers: readonly OperatorController[];
  readonly #workloads: ReadonlyMap<string, Workload>;
  readonly #references = new Map<string, Promise<Reference>>();

  /** @param others run in the same process */
  constructor(
    controller: OperatorController,
    workloads: readonly Workload[],
    others: readonly OperatorController[] = [],
  ) {
    this.#controllers = [controller, ...others];
    this.#workloads = new Map(workloads.map((workload) => [workload.name, workload]));
  }

  /** The reference of a workload, learned at the first call. */
  async reference(workload: string, replicas: Replicas): Promise<Reference> {
    const key = referenceKey(workload, replicas);
    const learned = this.#references.get(key) ?? learnReference(this.#options(workload, replicas));
    this.#references.set(key, learned);
    return await learned;
  }

  /**
   * Compares a workload, up to each of its changes, with one that creates the same objects at once.
   *
   * @returns what depends on the way, and the runs for it
   */
  async checkDeclaredState(name: string): Promise<{ violations: readonly Violation[]; totals: readonly RunTotals[] }> {
    const whole = await this.reference(name, { replicas: 1 });
    const { workload, ...options } = { ...this.#options(name, { replicas: 1 }), cleanUp: whole.cleanUp };
    const totals: RunTotals[] = [];
    const run = async (steps: Workload, seed: number): Promise<ScheduleResult> => {
      const result = await runSchedule({ ...options, workload: steps, seed });
      totals.push(result.totals);
      return result;
    };
    for (const { stepwise, direct } of declaredParts(workload, whole.summary.outcomes)) {
      const isWhole = stepwise.steps.length === workload.steps.length;
      const first = await run(direct, 1);
      const single = isWhole ? whole : referenceOf({ ...options, workload: stepwise }, [await run(stepwise, 1)]);
      if (declaredStateViolations(single, { direct: [first], isWhole }).length === 0) continue;
      // What differs between runs of the same steps is no difference.
      const reference = isWhole ? whole : await learnReference({ ...options, workload: stepwise });
      if (!isWhole) totals.push(reference.totals);
      const results = [first, await run(direct, 2)];
      const violations = declaredStateViolations(reference, { direct: results, isWhole });
      if (violations.length > 0) return { violations, totals };
    }
    return { violations: [], totals };
  }

  /** Runs a schedule and compares it with the reference. @throws {TypeError} when the workload does not exist */
  async check(schedule: PlannedSchedule): Promise<CheckResult> {
    const { workload, plan, seed } = schedule;
    const reference = await this.reference(workload, schedule);
    const { cleanUp } = reference;
    const result = await runSchedule({ ...this.#options(workload, schedule), plan, seed, cleanUp });
    return { violations: compareWithReference(reference, result, plan), totals: result.totals };
  }

  /**
   * Confirms the violations of a schedule. What runs without faults do in the same event order, or in three others, is no
   * violation: the reference learns from these runs, and the schedule is compared again. Neither is what users alone lead to,
   * see {@link controlsOf}. A violation that needs one certain order remains, because a rare race is one; in how many of the
   * other orders it occurs is told.
   */
  async confirm(schedule: PlannedSchedule): Promise<Confirmation> {
    const { workload, plan, seed } = schedule;
    const { results, cleanUp } = await this.reference(workload, schedule);
    const options = { ...this.#options(workload, schedule), cleanUp };
    const [first, ...others] = results;
    const seeds = Array.from({ length: confirmingOrders + 1 }, (_, index) => seed + index);
    const free: ScheduleResult[] = [];
    for (const each of seeds) if (each > referenceRuns) free.push(await runSchedule({ ...options, seed: each }));
    if (first === undefined) throw new Error("Cannot confirm violations: there is no reference");
    const reference = referenceOf(options, [first, ...others, ...free]);
    const faulty: ScheduleResult[] = [];
    for (const each of seeds) faulty.push(await runSchedule({ ...options, plan, seed: each }));
    const [found = [], ...further] = faulty.map((result) => compareWithReference(reference, result, plan));
    const harmless = new Set<string>();
    for (const control of found.length > 0 ? controlsOf(options.workload, plan) : []) {
      const result = await runSchedule({ ...options, ...control, seed });
      for (const { message } of compareWithReference(reference, result, control.plan)) harmless.add(message);
      free.push(result);
    }
    const violations = found.filter(({ message }) => !harmless.has(message));
    const isSame = (found: readonly Violation[]) =>
      found.some(({ invariant }) => invariant === violations[0]?.invariant);
    const orders = { tried: further.length, failed: further.filter(isSame).length };
    // The longer reference is kept, so that the same difference is not found again.
    this.#references.set(referenceKey(workload, schedule), Promise.resolve(reference));
    return { violations, orders, runs: [...free, ...faulty].map(({ totals }) => totals) };
  }

  /** Runs a schedule again, and records it. @param violations are the last notes of the recording */
  async record(schedule: PlannedSchedule, violations: readonly Violation[]): Promise<readonly Entry[]> {
    const { workload, plan, seed } = schedule;
    const { cleanUp } = await this.reference(workload, schedule);
    const { entries } = await recordSchedule({ ...this.#options(workload, schedule), plan, seed, cleanUp });
    return [...entries, ...violationNotes(violations, entries.at(-1))];
  }

  #options(name: string, { replicas, sharded, members }: Replicas) {
    const workload = this.#workloads.get(name);
    if (workload === undefined) throw new TypeError(`Cannot run workload "${name}": it does not exist`);
    return { controllers: this.#controllers, workload, replicas, sharded, members };
  }
}

/**
 * Runs with what users do in a plan, and without what happens to the operator: the deletion of a dependent without the restart
 * of the operator, and a step that comes early while the operator is at work.
 */
export function controlsOf(workload: Workload, { faults }: FaultPlan): readonly ControlRun[] {
  const deletions = faults.filter((fault) => fault.kind === "restart" && fault.deletes !== undefined);
  const early = new Set(faults.flatMap((fault) => fault.kind === "stale" && fault.early === true ? [fault.step] : []));
  const steps = workload.steps.map((step, index) => early.has(index + 1) ? { ...step, atOnce: true } : step);
  return [
    ...deletions.length > 0 ? [{ workload, plan: { faults: deletions }, isRestarted: false }] : [],
    ...early.size > 0 ? [{ workload: { ...workload, steps }, plan: { faults: [] }, isRestarted: true }] : [],
  ];
}

type ControlRun = Required<Pick<ScheduleOptions, "workload" | "plan" | "isRestarted">>;

function referenceKey(workload: string, { replicas, sharded = false, members = 0 }: Replicas): string {
  return `${replicas} ${sharded ? "sharded " : ""}${members} ${workload}`;
}

/** Runs that a reference is learned from. */
const referenceRuns = 3;

/** Further event orders in which a violation is tried. */
const confirmingOrders = 3;

/**
 * Learns a reference from runs with consecutive seeds. A controller may have a memory that outlives a run, which shows in another
 * result of the same seed. Then all runs end with the deletion of their objects, as a process would see it that lives on.
 */
export async function learnReference(options: Omit<ScheduleOptions, "plan" | "seed">): Promise<Reference> {
  const first = await runSchedule({ ...options, seed: 1 });
  // Further runs would loop as well.
  if (first.isHotLoop) return referenceOf(options, [first]);
  const hasMemory = options.controllers.some(({ create }) => create === undefined);
  if (!hasMemory || haveSameResult(first, await runSchedule({ ...options, seed: 1 }))) {
    return referenceOf(options, [first, ...await furtherRuns(options)]);
  }
  const cleaning = { ...options, cleanUp: true };
  await runSchedule({ ...cleaning, seed: 1 });
  const again = await runSchedule({ ...cleaning, seed: 1 });
  const reference = referenceOf(cleaning, [again, ...await furtherRuns(cleaning)]);
  return { ...reference, violations: [...memoryViolations(first, again), ...reference.violations] };
}

async function furtherRuns(options: Omit<ScheduleOptions, "plan" | "seed">): Promise<readonly ScheduleResult[]> {
  const results: ScheduleResult[] = [];
  for (let seed = 2; seed <= referenceRuns; seed++) results.push(await runSchedule({ ...options, seed }));
  return results;
}
