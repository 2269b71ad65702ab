/**
 * Reads and writes the fields of objects of built-in kinds.
 *
 * Assumptions: the object has been decoded, so a value has the type of its field or is absent.
 *
 * An absent value reads as the zero value of Go, since the rules of Kubernetes are written for that.
 */
import {
  type Draft,
  draftOf,
  type DraftValue,
  isDraft,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  put,
  read,
} from "../../model/mod.ts";

const nothing: JsonObject = Object.freeze({});
const none: readonly never[] = Object.freeze([]);

/** A string, "" where there is none. */
export function textAt(object: JsonObject, key: string): string {
  const value = read(object, key);
  return typeof value === "string" ? value : "";
}

/** A number, undefined where there is none. */
export function findNumber(object: JsonObject, key: string): number | undefined {
  const value = read(object, key);
  return typeof value === "number" ? value : undefined;
}

/** A number, 0 where there is none. */
export function numberAt(object: JsonObject, key: string): number {
  return findNumber(object, key) ?? 0;
}

/** A boolean, false where there is none. */
export function flagAt(object: JsonObject, key: string): boolean {
  return read(object, key) === true;
}

/** True where the key holds something other than null. */
export function has(object: JsonObject, key: string): boolean {
  return (read(object, key) ?? null) !== null;
}

/** An object, undefined where there is none. */
export function findObject(object: JsonObject, key: string): JsonObject | undefined {
  const value = read(object, key);
  return isJsonObject(value) ? value : undefined;
}

/** An object, an empty one where there is none. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  return findObject(object, key) ?? nothing;
}

/** A list of any values, empty where there is none. */
export function valuesAt(object: JsonObject, key: string): readonly Json[] {
  const value = read(object, key);
  return isJsonArray(value) ? value : none;
}

/** A list of objects, empty where there is none. */
export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const value = read(object, key);
  return isJsonArray(value) ? value.filter(isJsonObject) : none;
}

/** A list of strings, empty where there is none. */
export function textsAt(object: JsonObject, key: string): readonly string[] {
  const value = read(object, key);
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : none;
}

/** A map of strings: labels, annotations, data. */
export function textMapAt(object: JsonObject, key: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(objectAt(object, key)).map(([name, value]) => [name, typeof value === "string" ? value : ""]),
  );
}

/** Follows keys down to an object; empty where one of them leads nowhere. */
export function objectIn(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return keys.reduce(objectAt, object);
}

/** `metadata` of an object. */
export function metadataOf(object: JsonObject): JsonObject {
  return objectAt(object, "metadata");
}

/** The name of an object. */
export function nameOf(object: JsonObject): string {
  return textAt(metadataOf(object), "name");
}

/** A draft within a draft, undefined where there is none. */
export function findDraft(draft: Draft, key: string): Draft | undefined {
  const value = read(draft, key);
  return isDraft(value) ? value : undefined;
}

/** A draft within a draft, made where there is none. */
export function draftAt(draft: Draft, key: string): Draft {
  const known = findDraft(draft, key);
  if (known !== undefined) return known;
  const made: Draft = {};
  put(draft, key, made);
  return made;
}

/** The drafts of a list, none where there is no list. */
export function draftsAt(draft: Draft, key: string): readonly Draft[] {
  const value = read(draft, key);
  return Array.isArray(value) ? value.filter(isDraft) : none;
}

/** Sets a field that is absent. For pointers, which may be zero. */
export function setIfAbsent(draft: Draft, key: string, value: DraftValue): void {
  if (!has(draft, key)) put(draft, key, value);
}

/** Sets a text that is absent or empty. */
export function setIfEmpty(draft: Draft, key: string, value: string): void {
  if (textAt(draft, key) === "") put(draft, key, value);
}

/** Sets a number that is absent or 0. */
export function setIfZero(draft: Draft, key: string, value: number): void {
  if (numberAt(draft, key) === 0) put(draft, key, value);
}

/** Sets a field, or removes it where there is no value. */
function setOrDelete(draft: Draft, key: string, value: DraftValue | undefined): void {
  if (value === undefined) delete draft[key];
  else put(draft, key, value);
}

/** The parts of the metadata that a write of a status leaves alone, where the kind says so. */
const keptMetadata = [
  "deletionTimestamp",
  "generation",
  "selfLink",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
];

/** Puts what the old object has into the draft. */
export function keepField(draft: Draft, old: JsonObject, name: string): void {
  const value = read(old, name);
  setOrDelete(draft, name, value === undefined ? undefined : draftOf(value));
}

/** Puts back the metadata that people write. */
export function keepMetadata(draft: Draft, old: JsonObject, names: readonly string[] = keptMetadata): void {
  const [metadata, before] = [draftAt(draft, "metadata"), metadataOf(old)];
  for (const name of names) keepField(metadata, before, name);
}

/** A text as base64 of its UTF-8. */
export function toBase64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

/** The text that base64 stands for; bytes that are no UTF-8 become U+FFFD. */
export function fromBase64(base64: string): string {
  return new TextDecoder().decode(Uint8Array.fromBase64(base64));
}

/** How many bytes base64 stands for. */
export function base64Bytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, (base64.length / 4) * 3 - padding);
}
