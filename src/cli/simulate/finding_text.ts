/** A finding of `simulate` in words: what was violated, after which faults, how to run it again, and how to have it explained. */
import type { Entry } from "../../observe/mod.ts";
import { faultText, type Finding, foldRepeats, generalConsequence, timelineOf } from "../../simulation/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { resourceName } from "../../api/mod.ts";

/** What the text of a finding depends on. */
export interface FindingContext {
  /** The name of the program. */
  readonly operator: string;
  /** What a command line has behind the names of controllers, such as ` --graph FILE`. @default nothing */
  readonly graphOption?: string;
  readonly controller: OperatorController;
  /** Shows the timeline of all objects. @default only of those that the violations are about */
  readonly isFull?: boolean;
  /** The file that has the recording of this finding. @default none has it */
  readonly file?: string;
}

/** The violations, the command lines that reproduce and explain them, and the timeline. */
export function findingText(finding: Finding, context: FindingContext): string {
  const { controller, workload, plan, seed, violations, recording } = finding;
  const timeline = context.isFull === true ? foldRepeats(timelineOf(recording)) : finding.timeline;
  const lines = [
    consequenceText(violations),
    `${controller}, workload "${workload}", seed ${seed}:`,
    ...violations.map(({ invariant, message }) => `  ${invariant}: ${message}`),
    `  after: ${plan.faults.length === 0 ? "no fault" : plan.faults.map(faultText).join("; ")}`,
    ...orderLines(finding),
    `  replay: ${replayLine(finding, context)}`,
    `  explain: ${explainLine(finding, context)}`,
    ...(context.file === undefined ? [] : [`  look: ${context.operator} page ${quotedIfNeeded(context.file)}`]),
  ];
  return `${lines.join("\n")}\n\n${timeline}\n`;
}

/** What the user loses, in one sentence. */
export function consequenceText([first]: Finding["violations"]): string {
  return first === undefined ? "" : first.consequence ?? generalConsequence(first.invariant);
}

function orderLines({ orders }: Finding): readonly string[] {
  if (orders === undefined) return [];
  return [`  confirmed: by its replay, and in ${orders.failed} of ${orders.tried} other orders of events`];
}

/** The command line that reproduces a finding. */
export function replayLine(
  { controller, together, workload, plan, seed, replicas, sharded = false, members = 0 }: Finding,
  { operator, graphOption = "" }: Pick<FindingContext, "operator" | "graphOption">,
): string {
  const clusters = members > 0 ? ` --clusters ${members}` : "";
  const several = sharded ? ` --shards ${replicas}` : replicas > 1 ? ` --replicas ${replicas}` : "";
  const names = together.length === 0 ? controller : `${[controller, ...together].join(" ")} --together`;
  return `${operator} simulate ${names}${graphOption} --workload ${
    quoted(workload)
  } --seed ${seed}${several}${clusters} ` +
    `--plan ${quoted(JSON.stringify(plan))}`;
}

/** The file in the advice for a finding that no file has. */
const exampleFile = "violation.jsonl";

/** How to have a finding explained: what to run, or what to run first. */
export function explanation(
  { operator, file }: Pick<FindingContext, "operator" | "file">,
  { resource, key, member }: { readonly resource: string; readonly key: string; readonly member?: string | undefined },
): string {
  const why = `${operator} why --file ${file === undefined ? exampleFile : quotedIfNeeded(file)} ${resource} ${key}${
    member === undefined ? "" : ` --member ${member}`
  }`;
  return file === undefined ? `add --record ${exampleFile} to the replay, then run ${why}` : why;
}

function explainLine({ violations, recording, members = 0 }: Finding, context: FindingContext): string {
  const { resource, key } = explainedObject(recording, violations[0]?.object) ?? { resource: "KIND", key: "NAME" };
  // Violations of other members begin with their names.
  const [, other = "member-1"] = /^in (member-\d+): /.exec(violations[0]?.message ?? "") ?? [];
  const member = members === 0 ? undefined : other;
  return explanation(context, {
    ...{ resource: resource === "" ? resourceName(context.controller.primary) : resource, key, member },
  });
}

/**
 * The object to ask about: that of the violation, if something wrote it. Otherwise, as when the object should exist, what the
 * controller worked on when a fault stopped it, or last.
 */
function explainedObject(
  recording: readonly Entry[],
  object: string | undefined,
): { readonly resource: string; readonly key: string } | undefined {
  const isWritten = recording.some((entry) =>
    entry.kind === "write" && entry.answer.kind !== "failed" &&
    `${entry.object.resource} ${entry.object.key}` === object
  );
  const [resource = "", key = ""] = object?.split(" ") ?? [];
  if (isWritten) return { resource, key };
  const ended = new Set(recording.flatMap(({ kind, causes }) => kind === "reconcile-end" ? causes : []));
  const starts = recording.filter(({ kind }) => kind === "reconcile-start");
  const start = starts.find(({ id }) => !ended.has(id)) ?? starts.at(-1);
  return start?.key === undefined ? undefined : { resource: "", key: start.key };
}

/** Quotes a text as one word for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function quotedIfNeeded(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : quoted(text);
}
