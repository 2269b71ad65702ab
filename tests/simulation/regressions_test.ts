/** Runs the plans in regressions/: each one found a violation once and must not find one again. */
import { readdir, readFile } from "node:fs/promises";
import { type FaultPlan, replay } from "../../src/simulation/mod.ts";
import { assertEquals, test } from "../testing.ts";
import { findWorkload } from "./_controllers.ts";

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
  test(`no violation any more: ${found}`, async () => {
    const { controller, workload } = findWorkload(regression.controller, regression.workload);
    const finding = await replay(controller, workload, { plan, seed, replicas });
    assertEquals(finding?.violations ?? [], []);
  });
}
