/** That a run does not depend on those before it, although it begins with what they began with. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import type { OperatorController } from "../manager/mod.ts";
import { careful, churn } from "./_careful_rig.ts";
import { sceneOf } from "./_scene.ts";
import { faultKinds, type FaultPlan } from "./fault_plan.ts";
import { singleFaults, stormsOf } from "./fault_points.ts";
import { runSchedule } from "./schedule.ts";

/** What a run comes to, in words that two runs can be compared by. */
async function played(controller: OperatorController, plan: FaultPlan, seed: number): Promise<readonly unknown[]> {
  const { trace, summary, violations } = await runSchedule({ controllers: [controller], workload: churn, plan, seed });
  return [trace.digest(), [...summary.fields], [...summary.lives], violations];
}

test("a run from a copy of the scene, after 50 others, is the run that it is alone", async () => {
  const another = { ...careful }; // nobody has set the scene for it, nor remembers anything of it
  const { points, stepRevisions } = await runSchedule({ controllers: [careful], workload: churn });
  const learnt = { points, stepRevisions, replicas: 1 };
  const kinds = new Set(faultKinds);
  const singles = [...singleFaults(learnt, kinds)].map((fault) => ({ plan: { faults: [fault] }, seed: 1 }));
  const storm = stormsOf(learnt, kinds);
  const storms = Array.from({ length: 12 }, (_, seed) => ({ plan: storm(seed + 1), seed: seed + 1 }));
  const others = [...singles.slice(0, 38), ...storms];
  assertEquals(others.length, 50);
  for (const { plan, seed } of others) await played(careful, plan, seed);
  for (const { plan, seed } of [...singles.slice(20, 26), ...storms.slice(0, 6)]) {
    assertEquals(await played(careful, plan, seed), await played({ ...another }, plan, seed));
  }
});

test("a scene is set once for the same controllers and the same luck", async () => {
  const scene = await sceneOf([careful], 1);
  assert(scene === await sceneOf([careful], 1));
  assert(scene !== await sceneOf([careful], 2));
  assert(scene !== await sceneOf([{ ...careful }], 1));
  const { revision } = scene.storage;
  await runSchedule({ controllers: [careful], workload: churn });
  assertEquals(scene.storage.revision, revision);
});
