/**
 * causeTexts(): why a key was queued, in words. Each cause of a reconcile is followed back to where it came from: a change
 * by another client, a write of a reconcile, a list, a failure, a time that has come.
 */
import type {
  ChangeEntry,
  Entry,
  FieldChange,
  ListEntry,
  ObjectRef,
  QueueEntry,
  ReconcileEndEntry,
  ReconcileStartEntry,
} from "../observe/mod.ts";
import type { History } from "./history.ts";
import { actorText, senderOf } from "./notes.ts";
import { byText, durationText, type FieldManager, fieldsText, objectText, shown } from "./words.ts";

/** A cause in words, and the entries that it was read from. */
export interface CauseText {
  readonly text: string;
  readonly at: number;
  readonly entries: readonly number[];
  /** The object that changed. */
  readonly object?: ObjectRef;
}

/** The causes of an entry, oldest first. A cause that the recording has dropped is left out. */
export function causeTexts(entry: Pick<Entry, "causes">, history: History): readonly CauseText[] {
  const texts = new Map<string, CauseText>();
  const causes = history.causesOf(entry);
  const isOwnStart = (cause: Entry) => isInitial(cause, history) && isOfPrimary(cause, history);
  const others = causes.some(isOwnStart)
    ? causes.filter((cause) => isOwnStart(cause) || !isInitial(cause, history))
    : causes;
  const important = others.filter((cause) => !isBookkeepingOnly(cause, history));
  for (const cause of important.length > 0 ? important : causes) {
    const text = causeText(cause, history);
    if (text !== undefined && !texts.has(text.text)) texts.set(text.text, text);
  }
  return [...texts.values()];
}

/** True for an object that existed when the process started. */
function isInitial(cause: Entry, history: History): boolean {
  const [list] = cause.kind === "enqueue" ? history.causesOf(cause) : [];
  return list?.kind === "list" && list.isInitial;
}

/** True if the object that the key stands for has led to it: then its dependents that existed, too, do not matter. */
function isOfPrimary(cause: Entry, history: History): boolean {
  const { resource, key } = history.primaryOf(cause.controller, cause.key);
  return cause.kind === "enqueue" && cause.object.resource === resource && cause.object.key === key;
}

/** True if others have noted the state of an object, and changed nothing else: beside other causes that does not matter. */
function isBookkeepingOnly(cause: Entry, history: History): boolean {
  const change = cause.kind === "enqueue" ? history.causesOf(cause)[0] : cause;
  return change?.kind === "change" && hasOnly(change, isBookkeeping);
}

/** True if an update changed the status and nothing else. */
export function hasOnlyStatus(change: ChangeEntry): boolean {
  return hasOnly(change, isOfStatus);
}

/** True if an update changed such fields and nothing else. */
function hasOnly({ change, fields = [] }: ChangeEntry, isSuch: (field: FieldChange) => boolean): boolean {
  return change === "updated" && fields.length > 0 && fields.every(isSuch);
}

/**
 * True for a cause that leads to many reconciles in which nothing is to do: a change of a status, an own write, a list that
 * repeats what is known, a time that has come, a change that an earlier reconcile has seen.
 */
export function isRoutine(cause: Entry, start: ReconcileStartEntry, history: History): boolean {
  const origin = cause.kind === "enqueue" ? history.causesOf(cause)[0] : cause;
  switch (origin?.kind) {
    case "change":
      // With their status, controllers of Kubernetes also write annotations.
      return origin.fields?.some(isOfStatus) === true || history.writeOf(origin) !== undefined ||
        history.hasBegunBefore(start, origin);
    case "list":
      return !origin.isInitial;
    default:
      return true;
  }
}

/** True for a field of the status. */
function isOfStatus({ path }: FieldChange): boolean {
  return /^status\b/.test(path);
}

/**
 * True for a field in which controllers of Kubernetes note the state of an object: of the status, or an annotation such as
 * `deployment.kubernetes.io/revision`, which they write together with it.
 */
export function isBookkeeping(field: FieldChange): boolean {
  return isOfStatus(field) ||
    /^metadata\.annotations\["(deployment|pv|volume|batch|endpoints)\.kubernetes\.io\//.test(field.path);
}

function causeText(entry: Entry, history: History): CauseText | undefined {
  switch (entry.kind) {
    case "enqueue": {
      const origin = history.causesOf(entry).map((cause) => originText(cause, entry.object, history)).find(Boolean);
      const text = entry.role === "source"
        ? `source ${shown(entry.object.resource)} asked for it`
        : `${objectText(entry.object)} changed`;
      const { at, object } = entry;
      return { text, at, object, ...origin, entries: [...origin?.entries ?? [], entry.id] };
    }
    case "change":
    case "list":
    case "queue":
    case "reconcile-end":
    case "error":
      return originText(entry, undefined, history);
    default:
      return undefined;
  }
}

/** @param object The object that was found in a list. */
function originText(entry: Entry, object: ObjectRef | undefined, history: History): CauseText | undefined {
  const { at, id } = entry;
  const one = (text: string, of = object): CauseText => ({ text, at, entries: [id], ...(of && { object: of }) });
  switch (entry.kind) {
    case "change":
      return one(changeText(entry, history), entry.object);
    case "list":
      return one(listText(entry, object));
    case "queue":
      return one(queueText(entry, history));
    case "reconcile-end":
      return one(endText(entry));
    case "error":
      return one(`${shown(entry.what)} failed: ${shown(entry.error)}`, entry.object);
    default:
      return undefined;
  }
}

/** What happened to an object, and who did it. */
export function changeText(entry: ChangeEntry, history: History): string {
  const { object, change, fields = [], moreFields = 0, via } = entry;
  const name = objectText(object);
  const own = ownWriter(entry, history);
  // The server does not say who deletes; the last writer is another one.
  const by = own ??
    (change === "deleted" ? actorText(entry, history) ?? anotherClient : foreignText(entry, history));
  if (change === "added") return via === "list" ? `${name} appeared in a list${by}` : `${name} was created${by}`;
  if (change === "deleted") return via === "list" ? `${name} was missing in a list` : `${name} was deleted${by}`;
  // The one who asks for a deletion is not among the writers of fields.
  if (fields.some(({ path }) => path === "metadata.deletionTimestamp")) {
    return `${name}: its deletion was asked for${own ?? anotherClient}`;
  }
  if (fields.length === 0) return `${name} was written${by}, without a change that is shown`;
  return `${name}: ${fieldsText(fields, moreFields)}${by}`;
}

/** Said of a client that the server does not name. */
const anotherClient = " by another client";
/** Milliseconds by which the clock of the server may differ. */
const maxClockSkewMs = 60_000;

/**
 * Who may have made a change that is not of this process. managedFields tell seconds only, so several may have written in the
 * same one; what changed tells them apart.
 */
function writersOf(entry: ChangeEntry, history: History): readonly FieldManager[] {
  const { change, fields = [], at, via } = entry;
  // Who only removes fields is in no managedFields: then the newest writer is one of long ago.
  const by = (entry.by ?? []).filter(({ time }) =>
    via === "list" || time === undefined || !(Math.abs(at - Date.parse(time)) > maxClockSkewMs)
  );
  const isStatus = hasOnlyStatus(entry);
  // Controllers of Kubernetes also write annotations together with a status.
  const isMixed = !isStatus && fields.some(isOfStatus);
  const fits = by.filter(({ subresource }) =>
    change === "added" ? subresource === undefined : isMixed || (subresource === "status") === isStatus
  );
  const likely = fits.length > 0 ? fits : by;
  const others = likely.filter(({ manager }) => !history.isOwnManager(manager));
  // The answer to an own write may have been lost.
  const chosen = others.length > 0 || !history.hasUnansweredWrite(entry.object) ? others : likely;
  // That a status was written through its subresource goes without saying.
  return isStatus ? chosen.map(({ subresource: _, ...rest }) => rest) : chosen;
}

/** ` by kubectl (kubectl-edit)`; nothing if the server sent no managedFields. */
function foreignText(entry: ChangeEntry, history: History): string {
  return byText(writersOf(entry, history)) || (entry.by === undefined ? "" : anotherClient);
}

/** Who made a change of another client: `kubectl (kubectl-edit)`. Undefined if the server did not say it. */
export function writersText(entry: ChangeEntry, history: History): string | undefined {
  return byText(writersOf(entry, history)).replace(/^ by /, "") || undefined;
}

/** ` by controller foo, for Foo default/a`: the reconcile of this process that made the change. */
function ownWriter(entry: ChangeEntry, history: History): string | undefined {
  const { controller, key } = history.writeOf(entry) ?? senderOf(entry, history) ?? {};
  if (controller === undefined) return undefined;
  const whose = key === undefined ? "" : `, for ${objectText(history.primaryOf(controller, key))}`;
  return ` by controller ${shown(controller)}${whose}`;
}

function listText({ cache, isInitial }: ListEntry, object: ObjectRef | undefined): string {
  const name = object?.key === undefined ? "it" : objectText(object);
  return isInitial ? `${name} existed when the process started` : `${name} was in a new list of ${shown(cache)}`;
}

function queueText(entry: QueueEntry, history: History): string {
  const end = history.causesOf(entry).find((cause) => cause.kind === "reconcile-end");
  const after = entry.delayMs === undefined ? "" : ` after ${durationText(entry.delayMs)}`;
  switch (entry.decision) {
    case "delayed":
      return `its time had come${after}, as its last reconcile had asked`;
    case "backoff":
      return `retried${after}${
        end?.error === undefined ? "" : `, because the last attempt had failed: ${shown(end.error)}`
      }`;
    case "unparked":
      return "its pause was over";
    case "parked":
      return `a change came while it was parked (${shown(entry.reason ?? "no reason given")})`;
    case "withdrawn":
      return "it was asked for while it ran";
    default:
      return entry.decision satisfies never;
  }
}

function endText({ outcome, error, afterMs }: ReconcileEndEntry): string {
  if (outcome === "requeue") return `its last reconcile had asked for it, ${durationText(afterMs ?? 0)} later`;
  return error === undefined
    ? "its last reconcile had ended"
    : `retried, because the last attempt had failed: ${shown(error)}`;
}
