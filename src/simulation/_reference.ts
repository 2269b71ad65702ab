/**
 * Reference: what a workload comes to without faults, learnt from several runs that differ in chance alone. What differs among
 * those is masked: it says nothing about faults.
 */
import type { PointCounts } from "./_gate_parts.ts";
import type { Settling } from "./_run.ts";
import { differing, type Summary } from "./_summary.ts";
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
  /** Steps come in the middle of what the controllers do, so faults decide what was made by then. */
  readonly isTimed: boolean;
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
  const isTimed = options.workload.steps.some(({ untilWrites }) => untilWrites !== undefined);
  return { summary, settling, points, stepRevisions, masked, isTimed, violations };
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
  const isHarmless = (key: string) =>
    plan.faults.some(({ kind }) => kind === "stale") && isTakenBack(key, summary, reference.summary);
  const of = (invariant: Violation["invariant"], name: "fields" | "lives") => {
    const [now, then] = [summary[name], reference.summary[name]];
    const matters = (key: string) => !reference.masked.has(key) && !(name === "lives" && isHarmless(key));
    for (const key of differing(then, now).filter(matters).slice(0, mostTold)) {
      const message = `${key} is ${now.get(key) ?? "not there"}, without faults ${then.get(key) ?? "not there"}`;
      found.push({ invariant, message });
    }
  };
  of("end state", "fields");
  // Who deletes something has it created again.
  const isDeleted = plan.faults.some((fault) => fault.kind === "actor" && ["delete", "replace"].includes(fault.act));
  if (!isDeleted && !reference.isTimed) of("lives", "lives");
  const [now, then] = [summary.outcomes.join(", "), reference.summary.outcomes.join(", ")];
  if (now !== then) found.push({ invariant: "end state", message: `the steps were ${now}, without faults ${then}` });
  return found;
}

/**
 * A process that begins with what was, complete and consistent, makes what that wanted; when it hears what is, its next
 * write takes that back. Nobody is harmed, and a real server's first list is not old.
 */
function isTakenBack(key: string, now: Summary, then: Summary): boolean {
  return now.lastingLives.get(key) === then.lives.get(key);
}
