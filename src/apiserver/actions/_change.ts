/** Changing a stored object from inside the server: what an action does is no write of a client's, so nobody owns its fields. */
import {
  conflict,
  type Draft,
  draftOf,
  isJsonObject,
  type Json,
  type JsonObject,
  notFound,
  read,
} from "../model/mod.ts";
import type { ActionCall } from "../registry/mod.ts";

/** Tries before it gives up; each failed one means that somebody else has written. */
const mostAttempts = 100;

/**
 * Changes the object that the call names.
 *
 * @param change gets a draft of the present state
 * @returns the new state; with dry run the one that would be
 * @throws Refusal 404 when there is none, and whatever `change` throws
 */
export function changeStored(call: ActionCall, change: (draft: Draft, present: JsonObject) => void): JsonObject {
  const { kind, namespace, name, registry } = call;
  const subject = { group: kind.group, resource: kind.plural, name };
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const stored = registry.storage.find(kind.collection, namespace, name);
    if (stored === undefined) throw notFound(subject);
    const draft = draftOf(stored.object);
    change(draft, stored.object);
    if (call.isDryRun) return draft;
    const written = registry.storage.update(kind.collection, stored, draft);
    if (written !== undefined) return written.object;
  }
  throw conflict(
    subject,
    "the object has been modified; please apply your changes to the latest version and try again",
  );
}

/** The object under a key of a draft; made where there is none. */
export function part(draft: Draft, key: string): Draft {
  const held = draft[key];
  if (typeof held === "object" && held !== null && !Array.isArray(held)) return held;
  const made: Draft = {};
  draft[key] = made;
  return made;
}

/** The object under a key; an empty one where there is none. */
export function objectIn(object: Readonly<Record<string, Json>>, key: string): JsonObject {
  const value = read<Json>(object, key);
  return isJsonObject(value) ? value : {};
}

/** The text under a key, "" where there is none. */
export function textIn(object: Readonly<Record<string, Json>>, key: string): string {
  const value = read<Json>(object, key);
  return typeof value === "string" ? value : "";
}

/** A time as objects carry it. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
