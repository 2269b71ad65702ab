/**
 * answerWhy(): the answer to `why KIND NAME`, `why --not KIND NAME` and `why --entry NUMBER`, of a recording and what a process
 * knows beside it.
 */
import type { Entry, EntryId } from "../observe/mod.ts";
import { explain, type Explanation } from "./chains.ts";
import type { KnownController, Subject } from "./history.ts";
import { explainEntry } from "./entry.ts";
import { findSubject, type SubjectWords } from "./subject.ts";
import { type ProcessFacts, type WhyNot, whyNot } from "./why_not.ts";

/** A question about an object. */
export interface ObjectQuestion extends SubjectWords {
  /** Why nothing happens, instead of what happened. */
  readonly isNot: boolean;
}

/** A question: about an object, or about an entry of the recording. */
export type Question = ObjectQuestion | { readonly entry: EntryId };

/** What the answer is read from. */
export interface Sources {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  readonly controllers: readonly KnownController[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The most chains. */
  readonly limit: number;
  /** Every reconcile by itself, also those that wrote nothing. @default false */
  readonly isAll?: boolean;
  /** Entries that the recording has dropped. @default 0 */
  readonly dropped?: number;
  /** What the process knows about an object. @default nothing */
  readonly factsOf?: (subject: Subject) => ProcessFacts;
}

/** The answer; or why there is none, and what to do. */
export type Answer =
  | { readonly kind: "answered"; readonly answer: Explanation | WhyNot }
  | { readonly kind: "unknown"; readonly problem: string; readonly advice: string };

/** Answers a question. */
export function answerWhy(question: Question, sources: Sources): Answer {
  const { entries, controllers, now, limit, isAll, dropped, factsOf } = sources;
  if ("entry" in question) return explainEntry(entries, question.entry, { controllers, limit, dropped, now });
  const found = findSubject(question, entries, controllers);
  if (found.kind === "unknown") {
    // That no controller watches the kind is why nothing happens.
    if (!question.isNot || !found.isKind) return found;
    const object = { resource: question.kind, kind: question.kind, key: question.name };
    return { kind: "answered", answer: whyNot(entries, object, { controllers, now }) };
  }
  const { subject } = found;
  const answer = question.isNot
    ? whyNot(entries, subject, { controllers, now, facts: factsOf?.(subject) })
    : explain(entries, subject, { controllers, limit, isAll, dropped, now });
  return { kind: "answered", answer };
}
