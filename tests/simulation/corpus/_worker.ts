/** Checks one operator of the corpus and prints the result as JSON: `_worker.ts NAME SEEDS`. run.ts starts one for each operator. */
import process from "node:process";
import { checkCase } from "./_check_case.ts";
import { corpus } from "./mod.ts";

const [name = "", seeds = "0"] = process.argv.slice(2);
const one = corpus.find((one) => one.name === name);
if (one === undefined) throw new Error(`Cannot check operator "${name}": the corpus has none with that name`);
console.log(JSON.stringify(await checkCase(one, { seeds: Number(seeds) })));
process.exit(0);
