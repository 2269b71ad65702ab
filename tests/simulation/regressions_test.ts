/** Runs the plans in regressions/: each one found a violation once, or stands for a class of bugs that `found` names. */
import { readdir, readFile } from "node:fs/promises";
import { type FaultPlan, replay } from "../../src/simulation/mod.ts";
import { assertEquals, test } from "../testing.ts";
import { controllers, findWorkload } from "./_controllers.ts";

interface Regression {
  readonly found: string;
  readonly controller: string;
  readonly workload: string;
  readonly seed: number;
  readonly replicas: number;
  /** All controllers run in the same process. @default only this one */
  readonly together?: boolean;
  readonly plan: FaultPlan;
}

const folder = new URL("regressions/", import.meta.url);

for (const file of (await readdir(folder)).toSorted()) {
  const regression: Regression = JSON.parse(await readFile(new URL(file, folder), "utf8"));
  const { found, plan, seed, replicas, together } = regression;
  test(`no violation any more: ${found}`, async () => {
    const { controller, workload } = findWorkload(regression.controller, regression.workload);
    const others = together === true ? controllers.filter(({ name }) => name !== controller.name) : [];
    const finding = await replay(controller, workload, { plan, seed, replicas, others });
    assertEquals(finding?.violations ?? [], []);
  });
}
