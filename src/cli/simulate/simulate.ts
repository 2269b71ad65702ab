/**
 * `simulate`: tests controllers against faults in a simulated cluster inside this process: crashes around each write, stale
 * caches, lost responses, broken watches, partitions, and concurrent changes by other clients.
 *
 * Guarantees: nothing outside of this process is changed; each finding is printed with the command line that reproduces it;
 * the exit code is 1 when there is a finding.
 */
import { type OperatorController, withConversions, type Workload } from "../../manager/mod.ts";
import { type Cell, type Line, muteLogging } from "../../observe/mod.ts";
import {
  defaultWorkloads,
  type Fault,
  faultKinds,
  type FaultPlan,
  type Finding,
  recordSchedule,
  replay,
  simulate,
  type SimulateReport,
  sumOf,
  timelineOf,
} from "../../simulation/mod.ts";
import {
  type Call,
  crdsOf,
  type ExitCode,
  exitCode,
  selectNamedOrAll,
  type Session,
  subcommand,
} from "../command/mod.ts";
import { simulateProgramCommand } from "./program_command.ts";
import { findingText, replayLine } from "./finding_text.ts";
import { casesOf, type JUnitSuite, writeJUnit } from "./junit.ts";
import { type RecordedFinding, writeRecording } from "./record_schedule.ts";
import {
  runSimulationWorker,
  type SimulatedController,
  SimulationWorkers,
  workerVariable,
} from "./worker_processes.ts";
import { type SimulateFlags, simulateFlags } from "./simulate_flags.ts";
import { checkWithoutFaults } from "./without_faults.ts";
import { UsageError } from "../flags/mod.ts";
import { useGraph } from "../graphs/mod.ts";
import { approximateDuration, count, table } from "../output/mod.ts";

/** The command. */
export const simulateCommand = subcommand({
  description: [
    "Tests controllers against faults: every single fault that is possible during their workloads, and storms, which are",
    "random combinations of faults. Compares each run with a run without faults, and prints each violation with the",
    "command line that reproduces it. Cluster and clock are simulated in this process: no cluster is needed.",
  ].join(" "),
  positionals: { syntax: "[names...]", about: "controllers to simulate" },
  examples: [
    { line: "NAME", about: "every single fault, and a hundred storms for each workload" },
    { line: "--all --seeds 10000", about: "all controllers together, with more storms" },
    { line: "NAME --faults crash --seeds 0", about: "only crashes" },
    { line: "NAME --clusters 2", about: "as a fleet with two members" },
    {
      line: '--command "./manager --kubeconfig {kubeconfig}" --crds crds --workload workload.yaml',
      about: "an operator in any language",
    },
    {
      line: '--command "./manager" --crds crds --workload workload.yaml --without-faults 3',
      about: "whether the operator does what the workload waits for, and what that costs",
    },
    { line: "--all --graph webapp.yaml", about: "the controllers of a graph" },
    { line: "NAME --record violation.jsonl", about: "record the first violation, for why --file" },
  ],
  flags: simulateFlags,
  prepare: useGraph,
  async run(call) {
    const { flags, session } = call;
    checkWithoutFaults(flags);
    assertClusterFlags(flags);
    // Controllers log many errors under faults, as expected. Findings do not depend on the log.
    using _muted = session.verbosity > 0 ? undefined : muteLogging();
    if (flags.command !== undefined) return await simulateProgramCommand(call, flags.command);
    const subjects = subjectsOf(call);
    if (session.environment[workerVariable] === "1") {
      await runSimulationWorker(subjects);
      return exitCode.done;
    }
    if (flags.plan !== undefined) return await replayPlan(call, subjects, flags.plan);
    const reports: SimulateReport[] = [];
    using workers = new SimulationWorkers(session, flags.jobs);
    for (const subject of subjects) reports.push(await simulateController(call, subject, workers));
    return await printReports(call, subjects, reports);
  },
});

/** @throws UsageError when a fleet cannot be simulated so */
function assertClusterFlags({ clusters, shards, command }: SimulateFlags): void {
  if (clusters === undefined || (shards === undefined && command === undefined)) return;
  const [flag, why] = command === undefined
    ? ["--shards", "the replicas of a fleet do not divide the keys"]
    : ["--command", "a program has one kubeconfig"];
  throw new UsageError(`Cannot use --clusters with ${flag}: ${why}`, "Leave one of them out");
}

/** What is simulated: each selected controller, alone or together with the other ones. */
function subjectsOf(call: Call<SimulateFlags>): readonly SimulatedController[] {
  const { all, together, workload, plan } = call.flags;
  const controllers = selectedControllers(call);
  // A plan belongs to the first controller; the others run along.
  const played = plan === undefined ? controllers : controllers.slice(0, 1);
  return played.map((controller) => ({
    controller,
    workloads: workloadsOf(controller, workload),
    others: all || together ? controllers.filter((other) => other !== controller) : [],
  }));
}

/** The selected controllers, without their own flags: those belong to `run`. */
function selectedControllers(
  { positionals, flags: { all, together, plan }, session: { operator } }: Call<SimulateFlags>,
): readonly OperatorController[] {
  const controllers = selectNamedOrAll({ operator, names: positionals, all, action: "simulate" });
  if (!all && positionals.length === 0) {
    throw new UsageError("Cannot simulate controllers: no controller is named", "Name some, or use --all");
  }
  if (plan !== undefined && (all || (positionals.length > 1 && !together))) {
    throw new UsageError("Cannot replay a plan: it belongs to one controller", "Name that controller");
  }
  // Each one may be simulated alone, so it has the conversions of its kinds.
  const converting = controllers.flatMap((one) => withConversions([one], operator.controllers));
  crdsOf(converting);
  return converting;
}

/** The workloads of the controller, else default workloads that follow from its samples and schema. */
function workloadsOf(controller: OperatorController, name: string | undefined): readonly Workload[] {
  const all = controller.workloads ?? defaultWorkloads(controller);
  if (all.length === 0) {
    throw new UsageError(
      `Cannot simulate controller "${controller.name}": it has neither workloads nor samples`,
      "Add some with withWorkloads() or withSamples()",
    );
  }
  const selected = name === undefined ? all : all.filter((one) => one.name === name);
  if (selected.length > 0) return selected;
  const names = all.map((one) => `"${one.name}"`).join(", ");
  throw new UsageError(`Cannot find workload "${name}" of controller "${controller.name}": there are ${names}`);
}

async function simulateController(
  { flags, session }: Call<SimulateFlags>,
  subject: SimulatedController,
  workers: SimulationWorkers,
): Promise<SimulateReport> {
  using progress = session.progress();
  return await simulate({
    ...subject,
    workers: () => workers.checkersOf(subject.controller),
    points: flags.points,
    storms: flags.seeds,
    ...{ shards: flags.shards, members: flags.clusters },
    firstSeed: flags.seed,
    ...(flags.faults.length === 0 ? {} : { kinds: new Set(flags.faults) }),
    onProgress: ({ workload, schedules, findings }) => {
      const numbers = `${count(schedules, "schedule")}, ${count(findings, "violation")}`;
      progress.report(`${subject.controller.name}: "${workload}", ${numbers}`);
    },
  });
}

async function replayPlan(
  { flags, session }: Call<SimulateFlags>,
  subjects: readonly SimulatedController[],
  plan: FaultPlan,
): Promise<ExitCode> {
  const { seed, shards, clusters: members, timeline, output, record, junit } = flags;
  const [replicas, sharded] = [shards ?? flags.replicas, shards !== undefined];
  const found: Finding[] = [];
  let passed: RecordedFinding | undefined;
  for (const { controller, workloads, others } of subjects) {
    for (const workload of workloads) {
      const how = { plan, seed, replicas, sharded, members, others };
      const finding = await replay(controller, workload, how);
      if (finding !== undefined) found.push(finding);
      else if (timeline || (record !== undefined && passed === undefined)) {
        const { entries } = await recordSchedule({ ...how, controllers: [controller, ...others], workload });
        if (timeline) session.printDocument(timelineOf(entries));
        passed ??= {
          plan,
          seed,
          replicas,
          controller: controller.name,
          workload: workload.name,
          violations: [],
          recording: entries,
        };
      }
    }
  }
  if (record !== undefined) await recordTo(record, found[0] ?? passed, session);
  if (junit !== undefined) await writeJUnit(junit, suitesOf(subjects, found, session));
  if (output === "json") session.printDocument(`${JSON.stringify(found.map(shownFinding), undefined, 2)}\n`);
  else printFindings(found, subjects, { flags, session });
  if (found.length === 0) session.info("no violation with this plan");
  return found.length === 0 ? exitCode.done : exitCode.failed;
}

async function recordTo(path: string, recorded: RecordedFinding | undefined, session: Session): Promise<void> {
  if (recorded === undefined) return session.info("nothing is recorded: there is no violation");
  await writeRecording(path, recorded, session);
  session.info(`recorded workload "${recorded.workload}" of ${recorded.controller} in ${path}`);
}

/** One suite for each controller. */
function suitesOf(
  subjects: readonly SimulatedController[],
  findings: readonly Finding[],
  { operator, graphOption }: Session,
): readonly JUnitSuite[] {
  return subjects.map(({ controller, workloads }) => {
    const found = findings.filter((finding) => finding.controller === controller.name).map((finding) => ({
      ...finding,
      text: findingText(finding, { operator: operator.name, graphOption, controller }),
    }));
    return { name: controller.name, cases: casesOf(workloads.map(({ name }) => name), found) };
  });
}

/** Prints each finding; the file of `--record` has the first one. */
function printFindings(
  findings: readonly Finding[],
  subjects: readonly SimulatedController[],
  { flags: { record, full }, session }: Pick<Call<SimulateFlags>, "flags" | "session">,
): void {
  for (const [index, finding] of findings.entries()) {
    const subject = subjects.find(({ controller }) => controller.name === finding.controller);
    if (subject === undefined) continue;
    const file = index === 0 ? record : undefined;
    const { operator: { name: operator }, graphOption } = session;
    const context = { operator, graphOption, controller: subject.controller, file, isFull: full };
    session.printDocument(findingText(finding, context));
  }
}

/** A finding without its recording, which is for a file. */
function shownFinding({ recording: _, ...finding }: Finding): Omit<Finding, "recording"> {
  return finding;
}

async function printReports(
  { flags, session }: Call<SimulateFlags>,
  subjects: readonly SimulatedController[],
  reports: readonly SimulateReport[],
): Promise<ExitCode> {
  const findings = reports.flatMap((report) => report.findings);
  if (flags.record !== undefined) await recordTo(flags.record, findings[0], session);
  if (flags.junit !== undefined) await writeJUnit(flags.junit, suitesOf(subjects, findings, session));
  if (flags.output === "json") session.printDocument(reportJson(reports, session));
  else {
    printFindings(findings, subjects, { flags, session });
    session.print(...summaryTable(reports));
    const [only] = reports.length === 1 ? reports : [];
    if (only !== undefined) session.print(...coverageTable(only));
    session.print(totalText(reports));
  }
  return findings.length === 0 ? exitCode.done : exitCode.failed;
}

/** A table with one row for each controller. */
function summaryTable(reports: readonly SimulateReport[]): readonly Line[] {
  const header = ["CONTROLLER", "SCHEDULES", "FAULT POINTS", "VIOLATIONS"];
  const rows = reports.map(({ controller, schedules, covered, findings }): readonly Cell[] => {
    const all = [...covered.values()];
    const tested = all.reduce((sum, count) => sum + count.tested, 0);
    const points = all.reduce((sum, count) => sum + count.all, 0);
    const tone = findings.length === 0 ? "success" : "error";
    return [controller, String(schedules), `${tested} of ${points}`, { text: String(findings.length), tone }];
  });
  return table([header, ...rows]);
}

/** A table with one row for each kind of fault: how many of its fault points were simulated. */
function coverageTable({ covered }: SimulateReport): readonly Line[] {
  const rows = faultKinds.flatMap((kind) => {
    const count = covered.get(kind);
    return count === undefined ? [] : [[`  ${kind}`, `${count.tested} of ${count.all}`]];
  });
  return table(rows);
}

/** One line about all runs: how many there were, and what happened in them. */
function totalText(reports: readonly SimulateReport[]): string {
  const all = (numberOf: (report: SimulateReport) => number) =>
    reports.reduce((sum, report) => sum + numberOf(report), 0);
  const { requests, faults, reconciles, virtualMs } = sumOf(reports.map(({ totals }) => totals));
  const parts = [
    count(all(({ schedules }) => schedules), "schedule"),
    count(all(({ seeds }) => seeds), "seed"),
    count(requests, "request"),
    count(faults, "fault"),
    count(reconciles, "reconcile"),
    count(all(({ findings }) => findings.length), "violation"),
  ];
  return `total: ${parts.join(", ")}, in ${approximateDuration(virtualMs)} of the virtual clock`;
}

/** The reports as JSON. */
function reportJson(
  reports: readonly SimulateReport[],
  { operator: { name: operator }, graphOption }: Session,
): string {
  const shown = reports.map(({ controller, schedules, seeds, totals, covered, findings }) => ({
    controller,
    schedules,
    seeds,
    totals,
    faultPoints: Object.fromEntries([...covered].map(([kind, count]: [Fault["kind"], object]) => [kind, count])),
    violations: findings.map((finding) => ({
      ...shownFinding(finding),
      replay: replayLine(finding, { operator, graphOption }),
    })),
  }));
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}
