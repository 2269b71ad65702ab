/** Tests that a run does not depend on earlier runs that started with the same baseline. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import type { OperatorController } from "../manager/mod.ts";
import { baselineOf } from "./_baseline.ts";
import { faultKinds, type FaultPlan } from "./fault_plan.ts";
import { singleFaults, stormsOf } from "./fault_points.ts";
import { recordSchedule } from "./recorded_schedule.ts";
import { runSchedule } from "./schedule.ts";
import { summaryOf } from "./summary.ts";
import { digestOf } from "./timeline.ts";
import { correct, recreateWorkload } from "./testing/sample_controllers.ts";

/** The result of a run, in a form that can be compared. */
async function resultOf(controller: OperatorController, plan: FaultPlan, seed: number): Promise<readonly unknown[]> {
  const { entries, outcome, violations } = await recordSchedule({
    controllers: [controller],
    workload: recreateWorkload,
    plan,
    seed,
  });
  const summary = summaryOf(outcome);
  return [digestOf(entries), [...summary.fields], [...summary.lifecycles], violations];
}

test("a run after 50 other runs with the same baseline is equal to a run alone", async () => {
  const copy = { ...correct }; // a new value, so it has neither a baseline nor cached responses
  const { points, stepRevisions } = await runSchedule({ controllers: [correct], workload: recreateWorkload });
  const where = { points, stepRevisions, replicas: 1 };
  const kinds = new Set(faultKinds);
  const singles = [...singleFaults(where, kinds)].map((fault) => ({ plan: { faults: [fault] }, seed: 1 }));
  const storm = stormsOf(where, kinds);
  const storms = Array.from({ length: 12 }, (_, seed) => ({ plan: storm(seed + 1), seed: seed + 1 }));
  const others = [...singles.slice(0, 38), ...storms];
  assertEquals(others.length, 50);
  for (const { plan, seed } of others) await resultOf(correct, plan, seed);
  for (const { plan, seed } of [...singles.slice(20, 26), ...storms.slice(0, 6)]) {
    assertEquals(await resultOf(correct, plan, seed), await resultOf({ ...copy }, plan, seed));
  }
});

test("baselineOf() prepares one baseline for the same controllers and the same random sequence", async () => {
  const baseline = await baselineOf([correct], 1);
  assert(baseline === await baselineOf([correct], 1));
  assert(baseline !== await baselineOf([correct], 2));
  assert(baseline !== await baselineOf([{ ...correct }], 1));
  const { revision } = baseline.storage;
  await runSchedule({ controllers: [correct], workload: recreateWorkload });
  assertEquals(baseline.storage.revision, revision);
});
