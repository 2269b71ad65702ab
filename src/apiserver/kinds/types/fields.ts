/**
 * Reads and writes the fields of objects of built-in kinds.
 *
 * Assumptions: the object has been decoded, so a value has the type of its field or is absent.
 *
 * An absent value reads as the zero value of Go, since the rules of Kubernetes are written for that.
 */
import { type Draft, draftOf, type DraftValue, isDraft, type JsonObject, put, read } from "../../model/mod.ts";
import { has, numberAt, objectAt, textAt } from "../../../cel/mod.ts";
import { fromBase64 as decodeBase64, toBase64 as encodeBase64 } from "../../../runtime/mod.ts";

const emptyList: readonly never[] = Object.freeze([]);

/** A map of strings (labels, annotations, data), or an empty one. */
export function textMapAt(object: JsonObject, key: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(objectAt(object, key)).map(([name, value]) => [name, typeof value === "string" ? value : ""]),
  );
}

/** The object at a path of keys, or an empty one. */
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

/** A draft inside of a draft, or undefined. */
export function findDraft(draft: Draft, key: string): Draft | undefined {
  const value = read(draft, key);
  return isDraft(value) ? value : undefined;
}

/** A draft inside of a draft, which is created if it is absent. */
export function draftAt(draft: Draft, key: string): Draft {
  const known = findDraft(draft, key);
  if (known !== undefined) return known;
  const made: Draft = {};
  put(draft, key, made);
  return made;
}

/** The drafts of a list, or none. */
export function draftsAt(draft: Draft, key: string): readonly Draft[] {
  const value = read(draft, key);
  return Array.isArray(value) ? value.filter(isDraft) : emptyList;
}

/** Sets a field that is absent. For Go pointers, whose value may be zero. */
export function setIfAbsent(draft: Draft, key: string, value: DraftValue): void {
  if (!has(draft, key)) put(draft, key, value);
}

/** Sets a string that is absent or empty. */
export function setIfEmpty(draft: Draft, key: string, value: string): void {
  if (textAt(draft, key) === "") put(draft, key, value);
}

/** Sets a number that is absent or 0. */
export function setIfZero(draft: Draft, key: string, value: number): void {
  if (numberAt(draft, key) === 0) put(draft, key, value);
}

/** Sets a field, or removes it when there is no value. */
function setOrDelete(draft: Draft, key: string, value: DraftValue | undefined): void {
  if (value === undefined) delete draft[key];
  else put(draft, key, value);
}

/** The metadata that a write of the status keeps, for kinds that say so. */
const restoredMetadata = [
  "deletionTimestamp",
  "generation",
  "selfLink",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
];

/** Sets a field of the draft to its value in the old object. */
export function restoreField(draft: Draft, old: JsonObject, name: string): void {
  const value = read(old, name);
  setOrDelete(draft, name, value === undefined ? undefined : draftOf(value));
}

/** Sets metadata of the draft to its value in the old object. */
export function restoreMetadata(draft: Draft, old: JsonObject, names: readonly string[] = restoredMetadata): void {
  const [metadata, before] = [draftAt(draft, "metadata"), metadataOf(old)];
  for (const name of names) restoreField(metadata, before, name);
}

/** Encodes the UTF-8 of a text as base64. */
export function toBase64(text: string): string {
  return encodeBase64(text);
}

/** Decodes base64 to a text; invalid UTF-8 becomes U+FFFD. */
export function fromBase64(base64: string): string {
  return new TextDecoder().decode(decodeBase64(base64));
}

/** The number of bytes that base64 encodes. */
export function base64Bytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, (base64.length / 4) * 3 - padding);
}
