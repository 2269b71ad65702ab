/**
 * `simulate`: plays faults against controllers, in a world of this process: crashes around each write, servers that lag, lost
 * answers, broken watches, partitions, meddling. Nothing outside of this process is touched.
 *
 * Guarantees: what it finds comes with the command line that plays it again; it ends with 1 when something was found.
 */
import type { OperatorController, Workload } from "../manager/mod.ts";
import { configureLogging } from "../observe/mod.ts";
import {
  defaultWorkloads,
  type FaultPlan,
  type Finding,
  replay,
  runSchedule,
  simulate,
  type SimulateReport,
} from "../simulation/mod.ts";
import { type ExitCode, exitCode } from "./exit_code.ts";
import { selectControllers } from "./select_controllers.ts";
import { helperVariable, helpSimulate, SimulateHelpers } from "./simulate/simulate_helpers.ts";
import { type SimulateFlags, simulateFlags } from "./simulate/simulate_flags.ts";
import { coverageTable, findingText, reportJson, summaryTable } from "./simulate/simulate_report.ts";
import { type Call, subcommand } from "./subcommand.ts";
import { UsageError } from "./usage_error.ts";

/** The command. */
export const simulateCommand = subcommand({
  description: [
    "Plays faults against controllers: every single one that is possible while people do what the controllers' workloads",
    "say, and storms of several. Each run is compared with one without faults. What breaks is shown with the line that",
    "plays it again. The world is in this process: no cluster is needed, and no time passes but the computer's.",
  ].join("\n"),
  words: { syntax: "[names...]", about: "controllers to simulate" },
  examples: [
    { line: "NAME", about: "every single fault, and a hundred storms for each workload" },
    { line: "--all --seeds 10000", about: "all controllers, for longer" },
    { line: "NAME --faults crash --seeds 0", about: "only what crashes do" },
  ],
  flags: simulateFlags,
  async run(call) {
    const { flags, session } = call;
    const controllers = chosen(call);
    const plays = controllers.map((controller) => ({ controller, workloads: workloadsOf(controller, flags.workload) }));
    // Controllers under faults complain a lot, as they should; what is wrong with them is found otherwise.
    using _silence = silence(session.verbosity);
    if (session.environment[helperVariable] === "1") {
      await helpSimulate(plays);
      return exitCode.done;
    }
    if (flags.plan !== undefined) return await playPlan(call, plays, flags.plan);
    const reports: SimulateReport[] = [];
    using helpers = new SimulateHelpers(session, flags.jobs);
    for (const play of plays) reports.push(await playAll(call, play, helpers));
    return tell(call, reports);
  },
});

interface Play {
  readonly controller: OperatorController;
  readonly workloads: readonly Workload[];
}

/** As they are listed: what their own flags would make of them is about how they run, not about what they do. */
function chosen(
  { words, flags: { all, plan }, session: { operator } }: Call<SimulateFlags>,
): readonly OperatorController[] {
  if (all && words.length > 0) {
    throw new UsageError("Cannot simulate controllers: both names and --all are given", "Leave one of them out");
  }
  if (!all && words.length === 0) {
    throw new UsageError("Cannot simulate controllers: none is named", "Name some, or use --all");
  }
  if (plan !== undefined && (all || words.length > 1)) {
    throw new UsageError("Cannot play a plan: it is about one controller", "Name that one");
  }
  return all ? operator.controllers : selectControllers(operator, words);
}

/** Those that its author wrote, else some made from samples and schema. */
function workloadsOf(controller: OperatorController, name: string | undefined): readonly Workload[] {
  const all = controller.workloads ?? defaultWorkloads(controller);
  if (all.length === 0) {
    throw new UsageError(
      `Cannot simulate controller "${controller.name}": it has neither workloads nor samples`,
      "Add some with withWorkloads() or withSamples()",
    );
  }
  const wanted = name === undefined ? all : all.filter((one) => one.name === name);
  if (wanted.length > 0) return wanted;
  const names = all.map((one) => `"${one.name}"`).join(", ");
  throw new UsageError(`Cannot find workload "${name}" of controller "${controller.name}": there are ${names}`);
}

async function playAll(
  { flags, session }: Call<SimulateFlags>,
  play: Play,
  helpers: SimulateHelpers,
): Promise<SimulateReport> {
  using progress = session.progress();
  return await simulate({
    ...play,
    helpers: () => helpers.of(play.controller),
    storms: flags.seeds,
    firstSeed: flags.seed,
    ...(flags.faults.length === 0 ? {} : { kinds: new Set(flags.faults) }),
    onProgress: ({ workload, schedules, findings }) =>
      progress.report(`${play.controller.name}: "${workload}", ${schedules} schedules, ${findings} violations`),
  });
}

async function playPlan(
  { flags, session }: Call<SimulateFlags>,
  plays: readonly Play[],
  plan: FaultPlan,
): Promise<ExitCode> {
  const { seed, replicas, timeline, output } = flags;
  const found: Finding[] = [];
  for (const { controller, workloads } of plays) {
    for (const workload of workloads) {
      const finding = await replay(controller, workload, { plan, seed, replicas });
      if (finding !== undefined) found.push(finding);
      else if (timeline) {
        const { trace } = await runSchedule({ controllers: [controller], workload, plan, seed, replicas });
        session.print(trace.timeline());
      }
    }
  }
  if (output === "json") session.print(`${JSON.stringify(found, undefined, 2)}\n`);
  else for (const finding of found) session.print(findingText(finding, session.operator.name));
  if (found.length === 0) session.say("nothing is wrong with this plan");
  return found.length === 0 ? exitCode.done : exitCode.failed;
}

function tell({ flags, session }: Call<SimulateFlags>, reports: readonly SimulateReport[]): ExitCode {
  const findings = reports.flatMap((report) => report.findings);
  if (flags.output === "json") session.print(reportJson(reports, session.operator.name));
  else {
    for (const finding of findings) session.print(findingText(finding, session.operator.name));
    session.print(summaryTable(reports, session.paint));
    const [only] = reports.length === 1 ? reports : [];
    if (only !== undefined) session.print(coverageTable(only));
  }
  return findings.length === 0 ? exitCode.done : exitCode.failed;
}

/** Lets no record through, unless somebody asked for more of them. */
function silence(verbosity: number): Disposable {
  return verbosity > 0 ? { [Symbol.dispose]: () => {} } : configureLogging({ level: "error", write: () => {} });
}
