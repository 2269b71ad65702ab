/**
 * `deno run -A bench/operators/run.ts NAME`: builds an operator that nobody here wrote, at a pinned version, runs its first
 * workload without faults, and prints what that cost. `--all` runs all of them; without a name it lists them.
 */
import process from "node:process";
import { buildOperator } from "./build.ts";
import { operatorCases } from "./cases.ts";
import { converge } from "./converge.ts";
import type { OperatorCase } from "./operator.ts";

async function runCase(operator: OperatorCase): Promise<void> {
  const built = await buildOperator(operator);
  for (const workload of operator.workloads) {
    const { wallMs, steps, usage } = await converge(operator, built, workload);
    const cost = `${seconds(wallMs)}, CPU ${seconds(usage.cpuMs)}, ${Math.round(usage.maxRssBytes / 2 ** 20)} MiB`;
    console.log(`${operator.name}, ${workload}: converges in ${cost}`);
    for (const { text, ms } of steps) console.log(`  ${seconds(ms).padStart(8)}  ${text}`);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

const names = process.argv.slice(2);
const selected = names.includes("--all") ? operatorCases : operatorCases.filter(({ name }) => names.includes(name));
const unknown = names.find((name) => name !== "--all" && !operatorCases.some((one) => one.name === name));
if (selected.length === 0 || unknown !== undefined) {
  if (unknown !== undefined) console.error(`Cannot run ${unknown}: there is no such operator`);
  console.error(["The operators are:", ...operatorCases.map(({ name }) => `  ${name}`)].join("\n"));
  process.exit(2);
}
for (const operator of selected) await runCase(operator);
process.exit(0);
