/**
 * Runs the plans in regressions/, each of which found a violation once or stands for a class of bugs that `found` names, and
 * those of class_plans.ts.
 */
import { readdir, readFile } from "node:fs/promises";
import { type FaultPlan, replay } from "../../src/simulation/mod.ts";
import { assertEquals, test } from "../testing.ts";
import { controllers, findWorkload } from "./_controllers.ts";
import { classPlans } from "./class_plans.ts";
import { corpus } from "./corpus/mod.ts";

interface Regression {
  readonly found: string;
  readonly controller: string;
  readonly workload: string;
  readonly seed: number;
  readonly replicas: number;
  /** The replicas divide the keys. @default one of them leads */
  readonly sharded?: boolean;
  /** All controllers run in the same process. @default only this one */
  readonly together?: boolean;
  readonly plan: FaultPlan;
}

const folder = new URL("regressions/", import.meta.url);

for (const file of (await readdir(folder)).toSorted()) {
  const regression: Regression = JSON.parse(await readFile(new URL(file, folder), "utf8"));
  const { found, plan, seed, replicas, sharded = false, together } = regression;
  test(`no violation any more: ${found}`, async () => {
    const { controller, workload } = findWorkload(regression.controller, regression.workload);
    const others = together === true ? controllers.filter(({ name }) => name !== controller.name) : [];
    const finding = await replay(controller, workload, { plan, seed, replicas, sharded, others });
    assertEquals(finding?.violations ?? [], []);
  });
}

for (const plan of classPlans) {
  test(`${plan.controller} has no bug of this class: ${plan.class}`, async () => {
    const { controller, workload } = findWorkload(plan.controller, plan.workload);
    const faults = plan.fault === undefined ? [] : [plan.fault];
    const finding = await replay(controller, workload, { plan: { faults }, seed: 1, replicas: 1 });
    assertEquals(finding?.violations ?? [], []);
  });
}

test("each class of bugs in the corpus has a plan for our own controllers", () => {
  const planned = new Set(classPlans.map((plan) => plan.class));
  const classes = corpus.flatMap((one) => one.kind === "bug" ? [one.class] : []);
  assertEquals(classes.filter((one) => !planned.has(one)), []);
});
