/**
 * Reference: what a workload comes to without faults, learnt from several runs that differ in chance alone. What differs among
 * those is masked: it says nothing about faults.
 */
import type { PointCounts } from "./_gate.ts";
import type { Settling } from "./_run.ts";
import type { Summary } from "./_summary.ts";
import type { FaultPlan } from "./fault_plan.ts";
import { runSchedule, type ScheduleOptions, type ScheduleResult } from "./schedule.ts";
import type { Violation } from "./violation.ts";

/** What is to be expected. */
export interface Reference {
  readonly summary: Summary;
  readonly settling: Settling;
  readonly points: PointCounts;
  /** Changes on the server before the end of each step. */
  readonly stepRevisions: readonly number[];
  /** Fields and lives that say nothing. */
  readonly masked: ReadonlySet<string>;
  /** What is wrong already without faults. */
  readonly violations: readonly Violation[];
}

/** Runs that a reference is learnt from. */
const lessons = 3;
/** Differences that are told of one run. */
const mostTold = 5;

/** Learns a reference. */
export async function learnReference(options: Omit<ScheduleOptions, "plan" | "seed">): Promise<Reference> {
  const first = await runSchedule({ ...options, seed: 1 });
  const masked = new Set<string>();
  for (let seed = 2; seed <= lessons; seed++) {
    const other = await runSchedule({ ...options, seed });
    for (const key of differing(first.summary.fields, other.summary.fields)) masked.add(key);
    for (const key of differing(first.summary.lives, other.summary.lives)) masked.add(key);
  }
  const { summary, settling, points, stepRevisions, violations } = first;
  return { summary, settling, points, stepRevisions, masked, violations };
}

/** Everything that is wrong with a run. */
export function judge(reference: Reference, result: ScheduleResult, plan: FaultPlan): readonly Violation[] {
  const { summary, settling, violations } = result;
  const found = [...violations];
  if (settling !== reference.settling && settling !== "restless") {
    found.push({
      invariant: "rest",
      message: `it came to rest as ${settling}, without faults as ${reference.settling}`,
    });
  }
  const of = (invariant: Violation["invariant"], name: "fields" | "lives") => {
    const [now, then] = [summary[name], reference.summary[name]];
    for (const key of differing(then, now).filter((one) => !reference.masked.has(one)).slice(0, mostTold)) {
      const message = `${key} is ${now.get(key) ?? "not there"}, without faults ${then.get(key) ?? "not there"}`;
      found.push({ invariant, message });
    }
  };
  of("end state", "fields");
  // Who deletes something has it created again.
  if (!plan.faults.some((fault) => fault.kind === "actor" && fault.act === "delete")) of("lives", "lives");
  const [now, then] = [summary.outcomes.join(", "), reference.summary.outcomes.join(", ")];
  if (now !== then) found.push({ invariant: "end state", message: `the steps were ${now}, without faults ${then}` });
  return found;
}

function differing(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): readonly string[] {
  const keys = new Set([...one.keys(), ...other.keys()]);
  return [...keys].filter((key) => one.get(key) !== other.get(key));
}
