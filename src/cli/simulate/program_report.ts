/** The findings of `simulate --command` in words: what is lost, after which faults, how to run it again, and what happened. */
import type { Cell, Line } from "../../observe/mod.ts";
import {
  faultKinds,
  faultText,
  foldRepeats,
  noFaults,
  type ProgramFinding,
  type ProgramReport,
  timelineOf,
  type WorkloadReport,
} from "../../simulation/mod.ts";
import { type Call, type ExitCode, exitCode } from "../command/mod.ts";
import { approximateDuration, count, shellWord, table } from "../output/mod.ts";
import { consequenceText, explanation } from "./finding_text.ts";
import { writeRecording } from "./record_schedule.ts";
import { casesOf, writeJUnit } from "./junit.ts";
import { generatedWorkload } from "./program_inputs.ts";
import type { SimulateFlags } from "./simulate_flags.ts";

/**
 * Prints a finding when it is found: a run takes minutes, and what was found must not be lost when it is stopped.
 *
 * @param isRecorded whether the file of `--record` gets it
 */
export function printProgramFinding(
  finding: ProgramFinding,
  { flags, session }: Call<SimulateFlags>,
  { command, isRecorded }: { readonly command: string; readonly isRecorded: boolean },
): void {
  if (flags.output === "json") return;
  const { operator: { name: operator } } = session;
  const replay = replayLine(finding, { flags, command, operator });
  const file = isRecorded ? flags.record : undefined;
  session.printDocument(findingText(finding, { replay, operator, isFull: flags.full, file }));
}

/** Prints a report, as text without the findings, which were printed when they were found, or as JSON. */
export async function printProgramReport(
  { workloads }: ProgramReport,
  { flags, session }: Call<SimulateFlags>,
  command: string,
): Promise<ExitCode> {
  const findings = workloads.flatMap((one) => one.findings);
  const code = findings.length === 0 ? exitCode.done : exitCode.failed;
  const replay = (finding: ShownFinding) => replayLine(finding, { flags, command, operator: session.operator.name });
  if (flags.junit !== undefined) {
    const { name: operator } = session.operator;
    const found = findings.map((finding) => ({
      ...finding,
      text: findingText(finding, { replay: replay(finding), operator, isFull: false }),
    }));
    const cases = casesOf(workloads.map(({ workload }) => workload), found);
    const seconds = workloads.reduce((sum, { ms }) => sum + ms / 1_000, 0);
    await writeJUnit(flags.junit, [{ name: flags.programName, cases, seconds }]);
  }
  if (flags.record !== undefined) await recordTo(flags.record, workloads, { flags, session });
  if (flags.output === "json") {
    const shown = workloads.map(({ passed: _, ...one }) => ({
      ...one,
      covered: Object.fromEntries(one.covered),
      findings: one.findings.map(({ entries: _, ...finding }) => ({ ...finding, replay: replay(finding) })),
    }));
    session.printDocument(`${JSON.stringify(shown, undefined, 2)}\n`);
    return code;
  }
  session.print(...summaryTable(workloads));
  for (const one of workloads) session.print(...coverageTable(one));
  session.print(...workloads.map(totalText));
  return code;
}

/** Writes the first finding, or with `--plan` a run without one. */
async function recordTo(
  path: string,
  workloads: readonly WorkloadReport[],
  { flags, session }: Pick<Call<SimulateFlags>, "flags" | "session">,
): Promise<void> {
  const [, controller = ""] = flags.programName.split("/");
  const [finding] = workloads.flatMap((one) => one.findings);
  const passed = workloads.find((one) => one.passed !== undefined);
  const { workload = "", entries = [] } = finding ?? { workload: passed?.workload, entries: passed?.passed };
  if (entries.length === 0) return session.info(`Nothing is recorded in "${path}": there is no finding`);
  await writeRecording(path, {
    ...{ controller, workload, seed: flags.seed, replicas: flags.replicas, recording: entries },
    plan: finding?.plan ?? flags.plan ?? noFaults,
    violations: finding?.violations ?? [],
  }, session);
}

type ShownFinding = Omit<ProgramFinding, "entries">;

/** What the text of a finding depends on. */
interface FindingContext {
  readonly replay: string;
  readonly operator: string;
  readonly isFull: boolean;
  /** The file that has the recording of the finding. @default none has it */
  readonly file?: string;
}

/** The loss, the violations, how to run it again, the hints of the program, and the timeline. */
function findingText(finding: ProgramFinding, context: FindingContext): string {
  const { replay, operator, isFull, file } = context;
  const { workload, plan, violations, seen, runs, output, errors, entries } = finding;
  const timeline = isFull ? foldRepeats(timelineOf(entries)) : finding.timeline;
  const lines = [
    consequenceText(violations),
    `workload "${workload}":`,
    ...violations.map(({ invariant, message }) => `  ${invariant}: ${message}`),
    `  after: ${plan.faults.length === 0 ? "no fault" : plan.faults.map(faultText).join("; ")}`,
    `  seen: in ${seen} of ${runs} runs`,
    ...shrunkLines(finding),
    `  replay: ${replay}`,
    `  explain: ${
      explanation({ operator, file }, explainedObject(finding) ?? { resource: "KIND", key: "NAMESPACE/NAME" })
    }`,
    ...(file === undefined ? [] : [`  look: ${operator} page ${shellWord(file)}`]),
    ...hintLines("errors in its log, which runs without faults do not have:", errors),
    ...hintLines("the last lines of the program:", output),
  ];
  return `${lines.join("\n")}\n\n${timeline}\n`;
}

/** The object to ask about: that of the violation, if the recording knows it, else that of the write at which a fault was. */
function explainedObject(
  { violations, plan, entries }: ProgramFinding,
): { readonly resource: string; readonly key: string } | undefined {
  const points = plan.faults.flatMap((fault) =>
    "write" in fault && typeof fault.write === "object" ? [fault.write] : []
  );
  const candidates = [
    ...violations.map(({ object = "" }) => object.split(" ")),
    ...points.map(({ resource, name = "" }) => [resource.split("/")[0] ?? "", name]),
  ];
  const known =
    candidates.find(([resource, key]) =>
      entries.some((entry) => "object" in entry && entry.object?.resource === resource && entry.object?.key === key)
    ) ?? candidates.at(-1);
  const [resource = "", key = ""] = known ?? [];
  return resource === "" || key === "" ? undefined : { resource, key };
}

/** What was left out of the plan and the workload. */
function shrunkLines({ shrunk, steps }: ProgramFinding): readonly string[] {
  if (shrunk === undefined) return [];
  const parts = [
    ...(shrunk.faults[1] < shrunk.faults[0] ? [`${shrunk.faults[1]} of ${count(shrunk.faults[0], "fault")}`] : []),
    ...(steps === undefined ? [] : [`${shrunk.steps[1]} of ${count(shrunk.steps[0], "step")}`]),
  ];
  return [`  shrunk: to ${parts.join(" and ")}, in ${count(shrunk.schedules, "run")}`];
}

function hintLines(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`  ${title}`, ...lines.map((line) => `    ${line}`)];
}

/** The command line that runs the plan of a finding again. */
function replayLine(
  { workload, plan, steps }: ShownFinding,
  { flags, command, operator }: { readonly flags: SimulateFlags; readonly command: string; readonly operator: string },
): string {
  const performed = steps ?? flags.steps;
  const words = [
    ...[operator, "simulate", "--command", shellWord(command)],
    ...flags.crds.flatMap((path) => ["--crds", shellWord(path)]),
    ...flags.rbac.flatMap((path) => ["--rbac", shellWord(path)]),
    ...["--workload", shellWord(flags.workload ?? workload), "--only", shellWord(workload)],
    ...(performed === undefined ? [] : ["--steps", performed.join(",")]),
    ...(flags.workload === generatedWorkload ? ["--max-steps", `${flags.maxSteps}`, "--seed", `${flags.seed}`] : []),
    ...flags.sample.flatMap((path) => ["--sample", shellWord(path)]),
    ...flags.service.flatMap((text) => ["--service", shellWord(text)]),
    ...flags.forgetfulService.flatMap((name) => ["--forgetful-service", shellWord(name)]),
    ...(flags.webhookUrl === undefined ? [] : ["--webhook-url", shellWord(flags.webhookUrl)]),
    ...flags.serveRemoved.flatMap((version) => ["--serve-removed", shellWord(version)]),
    ...flags.host.flatMap((host) => ["--host", shellWord(host)]),
    ...(flags.sharedNetwork ? ["--shared-network"] : []),
    ...(flags.replicas === 1 ? [] : ["--replicas", `${flags.replicas}`]),
    ...(flags.programName === defaultName ? [] : ["--program-name", shellWord(flags.programName)]),
    ...["--plan", shellWord(JSON.stringify(plan))],
  ];
  return words.join(" ");
}

const defaultName = "operator-system/operator";

/** A table with one row for each workload. */
function summaryTable(workloads: readonly WorkloadReport[]): readonly Line[] {
  const header = ["WORKLOAD", "SCHEDULES", "FAULT POINTS", "PER MINUTE", "FINDINGS"];
  const rows = workloads.map((one): readonly Cell[] => {
    const { workload, schedules, covered, findings, ms } = one;
    const all = [...covered.values()];
    const tested = all.reduce((sum, kind) => sum + kind.tested, 0);
    const points = all.reduce((sum, kind) => sum + kind.all, 0);
    const perMinute = ms === 0 ? 0 : Math.round(tested * 60_000 / ms);
    const tone = findings.length === 0 ? "success" : "error";
    return [
      ...[workload, String(schedules), `${tested} of ${points}`, String(perMinute)],
      { text: String(findings.length), tone },
    ];
  });
  return table([header, ...rows]);
}

function coverageTable({ covered }: WorkloadReport): readonly Line[] {
  return table(faultKinds.flatMap((kind) => {
    const number = covered.get(kind);
    return number === undefined ? [] : [[`  ${kind}`, `${number.tested} of ${number.all}`]];
  }));
}

function totalText(report: WorkloadReport): string {
  const { workload, schedules, unconfirmed, unreached, convergenceMs, starts, leftovers, ms } = report;
  const parts = [
    `"${workload}": ${count(schedules, "run")} in ${approximateDuration(ms)}`,
    `converges in ${approximateDuration(convergenceMs)}`,
    starts.length < 2 ? "every run starts at step 1" : `runs start at steps ${starts.join(", ")}`,
    ...(unconfirmed === 0 ? [] : [`${count(unconfirmed, "difference")} not seen again`]),
    ...(unreached === 0 ? [] : [`${count(unreached, "fault")} did not take place: their points were not reached`]),
    ...(leftovers.length === 0 ? [] : [`stays after deletions, without faults too: ${shortList(leftovers)}`]),
  ];
  return parts.join(", ");
}

const maxListed = 5;

/** Names in one line, the first few of them. */
export function shortList(names: readonly string[]): string {
  const more = names.length - maxListed;
  return `${names.slice(0, maxListed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
