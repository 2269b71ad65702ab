/** What `simulate` prints: a table of what was played, and each finding with the line that plays it again. */
import { type Fault, faultKinds, faultText, type Finding, type SimulateReport } from "../../simulation/mod.ts";
import type { Paint } from "../paint.ts";
import { type Cell, table } from "../table.ts";

/** A row per controller. */
export function summaryTable(reports: readonly SimulateReport[], paint: Paint): string {
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
export function coverageTable({ covered }: SimulateReport): string {
  const rows = faultKinds.flatMap((kind) => {
    const count = covered.get(kind);
    return count === undefined ? [] : [[`  ${kind}`, `${count.played} of ${count.all}`]];
  });
  return table(rows);
}

/** A finding for people: what is wrong, how to see it again, and what happened. */
export function findingText(finding: Finding, operator: string): string {
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
export function replayLine({ controller, workload, plan, seed, replicas }: Finding, operator: string): string {
  const several = replicas > 1 ? ` --replicas ${replicas}` : "";
  return `${operator} simulate ${controller} --workload ${quoted(workload)} --seed ${seed}${several} ` +
    `--plan ${quoted(JSON.stringify(plan))}`;
}

/** The report for programs. */
export function reportJson(reports: readonly SimulateReport[], operator: string): string {
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
