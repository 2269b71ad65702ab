/**
 * reconcileDraft(): the chain of one reconcile: why its key was queued, what it did, and what a user can do about it.
 * mergeRepeats() makes one chain of those that tell the same: a failure that is retried, a change that is undone each time.
 *
 * Guarantees: pure; linear time.
 */
import type { Entry, EntryId, ReconcileEndEntry, ReconcileStartEntry } from "../observe/mod.ts";
import { failureAdvice, undoAdvice, undoneChange } from "./advice.ts";
import { causeTexts, isRoutine } from "./causes.ts";
import type { History } from "./history.ts";
import { endOfProcess, restartText } from "./notes.ts";
import { durationText, joined, objectText, shown, timeText } from "./words.ts";
import { type ActTexts, actTexts } from "./writes.ts";

/** One step of a chain. */
export interface Step {
  /** `advice`: what a user can do. */
  readonly kind: "cause" | "queued" | "outcome" | "advice";
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
  /** `unchanged`: a reconcile that wrote nothing. `ignored`: no controller reacted. `reviewed`: a webhook answered. */
  readonly outcome: "done" | "unchanged" | "failed" | "running" | "ignored" | "reviewed";
  readonly steps: readonly Step[];
}

/** A chain before those that tell the same are made one. */
export interface Draft {
  readonly chain: Chain;
  /** Chains with the same text tell the same. Absent for one that stands alone. */
  readonly same?: string;
  /** A reconcile that found everything as desired, after something that often leads to such a one. */
  readonly isRoutine?: boolean;
  /** Only the failure of the attempt before led to it. */
  readonly isRetry?: boolean;
  /** The last step, if the same happened `count` times. */
  readonly advice?: (count: number) => string;
}

/** Most causes that one chain names. */
const maxCauses = 3;

/** The chain of a reconcile. @param now The time of the question, which decides whether a time needs a date */
export function reconcileDraft(start: ReconcileStartEntry, history: History, now: number): Draft {
  const effects = history.effectsOf(start);
  const end = effects.find((effect) => effect.kind === "reconcile-end");
  const acts = actTexts(start, history, end?.error);
  const cause = causeStep(start, history);
  const primary = objectText(history.primaryOf(start.controller, start.key));
  const queued = `${primary} queued, waited ${durationText(start.waitedMs)}${restartText(start, history)}`;
  const outcome = end === undefined
    ? "running"
    : isFailure(end)
    ? "failed"
    : acts.texts.length === 0
    ? "unchanged"
    : "done";
  const undone = undoneChange(start, history);
  const problem = failureAdvice(start, end, history);
  const advice = problem !== undefined
    ? () => problem
    : undone !== undefined
    ? (count: number) => undoAdvice(start, undone, history, count)
    : undefined;
  const steps: readonly Step[] = [
    cause,
    { kind: "queued", text: queued, at: start.at, entries: [start.id] },
    outcomeStep(start, end, acts, { history, now }),
  ];
  const told = outcome === "failed" ? end?.error ?? "" : [cause.text, ...acts.texts].join();
  return {
    chain: { at: cause.at, outcome, steps },
    ...(outcome === "running" ? {} : { same: `${outcome} ${start.controller} ${start.key} ${told}` }),
    isRoutine: outcome === "unchanged" && history.causesOf(start).every((cause) => isRoutine(cause, start, history)),
    isRetry: isRetry(start, history),
    ...(advice && { advice }),
  };
}

/** True if only its own failure has queued the key again. */
function isRetry(start: ReconcileStartEntry, history: History): boolean {
  const causes = history.causesOf(start);
  return start.retries > 0 && causes.length > 0 && causes.every((cause) => cause.kind === "queue");
}

function causeStep(start: ReconcileStartEntry, history: History): Step {
  const causes = causeTexts(start, history);
  const [first] = causes;
  const dropped = Math.max(0, causes.length - maxCauses) + (start.causesDropped ?? 0);
  const text = first === undefined ? "the cause is older than the recording" : joined([
    ...causes.slice(0, maxCauses).map((cause) => cause.text),
    ...(dropped > 0 ? [`${dropped} more ${dropped === 1 ? "cause" : "causes"}`] : []),
  ]);
  return { kind: "cause", text, at: first?.at ?? start.at, entries: causes.flatMap(({ entries }) => entries) };
}

function isFailure({ outcome }: ReconcileEndEntry): boolean {
  return outcome !== "done" && outcome !== "requeue" && outcome !== "paused";
}

interface Context {
  readonly history: History;
  readonly now: number;
}

function outcomeStep(
  start: ReconcileStartEntry,
  end: ReconcileEndEntry | undefined,
  { texts, entries }: ActTexts,
  context: Context,
): Step {
  const done = texts.join(", ");
  const text = end === undefined
    ? unfinishedText(endOfProcess(start, context.history), done)
    : outcomeText(start, end, done, context);
  const ids = [...entries, ...(end === undefined ? [] : [end.id])];
  return { kind: "outcome", text, at: end?.at ?? start.at, entries: ids };
}

/** @param killed why the process ended; absent while it runs @param done what the reconcile did; empty if nothing */
function unfinishedText(killed: string | undefined, done: string): string {
  const state = killed === undefined ? "its reconcile has not ended yet" : `it did not end: ${killed}`;
  return done === "" ? state : `${state}; ${killed === undefined ? "so far" : "before that"}: ${done}`;
}

/** @param done what the reconcile did; empty if nothing */
function outcomeText(start: ReconcileStartEntry, end: ReconcileEndEntry, done: string, context: Context): string {
  const took = durationText(end.durationMs);
  const before = done === "" ? "" : `; before that: ${done}`;
  const failure = `${failedText(start, end, context)}: ${shown(end.error ?? "unknown error")}${before}`;
  switch (end.outcome) {
    case "done":
      return `reconciled in ${took}: ${done || `${nothingText(start, context)}, nothing was written`}`;
    case "requeue":
      return `reconciled in ${took}: ${done || "nothing was written"}; again in ${durationText(end.afterMs ?? 0)}`;
    case "failed":
      return `${failure}${retryText(end, context)}`;
    case "terminal":
      return `${failure}; it is not retried, because only a change can help`;
    case "given-up":
      return `${failure}; it was retried as often as allowed, and waits for a change`;
    case "paused":
      return "not reconciled, because its annotation pintle.dev/paused pauses it";
    case "aborted":
      return `aborted after ${took}, because the process stopped or lost its Lease${before}`;
    default:
      return end.outcome satisfies never;
  }
}

function nothingText(start: ReconcileStartEntry, { history }: Context): string {
  const primary = history.primaryOf(start.controller, start.key);
  const isMissing = history.effectsOf(start).some((effect) =>
    effect.kind === "read" && effect.resourceVersion === undefined && effect.object.key !== undefined &&
    effect.object.key === primary.key && effect.object.resource === primary.resource
  );
  return isMissing ? `there is no ${objectText(primary)}` : "everything was as desired";
}

function failedText({ retries }: ReconcileStartEntry, { at, durationMs }: ReconcileEndEntry, { now }: Context): string {
  return retries === 0
    ? `failed after ${durationText(durationMs)}`
    : `failed ${retries + 1} times in a row, the last time at ${timeText(at, now)}`;
}

/** When a failed reconcile is tried again. */
function retryText(end: ReconcileEndEntry, { history, now }: Context): string {
  const backoff = history.effectsOf(end).find((effect) => effect.kind === "queue");
  if (backoff === undefined) return "; it is retried";
  const { decision, delayMs, reason, at } = backoff;
  if (decision === "parked") return `; it is parked: ${shown(reason ?? "no reason given")}`;
  return `; retried at ${timeText(at + (delayMs ?? 0), now)}`;
}

/** The chains of drafts. Those in a row that tell the same become one. @param drafts Newest first */
export function mergeRepeats(drafts: readonly Draft[], now: number): readonly Chain[] {
  const chains: Chain[] = [];
  for (let index = 0; index < drafts.length;) {
    const count = repeatsFrom(drafts, index);
    const group = drafts.slice(index, index + count);
    index += count;
    chains.push(mergedChain(group, now));
  }
  return chains;
}

/** How many drafts from `index` on tell the same. A failure repeats as long as only the failure before led to it. */
function repeatsFrom(drafts: readonly Draft[], index: number): number {
  const first = drafts[index];
  let count = 1;
  while (first?.same !== undefined && drafts[index + count]?.same === first.same) {
    const isFailing = first.chain.outcome === "failed";
    if (isFailing && drafts[index + count - 1]?.isRetry !== true) break;
    count++;
  }
  return count;
}

function mergedChain(group: readonly Draft[], now: number): Chain {
  const [newest, oldest] = [group[0], group.at(-1)];
  if (newest === undefined || oldest === undefined) throw new RangeError("Cannot merge chains: there are none");
  const { chain } = newest;
  const last = chain.steps.at(-1);
  const at = last?.at ?? chain.at;
  const advice = newest.advice?.(group.length);
  const advised: readonly Step[] = advice === undefined ? [] : [{ kind: "advice", text: advice, at, entries: [] }];
  if (group.length === 1) return { ...chain, steps: [...chain.steps, ...advised] };
  if (chain.outcome === "failed") {
    // What the first attempt was queued for, and how the last one ended.
    const begin = oldest.chain.steps.slice(0, 2);
    const steps = [...begin, ...(last === undefined ? [] : [{ ...last, entries: entriesOf(group) }]), ...advised];
    return { ...chain, at: oldest.chain.at, steps };
  }
  const text = `the same happened ${group.length} times since ${timeText(oldest.chain.at, now)}`;
  return { ...chain, steps: [...chain.steps, { kind: "outcome", text, at, entries: entriesOf(group) }, ...advised] };
}

function entriesOf(group: readonly Draft[]): readonly Entry["id"][] {
  return group.toReversed().flatMap(({ chain }) => chain.steps.flatMap(({ entries }) => entries));
}
