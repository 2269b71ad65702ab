/**
 * `deno task fuzz`: random inputs for everything that reads bytes of others, guided by what they reach.
 *
 *   deno task fuzz --minutes N [--target NAME]... [--seed S] [--keep]
 *
 * The minutes are shared by the targets, and by Deno and Bun. Each target runs in a process of its own: an input that hangs it, ends it, or takes
 * too much memory is a find like one that breaks a promise of a target. Each find is made small and becomes a file in
 * regressions/TARGET, which regressions_test.ts runs in the gate. `--keep` writes the corpus of each target anew.
 */
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { writeCorpus, writeInput } from "./corpus.ts";
import { isTarget, type TargetName, targetNames } from "./targets.ts";
import { type FuzzRuntime, superviseWorker } from "./supervise.ts";

interface Totals {
  runs: number;
  finds: number;
}

/** The parts of the time: Deno shows what an input reaches, and Bun is what the binary runs on. */
const shares = [["deno", 0.75], ["bun", 0.25]] as const;

/** Fuzzes one target for a time. Returns what happened. */
async function fuzzTarget(
  target: TargetName,
  options: {
    readonly ms: number;
    readonly seed: number;
    readonly keep: boolean;
    readonly folder: string;
    readonly runtime: FuzzRuntime;
  },
): Promise<Totals> {
  const known: string[] = [];
  const totals: Totals = { runs: 0, finds: 0 };
  const endAt = performance.now() + options.ms;
  let corpus: readonly Uint8Array[] | undefined;
  for (let round = 0; round === 0 || performance.now() < endAt - 1000; round++) {
    const ms = endAt - performance.now();
    const { finds, done, runs } = await superviseWorker({ ...options, target, ms, seed: options.seed + round, known });
    totals.runs += runs;
    for (const { signature, message, input } of finds) {
      known.push(signature);
      totals.finds++;
      const path = writeInput("regressions", target, input);
      console.log(`FIND  ${target}: ${signature}\n${message}\n      ${path}`);
    }
    corpus = done?.corpus ?? corpus;
  }
  if (options.keep && options.runtime === "deno" && corpus !== undefined) writeCorpus(target, corpus);
  console.log(
    `${totals.finds === 0 ? "ok  " : "FAIL"}  ${target} on ${options.runtime}: ${totals.runs} inputs in ${
      Math.round(options.ms / 1000)
    } s, ` +
      `${options.runtime === "deno" ? `corpus ${corpus?.length ?? "unknown"}, ` : ""}${totals.finds} finds`,
  );
  return totals;
}

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    target: { type: "string", multiple: true },
    seed: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});
const minutes = Number(values.minutes);
const unknown = values.target?.find((name) => !isTarget(name));
if (unknown !== undefined || !(minutes > 0)) {
  console.error(
    `Cannot fuzz: ${unknown === undefined ? "--minutes is not a number" : `there is no target ${unknown}`}`,
  );
  console.error(`Targets: ${targetNames.join(" ")}`);
  process.exit(2);
}
// Beside other work, such as the other steps of CI, it takes only what they leave.
setPriority(constants.priority.PRIORITY_LOW);
const targets = values.target?.filter(isTarget) ?? targetNames;
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
console.log(`seed ${seed}, ${targets.length} targets, ${minutes} minutes`);
const folder = mkdtempSync(join(tmpdir(), "pintle-fuzz-"));
let finds = 0;
try {
  for (const target of targets) {
    const ms = minutes * 60_000 / targets.length;
    for (const [runtime, share] of shares) {
      finds += (await fuzzTarget(target, { ms: ms * share, seed, keep: values.keep, folder, runtime })).finds;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(finds === 0 ? 0 : 1);
