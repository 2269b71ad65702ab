/**
 * Simulates the operators of the corpus, each in a process of its own and as many at a time as there are cores, prints what was
 * found, and writes the table of docs/SIMULATION.md. Exits with 1 when a bar is missed: 40 of 42 bugs within 30 s each, and no
 * false alarm.
 *
 *   deno task corpus [--seeds N] [--only NAME,NAME] [--write]
 */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs, promisify } from "node:util";
import { root } from "../../../tasks/_root.ts";
import { type CaseResult, maxMs } from "./_check_case.ts";
import { corpus, type CorpusCase } from "./mod.ts";

const page = join(root, "docs", "SIMULATION.md");
const [begin, end] = ["<!-- corpus: begin -->", "<!-- corpus: end -->"];
/** Bugs that must be caught, of 42. */
const minCaught = 40;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "100" },
    only: { type: "string" },
    write: { type: "boolean", default: false },
  },
});
const selected = corpus.filter(({ name }) => values.only === undefined || values.only.split(",").includes(name));

/** Checks an operator in a process of its own, so that its time and CPU are its own. */
async function check({ name }: CorpusCase): Promise<CaseResult> {
  const args = [
    join(root, "tasks/bun.sh"),
    "run",
    join(root, "tests/simulation/corpus/_worker.ts"),
    name,
    values.seeds,
  ];
  try {
    const { stdout } = await promisify(execFile)("sh", args, { cwd: root, maxBuffer: 2 ** 26 });
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  } catch (error) {
    throw new Error(`Cannot check operator "${name}": its process failed`, { cause: error });
  }
}

async function checkAll(): Promise<ReadonlyMap<string, CaseResult>> {
  const results = new Map<string, CaseResult>();
  const remaining = selected.values();
  const work = async () => {
    for (const one of remaining) {
      const result = await check(one);
      results.set(one.name, result);
      console.log(lineOf(result));
      if (result.verdict === "missed" || result.verdict === "false alarm") {
        console.log(result.found?.text ?? "  no finding");
      }
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return results;
}

function lineOf({ name, verdict, schedules, elapsedMs, cpuMs, found }: CaseResult): string {
  const what = found === undefined ? "" : `  ${found.faults.join(", ") || "no fault"}: ${found.invariants.join(", ")}`;
  return `${verdict.padEnd(11)} ${name.padEnd(30)} ${seconds(elapsedMs)} s  ${seconds(cpuMs)} CPU s  ${
    String(schedules).padStart(5)
  } runs${what}`;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1).padStart(5);
}

/** The numbers that the bars are about. */
function countsOf(results: Iterable<CaseResult>) {
  const all = [...results];
  const caught = all.filter(({ verdict, elapsedMs }) => verdict === "caught" && elapsedMs <= maxMs);
  return {
    caught: caught.length,
    slowestMs: Math.max(0, ...caught.map(({ elapsedMs }) => elapsedMs)),
    falseAlarms: all.filter(({ verdict }) => verdict === "false alarm").length,
  };
}

function rowOf({ name, kind, class: group, about }: CorpusCase, { verdict, schedules, found }: CaseResult): string {
  const how = found === undefined ? ["", ""] : [found.faults.join(", ") || "none", found.invariants.join(", ")];
  return `| ${[name, kind, group, about, verdict, schedules, ...how].join(" | ")} |`;
}

/** Writes the rows into the table of the page, in the format of `deno fmt`. Those of operators that were not checked stay. */
async function writePage(results: ReadonlyMap<string, CaseResult>): Promise<void> {
  const text = await readFile(page, "utf8");
  const [before = "", old = "", after = ""] = text.split(new RegExp(`${begin}|${end}`));
  const oldRows = new Map(old.split("\n").map((line) => [/^\| ([\w-]+) /.exec(line)?.[1], line]));
  const rows = corpus.flatMap((one) => {
    const result = results.get(one.name);
    return (result === undefined ? oldRows.get(one.name) : rowOf(one, result)) ?? [];
  });
  const count = (verdict: string) => rows.filter((row) => row.split("|")[5]?.trim() === verdict).length;
  // Only what was checked counts: after `--only`, the table may lack operators.
  const [bugs, correct] = ["bug", "correct"].map((kind) =>
    rows.filter((row) => row.split("|")[2]?.trim() === kind).length
  );
  const table = [
    `${count("caught")} of ${bugs} bugs are caught, and ${
      count("false alarm")
    } of ${correct} correct operators are accused ` +
    `(\`--seeds ${values.seeds}\`).`,
    "",
    "| operator | kind | class | what a user loses, or why nothing is lost | verdict | runs | fault | violated invariants |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
  await writeFile(page, `${before}${begin}\n\n${table}\n\n${end}${after}`);
  await promisify(execFile)("deno", ["fmt", "--quiet", page], { cwd: root });
}

const results = await checkAll();
const { caught, slowestMs, falseAlarms } = countsOf(results.values());
const bugs = selected.filter(({ kind }) => kind === "bug").length;
console.log(
  `${caught} of ${bugs} bugs caught, the slowest after ${seconds(slowestMs).trim()} s; ${falseAlarms} false alarms ` +
    `for ${selected.length - bugs} correct operators`,
);
if (values.write) await writePage(results);
const required = selected.length === corpus.length ? minCaught : bugs;
process.exit(falseAlarms > 0 || caught < required ? 1 : 0);
