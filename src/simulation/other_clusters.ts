/**
 * What a run of a fleet says about the clusters that its plan does not hit: they must be as without faults, and no problem of
 * the first member may delay them.
 */
import type { StepWrites } from "./_prompt_writes.ts";
import type { Fault, FaultKind, FaultPlan } from "./fault_plan.ts";
import type { ScheduleResult } from "./schedule_result.ts";
import type { Violation } from "./violation.ts";

/** Faults of the processes, which all clusters see. */
const processKinds: ReadonlySet<FaultKind> = new Set(["crash", "restart", "stale", "skew", "lease", "scale"]);

/** The run as one of its other clusters saw it. @throws TypeError when it has none of that name */
export function resultIn(result: ScheduleResult, name: string): ScheduleResult {
  const other = result.others.get(name);
  if (other === undefined) throw new TypeError(`Cannot compare cluster "${name}": the run had none of that name`);
  return { ...result, ...other, staleFrom: undefined, others: new Map() };
}

/** The part of a plan that happens to the other clusters, too. */
export function planForOthers({ faults }: FaultPlan): FaultPlan {
  return { faults: faults.filter(({ kind }) => processKinds.has(kind)).map(withoutUser) };
}

/** The user deletes a dependent in the first member. */
function withoutUser(fault: Fault): Fault {
  if (fault.kind !== "restart") return fault;
  const { deletes: _, ...rest } = fault;
  return rest;
}

/** A violation with the name of its cluster. */
export function violationIn(name: string, { message, ...violation }: Violation): Violation {
  return { ...violation, message: `in ${name}: ${message}` };
}

/** What a cluster gets at once in all runs without faults, by the steps. */
export function promptWritesOf(results: readonly ScheduleResult[]): readonly number[] {
  const [first, ...others] = results.map(({ stepWrites }) => stepWrites);
  return (first ?? []).map(({ prompt }, step) => Math.min(prompt, ...others.map((steps) => steps[step]?.prompt ?? 0)));
}

/** The steps whose writes came late in a cluster while another one had a problem. */
export function delayViolations(
  expected: readonly number[],
  actual: readonly StepWrites[],
  plan: FaultPlan,
): readonly Violation[] {
  // A process that was killed is slow everywhere.
  if (plan.faults.some(({ kind }) => processKinds.has(kind))) return [];
  return expected.flatMap((prompt, step) => {
    const { inTime = 0 } = actual[step] ?? {};
    if (inTime >= prompt) return [];
    return [{
      invariant: "isolation" as const,
      message: `the operator has sent ${inTime} of ${prompt} writes within 2 s after step ${step + 1}, ` +
        "while another cluster had a problem",
    }];
  });
}
