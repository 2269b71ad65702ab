/** shrink(): the smallest plan that still breaks the same promise. */
import type { FaultPlan } from "./fault_plan.ts";

/**
 * Leaves out faults, one after the other, as long as what is left still fails.
 *
 * @param fails whether a plan still breaks the promise
 */
export async function shrink(plan: FaultPlan, fails: (plan: FaultPlan) => Promise<boolean>): Promise<FaultPlan> {
  let { faults } = plan;
  for (let index = 0; index < faults.length && faults.length > 1;) {
    const fewer = faults.filter((_, at) => at !== index);
    if (await fails({ faults: fewer })) [faults, index] = [fewer, 0];
    else index++;
  }
  return { faults };
}
