/**
 * `deno task bench:peers`: Pintle against controller-runtime, kube-rs, JOSDK, kopf and client-node, on real control
 * planes.
 *
 *   sync apiserver         only these cases; those that are called apiserver-… belong to apiserver
 *   --subjects pintle,rs   only the subjects whose name contains one of these
 *   --runs 5               runs of every subject, in turn  [3]
 *   --against DIR          also our own programs of another checkout, which must be built there (dist/bench/)
 *   --quick                everything in small, to check that it works
 *
 * Builds the programs, prints every sample to stderr and the tables to stdout. Cases that were run in full, with all
 * their subjects, replace their rows in bench/RESULTS.md; the other rows stay.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { against, type Case, cases, type Facts, mostGrown, type Scale } from "./cases/mod.ts";
import { describeSetup } from "./machine.ts";
import { mergeResults } from "./merge_results.ts";
import { buildPrograms, type ProgramName } from "./programs.ts";
import { type CaseResult, renderResults } from "./report.ts";

const fullScale: Scale = {
  syncObjects: 50_000,
  reconcileObjects: 5_000,
  updates: 1_000,
  plannedObjects: 2_000,
  simulatedSeeds: 40,
  fleetFoos: 500,
  growth: [10_000, 50_000, mostGrown],
  shardedFoos: 200_000,
  created: 50_000,
  stored: [1_000, 50_000],
  applied: 2_000,
  slopeObjects: 20_000,
  devObjects: 2_000,
  idleMs: 10_000,
  webhookMs: 5_000,
};
const quickScale: Scale = {
  syncObjects: 2_000,
  reconcileObjects: 200,
  updates: 100,
  plannedObjects: 200,
  simulatedSeeds: 1,
  fleetFoos: 10,
  growth: [1_000, 2_000, 4_000],
  shardedFoos: 2_000,
  created: 2_000,
  stored: [1_000, 4_000],
  applied: 200,
  slopeObjects: 2_000,
  devObjects: 200,
  idleMs: 1_000,
  webhookMs: 3_000,
};

interface Selection {
  readonly cases: readonly Case[];
  readonly runs: number;
  readonly scale: Scale;
  /** The cases run with all their subjects, at full size. */
  readonly isFull: boolean;
}

await main();

async function main(): Promise<void> {
  const selection = select();
  await buildPrograms(programsOf(selection.cases));
  let facts: Facts = await describeSetup();
  const results: CaseResult[] = [];
  for (const one of selection.cases) {
    const outcome = await runCase(one, selection);
    facts = { ...facts, ...outcome.facts };
    results.push(outcome.result);
  }
  const date = new Date().toISOString().slice(0, 10);
  const text = renderResults({ date, scale: selection.scale, facts, cases: results });
  process.stdout.write(text);
  if (!selection.isFull) return;
  const path = join(import.meta.dirname ?? ".", "RESULTS.md");
  const areAll = cases.every(({ name }) => selection.cases.some((one) => one.name === name));
  writeFileSync(path, areAll ? text : mergeResults(readFileSync(path, "utf8"), text));
}

function select(): Selection {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      subjects: { type: "string" },
      runs: { type: "string", default: "3" },
      against: { type: "string" },
      quick: { type: "boolean", default: false },
    },
  });
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) throw new RangeError(`Cannot run ${values.runs} times: not a whole number`);
  const parts = values.subjects?.split(",") ?? [""];
  const checkout = values.against === undefined ? undefined : resolve(values.against);
  return {
    cases: casesNamed(positionals).map((one) => checkout === undefined ? one : against(one, checkout))
      .map((one) => ({ ...one, subjects: one.subjects.filter(containsOneOf(parts)) })),
    runs,
    scale: values.quick ? quickScale : fullScale,
    isFull: !values.quick && values.subjects === undefined && checkout === undefined && runs >= 3,
  };
}

function casesNamed(names: readonly string[]): readonly Case[] {
  const isOf = (name: string) => (one: Case) => one.name === name || one.name.startsWith(`${name}-`);
  for (const name of names) {
    if (cases.some(isOf(name))) continue;
    throw new RangeError(`Cannot run case "${name}": the cases are ${cases.map((one) => one.name).join(", ")}`);
  }
  return names.length === 0 ? cases : cases.filter((one) => names.some((name) => isOf(name)(one)));
}

function containsOneOf(parts: readonly string[]): (subject: { readonly name: string }) => boolean {
  return ({ name }) => parts.some((part) => name.includes(part));
}

/** The Go program is the load generator of most cases. */
function programsOf(selected: readonly Case[]): ReadonlySet<ProgramName> {
  const load: readonly ProgramName[] = selected.every(({ makesOwnLoad = false }) => makesOwnLoad) ? [] : ["go"];
  return new Set([...load, ...selected.flatMap(({ subjects }) => subjects.map(({ program }) => program))]);
}

async function runCase(one: Case, selection: Selection): Promise<{ facts: Facts; result: CaseResult }> {
  const note = (text: string) => process.stderr.write(`bench: ${one.name}: ${text}\n`);
  const { scale } = selection;
  const runs = Math.min(selection.runs, one.mostRuns ?? selection.runs);
  note(one.title(scale));
  const { samples, facts } = await one.run({ subjects: one.subjects, runs, scale, note });
  return { facts, result: { name: one.name, title: one.title(scale), runs, samples } };
}
