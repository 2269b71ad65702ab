/**
 * jsonPatch(): the steps (RFC 6902) that turn one JSON value into another, for the answer of a defaulting webhook.
 *
 * Guarantees: equal values give no step; steps touch only what differs, so numbers that JavaScript cannot hold survive in
 * all other fields; they stand in document order and can be applied one after the other; the same two values always give
 * the same steps. An element put into a list is one `add`, not a rewrite of all that follow.
 */
import type { JsonPatchOperation } from "../client/mod.ts";

/** Computes the steps from `before` to `after`. Fields that are undefined count as absent. */
export function jsonPatch(before: unknown, after: unknown): readonly JsonPatchOperation[] {
  const steps: JsonPatchOperation[] = [];
  compare("", before, after, steps);
  return steps;
}

function compare(path: string, before: unknown, after: unknown, steps: JsonPatchOperation[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(path, before, after, steps);
  if (isRecord(before) && isRecord(after)) return compareRecords(path, before, after, steps);
  steps.push({ op: "replace", path, value: after });
}

function compareRecords(
  path: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  steps: JsonPatchOperation[],
): void {
  for (const key of Object.keys(before)) {
    const at = `${path}/${escaped(key)}`;
    if (has(after, key)) compare(at, before[key], after[key], steps);
    else if (before[key] !== undefined) steps.push({ op: "remove", path: at });
  }
  for (const key of Object.keys(after)) {
    if (has(after, key) && !has(before, key)) {
      steps.push({ op: "add", path: `${path}/${escaped(key)}`, value: after[key] });
    }
  }
}

/** What is equal at both ends stays; of the middle, element by element, the surplus is taken out or put in. */
function compareLists(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  steps: JsonPatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isEqual(before[start], after[start])) start++;
  let tail = 0;
  while (tail < shorter - start && isEqual(before[before.length - 1 - tail], after[after.length - 1 - tail])) tail++;
  const oldEnd = before.length - tail, newEnd = after.length - tail;
  const common = Math.min(oldEnd, newEnd);
  for (let at = start; at < common; at++) compare(`${path}/${at}`, before[at], after[at], steps);
  // From the back, so that the indices in front stay true.
  for (let at = oldEnd - 1; at >= common; at--) steps.push({ op: "remove", path: `${path}/${at}` });
  for (let at = common; at < newEnd; at++) steps.push({ op: "add", path: `${path}/${at}`, value: after[at] });
}

function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length &&
      left.every((item, index) => isEqual(item, right[index]));
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  const keys = Object.keys(left).filter((key) => has(left, key));
  return keys.length === Object.keys(right).filter((key) => has(right, key)).length &&
    keys.every((key) => has(right, key) && isEqual(left[key], right[key]));
}

function has(record: Readonly<Record<string, unknown>>, key: string): boolean {
  return Object.hasOwn(record, key) && record[key] !== undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As RFC 6901 wants it. */
function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
