/** Tests that the number and quality of workers changes nothing but the time. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { checkInParallel } from "./_parallel.ts";
import type { FaultKind } from "./fault_plan.ts";
import { type CheckSchedule, type PlannedSchedule, ScheduleChecker } from "./schedule_checker.ts";
import { simulate } from "./simulate.ts";
import { assumesSecondWrite, recreateWorkload } from "./testing/sample_controllers.ts";

const ten = Array.from({ length: 10 }, (_, seed) => ({ workload: "w", plan: { faults: [] }, seed, replicas: 1 }));

/** One violation, with the seed as its message. */
const seedViolation = ({ seed }: PlannedSchedule) => ({
  violations: [{ invariant: "quiescence", message: String(seed) }] as const,
  totals: { requests: 1, faults: 0, reconciles: 1, virtualMs: 1 },
});

async function checkTen(check: CheckSchedule, workers: readonly CheckSchedule[]): Promise<readonly string[]> {
  const messages: string[] = [];
  for await (const { result: { violations } } of checkInParallel(ten, check, workers)) {
    messages.push(...violations.map((one) => one.message));
  }
  return messages;
}

test("checkInParallel() returns each schedule once and in order, however slow a worker is", async () => {
  const checked: number[] = [];
  const after = (turns: number): CheckSchedule => async (schedule) => {
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    checked.push(schedule.seed);
    return seedViolation(schedule);
  };
  const here: CheckSchedule = () => Promise.reject(new Error("the workers check all schedules"));
  for (const [one, other] of [[1, 100], [100, 1], [3, 3]] as const) {
    checked.length = 0;
    assertEquals(await checkTen(here, [after(one), after(other)]), ten.map(({ seed }) => String(seed)));
    assertEquals(checked.toSorted((left, right) => left - right), ten.map(({ seed }) => seed));
    assertEquals(checked.some((seed, index) => seed !== index), one !== other);
  }
});

test("checkInParallel() checks the schedules of a failed worker in this process", async () => {
  const failing: CheckSchedule = () => Promise.reject(new Error("Cannot reach process: it has ended"));
  const here = (schedule: PlannedSchedule) => Promise.resolve(seedViolation(schedule));
  assertEquals(await checkTen(here, [failing, failing]), ten.map(({ seed }) => String(seed)));
});

test("simulate() finds the same with workers as without", async () => {
  const kinds = new Set<FaultKind>(["crash", "event"]);
  const options = { controller: assumesSecondWrite, workloads: [recreateWorkload], kinds, storms: 40, maxFindings: 2 };
  const checker = new ScheduleChecker(assumesSecondWrite, [recreateWorkload]);
  let requests = 0;
  // Requests and responses pass through JSON, as between processes.
  const worker: CheckSchedule = async (schedule) => {
    requests++;
    return JSON.parse(JSON.stringify(await checker.check(JSON.parse(JSON.stringify(schedule)))));
  };
  const alone = await simulate(options);
  assertEquals(await simulate({ ...options, workers: () => [worker] }), alone);
  assert(requests > 0);
  assert(alone.findings.length > 0);
});
