/**
 * explainEntry(): the chains that one entry of a recording belongs to: those of the reconciles that it led to, else that of the
 * reconcile in which it happened, else what it says itself. It answers for the number that a log line has as `entry`.
 *
 * Guarantees: as those of `explain()`; every kind of entry has an answer.
 */
import type { Entry, EntryId, ObjectRef, ReconcileStartEntry } from "../observe/mod.ts";
import { changeText } from "./causes.ts";
import {
  beginningNote,
  type ExplainOptions,
  type Explanation,
  ignoredText,
  olderNotes,
  otherChain,
  reviewTexts,
} from "./chains.ts";
import { History, type Subject } from "./history.ts";
import { type Chain, mergeRepeats, reconcileDraft } from "./reconcile_chain.ts";
import { durationText, objectText, shown, timeText } from "./words.ts";
import { effectText } from "./writes.ts";

/** The answer; or why there is none, and what to do. */
export type ExplainedEntry =
  | { readonly kind: "answered"; readonly answer: Explanation }
  | { readonly kind: "unknown"; readonly problem: string; readonly advice: string };

/** Most steps from an entry back to the reconcile in which it happened. */
const maxSteps = 5;

/** Explains one entry. @param entries Oldest first. */
export function explainEntry(entries: readonly Entry[], id: EntryId, options: ExplainOptions): ExplainedEntry {
  const { controllers, limit = 10, dropped = 0, now = entries.at(-1)?.at ?? 0 } = options;
  const history = new History(entries, controllers);
  const entry = history.find(id);
  if (entry === undefined) return unknownEntry(entries);
  const led = startsAfter(entry, history);
  const starts = led.length > 0 ? led : [attemptOf(entry, history) ?? []].flat();
  const chains = starts.toReversed().slice(0, limit)
    .flatMap((start) => mergeRepeats([reconcileDraft(start, history, now)], now));
  const object = subjectOf(entry, history);
  const notes = [...olderNotes(starts.length - limit), beginningNote(entries[0], { dropped, now })];
  const answer = { ...(object && { object }), chains: chains.length > 0 ? chains : [loneChain(entry, history)], notes };
  return { kind: "answered", answer };
}

function unknownEntry(entries: readonly Entry[]): ExplainedEntry {
  const [first, last] = [entries[0], entries.at(-1)];
  const has = first === undefined || last === undefined
    ? "The recording is empty"
    : `It has the entries ${first.id} to ${last.id}, of ${timeText(first.at, 0)} to ${timeText(last.at, 0)} UTC`;
  return {
    kind: "unknown",
    problem: "the recording has no such entry",
    advice: `${has}: older ones are dropped, and each process counts its own`,
  };
}

/** The reconciles that an entry led to, oldest first. */
function startsAfter(entry: Entry, history: History): readonly ReconcileStartEntry[] {
  if (entry.kind === "reconcile-start") return [entry];
  const isNews = entry.kind === "list" || entry.kind === "change";
  if (!isNews && entry.kind !== "enqueue") return [];
  const effects = history.effectsOf(entry);
  // What a list shows is told by its changes.
  const enqueued = isNews
    ? effects.flatMap((effect) => effect.kind === "change" ? history.effectsOf(effect) : [effect])
    : [entry];
  const starts = enqueued.filter(({ kind }) => kind === "enqueue").flatMap((one) => history.effectsOf(one))
    .filter((effect) => effect.kind === "reconcile-start");
  return [...new Set(starts)];
}

/** The reconcile in which an entry happened, or that made it. */
function attemptOf(entry: Entry, history: History): ReconcileStartEntry | undefined {
  let place: Entry | undefined = entry;
  for (let step = 0; place !== undefined && step < maxSteps; step++) {
    if (place.kind === "reconcile-start") return place;
    const write: Entry | undefined = place.kind === "change" ? history.writeOf(place) : undefined;
    place = write ?? history.causesOf(place)[0];
  }
  return undefined;
}

function subjectOf(entry: Entry, history: History): Subject | undefined {
  const own: ObjectRef | undefined = "object" in entry ? entry.object : undefined;
  const { resource, kind, key } = own?.key === undefined ? history.primaryOf(entry.controller, entry.key) : own;
  return key === undefined ? undefined : { resource, kind, key };
}

/** What an entry says that belongs to no reconcile. */
function loneChain(entry: Entry, history: History): Chain {
  const [cause] = entry.kind === "enqueue" ? history.causesOf(entry) : [];
  const place = cause ?? entry;
  const object = subjectOf(place, history);
  const known = object && otherChain(place, object, history);
  if (known !== undefined) return known;
  const { id, at, kind } = place;
  const outcome = kind === "review" ? "reviewed" : kind === "error" ? "failed" : "done";
  return { at, outcome, steps: [{ kind: "cause", text: entryText(place, history), at, entries: [id] }] };
}

function entryText(entry: Entry, history: History): string {
  const primary = history.primaryOf(entry.controller, entry.key);
  switch (entry.kind) {
    case "change":
      return changeText(entry, history);
    case "list":
      return `${shown(entry.cache)} was listed: ${entry.objects} ${entry.objects === 1 ? "object" : "objects"}`;
    case "enqueue":
      return `${objectText(entry.object)} changed: ${ignoredText(entry, history)}`;
    case "queue":
      return `${objectText(primary)} is ${entry.decision}${reasonText(entry.reason)}`;
    case "reconcile-start":
      return `${objectText(primary)} was reconciled`;
    case "reconcile-end":
      return `${objectText(primary)} was reconciled in ${durationText(entry.durationMs)}: ${entry.outcome}${
        reasonText(entry.error)
      }`;
    case "read":
      return `read ${objectText(entry.object)} from the ${entry.from}`;
    case "write":
    case "request":
    case "event":
      return effectText(entry, primary, history);
    case "lease":
      return `${shown(entry.lease)}: ${entry.state}${
        entry.holder === undefined ? "" : `, held by ${shown(entry.holder)}`
      }${reasonText(entry.error)}`;
    case "review":
      return `the ${entry.webhook} webhook accepted: ${reviewTexts(entry).request}`;
    case "error":
      return `${shown(entry.what)} failed: ${shown(entry.error)}`;
    case "cache":
      return `${shown(entry.cache)}: ${entry.state}${reasonText(entry.reason)}${reasonText(entry.error)}`;
    case "activation":
      return `${shown(entry.controller ?? "")} ${entry.isActive ? "watches" : "does not watch"} ${
        shown(entry.object.resource)
      }${reasonText(entry.reason)}`;
    case "note":
      return `${shown(entry.actor)}: ${shown(entry.what)}${reasonText(entry.detail)}`;
    default:
      return entry satisfies never;
  }
}

function reasonText(text: string | undefined): string {
  return text === undefined ? "" : `: ${shown(text)}`;
}
