/**
 * What heals is no violation: a program may only be slow, because it retries after a delay, or because the machine is busy.
 * canHeal() says of which violations that can be so, and patienceOf() how long a run waits for it.
 *
 * Guarantees: a surplus is never taken for slowness after a restart: what was created or deleted once too often stays so.
 */
import type { FaultPlan } from "../fault_plan.ts";
import type { Violation } from "../violation.ts";

/** How long a run waits in another state than the expected one: a minute is a usual delay before a retry. */
const patientRetryMs = 70_000;
/** The same for a process that was started anew: it retries nothing, but may look at everything each 30 s. */
const patientStartMs = 35_000;

/** What a later write of the program ends. */
const healing: ReadonlySet<Violation["invariant"]> = new Set(["end-state", "quiescence", "leaked-object"]);

/**
 * True when a patient run that shows nothing refutes the violations. A process that goes on may repeat everything later. One that
 * was started anew after each fault may only be slow to do what is missing.
 */
export function canHeal(plan: FaultPlan, violations: readonly Violation[]): boolean {
  return !hasRestart(plan) ||
    violations.every(({ invariant, isOnlyMissing = false }) => isOnlyMissing || healing.has(invariant));
}

/** Milliseconds that a patient run waits without a change. */
export function patienceOf(plan: FaultPlan): number {
  return hasRestart(plan) ? patientStartMs : patientRetryMs;
}

function hasRestart({ faults }: FaultPlan): boolean {
  return faults.every(({ kind }) => kind === "crash" || kind === "stale");
}
