/** What the simulation found once it must not find again: each file in regressions/ is a plan. */
import { readdir, readFile } from "node:fs/promises";
import { type FaultPlan, replay } from "../../src/simulation/mod.ts";
import { assertEquals, test } from "../testing.ts";
import { played } from "./_controllers.ts";

interface Regression {
  readonly found: string;
  readonly controller: string;
  readonly workload: string;
  readonly seed: number;
  readonly replicas: number;
  readonly plan: FaultPlan;
}

const folder = new URL("regressions/", import.meta.url);

for (const file of (await readdir(folder)).toSorted()) {
  const regression: Regression = JSON.parse(await readFile(new URL(file, folder), "utf8"));
  const { found, plan, seed, replicas } = regression;
  test(`not again: ${found}`, async () => {
    const { controller, workload } = played(regression.controller, regression.workload);
    const finding = await replay(controller, workload, { plan, seed, replicas });
    assertEquals(finding?.violations ?? [], []);
  });
}
