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
import type {
  ChangeEntry,
  EnqueueEntry,
  Entry,
  EntryId,
  ErrorEntry,
  ReconcileEndEntry,
  ReconcileStartEntry,
  ReviewEntry,
} from "../observe/mod.ts";
import { causeTexts, changeText } from "./causes.ts";
import { History, isSubject, type KnownController, type Subject } from "./history.ts";
import { endOfProcess, restartText, violationTexts } from "./notes.ts";
import { type ActTexts, actTexts } from "./writes.ts";
import { durationText, joined, objectText, shown, timeText } from "./words.ts";

/** One step of a chain. */
export interface Step {
  readonly kind: "cause" | "queued" | "outcome";
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The entries that it was read from. */
  readonly entries: readonly EntryId[];
}

/** Causes and what they led to, oldest step first. */
export interface Chain {
  /** When it began, milliseconds since the epoch. */
  readonly at: number;
  /** `unchanged`: reconciles that wrote nothing. `ignored`: no controller reacted. `reviewed`: a webhook answered. */
  readonly outcome: "done" | "unchanged" | "failed" | "running" | "ignored" | "reviewed";
  readonly steps: readonly Step[];
}

/** The answer of {@link explain}. */
export interface Explanation {
  readonly object: Subject;
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
  /** The time of the question, which decides whether a time needs a date. @default that of the newest entry */
  readonly now?: number;
}

/** Most causes that one chain names. */
const maxCauses = 3;

/** Explains what happened to an object. @param entries Oldest first. */
export function explain(entries: readonly Entry[], subject: Subject, options: ExplainOptions): Explanation {
  const { controllers, limit = 10, dropped = 0, now = entries.at(-1)?.at ?? 0 } = options;
  const history = new History(entries, controllers);
  const chains: Chain[] = [];
  let more = 0;
  for (const chain of merged(entries.toReversed().flatMap((entry) => chainOf(entry, subject, history, now) ?? []))) {
    if (chains.length < limit) chains.push(chain);
    else more++;
  }
  const [first] = entries;
  const notes = [
    ...violationTexts(entries),
    ...(more > 0 ? [`${more} older ${more === 1 ? "chain is" : "chains are"} not shown`] : []),
    ...(first === undefined ? ["the recording is empty"] : [
      `the recording begins at ${timeText(first.at, now)}${
        dropped > 0 ? `, ${dropped} older entries are dropped` : ""
      }`,
    ]),
  ];
  return { object: subject, chains, notes };
}

/** Reconciles in a row that wrote nothing become one chain, because what did something matters. */
function merged(chains: readonly Chain[]): readonly Chain[] {
  const result: Chain[] = [];
  let run: Chain[] = [];
  const endRun = () => {
    const [newest] = run;
    const oldest = run.at(-1);
    if (newest === undefined || oldest === undefined) return;
    result.push(run.length === 1 ? newest : unchangedChain(newest, oldest, run));
    run = [];
  };
  for (const chain of chains) {
    if (chain.outcome === "unchanged") {
      run.push(chain);
      continue;
    }
    endRun();
    result.push(chain);
  }
  endRun();
  return result;
}

function unchangedChain(newest: Chain, oldest: Chain, run: readonly Chain[]): Chain {
  const [cause, queued] = newest.steps;
  const entries = run.flatMap(({ steps }) => steps.flatMap((step) => step.entries));
  const last = newest.steps.at(-1) ?? oldest.steps[0];
  return {
    at: newest.at,
    outcome: "unchanged",
    steps: [
      ...(cause === undefined ? [] : [cause]),
      ...(queued === undefined ? [] : [queued]),
      {
        kind: "outcome",
        text: `the last of ${run.length} reconciles in a row that found everything as desired and wrote nothing`,
        at: last?.at ?? newest.at,
        entries,
      },
    ],
  };
}

function chainOf(entry: Entry, subject: Subject, history: History, now: number): Chain | undefined {
  switch (entry.kind) {
    case "reconcile-start":
      return concerns(entry, subject, history) ? reconcileChain(entry, history, now) : undefined;
    case "change":
      return isSubject(entry.object, subject) ? ignoredChain(entry, history) : undefined;
    case "review":
      return isSubject(entry.object, subject) ? reviewChain(entry) : undefined;
    case "error":
      return isSubject(entry.object, subject) ? errorChain(entry) : undefined;
    default:
      return undefined;
  }
}

/** True for a reconcile of the object, one that wrote it, and one that it caused. */
function concerns(start: ReconcileStartEntry, subject: Subject, history: History): boolean {
  if (isSubject(history.primaryOf(start.controller, start.key), subject)) return true;
  if (causeTexts(start, history).some(({ object }) => isSubject(object, subject))) return true;
  return history.effectsOf(start).some((effect) => effect.kind === "write" && isSubject(effect.object, subject));
}

function reconcileChain(start: ReconcileStartEntry, history: History, now: number): Chain {
  const causes = causeTexts(start, history);
  const [first] = causes;
  const end = history.effectsOf(start).find((effect) => effect.kind === "reconcile-end");
  const acts = actTexts(start, history, end?.error);
  const primary = objectText(history.primaryOf(start.controller, start.key));
  const dropped = Math.max(0, causes.length - maxCauses) + (start.causesDropped ?? 0);
  const text = first === undefined ? "the cause is older than the recording" : joined([
    ...causes.slice(0, maxCauses).map((cause) => cause.text),
    ...(dropped > 0 ? [`${dropped} more ${dropped === 1 ? "cause" : "causes"}`] : []),
  ]);
  const at = first?.at ?? start.at;
  const retry = start.retries > 0
    ? `, after ${start.retries} ${start.retries === 1 ? "failure" : "failures"} in a row`
    : "";
  return {
    at,
    outcome: end === undefined ? "running" : isFailure(end) ? "failed" : acts.texts.length === 0 ? "unchanged" : "done",
    steps: [
      { kind: "cause", text, at, entries: causes.flatMap(({ entries }) => entries) },
      {
        kind: "queued",
        text: `${primary} queued, waited ${durationText(start.waitedMs)}${retry}${restartText(start, history)}`,
        at: start.at,
        entries: [start.id],
      },
      outcomeStep(start, end, acts, { history, now }),
    ],
  };
}

function isFailure({ outcome }: ReconcileEndEntry): boolean {
  return outcome !== "done" && outcome !== "requeue";
}

function outcomeStep(
  start: ReconcileStartEntry,
  end: ReconcileEndEntry | undefined,
  acts: ActTexts,
  { history, now }: { readonly history: History; readonly now: number },
): Step {
  const step = (text: string): Step => ({
    kind: "outcome",
    text,
    at: end?.at ?? start.at,
    entries: [...acts.entries, ...(end === undefined ? [] : [end.id])],
  });
  const done = acts.texts.join(", ");
  if (end === undefined) {
    const killed = endOfProcess(start, history);
    const so = done === "" ? "" : `; ${killed === undefined ? "so far" : "before that"}: ${done}`;
    return step(`${killed === undefined ? "its reconcile has not ended yet" : `it did not end: ${killed}`}${so}`);
  }
  const took = durationText(end.durationMs);
  const failure = `failed after ${took}: ${shown(end.error ?? "unknown error")}${
    done === "" ? "" : `; before that: ${done}`
  }`;
  switch (end.outcome) {
    case "done":
      return step(`reconciled in ${took}: ${done || "everything was as desired, nothing was written"}`);
    case "requeue":
      return step(
        `reconciled in ${took}: ${done || "nothing was written"}; again in ${durationText(end.afterMs ?? 0)}`,
      );
    case "failed":
      return step(`${failure}${retryText(end, history, now)}`);
    case "terminal":
      return step(`${failure}; it is not retried until something changes, because a retry could not help`);
    case "given-up":
      return step(`${failure}; it is given up: not retried until something changes`);
    case "aborted":
      return step(
        `aborted after ${took}, because the process stopped or lost its Lease${
          done === "" ? "" : `; before that: ${done}`
        }`,
      );
    default:
      return end.outcome satisfies never;
  }
}

/** When a failed reconcile is tried again. */
function retryText(end: ReconcileEndEntry, history: History, now: number): string {
  const backoff = history.effectsOf(end).find((effect) => effect.kind === "queue");
  if (backoff === undefined) return "; it is retried";
  const { decision, delayMs, retries, reason, at } = backoff;
  if (decision === "parked") return `; it is parked: ${shown(reason ?? "no reason given")}`;
  const count = retries === undefined ? "" : ` (failure ${retries} in a row)`;
  return `; retried at ${timeText(at + (delayMs ?? 0), now)}${count}`;
}

/** A change that led to no reconcile. Undefined for an echo, an own write, and a change that a chain begins with. */
function ignoredChain(change: ChangeEntry, history: History): Chain | undefined {
  const isShownElsewhere = change.isEcho === true || change.isInitial === true || change.via === "response";
  if (isShownElsewhere) return undefined;
  const decisions = history.effectsOf(change).filter((effect) => effect.kind === "enqueue");
  if (decisions.some(({ decision }) => decision === "queued" || decision === "own-write")) return undefined;
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
  const { at, id, webhook, operation, object, conversion, user, isAllowed, message, durationMs } = entry;
  const who = user === undefined ? "" : ` by ${shown(user)}`;
  const what = operation === undefined
    ? `a conversion to ${shown(conversion?.to ?? "another version")}`
    : shown(operation);
  const answer = isAllowed ? "allowed it" : `rejected it: ${shown(message ?? "no message")}`;
  return {
    at,
    outcome: "reviewed",
    steps: [
      { kind: "cause", text: `${what} of ${objectText(object)}${who}`, at, entries: [id] },
      { kind: "outcome", text: `the ${webhook} webhook ${answer}, in ${durationText(durationMs)}`, at, entries: [id] },
    ],
  };
}

function errorChain({ at, id, what, error, controller }: ErrorEntry): Chain {
  const where = controller === undefined ? "" : ` of controller ${shown(controller)}`;
  const text = `${shown(what)}${where} failed: ${shown(error)}`;
  return { at, outcome: "failed", steps: [{ kind: "cause", text, at, entries: [id] }] };
}
