/**
 * cacheProblems(): which kinds a process does not see changes of, since when, and why. Caches that wait for the same reason
 * are told together.
 */
import type { CacheEntry, EntryId } from "../observe/mod.ts";
import { credentialsAdvice, permissionAdvice, unreachableAdvice } from "./advice.ts";
import type { History } from "./history.ts";
import { joined, shown, timeText } from "./words.ts";

/** Caches that wait. */
export interface CacheProblem {
  readonly text: string;
  readonly advice?: string;
  /** Since when, milliseconds since the epoch. */
  readonly at: number;
  readonly entries: readonly EntryId[];
}

interface Waiting {
  readonly first: CacheEntry;
  readonly latest: CacheEntry;
}

/** @param needed The resources that matter, e.g. `deployments.apps` @param now decides which times need a date */
export function cacheProblems(history: History, needed: ReadonlySet<string>, now: number): readonly CacheProblem[] {
  const groups = Map.groupBy(waitingCaches(history, needed), ({ latest }) => latest.reason ?? "");
  return [...groups.values()].map((group) => problemOf(group, now));
}

function waitingCaches({ entries }: History, needed: ReadonlySet<string>): readonly Waiting[] {
  const waiting = new Map<string, Waiting>();
  for (const entry of entries) {
    // A cache that is not needed any more has stopped.
    if (entry.kind === "activation" && !entry.isActive) {
      for (const [cache, { latest }] of waiting) {
        if (latest.object.resource === entry.object.resource) waiting.delete(cache);
      }
    }
    if (entry.kind !== "cache" || !needed.has(entry.object.resource)) continue;
    if (entry.state === "following") waiting.delete(entry.cache);
    else waiting.set(entry.cache, { first: waiting.get(entry.cache)?.first ?? entry, latest: entry });
  }
  return [...waiting.values()];
}

function problemOf(group: readonly Waiting[], now: number): CacheProblem {
  const at = Math.min(...group.map(({ first }) => first.at));
  const sorted = group.map(({ latest }) => latest).toSorted((left, right) => left.cache < right.cache ? -1 : 1);
  const caches = joined(sorted.map(({ cache }) => shown(cache)));
  const { reason, error = "" } = sorted[0] ?? {};
  const until = Math.min(...sorted.map((latest) => latest.until ?? Infinity));
  const state = shown(stateIn(error));
  const why = [reasonText(reason), state].filter((text) => text !== "");
  const advice = adviceOf(reason, error);
  const next = until === Infinity ? "" : `; the next attempt is at ${timeText(until, now)}`;
  const text = `changes of ${caches} are not seen since ${timeText(at, now)}${
    why.length === 0 ? "" : `: ${why.join(": ")}`
  }${next}`;
  return {
    text,
    ...(advice && { advice }),
    at,
    entries: group.flatMap(({ first, latest }) => [...new Set([first.id, latest.id])]),
  };
}

/** The part of the message of an error that says what is wrong. The kinds and the server are said already. */
function stateIn(error: string): string {
  const [outer = ""] = error.split(": caused by: ");
  return outer.replace(/^Cannot (list|watch) .*?: /, "").replace(/^Cannot reach the API server at (\S+): /, "$1: ");
}

/** Why a cache waits, in words, by the word for programs. */
const reasons: Readonly<Record<string, string>> = {
  unreachable: "the API server cannot be reached",
  unavailable: "the API server is not available",
  forbidden: "the API server does not allow it",
  unauthorized: "the API server does not accept the credentials",
  missing: "the cluster does not have the kind",
  throttled: "the API server is too busy",
  internal: "the API server has an internal error",
  unreadable: "the API server cannot read one of the objects",
  rejected: "the API server rejects the request",
  stalled: "the API server has become silent",
};

function reasonText(reason = ""): string {
  return (Object.hasOwn(reasons, reason) ? reasons[reason] : undefined) ?? shown(reason);
}

function adviceOf(reason: string | undefined, error: string): string | undefined {
  switch (reason) {
    case "unreachable":
    case "unavailable":
      return unreachableAdvice;
    case "unauthorized":
      return credentialsAdvice;
    case "forbidden":
      return permissionAdvice(error);
    case "missing":
      return "install it: the command install-crds does that for the controllers' own kinds";
    default:
      return undefined;
  }
}
