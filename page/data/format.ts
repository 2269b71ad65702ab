/** Numbers, times and values as text. */
import { escaped } from "../../src/observe/safe_text.ts";
import type { Entry, FieldChange, ObjectRef } from "../../src/observe/mod.ts";

/** `09:12:03`, in UTC as in logs. */
export function timeText(at: number): string {
  return instantText(at).slice(11, 19);
}

/** `09:12:03.045`. */
export function preciseTime(at: number): string {
  return instantText(at).slice(11, 23);
}

/** `2026-11-23 09:12:03 UTC`. */
export function dateText(at: number): string {
  return `${instantText(at).slice(0, 10)} ${timeText(at)} UTC`;
}

function instantText(at: number): string {
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : "at an unknown time     ";
}

/** `3 ms`, `1.2 s`, `5 min`, `2 h`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** `0`, `0.25`, `3.1`, `240`. */
export function numberText(value: number): string {
  if (value === 0) return "0";
  if (value < 0.01) return "<0.01";
  return value < 1 ? value.toFixed(2) : value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en-US");
}

export function countText(value: number, noun: string): string {
  return `${value.toLocaleString("en-US")} ${noun}${value === 1 ? "" : "s"}`;
}

/** `12 KiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  let [value, unit] = [bytes / 1024, 0];
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** A value as it is, or as JSON. */
export function valueText(value: FieldChange["from"]): string {
  return typeof value === "string" ? value.split("\n").map(escaped).join("\n") : JSON.stringify(value) ?? "";
}

export function objectText({ kind, resource, key }: ObjectRef): string {
  return escaped(key === undefined ? resource : `${kind} ${key}`);
}

/** What an entry is about, in a few words. */
export function entryText(entry: Entry): string {
  return escaped(wordsOf(entry));
}

function wordsOf(entry: Entry): string {
  switch (entry.kind) {
    case "change": {
      const { change, fields = [], via, isEcho, moreFields = 0 } = entry;
      const paths = fields.slice(0, 3).map(({ path }) => path);
      const more = fields.length - paths.length + moreFields;
      const changed = paths.length === 0 ? "" : `: ${paths.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
      return `${change}${changed}${isEcho ? ", known already" : ` (${via})`}`;
    }
    case "list":
      return `${countText(entry.objects, "object")} in ${
        entry.isInitial ? "the first" : "a new"
      } list of ${entry.cache}`;
    case "enqueue":
      return {
        queued: "queued",
        rejected: "ignored: the predicate said no",
        "own-write": "ignored: an own write",
        unmapped: "concerns no key",
      }[entry.decision];
    case "queue":
      return queueText(entry);
    case "reconcile-start":
      return `started after ${durationText(entry.waitedMs)} in the queue`;
    case "reconcile-end":
      return `${entry.outcome} in ${durationText(entry.durationMs)}${
        entry.error === undefined ? "" : `: ${entry.error}`
      }`;
    case "read":
      return `read ${objectText(entry.object)} from the ${entry.from}`;
    case "write":
      return `${entry.verb} ${objectText(entry.object)}${entry.subresource ? `, ${entry.subresource}` : ""}: ${
        answerText(entry)
      }`;
    case "event":
      return `${entry.type} ${entry.reason}: ${entry.note}`;
    case "lease":
      return `${entry.lease}: ${entry.state}${entry.holder ? `, held by ${entry.holder}` : ""}`;
    case "review":
      return `${entry.webhook} ${entry.isAllowed ? "accepted" : "refused"}${entry.message ? `: ${entry.message}` : ""}`;
    case "error":
      return `${entry.what}: ${entry.error}`;
    case "cache":
      return `${entry.cache} ${
        entry.state === "following" ? "follows the server" : `waits: ${entry.error ?? entry.reason ?? ""}`
      }`;
    case "activation":
      return `${entry.controller ?? ""} ${entry.isActive ? "watches" : "does not watch"} ${entry.object.resource}${
        entry.reason === undefined ? "" : `: ${entry.reason}`
      }`;
    case "note":
      return `${entry.actor}: ${entry.what}${entry.detail ? ` (${entry.detail})` : ""}`;
    default:
      return "";
  }
}

function queueText({ decision, delayMs, reason, retries }: Extract<Entry, { kind: "queue" }>): string {
  const after = delayMs === undefined ? "" : ` for ${durationText(delayMs)}`;
  if (decision === "backoff") return `held back${after} after ${countText(retries ?? 1, "failure")}`;
  if (decision === "delayed") return `held back${after}, as asked`;
  return `${decision}${reason === undefined ? "" : `: ${reason}`}`;
}

function answerText({ answer, durationMs }: Extract<Entry, { kind: "write" }>): string {
  if (answer.kind !== "failed") return `${answer.kind} in ${durationText(durationMs)}`;
  return `failed${answer.code === undefined ? "" : ` with ${answer.code}`}: ${answer.message}`;
}

/** How an entry is coloured. */
export function entryTone(entry: Entry): "good" | "bad" | "warning" | "busy" | "neutral" {
  switch (entry.kind) {
    case "error":
      return "bad";
    case "reconcile-end":
      return entry.error === undefined ? "good" : "bad";
    case "write":
      return entry.answer.kind === "failed" ? "bad" : "busy";
    case "event":
      return entry.type === "Warning" ? "warning" : "neutral";
    case "cache":
      return entry.state === "waiting" ? "warning" : "neutral";
    case "review":
      return entry.isAllowed ? "neutral" : "bad";
    case "queue":
      return entry.decision === "backoff" || entry.decision === "parked" ? "warning" : "neutral";
    case "note":
      return entry.actor === "violation" ? "bad" : entry.actor === "fault" ? "warning" : "neutral";
    default:
      return "neutral";
  }
}
