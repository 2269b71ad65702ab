/**
 * Hunts for one violation in the controllers named as arguments, and prints it as JSON; `null` when there is none. Run by
 * tasks/seeded_bugs.ts in a copy of the tree that has a bug.
 *
 *   _hunt.ts STORMS REPLICAS NAME...     with two replicas only storms with two replicas are played, of all that concerns
 *                                        an election
 */
import process from "node:process";
import type { Workload } from "../../src/mod.ts";
import { type Fault, type Finding, simulate, type SimulateOptions } from "../../src/simulation/mod.ts";
import { controllers } from "./_controllers.ts";

const [storms = "0", replicas = "1", ...names] = process.argv.slice(2);
/** Every fourth storm has two replicas. */
const replicatedEvery = 4;
const ofElections: ReadonlySet<Fault["kind"]> = new Set(["lease", "partition", "skew", "slow", "crash"]);

/** What is played of a workload, one after the other. */
function campaigns(): readonly Partial<SimulateOptions>[] {
  const count = Number(storms);
  if (replicas === "1") return [{ storms: count }];
  return Array.from({ length: count }, (_, index) => {
    const firstSeed = (index + 1) * replicatedEvery;
    return { singles: false, storms: 1, firstSeed, kinds: ofElections };
  });
}

async function huntIn(controller: (typeof controllers)[number], workload: Workload): Promise<Finding | undefined> {
  for (const campaign of campaigns()) {
    const { findings: [found] } = await simulate({
      ...{ controller, workloads: [workload], mostFindings: 1 },
      ...campaign,
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

async function hunt(): Promise<Finding | undefined> {
  for (const name of names) {
    const controller = controllers.find((one) => one.name === name);
    if (controller === undefined) throw new Error(`Cannot hunt in ${name}: there is no such controller`);
    for (const workload of controller.workloads ?? []) {
      const found = await huntIn(controller, workload);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

const found = await hunt();
console.log(JSON.stringify(found ?? null));
process.exit(0);
