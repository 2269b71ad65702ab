/**
 * The metadata of a draft: how a body's is read, what the server fills in, and where it must agree with the request.
 * The same for all kinds, as apimachinery's ObjectMeta and apiserver's `registry/rest` have it.
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

/** The types of ObjectMeta's fields. */
const fieldTypes = {
  name: "string",
  generateName: "string",
  namespace: "string",
  selfLink: "string",
  uid: "string",
  resourceVersion: "string",
  generation: "integer",
  creationTimestamp: "string",
  deletionTimestamp: "string",
  deletionGracePeriodSeconds: "integer",
  labels: "strings",
  annotations: "strings",
  ownerReferences: "references",
  finalizers: "list",
  managedFields: "entries",
} as const;

type FieldType = (typeof fieldTypes)[keyof typeof fieldTypes];

const types: ReadonlyMap<string, FieldType> = new Map(Object.entries(fieldTypes));
const referenceTypes: ReadonlyMap<string, "string" | "boolean"> = new Map([
  ["apiVersion", "string"],
  ["kind", "string"],
  ["name", "string"],
  ["uid", "string"],
  ["controller", "boolean"],
  ["blockOwnerDeletion", "boolean"],
]);

/** The metadata of a draft; one without gets an empty one. */
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

/** A text of an object's metadata; "" where there is none. */
export function metadataText(object: JsonObject, field: string): string {
  const value = read(readMetadata(object), field);
  return typeof value === "string" ? value : "";
}

/** A list of texts of an object's metadata, e.g. its finalizers. */
export function metadataTexts(object: JsonObject, field: string): readonly string[] {
  const value = read(readMetadata(object), field);
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/**
 * Drops from a draft's metadata what is unknown and what says nothing: null, and empty texts, lists and maps.
 *
 * @returns what was unknown, for strict decoding
 * @throws Refusal 400 when a field has the wrong type
 */
export function decodeMetadata(draft: Draft, kind: Kind): readonly string[] {
  const title = decodingTitle(kind);
  const unknown: string[] = [];
  const given = read(draft, "metadata");
  if (given !== undefined && given !== null && !isDraft(given)) {
    throw mistyped(title, given, `${kind.kind}.metadata`, "v1.ObjectMeta");
  }
  const metadata = metadataOf(draft);
  for (const [field, value] of Object.entries(metadata)) {
    const type = types.get(field);
    if (type === undefined) unknown.push(`unknown field "metadata.${field}"`);
    if (type === undefined || value === null || isEmpty(value)) delete metadata[field];
    else {checkType(
        { title, path: kind.hasStrategicMerge ? "ObjectMeta.metadata" : "ObjectMeta" },
        field,
        type,
        value,
        unknown,
      );}
  }
  return unknown;
}

function isEmpty(value: DraftValue): boolean {
  if (value === "" || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isDraft(value) && Object.keys(value).length === 0;
}

/** How the real server would say where a value is. */
interface Place {
  readonly title: string;
  readonly path: string;
}

function checkType(place: Place, field: string, type: FieldType, value: DraftValue, unknown: string[]): void {
  const { title } = place;
  const path = `${place.path}.${field}`;
  switch (type) {
    case "string":
      if (typeof value !== "string") throw mistyped(title, value, path, "string");
      return;
    case "integer":
      if (typeof value !== "number" || !Number.isInteger(value)) throw mistyped(title, value, path, "int64");
      return;
    case "strings":
      return checkStrings(title, path, value);
    case "list":
      if (!Array.isArray(value)) throw mistyped(title, value, path, "[]string");
      for (const item of value) if (typeof item !== "string") throw mistyped(title, item, path, "string");
      return;
    case "references":
      if (!Array.isArray(value)) throw mistyped(title, value, path, "[]v1.OwnerReference");
      return value.forEach((item, index) => checkReference(place, item, index, unknown));
    case "entries":
      if (!Array.isArray(value)) throw mistyped(title, value, path, "[]v1.ManagedFieldsEntry");
      return;
    default:
      return type satisfies never;
  }
}

function checkStrings(title: string, path: string, value: DraftValue): void {
  if (!isDraft(value)) throw mistyped(title, value, path, "map[string]string");
  for (const key of Object.keys(value)) {
    const text = value[key] ?? null;
    // Go reads null into a string as "".
    if (text === null) value[key] = "";
    else if (typeof text !== "string") throw mistyped(title, text, path, "string");
  }
}

function checkReference(place: Place, reference: DraftValue, index: number, unknown: string[]): void {
  const { title } = place;
  const path = `${place.path}.ownerReferences`;
  if (!isDraft(reference)) throw mistyped(title, reference, path, "v1.OwnerReference");
  for (const [field, value] of Object.entries(reference)) {
    const type = referenceTypes.get(field);
    if (type === undefined) unknown.push(`unknown field "metadata.ownerReferences[${index}].${field}"`);
    if (type === undefined || value === null) delete reference[field];
    else if (type === "string" ? typeof value !== "string" : typeof value !== "boolean") {
      throw mistyped(title, value, `${path}.${field}`, type === "boolean" ? "bool" : type);
    }
  }
}

function mistyped(title: string, value: DraftValue, path: string, type: string): Error {
  const found = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  const name = found === "boolean" ? "bool" : found;
  return badRequest(`${title}: json: cannot unmarshal ${name} into Go struct field ${path} of type ${type}`);
}

/** How the real server begins to say what is wrong with a body. */
export function decodingTitle(kind: Kind): string {
  return `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}`;
}

/** Takes off a new object what only the server says. */
export function wipeSystemFields(metadata: Draft): void {
  delete metadata["uid"];
  delete metadata["creationTimestamp"];
  delete metadata["deletionTimestamp"];
  delete metadata["deletionGracePeriodSeconds"];
  delete metadata["selfLink"];
}

/** Gives a new object its identity. @param now milliseconds since 1970 */
export function fillSystemFields(metadata: Draft, now: number, random: Random): void {
  metadata["uid"] = newUid(random);
  metadata["creationTimestamp"] = timestamp(now);
}

/** Makes the object's namespace that of the request. @throws Refusal 400 where it says another */
export function matchNamespace(metadata: Draft, namespace: string): void {
  const own = read(metadata, "namespace");
  if (own === namespace) return;
  if (namespace === "") delete metadata["namespace"];
  else if (own === undefined || own === "") metadata["namespace"] = namespace;
  else {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

/** RFC 3339 with whole seconds, as metav1.Time is written. @param at milliseconds since 1970 */
export function timestamp(at: number): string {
  const second = Math.floor(at / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastTimestamp = `${new Date(at).toISOString().slice(0, 19)}Z`;
  }
  return lastTimestamp;
}

/** Writing out a time is slow, and a server asks for the same second thousands of times. */
let lastSecond = NaN;
let lastTimestamp = "";

const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";
/** Names are cut so that the suffix makes 63 at most, as names.simpleNameGenerator. */
const longestPrefix = 58;

/** A name for `generateName`: five more characters, none of them a vowel. */
export function generatedName(prefix: string, random: Random): string {
  let name = prefix.slice(0, longestPrefix);
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
