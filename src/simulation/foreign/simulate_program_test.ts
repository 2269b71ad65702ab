/** Tests of the report of a simulation, with a checker that runs nothing. */
import { seededRandom, systemClock } from "../../async/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import type { Fault } from "../fault_plan.ts";
import type { CheckedPlan, PlanChecker } from "./simulate_options.ts";
import { simulateProgram } from "./simulate_program.ts";

const faults = [1, 2, 3].map((write): Fault => ({ kind: "crash", write, moment: "before", downMs: 1 }));
const checked: CheckedPlan = { isUnconfirmed: false, isReached: true, schedules: 1 };

function workloadsNamed(...names: readonly string[]) {
  return names.map((name) => ({ name, namespace: "default", steps: [] }));
}

test("simulateProgram() reports what an interrupted simulation has tried", async () => {
  const stop = new AbortController();
  let plans = 0;
  const checker: PlanChecker = {
    learn: () =>
      Promise.resolve({ faults, failedSteps: [], leftovers: [], schedules: 2, convergenceMs: 1, starts: [1] }),
    check: () => {
      if (++plans === 1) return Promise.resolve(checked);
      stop.abort();
      return Promise.reject(stop.signal.reason);
    },
    shrink: (_, finding) => Promise.resolve(finding),
  };
  const { workloads } = await simulateProgram({
    ...{ command: "none", env: {}, objects: [], folder: "/none", checkers: [checker], signal: stop.signal },
    ...{ clock: systemClock, random: seededRandom(1), workloads: workloadsNamed("first", "second") },
    onError: (error) => {
      throw error;
    },
  });
  assertEquals(workloads.map(({ workload, schedules, covered }) => [workload, schedules, covered.get("crash")]), [
    ["first", 3, { tested: 1, all: 3 }],
  ]);
});
