/**
 * jsonPatch(): computes the JSON patch (RFC 6902) between two values, for the response of a defaulting webhook.
 *
 * Guarantees: equal values give an empty patch. Operations touch only what differs, so numbers that JavaScript cannot
 * hold survive in all other fields. They are in document order, apply one after the other, and are always the same for
 * the same values. A new list element is one `add`, not a rewrite of all elements after it.
 */
import { isJsonObject, isSameScalar, pointerStep, printLosslessJson } from "../api/mod.ts";
import type { JsonPatchOperation } from "../client/mod.ts";

/** Computes the operations from `before` to `after`. Fields that are undefined count as absent. */
export function jsonPatch(before: unknown, after: unknown): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare("", before, after, operations);
  return operations;
}

/** The text of a patch. @throws TypeError that names the field of an operation whose value JSON cannot hold */
export function printPatch(operations: readonly JsonPatchOperation[]): string {
  return `[${operations.map((operation) => printLosslessJson(operation, `set ${operation.path}`)).join(",")}]`;
}

function compare(path: string, before: unknown, after: unknown, operations: JsonPatchOperation[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(path, before, after, operations);
  if (isJsonObject(before) && isJsonObject(after)) return compareRecords(path, before, after, operations);
  operations.push({ op: "replace", path, value: after });
}

function compareRecords(
  path: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  operations: JsonPatchOperation[],
): void {
  for (const key of Object.keys(before)) {
    const value = before[key];
    // As most are: a handler copies what it does not change.
    if (value === after[key]) continue;
    if (has(after, key)) compare(`${path}/${pointerStep(key)}`, value, after[key], operations);
    else if (value !== undefined) operations.push({ op: "remove", path: `${path}/${pointerStep(key)}` });
  }
  for (const key of Object.keys(after)) {
    if (after[key] !== before[key] && has(after, key) && !has(before, key)) {
      operations.push({ op: "add", path: `${path}/${pointerStep(key)}`, value: after[key] });
    }
  }
}

/** Skips the equal elements at both ends; replaces those between one by one, then removes or adds the difference. */
function compareLists(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  operations: JsonPatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isEqual(before[start], after[start])) start++;
  let tail = 0;
  while (tail < shorter - start && isEqual(before[before.length - 1 - tail], after[after.length - 1 - tail])) tail++;
  const oldEnd = before.length - tail, newEnd = after.length - tail;
  const common = Math.min(oldEnd, newEnd);
  for (let at = start; at < common; at++) compare(`${path}/${at}`, before[at], after[at], operations);
  // From the back, so that the indexes before it stay valid.
  for (let at = oldEnd - 1; at >= common; at--) operations.push({ op: "remove", path: `${path}/${at}` });
  for (let at = common; at < newEnd; at++) operations.push({ op: "add", path: `${path}/${at}`, value: after[at] });
}

function isEqual(left: unknown, right: unknown): boolean {
  if (isSameScalar(left, right)) return true;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length &&
      left.every((item, index) => isEqual(item, right[index]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left).filter((key) => has(left, key));
  return keys.length === Object.keys(right).filter((key) => has(right, key)).length &&
    keys.every((key) => has(right, key) && isEqual(left[key], right[key]));
}

function has(record: Readonly<Record<string, unknown>>, key: string): boolean {
  return Object.hasOwn(record, key) && record[key] !== undefined;
}
