/**
 * `deno run -A bench/operators/run.ts NAME [WORKLOAD.yaml] [FLAGS]`: builds an operator that nobody here wrote, at a pinned
 * version, and simulates its workloads, or one of them, with `controller simulate --command`; FLAGS are those of simulate, such
 * as `--faults crash`, or `--without-faults 3` for runs without any, with their times and what the operator uses. Without a name
 * it lists the operators.
 */
import process from "node:process";
import { buildOperator, type BuiltOperator } from "./build.ts";
import { operatorCases } from "./cases.ts";
import type { OperatorCase } from "./operator.ts";
import { simulateOperator } from "./simulate.ts";

async function simulateAll(
  operator: OperatorCase,
  built: BuiltOperator,
  flags: readonly string[],
): Promise<number> {
  let worst = 0;
  for (const workload of operator.workloads) {
    worst = Math.max(worst, await simulateOperator(operator, built, { workload, flags }));
  }
  return worst;
}

const [name, ...words] = process.argv.slice(2);
const known = operatorCases.find((one) => one.name === name);
const [first = ""] = words;
const only = first.endsWith(".yaml") ? first : undefined;
const flags = only === undefined ? words : words.slice(1);
if (known !== undefined && only !== undefined && !known.workloads.includes(only)) {
  console.error(`Cannot run ${only} of ${name}: its workloads are ${known.workloads.join(", ")}`);
  process.exit(2);
}
if (known === undefined) {
  if (name !== undefined) console.error(`Cannot run ${name}: there is no such operator`);
  console.error(["The operators are:", ...operatorCases.map((one) => `  ${one.name}`)].join("\n"));
  process.exit(2);
}
const operator = { ...known, workloads: only === undefined ? known.workloads : [only] };
const built = await buildOperator(operator);
process.exit(await simulateAll(operator, built, flags));
