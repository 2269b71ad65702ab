/** actTexts(): what a reconcile did, in words: its writes with what they changed, and its Events. */
import type {
  EntryId,
  EventEntry,
  FailedAnswer,
  ObjectRef,
  ReconcileStartEntry,
  RequestEntry,
  WriteEntry,
} from "../observe/mod.ts";
import type { History } from "./history.ts";
import { faultsText, unansweredText } from "./notes.ts";
import { isBookkeeping } from "./causes.ts";
import { fieldsText, objectText, shown } from "./words.ts";

/** What a reconcile did. */
export interface ActTexts {
  readonly texts: readonly string[];
  readonly entries: readonly EntryId[];
}

/** Most writes and Events of one sentence; more only if they are problems. */
const maxActs = 6;
const maxStatusText = 80;

const past = {
  create: "created",
  update: "updated",
  patch: "patched",
  apply: "applied",
  delete: "deleted",
  deletecollection: "deleted",
} as const;

/** @param error The error of the reconcile: a failed write that it repeats is not said twice. */
export function actTexts(start: ReconcileStartEntry, history: History, error = ""): ActTexts {
  const primary = history.primaryOf(start.controller, start.key);
  const acts = history.effectsOf(start).flatMap((effect) => {
    if (effect.kind === "note") {
      const text = unansweredText(effect, history);
      return text === undefined ? [] : [{ id: effect.id, text, isProblem: true }];
    }
    if (effect.kind === "event") {
      return [{ id: effect.id, text: eventText(effect), isProblem: effect.type === "Warning" }];
    }
    if (effect.kind === "request" && effect.method !== "GET") {
      return [{ id: effect.id, text: requestText(effect), isProblem: effect.answer.kind === "failed" }];
    }
    if (effect.kind === "error" && effect.object !== undefined) {
      return error.includes(effect.error)
        ? []
        : [{ id: effect.id, text: leftAloneText(effect.object, effect.error, primary), isProblem: true }];
    }
    if (effect.kind !== "write") return [];
    const isSaid = effect.answer.kind === "failed" && error.includes(effect.answer.message);
    const faults = isSaid ? faultsText(effect, history) : "";
    if (faults !== "") {
      const text = `could not ${verbOf(effect)} ${objectText(effect.object)}${faults}`;
      return [{ id: effect.id, text, isProblem: true }];
    }
    const isProblem = effect.answer.kind === "failed";
    return isSaid ? [] : [{ id: effect.id, text: writeText(effect, primary, history), isProblem }];
  });
  const entries = acts.map(({ id }) => id);
  if (acts.length <= maxActs) return { texts: acts.map(({ text }) => text), entries };
  // What went wrong is never left out.
  let left = maxActs - acts.filter(({ isProblem }) => isProblem).length;
  const texts = acts.filter(({ isProblem }) => isProblem || left-- > 0).map(({ text }) => text);
  return { texts: [...texts, `and ${acts.length - texts.length} more`], entries };
}

/** A write, a request or an Event by itself. @param primary The object of the reconcile that it belongs to */
export function effectText(
  effect: WriteEntry | RequestEntry | EventEntry,
  primary: ObjectRef,
  history: History,
): string {
  switch (effect.kind) {
    case "write":
      return writeText(effect, primary, history);
    case "request":
      return requestText(effect);
    case "event":
      return eventText(effect);
    default:
      return effect satisfies never;
  }
}

/** @param error `Cannot apply Ingress "default/web": it is controlled by …`, or `… it has no controller, expected …` */
function leftAloneText(object: ObjectRef, error: string, primary: ObjectRef): string {
  const state = /: (it is .*)$/.exec(error)?.[1] ?? `it does not belong to ${objectText(primary)}`;
  return `left ${objectText(object)} alone, because ${shown(state)}`;
}

/** `applied Deployment default/web (spec.replicas 5 → 2)`, `patched status`; in a simulation with the faults at it. */
function writeText(write: WriteEntry, primary: ObjectRef, history: History): string {
  return `${answeredText(write, primary, history)}${faultsText(write, history)}`;
}

function answeredText(write: WriteEntry, primary: ObjectRef, history: History): string {
  const { verb, answer } = write;
  const what = objectOfWrite(write, primary);
  switch (answer.kind) {
    case "failed":
      return `could not ${verbOf(write)} ${what}: ${failureText(answer)}`;
    case "dry-run":
      return `would have ${past[verb]} ${what} (a dry run: nothing was stored)`;
    case "removed":
      return verb === "delete" ? `deleted ${what}` : `${past[verb]} ${what}, which is gone with that`;
    case "stored":
      return `${isDeletion(write) ? "asked to delete" : past[verb]} ${what}${changesOf(write, history)}`;
    default:
      return answer satisfies never;
  }
}

function isDeletion({ verb }: WriteEntry): boolean {
  return verb === "delete" || verb === "deletecollection";
}

function verbOf(write: WriteEntry): string {
  return isDeletion(write) ? "delete" : write.verb;
}

function failureText({ code, reason = "", message }: FailedAnswer): string {
  return `${code === undefined ? "" : `${code} ${shown(reason)}: `}${shown(message)}`;
}

/** `sent POST /apis/…`. */
function requestText({ method, path, answer }: RequestEntry): string {
  const what = `${shown(method)} ${shown(path)}`;
  return answer.kind === "failed" ? `could not send ${what}: ${failureText(answer)}` : `sent ${what}`;
}

function objectOfWrite({ verb, object, subresource, path }: WriteEntry, primary: ObjectRef): string {
  if (verb === "deletecollection") return `all ${objectText(object)} at ${shown(path ?? "")}`;
  if (subresource === undefined) return objectText(object);
  const isPrimary = object.resource === primary.resource && object.key === primary.key;
  return isPrimary ? shown(subresource) : `${shown(subresource)} of ${objectText(object)}`;
}

/** What the response showed: which fields have other values than in the cache before. */
function changesOf(write: WriteEntry, history: History): string {
  const change = history.changeOf(write);
  if (change?.change === "added") return write.verb === "create" ? "" : " (it is new)";
  const { fields: all = [], moreFields = 0 } = change ?? {};
  // The response also shows what others have noted meanwhile.
  const fields = write.subresource === undefined ? all.filter((field) => !isBookkeeping(field)) : all;
  if (fields.length === 0) return "";
  const text = fieldsText(fields, moreFields);
  // A status says what the controller has found out: only a short one helps to understand what it did.
  return write.subresource === "status" && text.length > maxStatusText ? "" : ` (${text})`;
}

function eventText({ type, reason, note }: EventEntry): string {
  return `recorded the ${type === "Warning" ? "warning" : "Event"} ${shown(reason)} "${shown(note)}"`;
}
