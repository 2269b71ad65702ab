/**
 * Searches for one violation in the named controllers, and prints it as JSON, or `null`. tasks/seeded_bugs.ts runs it in a copy
 * of the tree that contains a bug.
 *
 *   _find_violation.ts STORMS KINDS MEMBERS NAME...  tests the single faults of these kinds (separated by commas) first, then
 *                                                    all single faults, then storms; as a fleet, unless MEMBERS is 0
 */
import process from "node:process";
import { type FaultKind, faultKinds, type Finding, simulate, type SimulateOptions } from "../../src/simulation/mod.ts";
import { controllers } from "./_controllers.ts";

const [storms = "0", kinds = "", members = "0", ...names] = process.argv.slice(2);
const likely: ReadonlySet<FaultKind> = new Set(faultKinds.filter((kind) => kinds.split(",").includes(kind)));

const fleet = { members: Number(members) };

async function findIn(name: string, options: Partial<SimulateOptions>): Promise<Finding | undefined> {
  const controller = controllers.find((one) => one.name === name);
  if (controller === undefined) throw new Error(`Cannot simulate ${name}: the controller does not exist`);
  for (const workload of controller.workloads ?? []) {
    const { findings: [found] } = await simulate({
      controller,
      workloads: [workload],
      maxFindings: 1,
      ...fleet,
      ...options,
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

async function findViolation(): Promise<Finding | undefined> {
  const first = likely.size > 0 ? [{ kinds: likely }] : [];
  for (const options of [...first, { storms: Number(storms) }]) {
    for (const name of names) {
      const found = await findIn(name, options);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

const found = await findViolation();
console.log(JSON.stringify(found === undefined ? null : { ...found, recording: undefined }));
process.exit(0);
