/**
 * isSameValue(): whether a replayed value is the recorded one. Both are without secrets.
 *
 * A reconciler asks for the time between two entries of the recording, whose times are all that is known. So two times of
 * the same form are the same when both lie in the reconcile: a condition's `lastTransitionTime`, for example.
 */
import type { Plain } from "../../observe/mod.ts";

/** The times between which a reconcile has asked for the time, in milliseconds since the epoch. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** Times are often cut to seconds. */
const roundingMs = 1_000;

/** Compares deeply. */
export function isSameValue(recorded: unknown, replayed: unknown, window: TimeWindow): boolean {
  if (recorded === replayed) return true;
  if (Array.isArray(recorded) && Array.isArray(replayed)) {
    return recorded.length === replayed.length &&
      recorded.every((value, index) => isSameValue(value, replayed[index], window));
  }
  if (isMap(recorded) && isMap(replayed)) {
    const names = Object.keys(recorded);
    return names.length === Object.keys(replayed).length &&
      names.every((name) => Object.hasOwn(replayed, name) && isSameValue(recorded[name], replayed[name], window));
  }
  return isTimeOf(recorded, replayed, window);
}

function isTimeOf(recorded: unknown, replayed: unknown, { from, to }: TimeWindow): boolean {
  if (typeof recorded !== typeof replayed) return false;
  const times = [instantOf(recorded), instantOf(replayed)];
  return times.every((time) => time !== undefined && time >= from - roundingMs && time <= to + roundingMs);
}

/** The time that a value tells: RFC 3339, or milliseconds or seconds since the epoch. */
function instantOf(value: unknown): number | undefined {
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value)) {
    const time = Date.parse(value);
    return Number.isNaN(time) ? undefined : time;
  }
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  if (/^\d{13}$/.test(text)) return Number(text);
  return /^\d{10}$/.test(text) ? Number(text) * 1_000 : undefined;
}

/** A value without times of the reconcile, for a diff that shows only what differs. */
export function withRecordedTimes(recorded: unknown, replayed: unknown, window: TimeWindow): Plain {
  if (isSameValue(recorded, replayed, window)) return recorded as Plain;
  if (Array.isArray(recorded) && Array.isArray(replayed)) {
    return replayed.map((value, index) => withRecordedTimes(recorded[index], value, window));
  }
  if (!isMap(recorded) || !isMap(replayed)) return replayed as Plain;
  return Object.fromEntries(
    Object.entries(replayed).map(([name, value]) => [name, withRecordedTimes(recorded[name], value, window)]),
  );
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
