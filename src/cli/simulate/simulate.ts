/**
 * `simulate`: plays faults against controllers, in a world of this process: crashes around each write, servers that lag, lost
 * answers, broken watches, partitions, meddling. Nothing outside of this process is touched.
 *
 * Guarantees: what it finds comes with the command line that plays it again; it ends with 1 when something was found.
 */
/* MERGED simulate/simulate_report.ts  What `simulate` prints: a table of what was played, and each finding with the line that plays it again. */
import type { OperatorController, Workload } from "../../manager/mod.ts";
import { configureLogging } from "../../observe/mod.ts";
import {
  defaultWorkloads,
  type Fault,
  faultKinds,
  type FaultPlan,
  faultText,
  type Finding,
  replay,
  runSchedule,
  simulate,
  type SimulateReport,
} from "../../simulation/mod.ts";
import { type Call, type ExitCode, exitCode, selectControllers, subcommand } from "../command/mod.ts";
import { runSimulationWorker, SimulationWorkers, workerVariable } from "./worker_processes.ts";
import { type SimulateFlags, simulateFlags } from "./simulate_flags.ts";
import { UsageError } from "../flags/mod.ts";
import { type Cell, type Paint, table } from "../output/mod.ts";

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
    if (session.environment[workerVariable] === "1") {
      await runSimulationWorker(plays);
      return exitCode.done;
    }
    if (flags.plan !== undefined) return await replayPlan(call, plays, flags.plan);
    const reports: SimulateReport[] = [];
    using helpers = new SimulationWorkers(session, flags.jobs);
    for (const play of plays) reports.push(await simulateController(call, play, helpers));
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

async function simulateController(
  { flags, session }: Call<SimulateFlags>,
  play: Play,
  helpers: SimulationWorkers,
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

async function replayPlan(
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

/** A row per controller. */
function summaryTable(reports: readonly SimulateReport[], paint: Paint): string {
  const header = ["CONTROLLER", "SCHEDULES", "FAULT POINTS", "VIOLATIONS"];
  const rows = reports.map(({ controller, schedules, covered, findings }): readonly Cell[] => {
    const all = [...covered.values()];
    const played = all.reduce((sum, count) => sum + count.played, 0);
    const points = all.reduce((sum, count) => sum + count.all, 0);
    const tone = findings.length === 0 ? "good" : "bad";
    return [controller, String(schedules), `${played} of ${points}`, { text: String(findings.length), tone }];
  });
  return table([header, ...rows], paint);
}

/** A row per kind of fault: how many of its points were played. */
function coverageTable({ covered }: SimulateReport): string {
  const rows = faultKinds.flatMap((kind) => {
    const count = covered.get(kind);
    return count === undefined ? [] : [[`  ${kind}`, `${count.played} of ${count.all}`]];
  });
  return table(rows);
}

/** A finding for people: what is wrong, how to see it again, and what happened. */
function findingText(finding: Finding, operator: string): string {
  const { controller, workload, plan, seed, violations, timeline } = finding;
  const lines = [
    `${controller}, workload "${workload}", seed ${seed}:`,
    ...violations.map(({ invariant, message }) => `  ${invariant}: ${message}`),
    `  after: ${plan.faults.length === 0 ? "no fault at all" : plan.faults.map(faultText).join("; ")}`,
    `  replay: ${replayLine(finding, operator)}`,
  ];
  return `${lines.join("\n")}\n\n${timeline}\n`;
}

/** The command line that plays a finding again. */
function replayLine({ controller, workload, plan, seed, replicas }: Finding, operator: string): string {
  const several = replicas > 1 ? ` --replicas ${replicas}` : "";
  return `${operator} simulate ${controller} --workload ${quoted(workload)} --seed ${seed}${several} ` +
    `--plan ${quoted(JSON.stringify(plan))}`;
}

/** The report for programs. */
function reportJson(reports: readonly SimulateReport[], operator: string): string {
  const shown = reports.map(({ controller, schedules, covered, findings }) => ({
    controller,
    schedules,
    faultPoints: Object.fromEntries([...covered].map(([kind, count]: [Fault["kind"], object]) => [kind, count])),
    violations: findings.map((finding) => ({ ...finding, replay: replayLine(finding, operator) })),
  }));
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

/** As a shell reads one word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
