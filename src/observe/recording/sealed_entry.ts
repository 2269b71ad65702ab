/**
 * sealed(): an entry as readers get it. Entries are stored as the engine hands them over, because masking costs more than
 * storing, and most entries are never read; whatever is read or leaves the process is sealed first.
 *
 * Guarantees: no text of a sealed entry contains a secret that redact() or maskedObject() knows. The data of Secrets and
 * values under secret names are masked earlier, before an entry is stored.
 */
import { mask, type Plain, redact, redactText } from "../redaction/mod.ts";
import type { Entry, EntryId, FailedAnswer, FieldChange, NewEntry, NotedChange } from "./entries.ts";
import { maskedObject, secrets } from "./masked_object.ts";

/** An entry as it is stored. */
export type StoredEntry = NewEntry & { readonly id: EntryId; readonly at: number };

/** The entry without secrets, as it is read from a file, too: what is absent has no name. */
export function sealed(entry: StoredEntry): Entry {
  return Object.fromEntries(
    Object.entries(masked(entry)).filter(([, value]) => value !== undefined),
  ) as unknown as Entry;
}

function masked(entry: StoredEntry): Entry {
  switch (entry.kind) {
    case "change": {
      const { fields, state, ...rest } = entry;
      return {
        ...rest,
        ...(fields === undefined ? {} : { fields: fields.map(sealedField) }),
        ...(state === undefined ? {} : { state: maskedObject(state, entry.object.resource) }),
      };
    }
    case "write": {
      const { bodyText, state, ...rest } = entry;
      const { resource } = entry.object;
      return {
        ...rest,
        answer: sealedAnswer(entry.answer),
        ...(entry.path === undefined ? {} : { path: redactText(entry.path) }),
        ...(bodyText === undefined ? {} : { body: bodyOf(bodyText, resource) }),
        ...(state === undefined ? {} : { state: maskedObject(state, resource) }),
      };
    }
    case "request": {
      const { bodyText, state, ...rest } = entry;
      const resource = resourceAt(entry.path);
      return {
        ...rest,
        path: redactText(entry.path),
        answer: sealedAnswer(entry.answer),
        ...(bodyText === undefined ? {} : { body: bodyOf(bodyText, resource) }),
        ...(state === undefined ? {} : { state: maskedObject(state, resource) }),
      };
    }
    case "read": {
      if (entry.from === "cache") return entry;
      const { path, failure, state, ...rest } = entry;
      return {
        ...rest,
        ...(path === undefined ? {} : { path: redactText(path) }),
        ...(failure === undefined ? {} : { failure: sealedAnswer(failure) }),
        ...(state === undefined ? {} : { state: sealedRead(state, entry.object.resource) }),
      };
    }
    case "reconcile-end":
    case "lease":
    case "cache":
    case "error":
      return entry.error === undefined ? entry : { ...entry, error: redactText(entry.error) };
    case "event":
      return { ...entry, note: redactText(entry.note) };
    case "queue":
    case "activation":
      return entry.reason === undefined ? entry : { ...entry, reason: redactText(entry.reason) };
    case "review":
      return {
        ...entry,
        ...(entry.message === undefined ? {} : { message: redactText(entry.message) }),
        ...(entry.patch === undefined ? {} : { patch: maskedObject(entry.patch, entry.object.resource) }),
      };
    case "note":
      return {
        ...entry,
        ...(entry.changes === undefined ? {} : { changes: entry.changes.map(sealedChange) }),
        what: redactText(entry.what),
        ...(entry.detail === undefined ? {} : { detail: redactText(entry.detail) }),
      };
    case "list":
    case "enqueue":
    case "reconcile-start":
      return entry;
    default:
      return entry satisfies never;
  }
}

function sealedField({ path, from, to }: FieldChange): FieldChange {
  return {
    path: redactText(path),
    ...(from === undefined ? {} : { from: redact(from) }),
    ...(to === undefined ? {} : { to: redact(to) }),
  };
}

function sealedAnswer<A extends { readonly kind: string } | FailedAnswer>(answer: A): A {
  return "message" in answer ? { ...answer, message: redactText(answer.message) } : answer;
}

function sealedChange(change: NotedChange): NotedChange {
  const { state, object } = change;
  return state === undefined ? change : { ...change, state: maskedObject(state, object.resource) };
}

/** A live read returns an object, or the objects of a collection. */
function sealedRead(state: Plain, resource: string): Plain {
  return Array.isArray(state) ? state.map((object) => maskedObject(object, resource)) : maskedObject(state, resource);
}

/** The name of the resource at a path, as far as it matters: whether it is a Secret. */
export function resourceAt(path: string): string {
  return /\/secrets(?:[/?]|$)/.test(path) ? secrets : "";
}

/** The body of a write as data: every body that the client sends is JSON. */
export function bodyOf(text: string, resource: string): Plain {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return mask;
  }
  return maskedObject(value, resource);
}
