/**
 * From a change in the storage to the event that one watcher sees: what comes into its selection is ADDED, whatever it was
 * before, and what leaves it is DELETED, with the last state that was selected (apiserver `cacher/cache_watcher.go`).
 */
import { atRevision, type Change, StoredObject } from "../storage/mod.ts";
import type { Matcher } from "./label_selector.ts";

/** One event, before it is written out. */
export interface ObjectEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly stored: StoredObject;
}

/** @returns undefined when the change does not concern the watcher */
export function eventOf(change: Change, matches: Matcher | undefined): ObjectEvent | undefined {
  const { kind, current, previous } = change;
  if (matches === undefined) return { type: typeOf(kind), stored: current };
  const isSelected = kind !== "deleted" && matches(current.object);
  const wasSelected = previous !== undefined && matches(previous.object);
  if (isSelected) return { type: wasSelected ? "MODIFIED" : "ADDED", stored: current };
  if (!wasSelected || previous === undefined) return undefined;
  return { type: "DELETED", stored: kind === "deleted" ? current : asOf(previous, change.revision) };
}

function typeOf(kind: Change["kind"]): ObjectEvent["type"] {
  switch (kind) {
    case "added":
      return "ADDED";
    case "modified":
      return "MODIFIED";
    case "deleted":
      return "DELETED";
    default:
      return kind satisfies never;
  }
}

function asOf(stored: StoredObject, revision: number): StoredObject {
  return new StoredObject(stored.key, stored.namespace, revision, atRevision(stored.object, revision));
}
