/** Prints a plan for people: a unified diff of YAML for each object, grouped by cause, as `kubectl diff` shows objects. */
import type { Line } from "../../observe/mod.ts";
import { count, toned } from "../output/mod.ts";
import {
  causeText,
  changeDiff,
  nameText,
  type Plan,
  type PlannedAction,
  type PlannedChange,
  type PlannedProblem,
} from "../planning/mod.ts";

/** A plan as lines. The groups with deletions come first. The `#` lines are none to `patch`, so the output is a patch. */
export function planLines(plan: Plan): readonly Line[] {
  return [
    ...groupsOf(plan.changes).flatMap(({ cause, changes }) => [
      toned(`# ${cause}`, "strong"),
      ...changes.flatMap((change) => changeLines(change, plan.against !== undefined)),
    ]),
    ...problemLines("the new schema refuses these objects", plan.refused),
    ...problemLines("these would go on for ever", plan.endless),
    ...problemLines("these would fail", plan.failing),
    ...problemLines("these Events would warn", plan.warnings),
  ];
}

/** `update Deployment default/web`, one line for each object. */
export function planNames({ changes }: Plan): readonly Line[] {
  return changes.map((change) => `${change.action} ${nameText(change)}`);
}

/** `1 to delete, 2 to update`. */
export function summaryText({ changes }: Plan): string {
  const counts = new Map<PlannedAction, number>();
  for (const { action } of changes) counts.set(action, (counts.get(action) ?? 0) + 1);
  const words: readonly PlannedAction[] = ["delete", "replace", "update", "create"];
  return words.flatMap((word) => counts.has(word) ? `${counts.get(word)} to ${word}` : []).join(", ") || "no changes";
}

interface Group {
  readonly cause: string;
  readonly changes: PlannedChange[];
}

/** The changes are sorted by severity, and so are the groups by their first change. */
function groupsOf(changes: readonly PlannedChange[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const change of changes) {
    const [first] = change.by;
    const cause = first === undefined ? "" : causeText(first);
    const group = groups.get(cause) ?? { cause, changes: [] };
    groups.set(cause, group);
    group.changes.push(change);
  }
  return [...groups.values()];
}

function changeLines(change: PlannedChange, isCompared: boolean): readonly Line[] {
  const lines = changeDiff(change, { isCompared });
  return [toned(`# ${headline(change)}`, "strong"), ...lines.map(colored)];
}

function headline(change: PlannedChange): string {
  const { action, otherAction, by: [, ...others], waitsFor = [] } = change;
  const extras = [
    ...(otherAction === undefined ? [] : [`the other version: ${otherAction === "none" ? "no change" : otherAction}`]),
    ...(waitsFor.length === 0 ? [] : [`waits for ${waitsFor.join(", ")}`]),
    ...(others.length === 0
      ? []
      : [`also by ${others.slice(0, 3).map(causeText).join(", ")}${moreText(others.length)}`]),
  ];
  return `${action} ${nameText(change)}${extras.length === 0 ? "" : ` (${extras.join("; ")})`}`;
}

function moreText(length: number): string {
  return length > 3 ? ` and ${length - 3} more` : "";
}

function colored(line: string): Line {
  if (/^(---|\+\+\+) /.test(line)) return toned(line, "muted");
  if (line.startsWith("@@")) return toned(line, "info");
  if (line.startsWith("-")) return toned(line, "error");
  return line.startsWith("+") ? toned(line, "success") : line;
}

/** Problems that a text lists; the others are counted. */
const maxListed = 50;

function problemLines(title: string, problems: readonly PlannedProblem[]): readonly Line[] {
  if (problems.length === 0) return [];
  const listed = problems.slice(0, maxListed).map(({ controller, key, problem }) =>
    `#   ${controller} ${key}: ${problem}`
  );
  const left = problems.length - listed.length;
  return [
    toned(`# ${count(problems.length, "problem")}: ${title}`, "warning"),
    ...listed,
    ...(left === 0 ? [] : [`#   and ${left} more: see -o json`]),
  ];
}
