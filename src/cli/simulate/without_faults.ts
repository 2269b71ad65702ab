/**
 * `simulate --command --without-faults`: runs the workloads a few times without faults, and prints how long each step takes,
 * what the program uses, and in what the runs differ. It is the first thing to try with a program and a workload.
 */
import type { Cell, Line } from "../../observe/mod.ts";
import {
  type FaultFreeReport,
  type FaultFreeRunner,
  type FaultFreeStep,
  ProgramChecker,
  type SimulateProgramOptions,
} from "../../simulation/mod.ts";
import { type Call, type ExitCode, exitCode } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { count, table } from "../output/mod.ts";
import { withCommandErrors } from "./program_errors.ts";
import { shortList } from "./program_report.ts";
import { ProgramWorkers } from "./program_workers.ts";
import type { SimulateFlags } from "./simulate_flags.ts";

/** @throws UsageError for a flag that says something about faults */
export function checkWithoutFaults({ command, withoutFaults, ...flags }: SimulateFlags): void {
  if (withoutFaults === undefined) return;
  if (command === undefined) {
    throw new UsageError("Cannot run without faults only: --without-faults is for programs", "Name one with --command");
  }
  const unfit = [
    ...(flags.faults.length > 0 ? ["--faults"] : []),
    ...(flags.storms > 0 ? ["--storms"] : []),
    ...(["plan", "points", "record", "junit"] as const).flatMap((name) =>
      flags[name] === undefined ? [] : [`--${name}`]
    ),
  ];
  if (unfit.length === 0) return;
  throw new UsageError(`Cannot combine --without-faults with ${unfit.join(", ")}: there are no faults`);
}

/** Runs the workloads, and prints the report of each one when it is there. @param runs how many of each workload */
export async function runWithoutFaults(
  call: Call<SimulateFlags>,
  options: SimulateProgramOptions,
  runs: number,
): Promise<ExitCode> {
  const { flags, session } = call;
  const { folder, signal } = options;
  const { sharedNetwork } = flags;
  using progress = session.progress();
  using workers = await ProgramWorkers.start(session, { count: 1, folder, sharedNetwork, signal });
  const reports: FaultFreeReport[] = [];
  await withCommandErrors(session, signal, async () => {
    const runner: FaultFreeRunner = workers?.checkers[0] ?? await ProgramChecker.prepare(options);
    for (const { name } of options.workloads) {
      progress.report(`"${name}", ${count(runs, "run")} without faults`);
      const report = await runner.runWithoutFaults(name, runs);
      reports.push(report);
      if (flags.output === undefined) session.print(...faultFreeLines(report));
    }
  });
  if (flags.output === "json") session.printDocument(`${JSON.stringify(reports, undefined, 2)}\n`);
  return reports.every(({ failures }) => failures.length === 0) ? exitCode.done : exitCode.failed;
}

/** A table of the steps, what the program uses, and whether the runs are alike. */
export function faultFreeLines(report: FaultFreeReport): readonly Line[] {
  const { workload, runs, failures, differences } = report;
  const leftovers = [...new Set(runs.flatMap((run) => run.leftovers))];
  return [
    `workload "${workload}", ${count(runs.length, "run")} without faults:`,
    ...table([["STEP", "", "FASTEST", "SLOWEST", "RESULT"], ...stepRows(report), ...usageRows(report)]),
    ...(leftovers.length === 0 ? [] : [`  stays after deletions: ${shortList(leftovers)}`]),
    ...agreement(report),
    ...shortened(differences).map((text) => `    ${text}`),
    ...failures.map((text): Line => [{ text: `  ${text}`, tone: "error" }]),
    ...failures.length === 0 ? [] : lastLines(report),
  ];
}

function stepRows({ runs }: FaultFreeReport): readonly (readonly Cell[])[] {
  const all = Map.groupBy(runs.flatMap(({ steps }) => steps), ({ step }) => step);
  return [...all].sort(([one], [other]) => one - other).map(([step, same]): readonly Cell[] => {
    const times = same.map(({ ms }) => ms);
    return [
      ...[String(step), same[0]?.text ?? "", secondsText(Math.min(...times)), secondsText(Math.max(...times))],
      resultCell(same, runs.length),
    ];
  });
}

/** How a step has ended in the runs that came to it. */
function resultCell(steps: readonly FaultFreeStep[], runs: number): Cell {
  const missing = runs - steps.length;
  const bad = steps.filter(({ kind }) => kind !== "done");
  const busy = steps.filter(({ isBusy }) => isBusy).length;
  const names = [...Map.groupBy(bad, ({ kind }) => resultNames[kind])];
  const texts = [
    ...names.map(([name, same]) => same.length === runs ? name : `${name} in ${same.length} of ${runs} runs`),
    ...(busy === 0 ? [] : [`does not come to rest in ${busy} of ${runs} runs`]),
    ...(missing === 0 ? [] : [`not performed in ${missing} of ${runs} runs`]),
  ];
  return texts.length === 0 ? "done" : { text: texts.join(", "), tone: "warning" };
}

const resultNames: Readonly<Record<FaultFreeStep["kind"], string>> = {
  done: "done",
  rejected: "rejected",
  notFound: "not found",
  timedOut: "timed out",
};

/** The whole time, and what the program uses. */
function usageRows({ runs }: FaultFreeReport): readonly (readonly Cell[])[] {
  const cpu = runs.flatMap(({ cpuMs }) => cpuMs ?? []);
  const memory = runs.flatMap(({ maxRssBytes }) => maxRssBytes ?? []);
  return [
    rangeRow("all steps", runs.map(({ ms }) => ms), secondsText),
    ...(cpu.length === 0 ? [] : [rangeRow("CPU time of the program", cpu, secondsText)]),
    ...(memory.length === 0 ? [] : [rangeRow("memory of the program", memory, mebibytesText)]),
  ];
}

function rangeRow(name: string, values: readonly number[], textOf: (value: number) => string): readonly Cell[] {
  return ["", name, textOf(Math.min(...values)), textOf(Math.max(...values))];
}

function agreement({ runs, differences }: FaultFreeReport): readonly Line[] {
  if (differences.length > 0) return [[{ text: "  runs without faults differ:", tone: "warning" }]];
  return runs.length > 1 ? ["  the runs that came to the end are alike"] : [];
}

/** What the program has printed at the end of the first run with a failed step, else of the first run. */
function lastLines({ runs }: FaultFreeReport): readonly Line[] {
  const failed = runs.find(({ steps }) => steps.some(({ kind }) => kind === "notFound" || kind === "timedOut"));
  const { output = [] } = failed ?? runs[0] ?? {};
  return output.length === 0 ? [] : ["  the last lines of the program:", ...output.map((line) => `    ${line}`)];
}

const maxDifferences = 10;

function shortened(lines: readonly string[]): readonly string[] {
  const more = lines.length - maxDifferences;
  return more > 0 ? [...lines.slice(0, maxDifferences), `${count(more, "more difference")} (-o json)`] : lines;
}

function secondsText(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

function mebibytesText(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}
