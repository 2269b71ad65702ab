/** Prints what a replay has found: the first difference as a unified diff with its causes, and how many there are. */
import { formatPatch, structuredPatch } from "diff";
import { causeTexts, type History } from "../../explain/mod.ts";
import { type Line, type Plain, printable } from "../../observe/mod.ts";
import { printYaml } from "../../yaml/mod.ts";
import { count, toned } from "../output/mod.ts";
import { withRecordedTimes } from "./compared_values.ts";
import type { Difference, NotCompared } from "./differences.ts";
import type { ReplayResult } from "./replay_run.ts";
import type { SentWrite } from "./replayed_requests.ts";

/** Most lines of one diff. */
const maxDiffLines = 400;
/** Most causes of a reconcile that are shown. */
const maxCauses = 5;
/** Most reasons why something was not compared. */
const maxReasons = 10;

/** A difference for people: when, whose, what, why. */
export function differenceLines(difference: Difference, history: History): readonly Line[] {
  const { at, controller, key, entry } = difference;
  const place = `${timeText(at)} ${controller} ${printable(key)}`;
  return [
    toned(`${place}: ${headline(difference)} (entry ${entry})`, "strong"),
    ...causesOf(difference, history).map((text) => `  because ${text}`),
    ...diffLines(difference),
  ];
}

/** The causes of a difference in words, oldest first. */
export function causesOf({ cause }: Difference, history: History): readonly string[] {
  const origin = history.find(cause);
  return origin === undefined ? [] : causeTexts(origin, history).slice(0, maxCauses).map(({ text }) => text);
}

/** What differs, in a few words. */
export function headline(difference: Difference): string {
  switch (difference.part) {
    case "write": {
      const { recorded, replayed } = difference;
      if (replayed === undefined) return `this build does not ${actionText(recorded)}, as recorded`;
      if (recorded === undefined) return `this build wants to ${actionText(replayed)}, which is not recorded`;
      return actionText(recorded) === actionText(replayed)
        ? `this build writes something else: ${actionText(replayed)}`
        : `this build wants to ${actionText(replayed)}, recorded is ${actionText(recorded)}`;
    }
    case "outcome":
      return "this build ends the reconcile in another way";
    case "event":
      return difference.replayed === undefined
        ? "this build does not record an Event"
        : difference.recorded === undefined
        ? "this build records an Event that is not recorded"
        : "this build records another Event";
    case "decision":
      return `this build decides otherwise about a change of ${printable(difference.object)}`;
    default:
      return difference satisfies never;
  }
}

/** `apply deployments.apps default/web`. */
function actionText(write: SentWrite | undefined): string {
  if (write === undefined) return "do nothing";
  const { verb, resource, key, subresource, path } = write;
  const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
  const words = resource === "" ? [verb, path] : [verb === "deletecollection" ? "delete all" : verb, kind, key];
  return printable(words.filter((word) => word !== undefined).join(" "), 400);
}

function diffLines(difference: Difference): readonly Line[] {
  const { recorded, replayed } = difference.part === "decision"
    ? { recorded: { decision: difference.recorded }, replayed: { decision: difference.replayed } }
    : difference;
  // Times of the reconcile are no difference, and would hide the one that is.
  const window = { from: difference.at - 60_000, to: difference.at + 60_000 };
  const shown = recorded === undefined || replayed === undefined
    ? replayed
    : withRecordedTimes(recorded, replayed, window);
  const patch = structuredPatch("RECORDED", "THIS BUILD", yamlOf(recorded), yamlOf(shown), undefined, undefined, {
    context: 3,
  });
  const lines = formatPatch(patch).trimEnd().split("\n").filter((line) => !/^(={5,}|Index: )/.test(line));
  const left = lines.length - maxDiffLines;
  return [
    ...lines.slice(0, maxDiffLines).map(colored),
    ...(left > 0 ? [`  and ${left} more lines: see -o json`] : []),
  ];
}

function yamlOf(value: unknown): string {
  return value === undefined ? "" : printYaml(value as Plain, { style: "go" });
}

function colored(line: string): Line {
  if (/^(---|\+\+\+) /.test(line)) return toned(line, "muted");
  if (line.startsWith("@@")) return toned(line, "info");
  if (line.startsWith("-")) return toned(line, "error");
  return line.startsWith("+") ? toned(line, "success") : line;
}

/** `12 reconciles are the same, 1 differs`. */
export function summaryText({ same, differences, notCompared, unfinished }: ReplayResult): string {
  const decisions = differences.filter(({ part }) => part === "decision").length;
  const different = differences.length - decisions;
  const words = [
    `${count(same, "reconcile")} ${same === 1 ? "does" : "do"} the same`,
    ...(different > 0 ? [`${different} ${different === 1 ? "differs" : "differ"}`] : []),
    ...(decisions > 0
      ? [`${count(decisions, "decision")} about changes ${decisions === 1 ? "differs" : "differ"}`]
      : []),
    ...(notCompared.length > 0 ? [`${notCompared.length} could not be compared`] : []),
    ...(unfinished > 0 ? [`${unfinished} had not ended`] : []),
  ];
  return words.join(", ");
}

/** Why reconciles could not be compared, each reason once. */
export function notComparedTexts(notCompared: readonly NotCompared[]): readonly string[] {
  const counts = new Map<string, { readonly first: NotCompared; times: number }>();
  for (const one of notCompared) {
    const id = `${one.controller} ${one.reason}`;
    const known = counts.get(id);
    if (known === undefined) counts.set(id, { first: one, times: 1 });
    else known.times++;
  }
  const texts = [...counts.values()].map(({ first: { controller, key, reason, entry }, times }) =>
    printable(
      `not compared: ${controller} ${key}: ${reason}${times === 1 ? ` (entry ${entry})` : ` (${times} times)`}`,
      600,
    )
  );
  const left = texts.length - maxReasons;
  return [...texts.slice(0, maxReasons), ...(left > 0 ? [`and ${left} more reasons: see -o json`] : [])];
}

/** RFC 3339 with milliseconds. */
export function timeText(at: number): string {
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : "at an unknown time";
}
