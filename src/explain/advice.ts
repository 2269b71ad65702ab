/**
 * What a user can do about a reconcile: about its failure, and about a change that it has undone.
 *
 * Guarantees: pure; the texts are safe to show (`words.ts`). What is not certain is not advised.
 */
import type {
  ChangeEntry,
  ErrorEntry,
  ObjectRef,
  ReconcileEndEntry,
  ReconcileStartEntry,
  WriteEntry,
} from "../observe/mod.ts";
import { writersText } from "./causes.ts";
import type { History } from "./history.ts";
import { joined, objectText, shown } from "./words.ts";

type FailedWrite = WriteEntry & { readonly answer: Extract<WriteEntry["answer"], { readonly kind: "failed" }> };

/** Most writes of one reconcile that are compared with what it was queued for. */
const maxWrites = 100;
/** Most paths that one sentence names. */
const maxPaths = 3;

/** What a user can do about the failure of a reconcile. Undefined if the error has to say it. */
export function failureAdvice(
  start: ReconcileStartEntry,
  end: ReconcileEndEntry | undefined,
  history: History,
): string | undefined {
  const primary = objectText(history.primaryOf(start.controller, start.key));
  const effects = history.effectsOf(start);
  const foreign = effects.find((effect): effect is ErrorEntry =>
    effect.kind === "error" && effect.reason === "not-controlled"
  );
  if (foreign?.object !== undefined) {
    const object = objectText(foreign.object);
    return `delete or rename ${object}, or change what ${primary} asks for; the controller never changes what it does not own`;
  }
  const failed = effects.findLast((effect): effect is FailedWrite =>
    effect.kind === "write" && effect.answer.kind === "failed"
  );
  const { code, message } = failed?.answer ?? answerIn(end?.error);
  const isFailure = end !== undefined && end.outcome !== "done" && end.outcome !== "requeue" &&
    end.outcome !== "paused";
  if (failed !== undefined || isFailure) {
    const advice = answerAdvice(code, message, primary);
    if (advice !== undefined) return advice;
    if (failed !== undefined && code === undefined && isFailure) return unreachableAdvice;
  }
  if (end?.outcome === "terminal") return `change ${primary}: it is reconciled as soon as it changes`;
  const hasWarned = effects.some((effect) => effect.kind === "event" && effect.type === "Warning");
  if (hasWarned && !isFailure) {
    return `remove the reason of the warning; the next reconcile begins when ${primary}, or what it depends on, changes`;
  }
  if (end?.outcome === "given-up") {
    return `remove the cause, and then change ${primary}, for example an annotation of it`;
  }
  return undefined;
}

/** The code that the message of an error ends with, if it is an answer of the server: `(403 Forbidden)`. */
function answerIn(error = ""): { readonly code: number | undefined; readonly message: string } {
  const [, code] = /\((\d{3}) [A-Za-z]+\)/.exec(error) ?? [];
  return { code: code === undefined ? undefined : Number(code), message: error };
}

function answerAdvice(code: number | undefined, message: string, primary: string): string | undefined {
  switch (code) {
    case 401:
      return credentialsAdvice;
    case 403:
      return isPolicy(message)
        ? `change ${primary}, or the policy of the cluster that the message names`
        : permissionAdvice(message);
    case 409:
      return "nothing, unless it goes on: another client wrote at the same time, and the attempt is repeated with what it wrote";
    case 400:
    case 422:
      return `change ${primary}: the server does not accept what follows from it`;
    default:
      return undefined;
  }
}

/** True if a webhook, a policy or a quota refused it, and not the permissions. */
function isPolicy(message: string): boolean {
  return /denied the request|denied request|violates PodSecurity|exceeded quota/.test(message);
}

/** @param message The answer of the server, which names the account */
export function permissionAdvice(message: string): string {
  const [, user] = /\bUser "([^"]+)"/.exec(message) ?? [];
  const who = user === undefined ? "the account of the process" : shown(user);
  return `give ${who} that permission: the command manifests prints what the controllers need, for kubectl apply`;
}

export const credentialsAdvice = "give the process valid credentials";
export const unreachableAdvice =
  "restore the connection to the API server; the process tries again by itself, and loses nothing";

/** A change by another client that a reconcile has undone. */
export interface UndoneChange {
  readonly object: ObjectRef;
  /** `spec.replicas`; empty for an object that was deleted and is created again. */
  readonly paths: readonly string[];
  /** Who made the change, if the server said it. */
  readonly by: string | undefined;
}

/** The first change of another client that a reconcile has undone. */
export function undoneChange(start: ReconcileStartEntry, history: History): UndoneChange | undefined {
  const writes = history.effectsOf(start).filter((effect): effect is WriteEntry =>
    effect.kind === "write" && effect.answer.kind === "stored"
  ).slice(0, maxWrites);
  for (const change of changesBefore(start, history)) {
    if (history.writeOf(change) !== undefined) continue;
    for (const write of writes) {
      const paths = isSame(write.object, change.object) ? undonePaths(change, history.changeOf(write)) : undefined;
      if (paths !== undefined) return { object: change.object, paths, by: writersText(change, history) };
    }
  }
  return undefined;
}

/** The changes that a reconcile was queued for. */
function changesBefore(start: ReconcileStartEntry, history: History): readonly ChangeEntry[] {
  const causes = history.causesOf(start).flatMap((cause) =>
    cause.kind === "enqueue" ? history.causesOf(cause) : [cause]
  );
  return causes.filter((cause): cause is ChangeEntry => cause.kind === "change");
}

function isSame(left: ObjectRef, right: ObjectRef): boolean {
  return left.resource === right.resource && left.key === right.key;
}

/** The fields that the write has changed back. Undefined if there are none. */
function undonePaths(change: ChangeEntry, written: ChangeEntry | undefined): readonly string[] | undefined {
  if (written === undefined) return undefined;
  if (change.change === "deleted") return written.change === "added" ? [] : undefined;
  const after = new Map(written.fields?.map(({ path, to }) => [path, JSON.stringify(to)]));
  const paths = (change.fields ?? [])
    .filter(({ path, from }) => after.has(path) && after.get(path) === JSON.stringify(from)).map(({ path }) => path);
  return paths.length === 0 ? undefined : paths;
}

/** What to do to make a change stay. @param count how often it was undone in a row */
export function undoAdvice(
  start: ReconcileStartEntry,
  { object, paths, by }: UndoneChange,
  history: History,
  count = 1,
): string {
  const primary = history.primaryOf(start.controller, start.key);
  const who = `controller ${shown(start.controller ?? "")}`;
  if (paths.length === 0) {
    return `to delete ${objectText(object)} for good, delete or change ${
      objectText(primary)
    }, which asks for it; the ` +
      "audit log of the API server has who deleted it";
  }
  const fields = joined([
    ...paths.slice(0, maxPaths).map(shown),
    ...(paths.length > maxPaths ? [`${paths.length - maxPaths} more`] : []),
  ]);
  if (count > 1) {
    const other = by ?? "the other client";
    return `let only one of them write ${fields} of ${objectText(object)}: stop ${other}, or change what ` +
      `${objectText(primary)} asks for`;
  }
  return isSame(object, primary)
    ? `nothing: ${who} decides about ${fields}, so another value does not stay`
    : `to change ${fields} for good, change ${objectText(primary)}: ${who} sets it from there`;
}
