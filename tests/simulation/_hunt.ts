/**
 * Hunts for one violation in the controllers named as arguments, and prints it as JSON; `null` when there is none. Run by
 * tasks/seeded_bugs.ts in a copy of the tree that has a bug.
 */
import process from "node:process";
import { type Finding, simulate } from "../../src/simulation/mod.ts";
import { controllers } from "./_controllers.ts";

const [storms = "0", ...names] = process.argv.slice(2);

async function hunt(): Promise<Finding | undefined> {
  for (const name of names) {
    const controller = controllers.find((one) => one.name === name);
    if (controller === undefined) throw new Error(`Cannot hunt in ${name}: there is no such controller`);
    for (const workload of controller.workloads ?? []) {
      const { findings: [found] } = await simulate({
        ...{ controller, workloads: [workload], storms: Number(storms), mostFindings: 1 },
      });
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

const found = await hunt();
console.log(JSON.stringify(found ?? null));
process.exit(0);
