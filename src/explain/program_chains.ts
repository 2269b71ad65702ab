/**
 * programChain(): what happened to an object in a simulation of a program that is not of this library. Nobody but the program
 * knows why it sends a request, so such a recording has no reconciles: a chain is a change and who made it, with the end of
 * the process after it, or a request that failed or changed nothing.
 *
 * Guarantees: as those of `explain()`.
 */
import type { Entry, NotedChange, NoteEntry, WriteEntry } from "../observe/mod.ts";
import { type History, isSubject, type Subject } from "./history.ts";
import { faultsText } from "./notes.ts";
import type { Chain, Step } from "./reconcile_chain.ts";
import { joined, objectText, shown } from "./words.ts";

/** True for a recording of a program: processes that start, and no controller. */
export function isOfProgram({ entries }: Pick<History, "entries">): boolean {
  return entries.some((entry) => entry.kind === "note" && entry.actor === "operator" && entry.what === "starts") &&
    entries.every(({ kind }) => kind !== "enqueue" && kind !== "reconcile-start");
}

/** The chain that begins with an entry. Undefined if it is not about the object, or is told elsewhere. */
export function programChain(entry: Entry, subject: Subject, history: History): Chain | undefined {
  if (entry.kind === "note") {
    const change = entry.changes?.find(({ object }) => isSubject(object, subject));
    return change === undefined ? undefined : changeChain(entry, change, history);
  }
  if (entry.kind !== "write" || !isSubject(entry.object, subject)) return undefined;
  // What changed something is told by its note.
  const isTold = history.causesOf(entry).some((cause) => cause.kind === "note" && cause.changes !== undefined);
  return isTold ? undefined : requestChain(entry, history);
}

const verbs = { added: "created", updated: "changed", deleted: "deleted" } as const;

function changeChain(note: NoteEntry, { change, object, resourceVersion }: NotedChange, history: History): Chain {
  const who = note.actor === "operator" ? processText(note) : `the ${shown(note.actor)}`;
  const how = [shown(note.what), ...(note.detail === undefined ? [] : [shown(note.detail)])].join(": ");
  const faults = faultsBefore(note, history);
  const by = `${who} (${how})${faults.length === 0 ? "" : ` (fault: ${joined(faults.map(faultWords))})`}`;
  const text = `${objectText(object)} was ${verbs[change]} by ${by}`;
  return chainOf("done", [
    stepOf("cause", note, text),
    ...faults.flatMap((fault) => endSteps(fault, history)),
    ...(note.actor === "operator" ? [] : receivedSteps({ change, object, resourceVersion }, history)),
  ]);
}

/** Which processes have seen a change of others. */
function receivedSteps({ object, resourceVersion }: NotedChange, history: History): readonly Step[] {
  const events = history.entries.filter((entry) =>
    entry.kind === "change" && entry.object.resource === object.resource && entry.object.key === object.key &&
    entry.resourceVersion === resourceVersion
  );
  return events.map((event) => stepOf("outcome", event, `${processText(event)} got it`));
}

function requestChain(entry: WriteEntry, history: History): Chain {
  const { verb, object, subresource, answer } = entry;
  const what = `${processText(entry)} sent ${verb} ${objectText(object)}${
    subresource === undefined ? "" : `, ${shown(subresource)}`
  }`;
  const result = answer.kind === "failed"
    ? `it failed: ${[answer.code, answer.reason].filter((part) => part !== undefined).join(" ")}: ${
      shown(answer.message)
    }${faultsText(entry, history)}`
    : `it changed nothing${faultsText(entry, history)}`;
  const outcome = answer.kind === "failed" ? "failed" : "unchanged";
  return chainOf(outcome, [stepOf("cause", entry, what), stepOf("outcome", entry, result)]);
}

/** The faults at the request of a note: those of its process that answer the same request, right before it. */
function faultsBefore({ id, answers, process }: NoteEntry, { entries }: History): readonly NoteEntry[] {
  if (answers === undefined) return [];
  const same = entries.filter((entry): entry is NoteEntry =>
    entry.kind === "note" && entry.process === process && entry.answers === answers && entry.id < id
  );
  const last = same.findLastIndex(({ actor }) => actor !== "fault");
  return same.slice(last + 1);
}

/** The end of the process that a fault has killed, and the start of the next one. */
function endSteps(fault: NoteEntry, history: History): readonly Step[] {
  return history.effectsOf(fault).filter((effect): effect is NoteEntry =>
    effect.kind === "note" && effect.answers === undefined
  )
    .flatMap((end) => [
      stepOf("outcome", end, `${processText(end)}: ${shown(end.what)}`),
      ...history.effectsOf(end).filter((next) => next.kind === "note")
        .map((next) => stepOf("outcome", next, `${processText(next)} starts`)),
    ]);
}

function faultWords({ what, detail }: NoteEntry): string {
  return shown(detail ?? what);
}

function processText({ process }: Pick<Entry, "process">): string {
  return process === undefined ? "the program" : `process ${process}`;
}

function stepOf(kind: Step["kind"], { at, id }: Entry, text: string): Step {
  return { kind, text, at, entries: [id] };
}

function chainOf(outcome: Chain["outcome"], steps: readonly Step[]): Chain {
  return { at: steps[0]?.at ?? 0, outcome, steps };
}
