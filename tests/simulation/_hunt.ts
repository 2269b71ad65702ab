/**
 * Hunts for one violation in the controllers named as arguments, and prints it as JSON; `null` when there is none. Run by
 * tasks/seeded_bugs.ts in a copy of the tree that has a bug.
 *
 *   _hunt.ts STORMS KINDS NAME...     single faults of these kinds (a list with commas) come first, then all there are,
 *                                     then storms
 */
import process from "node:process";
import { type Fault, faultKinds, type Finding, simulate, type SimulateOptions } from "../../src/simulation/mod.ts";
import { controllers } from "./_controllers.ts";

const [storms = "0", words = "", ...names] = process.argv.slice(2);
const likely: ReadonlySet<Fault["kind"]> = new Set(faultKinds.filter((kind) => words.split(",").includes(kind)));

async function huntIn(name: string, options: Partial<SimulateOptions>): Promise<Finding | undefined> {
  const controller = controllers.find((one) => one.name === name);
  if (controller === undefined) throw new Error(`Cannot hunt in ${name}: there is no such controller`);
  for (const workload of controller.workloads ?? []) {
    const { findings: [found] } = await simulate({ controller, workloads: [workload], mostFindings: 1, ...options });
    if (found !== undefined) return found;
  }
  return undefined;
}

async function hunt(): Promise<Finding | undefined> {
  const first = likely.size > 0 ? [{ kinds: likely }] : [];
  for (const options of [...first, { storms: Number(storms) }]) {
    for (const name of names) {
      const found = await huntIn(name, options);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

const found = await hunt();
console.log(JSON.stringify(found ?? null));
process.exit(0);
