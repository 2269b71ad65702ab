/**
 * ScheduleChecker: runs the schedules of one controller and compares each with a reference: the result of the workload without
 * faults, learned from several runs with different seeds. What differs between those runs is not compared.
 *
 * Guarantees: a {@link PlannedSchedule} is plain JSON and its violations do not depend on the process that checks it, so other
 * processes of the same program can help.
 */
import type { OperatorController, Workload } from "../manager/mod.ts";
import type { Entry, NoteEntry } from "../observe/mod.ts";
import type { FaultPlan } from "./fault_plan.ts";
import type { PointCounts } from "./fault_points.ts";
import { recordSchedule } from "./recorded_schedule.ts";
import {
  runSchedule,
  type RunTotals,
  type ScheduleOptions,
  type ScheduleResult,
  type Settling,
  sumOf,
} from "./schedule.ts";
import { differingKeys, type Summary } from "./summary.ts";
import type { Invariant, Violation } from "./violation.ts";

/** A run to be checked. */
export interface PlannedSchedule {
  /** The name of a workload. */
  readonly workload: string;
  readonly plan: FaultPlan;
  readonly seed: number;
  readonly replicas: number;
}

/** The result of a checked run. Plain JSON, too. */
export interface CheckResult {
  readonly violations: readonly Violation[];
  readonly totals: RunTotals;
}

/** Checks one schedule, in this or another process. */
export type CheckSchedule = (schedule: PlannedSchedule) => Promise<CheckResult>;

/** Checks schedules one by one. */
export class ScheduleChecker {
  readonly #controller: OperatorController;
  readonly #workloads: ReadonlyMap<string, Workload>;
  readonly #references = new Map<string, Promise<Reference>>();

  constructor(controller: OperatorController, workloads: readonly Workload[]) {
    this.#controller = controller;
    this.#workloads = new Map(workloads.map((workload) => [workload.name, workload]));
  }

  /** The reference of a workload, learned at the first call. */
  async reference(workload: string, replicas: number): Promise<Reference> {
    const key = `${replicas} ${workload}`;
    const learned = this.#references.get(key) ?? learnReference(this.#options(workload, replicas));
    this.#references.set(key, learned);
    return await learned;
  }

  /** Runs a schedule and compares it with the reference. @throws {TypeError} when the workload does not exist */
  async check({ workload, plan, seed, replicas }: PlannedSchedule): Promise<CheckResult> {
    const reference = await this.reference(workload, replicas);
    const result = await runSchedule({ ...this.#options(workload, replicas), plan, seed });
    return { violations: compareWithReference(reference, result, plan), totals: result.totals };
  }

  /** Runs a schedule again, and records it. @param violations are the last notes of the recording */
  async record(
    { workload, plan, seed, replicas }: PlannedSchedule,
    violations: readonly Violation[],
  ): Promise<readonly Entry[]> {
    const { entries } = await recordSchedule({ ...this.#options(workload, replicas), plan, seed });
    return [...entries, ...notesOf(violations, entries.at(-1))];
  }

  #options(name: string, replicas: number) {
    const workload = this.#workloads.get(name);
    if (workload === undefined) throw new TypeError(`Cannot run workload "${name}": it does not exist`);
    return { controllers: [this.#controller], workload, replicas };
  }
}

function notesOf(violations: readonly Violation[], last: Entry | undefined): readonly NoteEntry[] {
  const { id = 0, at = 0 } = last ?? {};
  return violations.map(({ invariant, message }, index) => {
    return { kind: "note", id: id + 1 + index, at, causes: [], actor: "violation", what: invariant, detail: message };
  });
}

/** The expected result of a workload. */
export interface Reference {
  readonly summary: Summary;
  readonly settling: Settling;
  readonly points: PointCounts;
  /** The number of changes on the server until the end of each step. */
  readonly stepRevisions: readonly number[];
  /** The keys of fields and lifecycles that differ between runs without faults. */
  readonly masked: ReadonlySet<string>;
  /** Steps come while the controllers work, so faults change what exists at that time. */
  readonly isTimed: boolean;
  /** Violations without faults. */
  readonly violations: readonly Violation[];
  /** The number of runs that it was learned from, and what happened in them. */
  readonly runs: number;
  readonly totals: RunTotals;
}

/** Runs that a reference is learned from. */
const referenceRuns = 3;
/** Differences that are reported for one run. */
const maxReported = 5;

/** Learns a reference. */
export async function learnReference(options: Omit<ScheduleOptions, "plan" | "seed">): Promise<Reference> {
  const first = await runSchedule({ ...options, seed: 1 });
  const masked = new Set<string>();
  const totals = [first.totals];
  for (let seed = 2; seed <= referenceRuns; seed++) {
    const other = await runSchedule({ ...options, seed });
    totals.push(other.totals);
    for (const key of differingKeys(first.summary.fields, other.summary.fields)) masked.add(key);
    for (const key of differingKeys(first.summary.lifecycles, other.summary.lifecycles)) masked.add(key);
  }
  const { summary, settling, points, stepRevisions, violations } = first;
  const isTimed = options.workload.steps.some(({ untilWrites }) => untilWrites !== undefined);
  const learned = { summary, settling, points, stepRevisions, masked, isTimed, violations };
  return { ...learned, runs: referenceRuns, totals: sumOf(totals) };
}

/** All violations of a run: those that it found itself, and the differences from the reference. */
export function compareWithReference(
  reference: Reference,
  result: ScheduleResult,
  plan: FaultPlan,
): readonly Violation[] {
  const { summary, settling, violations } = result;
  const found = [...violations];
  if (settling !== reference.settling && settling !== "unsettled") {
    found.push({ invariant: "quiescence", message: `the run ended ${settling}, without faults ${reference.settling}` });
  }
  const isHarmless = (key: string) =>
    plan.faults.some(({ kind }) => kind === "stale") && isUndone(key, summary, reference.summary);
  const compare = (invariant: Invariant, name: "fields" | "lifecycles") => {
    const [actual, expected] = [summary[name], reference.summary[name]];
    const isCompared = (key: string) => !reference.masked.has(key) && !(name === "lifecycles" && isHarmless(key));
    for (const key of differingKeys(expected, actual).filter(isCompared).slice(0, maxReported)) {
      const message = `${key} is ${actual.get(key) ?? "missing"}, without faults ${expected.get(key) ?? "missing"}`;
      found.push({ invariant, message, object: key.split(" ").slice(0, 2).join(" ") });
    }
  };
  compare("end-state", "fields");
  // After a deletion by a user, the operator creates the object once more.
  const hasDeletion = plan.faults.some((fault) => fault.kind === "actor" && ["delete", "replace"].includes(fault.act));
  if (!hasDeletion && !reference.isTimed) compare("object-lifecycle", "lifecycles");
  const [actual, expected] = [summary.outcomes.join(", "), reference.summary.outcomes.join(", ")];
  if (actual !== expected) {
    found.push({ invariant: "end-state", message: `the steps were ${actual}, without faults ${expected}` });
  }
  return found;
}

/**
 * A process that starts with an old but consistent state creates the objects that belong to it. When it sees the newest state,
 * its next write deletes them. This is harmless, and the first list from a real server is not that old.
 */
function isUndone(key: string, actual: Summary, expected: Summary): boolean {
  return actual.lastingLifecycles.get(key) === expected.lifecycles.get(key);
}
