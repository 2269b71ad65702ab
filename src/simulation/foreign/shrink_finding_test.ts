/** Tests which faults and steps remain of a finding. */
import type { Fault, FaultPlan } from "../fault_plan.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import { type ShrinkableWorkload, shrinkFinding } from "./shrink_finding.ts";
import type { ProgramFinding } from "./simulate_options.ts";

function crashIn(step: number, occurrence = 1): Fault {
  const write = { verb: "create", resource: "secrets", name: "default/a", occurrence, step };
  return { kind: "crash", write, moment: "before", downMs: 50 };
}

const violation = { invariant: "end-state", message: "no", object: "secrets default/a" } as const;

function findingOf(plan: FaultPlan): ProgramFinding {
  return {
    ...{ workload: "w", plan, violations: [violation], seen: 2, runs: 3, timeline: "", entries: [] },
    ...{ output: [], errors: [] },
  };
}

/** A workload that is broken if a fault and some steps come together. @param shows how often it is seen in further runs */
function workloadOf(
  performedSteps: readonly number[],
  needed: { readonly fault: Fault; readonly steps: readonly number[] },
  shows: () => boolean = () => true,
): ShrinkableWorkload {
  return {
    performedSteps,
    schedules: 3,
    withSteps: (numbers) => Promise.resolve(workloadOf(numbers, needed, shows)),
    reproduce: (plan) => {
      const isBroken = plan.faults.includes(needed.fault) && needed.steps.every((one) => performedSteps.includes(one));
      return Promise.resolve(isBroken && shows() ? { ...findingOf(plan), seen: 1, runs: 1 } : undefined);
    },
  };
}

const [first, second, third] = [crashIn(2), crashIn(4), crashIn(6)];
const steps = [1, 2, 3, 4, 5, 6, 7, 8];

test("only the fault that is needed remains, and only the steps that it needs", async () => {
  const workload = workloadOf(steps, { fault: second, steps: [1, 4] });
  const { plan, steps: left, shrunk, seen, runs } = await shrinkFinding(
    workload,
    findingOf({ faults: [first, second, third] }),
  );
  assertEquals(plan, { faults: [second] });
  assertEquals(left, [1, 4]);
  assertEquals([shrunk?.faults, shrunk?.steps, seen, runs], [[3, 1], [8, 2], 3, 3]);
});

test("a fault that needs its own step only leaves that step, after one try", async () => {
  const { steps: left, shrunk } = await shrinkFinding(
    workloadOf(steps, { fault: second, steps: [] }),
    findingOf({ faults: [second] }),
  );
  assertEquals(left, [4]);
  // Three runs without faults, one with it, and two more.
  assertEquals(shrunk?.schedules, 6);
});

test("a finding that needs everything is returned as it is", async () => {
  const finding = findingOf({ faults: [second] });
  assertEquals(await shrinkFinding(workloadOf([1, 4], { fault: second, steps: [1, 4] }), finding), finding);
});

test("what is not seen again is not believed", async () => {
  let runs = 0;
  const workload = workloadOf(steps, { fault: second, steps: [] }, () => ++runs === 1);
  const finding = findingOf({ faults: [second] });
  assertEquals(await shrinkFinding(workload, finding), finding);
});
