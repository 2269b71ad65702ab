/**
 * The metadata of a draft: decoding (`object_meta.ts`), the fields that the server sets, and the fields that must match the request. It is the
 * same for all kinds, as in ObjectMeta of apimachinery and `registry/rest` of apiserver.
 */
import type { Random } from "../../async/mod.ts";
import {
  badRequest,
  type Draft,
  type DraftValue,
  isDraft,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type Kind,
  read,
} from "../model/mod.ts";
import { decodeObjectMeta, mistyped, ObjectMetaError } from "./object_meta.ts";

/** The metadata of a draft; adds an empty one if it is missing. */
export function metadataOf(draft: Draft): Draft {
  const metadata = read(draft, "metadata");
  if (isDraft(metadata)) return metadata;
  const empty: Draft = {};
  draft["metadata"] = empty;
  return empty;
}

/** The metadata of an object. */
export function readMetadata(object: JsonObject): JsonObject {
  const metadata = read(object, "metadata");
  return isJsonObject(metadata) ? metadata : {};
}

/** A text field of the metadata; "" when absent. */
export function metadataText(object: JsonObject, field: string): string {
  const value = read(readMetadata(object), field);
  return typeof value === "string" ? value : "";
}

/** A list of texts in the metadata, e.g. the finalizers. */
export function metadataTexts(object: JsonObject, field: string): readonly string[] {
  const value = read(readMetadata(object), field);
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/**
 * Drops unknown and empty fields from the metadata of a draft: null, and empty texts, lists and maps.
 *
 * @param isApplied of a custom resource that is applied, wrong values of fields that only the server sets are dropped
 * @returns the unknown fields, for strict decoding
 * @throws StatusError 400 when a field has the wrong type
 */
export function decodeMetadata(draft: Draft, kind: Kind, isApplied = false): readonly string[] {
  const given = read(draft, "metadata");
  const isBuiltIn = kind.hasStrategicMerge;
  try {
    if (given !== undefined && given !== null && !isDraft(given)) {
      throw mistyped(given, isBuiltIn ? `${kind.kind}.metadata` : "", "v1.ObjectMeta");
    }
    const path = isBuiltIn ? "ObjectMeta.metadata" : "ObjectMeta";
    const unknown = decodeObjectMeta(metadataOf(draft), { path, dropsMalformed: isApplied && !isBuiltIn });
    return unknown.map((field) => `unknown field "metadata.${field}"`);
  } catch (error) {
    if (error instanceof ObjectMetaError) throw badRequest(`${decodingTitle(kind)}: ${error.message}`);
    throw error;
  }
}

/** The start of a decoding error of kube-apiserver. */
export function decodingTitle(kind: Kind): string {
  return `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}`;
}

/** Removes fields that only the server sets from a new object. */
export function wipeSystemFields(metadata: Draft): void {
  delete metadata["uid"];
  delete metadata["creationTimestamp"];
  delete metadata["deletionTimestamp"];
  delete metadata["deletionGracePeriodSeconds"];
  delete metadata["selfLink"];
}

/** Sets UID and creationTimestamp of a new object. @param now milliseconds since 1970 */
export function fillSystemFields(metadata: Draft, now: number, random: Random): void {
  metadata["uid"] = newUid(random);
  metadata["creationTimestamp"] = timestamp(now);
}

/** Sets the namespace of the request in the object. @throws StatusError 400 when the object has another namespace */
export function matchNamespace(metadata: Draft, namespace: string): void {
  const own = read(metadata, "namespace");
  if (own === namespace) return;
  if (namespace === "") delete metadata["namespace"];
  else if (own === undefined || own === "") metadata["namespace"] = namespace;
  else {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

/** A time in RFC 3339 with whole seconds, as metav1.Time. @param at milliseconds since 1970 */
export function timestamp(at: number): string {
  const second = Math.floor(at / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastTimestamp = `${new Date(at).toISOString().slice(0, 19)}Z`;
  }
  return lastTimestamp;
}

/** Formatting a time is slow, and a server formats the same second thousands of times. */
let lastSecond = NaN;
let lastTimestamp = "";

const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";
/** Leaves 5 of 63 characters for the suffix, as names.simpleNameGenerator. */
const maxPrefixLength = 58;

/** A name for `generateName`: the prefix and five characters without vowels. */
export function generatedName(prefix: string, random: Random): string {
  let name = prefix.slice(0, maxPrefixLength);
  for (let count = 0; count < 5; count++) name += suffixAlphabet[Math.floor(random.next() * suffixAlphabet.length)];
  return name;
}

/** A random UUID (version 4). */
export function newUid(random: Random): string {
  const first = hex8(random);
  const second = hex8(random);
  const third = hex8(random);
  const fourth = hex8(random);
  const variant = (8 + (parseInt(third[0] ?? "0", 16) & 3)).toString(16);
  return `${first}-${second.slice(0, 4)}-4${second.slice(5)}-${variant}${third.slice(1, 4)}-${third.slice(4)}${fourth}`;
}

function hex8(random: Random): string {
  return (Math.floor(random.next() * 2 ** 32) >>> 0).toString(16).padStart(8, "0");
}

/** Drops duplicate owner references, as kube-apiserver does since 1.20. @param warn gets a warning with the UIDs */
export function dropDuplicateOwners(draft: Draft, isAfterAdmission: boolean, warn: (text: string) => void): void {
  const metadata = metadataOf(draft);
  const references = read(metadata, "ownerReferences");
  if (!Array.isArray(references) || references.length < 2) return;
  const known = new Set<string>();
  const [unique, repeated]: [DraftValue[], DraftValue[]] = [[], []];
  for (const reference of references) {
    const text = canonicalText(reference);
    (known.has(text) ? repeated : unique).push(reference);
    known.add(text);
  }
  if (repeated.length === 0) return;
  const uids = repeated.map((reference) => uidOf(reference));
  metadata["ownerReferences"] = unique;
  const when = isAfterAdmission ? "duplicate entries after mutating admission happens" : "duplicate entries";
  warn(
    `.metadata.ownerReferences contains ${when}; API server dedups owner references in 1.20+, and may reject such ` +
      `requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids.join(", ")}`,
  );
}

/** The same text for equal references. Their fields are scalars. */
function canonicalText(reference: DraftValue): string {
  return isDraft(reference) ? JSON.stringify(Object.entries(reference).sort(byKey)) : JSON.stringify(reference);
}

function byKey([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}

function uidOf(reference: unknown): string {
  if (typeof reference !== "object" || reference === null || !("uid" in reference)) return "";
  return typeof reference.uid === "string" ? reference.uid : "";
}
