/**
 * whyNot(): why nothing happens to an object, or nothing happened: the first reason is the one that matters most. It reads
 * the recording, and what only a running process knows (`ProcessFacts`).
 *
 * Guarantees: pure; there is always at least one reason; the texts are safe to show (`words.ts`).
 */
import type {
  ActivationEntry,
  ChangeEntry,
  Entry,
  EntryId,
  LeaseEntry,
  QueueEntry,
  ReconcileEndEntry,
  ReconcileStartEntry,
} from "../observe/mod.ts";
import { failureAdvice, undoneChange } from "./advice.ts";
import { cacheProblems } from "./cache_problems.ts";
import { changeText, hasOnlyStatus } from "./causes.ts";
import { ignoredText, reviewTexts } from "./chains.ts";
import { controllersOf, History, isSubject, type KnownController, type Subject } from "./history.ts";
import { durationText, joined, objectText, shown, timeText } from "./words.ts";

/** What a process knows beside its recording. Everything is optional: a file has none of it. */
export interface ProcessFacts {
  /** The namespaces that it watches. @default all */
  readonly namespaces?: readonly string[];
  /** The label selector of the primary objects, by controller. @default all objects */
  readonly selectors?: Readonly<Record<string, string>>;
  /** The controllers that only the leader runs; a standby runs all others. @default all */
  readonly leaderOnly?: readonly string[];
  /** True if a cache has the object, undefined if that is not known. */
  readonly isCached?: boolean;
  /** Why caches are not up to date, one sentence each. @default as the recording says */
  readonly cacheProblems?: readonly string[];
  /** The parked keys. @default as the recording says */
  readonly parked?: readonly { readonly controller: string; readonly key: string; readonly reason: string }[];
}

/** Options of {@link whyNot}. */
export interface WhyNotOptions {
  readonly controllers: readonly KnownController[];
  readonly facts?: ProcessFacts;
  /** Milliseconds since the epoch. @default that of the newest entry */
  readonly now?: number;
}

/** One reason. */
export interface Reason {
  readonly kind:
    | "not-watched"
    | "not-active"
    | "standby"
    | "other-replica"
    | "other-namespace"
    | "not-cached"
    | "cache-waiting"
    | "parked"
    | "paused"
    | "backoff"
    | "not-retried"
    | "delayed"
    | "queued"
    | "running"
    | "ignored"
    | "rejected"
    | "warned"
    | "nothing-changed";
  readonly text: string;
  /** What a user can do. */
  readonly advice?: string;
  /** When it began, milliseconds since the epoch, if that is known. */
  readonly at?: number;
  readonly entries: readonly EntryId[];
}

/** The answer of {@link whyNot}. */
export interface WhyNot {
  readonly object: Subject;
  /** The most important one first; never empty. */
  readonly reasons: readonly Reason[];
}

/** What the parts of the answer read. */
interface Question {
  readonly subject: Subject;
  readonly history: History;
  /** The controllers that the object concerns. */
  readonly concerned: readonly KnownController[];
  readonly facts: ProcessFacts;
  readonly now: number;
}

/** Says why nothing happens to an object. @param entries Oldest first. */
export function whyNot(entries: readonly Entry[], subject: Subject, options: WhyNotOptions): WhyNot {
  const { controllers, facts = {}, now = entries.at(-1)?.at ?? 0 } = options;
  const history = new History(entries, controllers);
  const concerned = controllersOf(history, subject.resource);
  if (concerned.length === 0) return { object: subject, reasons: [notWatched(subject, controllers)] };
  const question = { subject, history, concerned, facts, now };
  const elsewhere = namespace(question);
  const blockers = elsewhere === undefined
    ? [standby(question), ...notActive(question), ...unseen(question), notCached(question)]
    : [standby(question), elsewhere];
  const waiting = [...blockers, ...keyReasons(question)].filter((reason) => reason !== undefined);
  const change = lastChange(question);
  const rejected = lastRejection(question);
  const reasons = [...waiting, ...[rejected, change].filter((reason) => reason !== undefined)];
  return { object: subject, reasons: reasons.length === 0 ? [nothingChanged(question)] : reasons };
}

function notWatched({ kind, resource }: Subject, controllers: readonly KnownController[]): Reason {
  const known = controllers.map(({ name, primary, watched }) => {
    const kinds = [...new Set([primary, ...watched].map((one) => shown(one.kind)))];
    return `${shown(name)} watches ${joined(kinds)}`;
  });
  const name = kind === resource ? shown(kind) : `${shown(kind)} (${shown(resource)})`;
  const text = `no controller of this program watches ${name}`;
  return { kind: "not-watched", text: `${text}: ${known.join("; ")}`, entries: [] };
}

function standby({ history, concerned, facts: { leaderOnly }, now }: Question): Reason | undefined {
  const last = history.entries.findLast((entry): entry is LeaseEntry => entry.kind === "lease");
  if (last === undefined || last.state === "leading") return undefined;
  const names = concerned.map(({ name }) => name).filter((name) => leaderOnly?.includes(name) !== false);
  if (names.length === 0) return undefined;
  const lacks = leaderOnly === undefined
    ? "reconciles nothing"
    : `does not run the ${names.length === 1 ? "controller" : "controllers"} ${joined(names.map(shown))}`;
  const { lease, holder, error, at, id } = last;
  const since = ` since ${timeText(at, now)}`;
  const leader = holder === undefined || holder === ""
    ? "who leads is not known"
    : `${shown(holder)} leads: ask that process`;
  const text = {
    standby: `this process is a standby of ${shown(lease)}${since}, and ${lacks}; ${leader}`,
    "other-leader": `this process is a standby of ${shown(lease)}${since}, and ${lacks}; ${leader}`,
    lost: `this process lost ${shown(lease)}${since}${error === undefined ? "" : ` (${shown(error)})`}; ${leader}`,
    released: `this process released ${shown(lease)}${since}: it stops`,
  }[last.state];
  return { kind: "standby", text, at, entries: [id] };
}

function namespace({ subject, facts: { namespaces = [] } }: Question): Reason | undefined {
  const slash = subject.key.indexOf("/");
  if (namespaces.length === 0 || slash === -1) return undefined;
  const name = subject.key.slice(0, slash);
  if (namespaces.includes(name)) return undefined;
  const text = `this process does not watch the namespace ${shown(name)}, only ${joined(namespaces.map(shown))}`;
  const advice = "run the program with --namespace for it, too, or without --namespace for all of them";
  return { kind: "other-namespace", text, advice, entries: [] };
}

/** The concerned controllers that watch the kind of the object only under a condition, which does not hold. */
function notActive({ subject, history, concerned, now }: Question): readonly Reason[] {
  const latest = new Map<string, ActivationEntry>();
  for (const entry of history.entries) {
    if (entry.kind !== "activation" || entry.object.resource !== subject.resource) continue;
    if (concerned.some(({ name }) => name === entry.controller)) latest.set(entry.controller ?? "", entry);
  }
  return [...latest].flatMap(([name, { isActive, object, reason, at, id }]) => {
    if (isActive) return [];
    const why = reason === undefined ? "" : `: ${shown(reason)}`;
    const text = `controller ${shown(name)} does not watch ${shown(object.resource)} since ${timeText(at, now)}${why}`;
    return [{ kind: "not-active", text, at, entries: [id] }];
  });
}

function notCached({ subject, concerned, facts }: Question): Reason | undefined {
  if (facts.isCached !== false) return undefined;
  const selectors = concerned.flatMap(({ name, primary }) => {
    const selector = facts.selectors?.[name];
    return selector === undefined || primary.resource !== subject.resource
      ? []
      : `controller ${shown(name)}: ${shown(selector)}`;
  });
  const because = selectors.length === 0
    ? "it does not exist, or the server has not shown it yet"
    : `it does not exist, or the selector does not select it (${selectors.join("; ")})`;
  const advice = "compare the name, the namespace and the labels with those that kubectl get shows";
  return { kind: "not-cached", text: `${objectText(subject)} is not known: ${because}`, advice, entries: [] };
}

/** The kinds that the concerned controllers need and whose changes the process does not see. */
function unseen({ history, concerned, facts, now }: Question): readonly Reason[] {
  const needed = new Set(concerned.flatMap(({ primary, watched }) => [primary, ...watched].map((one) => one.resource)));
  const recorded = cacheProblems(history, needed, now);
  if (recorded.length > 0) return recorded.map((problem) => ({ kind: "cache-waiting", ...problem }));
  return (facts.cacheProblems ?? []).map((text) => ({ kind: "cache-waiting", text: shown(text), entries: [] }));
}

/** Most keys of one answer: a Node can concern thousands. */
const maxKeys = 20;

/** What the keys wait for that the object concerns. */
function keyReasons(question: Question): readonly Reason[] {
  const all = keysOf(question).flatMap((one) => keyReason(one, question) ?? []);
  const [next] = all.slice(maxKeys);
  const more = all.length - maxKeys;
  return [
    ...all.slice(0, maxKeys),
    ...(next === undefined ? [] : [{ ...next, text: `${more} more ${more === 1 ? "key waits" : "keys wait"}` }]),
  ];
}

/** A controller and a key of it. */
interface ControllerKey {
  readonly controller: string;
  readonly key: string;
}

/** The keys that the object concerns: its own, and those that its changes queued. */
function keysOf({ subject, history, concerned }: Question): readonly ControllerKey[] {
  const keys = new Map<string, ControllerKey>();
  const add = (controller: string, key: string) => keys.set(`${controller} ${key}`, { controller, key });
  for (const { name, primary } of concerned) if (primary.resource === subject.resource) add(name, subject.key);
  for (const entry of history.entries) {
    const isAbout = (entry.kind === "enqueue" || entry.kind === "write") && isSubject(entry.object, subject);
    if (isAbout && entry.controller !== undefined && entry.key !== undefined) add(entry.controller, entry.key);
  }
  return [...keys.values()];
}

/** What a key waits for. Undefined if it waits for a change. */
function keyReason({ controller, key }: ControllerKey, question: Question): Reason | undefined {
  const { history, facts, now } = question;
  const object = objectText(history.primaryOf(controller, key));
  const name = `${object} (controller ${shown(controller)})`;
  const own = history.entriesOf(controller, key);
  const last = own.findLast((entry) =>
    entry.kind === "reconcile-start" || entry.kind === "reconcile-end" || entry.kind === "queue" ||
    (entry.kind === "enqueue" && entry.decision === "queued")
  );
  const end = own.findLast((entry) => entry.kind === "reconcile-end");
  const parking = own.findLast((entry): entry is QueueEntry =>
    entry.kind === "queue" && (entry.decision === "parked" || entry.decision === "unparked")
  );
  const parkedNow = facts.parked?.find((one) => one.controller === controller && one.key === key);
  if (parking?.decision === "parked" || parkedNow !== undefined) {
    const other = end && otherWriter(end, history);
    return parkedReason(name, parking, { object, reason: parkedNow?.reason, end, other, now });
  }
  const start = end && startOf(end, history);
  const advice = start && failureAdvice(start, end, history);
  const reason = (kind: Reason["kind"], text: string): Reason => ({
    kind,
    text: `${name} ${text}`,
    ...(advice === undefined || kind === "running" || kind === "queued" ? {} : { advice }),
    ...(last && { at: last.at }),
    entries: last === undefined ? [] : [last.id],
  });
  switch (last?.kind) {
    case "reconcile-start":
      return reason("running", `is being reconciled since ${timeText(last.at, now)} (${durationText(now - last.at)})`);
    case "enqueue":
      return reason("queued", `is queued since ${timeText(last.at, now)} and waits for a free worker`);
    case "queue":
      return waitReason(last, end, { now, reason });
    case "reconcile-end":
      return endReason(last, { now, reason });
    default:
      return undefined;
  }
}

function parkedReason(
  name: string,
  parking: QueueEntry | undefined,
  { object, reason, end, other, now }: {
    readonly object: string;
    readonly other: string | undefined;
    readonly reason: string | undefined;
    readonly end: ReconcileEndEntry | undefined;
    readonly now: number;
  },
): Reason {
  const until = parking?.until === undefined ? "" : ` until ${timeText(parking.until, now)}`;
  const given = shown(parking?.reason ?? reason ?? "no reason given");
  // The recording knows who wrote; the fields of the cached object do not have that.
  const why = other === undefined ? given : given.replace(/ \(field managers: [^)]*\)$/, ` by ${other}`);
  const error = end?.error === undefined ? "" : `; its last error: ${shown(end.error)}`;
  return {
    kind: "parked",
    text: `${name} is not reconciled${until === "" ? " for now" : until}: ${why}${error}`,
    advice: `let only one of them write it: stop ${other ?? "the other client"}, or change what ${object} asks for`,
    ...(parking && { at: parking.at }),
    entries: [...(parking === undefined ? [] : [parking.id]), ...(end === undefined ? [] : [end.id])],
  };
}

/** What is needed to word the state of a key. */
interface Wording {
  readonly now: number;
  readonly reason: (kind: Reason["kind"], text: string) => Reason;
}

function waitReason(
  { decision, at, delayMs = 0, retries = 0 }: QueueEntry,
  end: ReconcileEndEntry | undefined,
  { now, reason }: Wording,
): Reason | undefined {
  const due = timeText(at + delayMs, now);
  const error = end?.error === undefined ? "" : ` with: ${shown(end.error)}`;
  const failures = `${retries} ${retries === 1 ? "failure" : "failures"}`;
  switch (decision) {
    case "backoff":
      return reason("backoff", `waits until ${due} for its next attempt, after ${failures} in a row${error}`);
    case "delayed":
      return reason("delayed", `is reconciled again at ${due}, as its last reconcile asked; a change comes earlier`);
    case "unparked":
      return reason("queued", `is no longer parked since ${timeText(at, now)}`);
    case "parked":
    case "withdrawn":
      return undefined;
    default:
      return decision satisfies never;
  }
}

function endReason(
  { outcome, at, error = "unknown error" }: ReconcileEndEntry,
  { now, reason }: Wording,
): Reason | undefined {
  const failed = `failed at ${timeText(at, now)}: ${shown(error)}`;
  switch (outcome) {
    case "terminal":
      return reason("not-retried", `${failed}; it is not retried, because only a change can help`);
    case "given-up":
      return reason("not-retried", `${failed}; it was retried as often as allowed, and waits for a change`);
    case "failed":
      return reason("backoff", `${failed}; it is retried`);
    case "aborted":
      return reason("not-retried", `was aborted at ${timeText(at, now)}: the process stopped or lost its Lease`);
    case "paused":
      return reason(
        "paused",
        "is paused by its annotation pintle.dev/paused, and is not reconciled until that is removed",
      );
    case "done":
    case "requeue":
      return undefined;
    default:
      return outcome satisfies never;
  }
}

/** A webhook rejected what a user wanted, and nothing has changed since. */
function lastRejection({ subject, history, now }: Question): Reason | undefined {
  const last = history.entries.findLast((entry) =>
    entry.kind === "review"
      ? !entry.isAllowed && isSubject(entry.object, subject)
      : isNews(entry, subject) && history.writeOf(entry) === undefined
  );
  if (last?.kind !== "review") return undefined;
  const { request, answer, advice } = reviewTexts(last);
  const text = `the last request, at ${timeText(last.at, now)}: ${request}; ${answer}`;
  return { kind: "rejected", text, advice, at: last.at, entries: [last.id] };
}

/** True for a change of the object that the process has not known before. */
function isNews(entry: Entry, subject: Subject): entry is ChangeEntry {
  return entry.kind === "change" && entry.isEcho !== true && entry.isInitial !== true &&
    isSubject(entry.object, subject);
}

/** Why the newest change of the object led to nothing. */
function lastChange({ subject, history, now }: Question): Reason | undefined {
  const change = history.entries.findLast((entry): entry is ChangeEntry =>
    isNews(entry, subject) && !hasOnlyStatus(entry) && history.writeOf(entry) === undefined
  );
  if (change === undefined) return undefined;
  const decisions = history.effectsOf(change).filter((effect) => effect.kind === "enqueue");
  // After an own write there is nothing to do: that says more than that the write was ignored.
  const others = decisions.filter(({ decision }) => decision !== "own-write");
  if (others.length === 0 || others.some(({ decision }) => decision === "queued")) return undefined;
  const text = `the last change, at ${timeText(change.at, now)}: ${changeText(change, history)}; ${
    joined(others.map((decision) => ignoredText(decision, history)))
  }`;
  return {
    kind: "ignored",
    text,
    at: change.at,
    entries: [change.id, ...decisions.map(({ id }) => id)],
  };
}

function nothingChanged({ subject, history, now }: Question): Reason {
  const key = keysOf({ subject, history, concerned: history.controllers, facts: {}, now })[0];
  const end = history.entries.findLast((entry) =>
    entry.kind === "reconcile-end" && entry.controller === key?.controller && entry.key === key?.key
  );
  const warned = end === undefined ? undefined : warnedReason(end, history, now);
  if (warned !== undefined) return warned;
  const since = history.entries[0]?.at;
  const name = objectText(subject);
  const text = end !== undefined
    ? `nothing is left to do: the last reconcile succeeded at ${timeText(end.at, now)}, and nothing has changed since`
    : since === undefined
    ? `the recording is empty: this process has seen nothing of ${name}`
    : `nothing has changed: the recording, which begins at ${timeText(since, now)}, has no change of ${name}`;
  return { kind: "nothing-changed", text, ...(end && { at: end.at }), entries: end === undefined ? [] : [end.id] };
}

/** A reconcile that succeeded although it could not do everything: it left an object alone, or recorded a warning. */
function warnedReason(end: Entry, history: History, now: number): Reason | undefined {
  const start = startOf(end, history);
  if (start === undefined) return undefined;
  const advice = failureAdvice(start, undefined, history);
  const warning = history.effectsOf(start).findLast((effect) => effect.kind === "event" && effect.type === "Warning");
  if (warning?.kind !== "event" && advice === undefined) return undefined;
  const said = warning?.kind === "event" ? `: ${shown(warning.reason)} "${shown(warning.note)}"` : "";
  const text = `the last reconcile, at ${
    timeText(end.at, now)
  }, ended with a warning${said}; the next one begins with a change`;
  return { kind: "warned", text, ...(advice && { advice }), at: end.at, entries: [start.id, end.id] };
}

/** Who made the change that a reconcile has undone. */
function otherWriter(end: Entry, history: History): string | undefined {
  const start = startOf(end, history);
  return start && undoneChange(start, history)?.by;
}

function startOf(end: Pick<Entry, "causes">, history: History): ReconcileStartEntry | undefined {
  return history.causesOf(end).find((cause) => cause.kind === "reconcile-start");
}
