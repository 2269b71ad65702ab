/**
 * explain(): what happened to an object and why, as chains of causes in words, newest first:
 *
 *   09:12:03  Deployment default/web: spec.replicas 2 → 5 by kubectl (kubectl-edit)
 *             → Foo default/foo-1 queued, waited 3 ms
 *             → reconciled in 12 ms: applied Deployment default/web (spec.replicas 5 → 2), patched status
 *
 * A chain is a reconcile that worked on the object, wrote it, or was caused by it; or a change of the object that no
 * controller reacted to; or the review of a webhook.
 *
 * Guarantees: pure; linear time; the result is bounded by `limit`, the texts are safe to show (`words.ts`).
 */
import type { ChangeEntry, EnqueueEntry, Entry, ErrorEntry, ReconcileStartEntry, ReviewEntry } from "../observe/mod.ts";
import { cacheProblems } from "./cache_problems.ts";
import { causeTexts, changeText, hasOnlyStatus } from "./causes.ts";
import { controllersOf, History, isSubject, type KnownController, type Subject } from "./history.ts";
import { violationTexts } from "./notes.ts";
import { isOfProgram, programChain } from "./program_chains.ts";
import { type Chain, type Draft, mergeRepeats, reconcileDraft } from "./reconcile_chain.ts";
import { joined, objectText, shown, timeText } from "./words.ts";

/** The answer of {@link explain}. */
export interface Explanation {
  /** Absent if the question was about an entry that is about no object. */
  readonly object?: Subject;
  /** Newest first. */
  readonly chains: readonly Chain[];
  /** What the recording does not show. */
  readonly notes: readonly string[];
}

/** Options of {@link explain}. */
export interface ExplainOptions {
  readonly controllers: readonly KnownController[];
  /** The most chains. @default 10 */
  readonly limit?: number;
  /** Entries that the recording has dropped. @default 0 */
  readonly dropped?: number;
  /** Every reconcile by itself, also those that wrote nothing. @default false */
  readonly isAll?: boolean;
  /** The time of the question, which decides whether a time needs a date. @default that of the newest entry */
  readonly now?: number;
}

/** Explains what happened to an object. @param entries Oldest first. */
export function explain(entries: readonly Entry[], subject: Subject, options: ExplainOptions): Explanation {
  const { controllers, limit = 10, dropped = 0, isAll = false, now = entries.at(-1)?.at ?? 0 } = options;
  const history = new History(entries, controllers);
  const draft = isOfProgram(history) ? programDraft : draftOf;
  const drafts = history.entries.toReversed().flatMap((entry) => draft(entry, subject, history, now) ?? []);
  const hidden = isAll ? [] : drafts.filter(({ isRoutine }) => isRoutine);
  const chains = isAll
    ? drafts.flatMap((draft) => mergeRepeats([draft], now))
    : mergeRepeats(drafts.filter(({ isRoutine }) => isRoutine !== true), now);
  const notes = [
    ...violationTexts(entries),
    ...blindness(subject, history, now),
    ...routineNotes(hidden, now),
    ...olderNotes(chains.length - limit),
    beginningNote(entries[0], { dropped, now }),
  ];
  return { object: subject, chains: chains.slice(0, limit), notes };
}

/** What the process does not see any more, because what it has seen may not be the newest state. */
function blindness({ resource }: Subject, history: History, now: number): readonly string[] {
  const needed = new Set([
    resource,
    ...controllersOf(history, resource).flatMap(({ primary, watched }) =>
      [primary, ...watched].map((one) => one.resource)
    ),
  ]);
  return cacheProblems(history, needed, now).map(({ text }) => text);
}

/** Such reconciles are left out, because what did something matters. */
function routineNotes(hidden: readonly Draft[], now: number): readonly string[] {
  const [last] = hidden;
  if (last === undefined) return [];
  const count = `${hidden.length} ${hidden.length === 1 ? "reconcile" : "reconciles"}`;
  return [
    `${count} found everything as desired and wrote nothing, the last at ${timeText(last.chain.at, now)}: see --all`,
  ];
}

/** How many chains are left out. */
export function olderNotes(more: number): readonly string[] {
  return more > 0 ? [`${more} older ${more === 1 ? "chain is" : "chains are"} not shown: see --limit`] : [];
}

/** Where the recording begins. */
export function beginningNote(
  first: Entry | undefined,
  { dropped, now }: { readonly dropped: number; readonly now: number },
): string {
  if (first === undefined) return "the recording is empty";
  return `the recording begins at ${timeText(first.at, now)}${
    dropped > 0 ? `, ${dropped} older entries are dropped` : ""
  }`;
}

function draftOf(entry: Entry, subject: Subject, history: History, now: number): Draft | undefined {
  if (entry.kind === "reconcile-start") {
    return concerns(entry, subject, history) ? reconcileDraft(entry, history, now) : undefined;
  }
  const chain = otherChain(entry, subject, history);
  return chain && { chain };
}

function programDraft(entry: Entry, subject: Subject, history: History): Draft | undefined {
  const chain = programChain(entry, subject, history);
  return chain && { chain };
}

/** The chain of an entry about the object that belongs to no reconcile. Undefined if it is told elsewhere, or needs no word. */
export function otherChain(entry: Entry, subject: Subject, history: History): Chain | undefined {
  switch (entry.kind) {
    case "change":
      return isSubject(entry.object, subject) ? ignoredChain(entry, history) : undefined;
    case "review":
      // What was allowed has become a change.
      return isSubject(entry.object, subject) && !entry.isAllowed ? reviewChain(entry) : undefined;
    case "error":
      // That a reconcile left an object alone is told with the reconcile.
      return isSubject(entry.object, subject) && entry.reason === undefined ? errorChain(entry) : undefined;
    default:
      return undefined;
  }
}

/** True for a reconcile of the object, one that wrote it or left it alone, and one that it caused. */
function concerns(start: ReconcileStartEntry, subject: Subject, history: History): boolean {
  if (isSubject(history.primaryOf(start.controller, start.key), subject)) return true;
  if (causeTexts(start, history).some(({ object }) => isSubject(object, subject))) return true;
  return history.effectsOf(start).some((effect) =>
    (effect.kind === "write" || effect.kind === "error") && isSubject(effect.object, subject)
  );
}

/** A change that led to no reconcile. Undefined for an echo, an own write, and a change that a chain begins with. */
function ignoredChain(change: ChangeEntry, history: History): Chain | undefined {
  const isShownElsewhere = change.isEcho === true || change.isInitial === true || change.via === "response" ||
    history.writeOf(change) !== undefined;
  if (isShownElsewhere) return undefined;
  const decisions = history.effectsOf(change).filter((effect) => effect.kind === "enqueue");
  if (decisions.some(({ decision }) => decision === "own-write")) return undefined;
  const queued = decisions.filter(({ decision }) => decision === "queued");
  // The status of a Node, for example, changes all the time.
  if (hasOnlyStatus(change)) return undefined;
  if (queued.length > 0) return waitingChain(change, queued, history);
  const { at, id } = change;
  const text = decisions.length === 0
    ? "no controller was told: it had not started, or another process leads"
    : joined(decisions.map((decision) => ignoredText(decision, history)));
  return {
    at,
    outcome: "ignored",
    steps: [
      { kind: "cause", text: changeText(change, history), at, entries: [id] },
      { kind: "outcome", text, at, entries: decisions.map((decision) => decision.id) },
    ],
  };
}

/** A change that has queued keys none of which a worker has taken yet. */
function waitingChain(change: ChangeEntry, queued: readonly EnqueueEntry[], history: History): Chain | undefined {
  if (history.writeOf(change) !== undefined || queued.some((entry) => history.wasTakenAfter(entry))) return undefined;
  const keys = joined(queued.map(({ controller, key }) => objectText(history.primaryOf(controller, key))));
  const { at, id } = change;
  const text = `${keys} queued, and not reconciled since: why --not says what it waits for`;
  return {
    at,
    outcome: "running",
    steps: [
      { kind: "cause", text: changeText(change, history), at, entries: [id] },
      { kind: "queued", text, at, entries: queued.map((entry) => entry.id) },
    ],
  };
}

/** Why a controller did not react to a change. */
export function ignoredText({ controller = "", decision, role }: EnqueueEntry, history: History): string {
  const name = `controller ${shown(controller)}`;
  const { kind } = history.primaryOf(controller, undefined);
  switch (decision) {
    case "rejected":
      return `${name} ignored it: its predicate says that such a change does not matter`;
    case "unmapped":
      return role === "owns"
        ? `${name} ignored it: the object is not owned by a ${shown(kind)}`
        : `${name} ignored it: it concerns no ${shown(kind)}`;
    case "own-write":
      return `${name} ignored it: it had made this change itself`;
    case "queued":
      return `${name} queued a key`;
    default:
      return decision satisfies never;
  }
}

function reviewChain(entry: ReviewEntry): Chain {
  const { at, id } = entry;
  const { request, answer, advice } = reviewTexts(entry);
  return {
    at,
    outcome: "reviewed",
    steps: [
      { kind: "cause", text: request, at, entries: [id] },
      { kind: "outcome", text: answer, at, entries: [id] },
      { kind: "advice", text: advice, at, entries: [] },
    ],
  };
}

/** A review that rejected a request, in words. */
export function reviewTexts({ webhook, operation, object, conversion, user, message }: ReviewEntry): {
  readonly request: string;
  readonly answer: string;
  readonly advice: string;
} {
  const who = user === undefined ? "" : ` by ${shown(user)}`;
  const what = operation === undefined
    ? `a conversion to ${shown(conversion?.to ?? "another version")}`
    : shown(operation);
  return {
    request: `${what} of ${objectText(object)}${who}`,
    answer: `the ${webhook} webhook rejected it: ${shown(message ?? "no message")}`,
    advice: "send the request again without what the message names; the stored object is as it was",
  };
}

function errorChain({ at, id, what, error, controller }: ErrorEntry): Chain {
  const where = controller === undefined ? "" : ` of controller ${shown(controller)}`;
  const text = `${shown(what)}${where} failed: ${shown(error)}`;
  return { at, outcome: "failed", steps: [{ kind: "cause", text, at, entries: [id] }] };
}
