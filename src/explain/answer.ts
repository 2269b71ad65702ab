/**
 * answerWhy(): the answer to `why KIND NAME`, `why --not KIND NAME` and `why --entry NUMBER`, of a recording and what a process
 * knows beside it.
 */
import type { Entry, EntryId } from "../observe/mod.ts";
import { explain, type Explanation } from "./chains.ts";
import { entriesIn, membersIn } from "./clusters.ts";
import { isSubject, type KnownController, type Subject } from "./history.ts";
import { explainEntry } from "./entry.ts";
import { findSubject, type SubjectWords } from "./subject.ts";
import { type ProcessFacts, type WhyNot, whyNot } from "./why_not.ts";
import { joined, shown } from "./words.ts";

/** A question about an object. */
export interface ObjectQuestion extends SubjectWords {
  /** Why nothing happens, instead of what happened. */
  readonly isNot: boolean;
  /** The member of a fleet. @default the only cluster in which the object occurs, else the hub */
  readonly cluster?: string;
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
  readonly factsOf?: (subject: Subject, cluster: string | undefined) => ProcessFacts;
}

/** The answer; or why there is none, and what to do. */
export type Answer =
  | {
    readonly kind: "answered";
    readonly answer: Explanation | WhyNot;
    /** The member that it is about. Absent for the hub, and without a fleet. */
    readonly cluster?: string;
  }
  | { readonly kind: "unknown"; readonly problem: string; readonly advice: string };

/** Answers a question. */
export function answerWhy(question: Question, sources: Sources): Answer {
  const { entries: all, controllers, now, limit, isAll, dropped, factsOf } = sources;
  if ("entry" in question) {
    const cluster = all.find(({ id }) => id === question.entry)?.cluster;
    return explainEntry(entriesIn(all, cluster), question.entry, { controllers, limit, dropped, now });
  }
  const places = placesOf(question, all, controllers);
  if (places.length > 1) return severalPlaces(places);
  const cluster = question.cluster ?? places[0];
  const place = cluster === undefined ? {} : { cluster };
  const entries = entriesIn(all, cluster);
  const found = findSubject(question, entries, controllers);
  if (found.kind === "unknown") {
    // That no controller watches the kind is why nothing happens.
    if (!question.isNot || !found.isKind) return found;
    const object = { resource: question.kind, kind: question.kind, key: question.name };
    return { kind: "answered", answer: whyNot(entries, object, { controllers, now }), ...place };
  }
  const { subject } = found;
  const answer = question.isNot
    ? whyNot(entries, subject, { controllers, now, facts: factsOf?.(subject, cluster) })
    : explain(entries, subject, { controllers, limit, isAll, dropped, now });
  return { kind: "answered", answer, ...place };
}

/** The clusters in which the object of a question occurs, if the question does not name one. */
function placesOf(
  question: ObjectQuestion,
  entries: readonly Entry[],
  controllers: readonly KnownController[],
): readonly (string | undefined)[] {
  const members = question.cluster === undefined ? membersIn(entries) : [];
  if (members.length === 0) return [];
  return [undefined, ...members].filter((cluster) => {
    const own = entries.filter((entry) => entry.cluster === cluster);
    const found = findSubject(question, own, controllers);
    return found.kind === "found" && own.some((entry) => "object" in entry && isSubject(entry.object, found.subject));
  });
}

function severalPlaces(places: readonly (string | undefined)[]): Answer {
  const members = places.flatMap((name) => name === undefined ? [] : [shown(name)]);
  const clusters = places.includes(undefined) ? ["the hub", ...members] : members;
  return {
    kind: "unknown",
    problem: `it is in ${joined(clusters)}`,
    advice: `Name the member of the fleet with --member, for example --member ${members[0]}`,
  };
}
