/**
 * What the notes of a simulation say about entries: the faults that made an answer, the end of a process in the middle of a
 * reconcile, the start of the next one. A recording of a cluster has no notes.
 */
import type { Entry, NoteEntry, ReconcileStartEntry } from "../observe/mod.ts";
import type { History } from "./history.ts";
import { joined, shown } from "./words.ts";

/** ` (fault: connection reset after write 2)`; nothing if no fault made it so. */
export function faultsText(entry: Entry, history: History): string {
  const faults = history.causesOf(entry).filter(isNote).filter(({ actor }) => actor === "fault");
  const texts = faults.map(({ what, detail }) => shown(detail ?? what));
  return texts.length === 0 ? "" : ` (fault: ${joined(texts)})`;
}

/** `the process is killed (fault: crash before write 2)`. Undefined if the process of the reconcile did not end in it. */
export function endOfProcess(start: ReconcileStartEntry, history: History): string | undefined {
  const note = history.effectsOf(start).filter(isNote).find(({ answers }) => answers === undefined);
  if (note === undefined) return undefined;
  const why = note.detail === undefined ? faultsText(note, history) : ` (${shown(note.detail)})`;
  return `${note.actor === "operator" ? "the process " : ""}${shown(note.what)}${why}`;
}

/** A write whose answer the process did not get, because it had ended: `PATCH configmaps default/a (write 1: 201)`. */
export function unansweredText(note: NoteEntry, history: History): string | undefined {
  if (note.answers === undefined || history.effectsOf(note).some(({ kind }) => kind === "write")) return undefined;
  return `sent ${shown(note.what)}${
    note.detail === undefined ? "" : ` (${shown(note.detail)})`
  }, without seeing the answer`;
}

/** ` in process 2, which started after: the process is killed (fault: …)`; nothing if no restart has queued the key. */
export function restartText(start: ReconcileStartEntry, history: History): string {
  for (const cause of history.causesOf(start)) {
    const list = history.causesOf(cause).find(({ kind }) => kind === "list");
    const started = list && history.causesOf(list).filter(isNote).find(({ causes }) => causes.length > 0);
    const [reason] = started === undefined ? [] : history.causesOf(started).filter(isNote);
    if (reason === undefined) continue;
    return ` in process ${start.process ?? 0}, which started after: ${shown(reason.what)}${
      faultsText(reason, history)
    }`;
  }
  return "";
}

/** The reconcile that has made a change with a write whose answer it did not get. */
export function senderOf(entry: Entry, history: History): Pick<Entry, "controller" | "key"> | undefined {
  const notes = history.causesOf(entry).filter(isNote);
  return notes.flatMap((note) => history.causesOf(note)).find(({ kind }) => kind === "reconcile-start");
}

/** ` by the user (delete Secret default/team)`: who made a change, where managedFields cannot tell it. */
export function actorText(entry: Entry, history: History): string | undefined {
  const notes = history.causesOf(entry).filter(isNote);
  const note = notes.find(({ actor }) => actor === "user" || actor === "cluster");
  return note === undefined ? undefined : ` by the ${note.actor} (${shown(note.what)})`;
}

/** The broken invariants of a simulation. */
export function violationTexts(entries: readonly Entry[]): readonly string[] {
  return entries.filter(isNote).filter(({ actor }) => actor === "violation")
    .map(({ what, detail = "" }) => `violated: ${shown(what)}: ${shown(detail)}`);
}

function isNote(entry: Entry): entry is NoteEntry {
  return entry.kind === "note";
}
