/**
 * Who wrote the newest state of an object, from its `metadata.managedFields`: for the recording, which says who changed what.
 * The client removes managedFields before it parses a line, so they are looked at as text, without their fields.
 */
import type { FieldManager, KubeObject } from "../api/mod.ts";

const managerKey = '"manager":"',
  operationKey = '"operation":"',
  timeKey = '"time":"',
  subresourceKey = '"subresource":"';

/**
 * The managers that wrote last, in the text of managedFields between two places. The time has seconds, so there may be
 * several. Inside of the fields no key has the form of those that are searched: they begin with `f:`, `k:`, `v:`, `i:`.
 */
export function managersIn(text: string, start: number, end: number): readonly FieldManager[] {
  // The places of the newest ones, in pairs: only these are read.
  const newest: number[] = [];
  let newestTime = "";
  for (let at = text.indexOf(managerKey, start); at >= 0 && at < end;) {
    const next = text.indexOf(managerKey, at + managerKey.length);
    const stop = next < 0 || next > end ? end : next;
    const time = valueOf(text, timeKey, at, stop) ?? "";
    if (time >= newestTime) {
      if (time > newestTime) newest.length = 0;
      newestTime = time;
      newest.push(at, stop);
    }
    at = next;
  }
  const managers: FieldManager[] = [];
  for (let index = 0; index < newest.length; index += 2) {
    managers.push(managerAt(text, newest[index] ?? end, newest[index + 1] ?? end, newestTime));
  }
  return managers;
}

function managerAt(text: string, at: number, stop: number, time: string): FieldManager {
  const subresource = valueOf(text, subresourceKey, at, stop);
  return {
    manager: valueOf(text, managerKey, at, stop),
    operation: valueOf(text, operationKey, at, stop) === "Apply" ? "Apply" : "Update",
    ...(time === "" ? {} : { time }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** The text value of the first `key` between two places. */
function valueOf(text: string, key: string, from: number, stop: number): string | undefined {
  const found = text.indexOf(key, from);
  if (found < 0 || found >= stop) return undefined;
  const start = found + key.length;
  const end = text.indexOf('"', start);
  const value = text.slice(start, end < 0 ? stop : end);
  // A short text of its own, because a slice keeps the whole chunk of the connection in memory.
  return value.includes("\\") ? undefined : interned(value);
}

/** The managers that wrote last, of a parsed object. */
export function newestManagers(object: unknown): readonly FieldManager[] | undefined {
  const { managedFields } = (object as KubeObject).metadata;
  if (managedFields === undefined) return undefined;
  const newestTime = managedFields.reduce((newest, { time = "" }) => time > newest ? time : newest, "");
  return managedFields.filter(({ time = "" }) => time === newestTime).map((
    { manager, operation, subresource, time },
  ) => ({
    manager,
    operation,
    ...(time === undefined ? {} : { time }),
    ...(subresource === undefined ? {} : { subresource }),
  }));
}

const maxInterned = 512;
const known = new Map<string, string>();

/** The same text, as a value that shares no memory with a longer one. */
function interned(text: string): string {
  const same = known.get(text);
  if (same !== undefined) return same;
  // JSON.parse makes a new text.
  const own = JSON.parse(JSON.stringify(text)) as string;
  if (known.size >= maxInterned) known.clear();
  known.set(own, own);
  return own;
}
