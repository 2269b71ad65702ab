/**
 * Reads the body of a request, as text or bytes within the size limit, as an object of a kind, or as DeleteOptions. It reports
 * duplicate keys, which JSON.parse accepts, rejects JSON that is nested too deeply, and reads YAML and the formats of decoders.
 */
import { parseFiniteJson } from "../../api/mod.ts";
import {
  badRequest,
  type Draft,
  type DraftValue,
  isDraft,
  isJsonArray,
  isJsonObject,
  type Json,
  jsonError,
  type JsonObject,
  type Kind,
  parseLiteralJson,
  read,
  StatusError,
  utf8Length,
} from "../model/mod.ts";
import { type ParsedBody, summary, unregistered } from "../registry/mod.ts";
import { duplicateKeys, membersOf, openingAt, structureOf } from "./json_structure.ts";
import { type BodyDecoder, bodyFormat } from "./media_types.ts";
import { parseYaml } from "./yaml.ts";

/** 3 MiB, as --max-resource-write-bytes of kube-apiserver. */
export const maxBodyBytes = 3 * 1024 * 1024;

/** The maximum depth of a value. The decoder of Go allows 10000; no real object comes near that. */
export const maxDepth = 1000;

/** The body as text. @throws StatusError 413 when it is too large */
export async function readBody(request: Request, limit = maxBodyBytes): Promise<string> {
  checkAnnounced(request, limit);
  const text = await request.text();
  if (text.length > limit || (text.length * 3 > limit && utf8Length(text) > limit)) throw bodyTooLarge(limit);
  return text;
}

/** The body as bytes. @throws StatusError 413 when it is too large */
export async function readBytes(request: Request, limit = maxBodyBytes): Promise<Uint8Array> {
  checkAnnounced(request, limit);
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.byteLength > limit) throw bodyTooLarge(limit);
  return bytes;
}

function checkAnnounced(request: Request, limit: number): void {
  if (Number(request.headers.get("content-length") ?? "0") > limit) throw bodyTooLarge(limit);
}

/** Objects and lists of a body. Each costs ten microseconds where a kind has many defaults and rules. */
const maxCollections = 120_000;

/** @throws StatusError 413 when a body has too many objects and lists */
export function checkCollections(count: number): void {
  if (count <= maxCollections) return;
  const message = `Request entity too large: it has more than ${maxCollections} objects and lists`;
  throw new StatusError(413, "RequestEntityTooLarge", message);
}

/** 413. */
export function bodyTooLarge(limit: number): StatusError {
  return new StatusError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`);
}

/** Parses the body again for each attempt of a write. */
export interface BodySource {
  (): ParsedBody;
  /** True for a body whose work should be done in several turns of the event loop. */
  readonly isLarge: boolean;
}

/** Characters of a body whose work is done in several turns: 20 ms for each step. */
const largeBody = 256 * 1024;

function sourceOf(source: () => ParsedBody, size: number): BodySource {
  return Object.assign(source, { isLarge: size > largeBody });
}

/** True for a text that has the work of a large body. */
export function isLargeText(text: string): boolean {
  return text.length > largeBody;
}

/**
 * Reads a body, and returns a source of drafts.
 *
 * @param decoders of further formats, if the kind has any
 * @throws StatusError 400 when it is not an object, 413 when it is too large, 415 when its format is unknown
 */
export async function bodySource(
  request: Request,
  kind: Kind,
  decoders: readonly BodyDecoder[],
): Promise<BodySource> {
  const format = bodyFormat(request.headers.get("content-type"), decoders);
  if (typeof format === "object") {
    const bytes = await readBytes(request);
    return sourceOf(() => ({ draft: decoded(format, bytes, kind), duplicates: [], text: "" }), bytes.byteLength);
  }
  const text = await readBody(request);
  if (format === "yaml") return await yamlSource(text, kind);
  let first: ParsedBody | undefined = parseJson(text, kind);
  return sourceOf(() => {
    const parsed = first ?? parseJson(text, kind);
    first = undefined;
    return parsed;
  }, text.length);
}

function decoded(format: BodyDecoder, bytes: Uint8Array, kind: Kind): Draft {
  try {
    return format.decode(bytes);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 400) throw error;
    throw unrecognized(kind, new TextDecoder().decode(bytes), error.message);
  }
}

function parseJson(text: string, kind: Kind): ParsedBody {
  const { depth, members, collections } = structureOf(text);
  checkCollections(collections);
  if (depth > maxDepth) {
    const why = `json parse error: invalid character '${openingAt(text, maxDepth)}' exceeded max depth`;
    throw unrecognized(kind, text, `couldn't get version/kind; ${why}`);
  }
  const value = parsedValue(text, kind);
  if (value === null) return { draft: {}, duplicates: [], text };
  if (!isDraft(value)) throw notAnObject(kind, text, value);
  const duplicates = members === membersOf(value) ? [] : duplicateKeys(text).map((path) => `duplicate field "${path}"`);
  return { draft: value, duplicates, text };
}

function parsedValue(text: string, kind: Kind): DraftValue {
  try {
    // Custom resources are maps, whose numbers are those of JSON.
    return (kind.hasStrategicMerge ? parseLiteralJson(text) : parseFiniteJson(text)) as DraftValue;
  } catch {
    throw unrecognized(kind, text, `couldn't get version/kind; json parse error: ${jsonError(text)}`);
  }
}

function notAnObject(kind: Kind, text: string, value: DraftValue): StatusError {
  const type = Array.isArray(value)
    ? "array"
    : value === null
    ? "null"
    : typeof value === "boolean"
    ? "bool"
    : typeof value;
  const why = `json: cannot unmarshal ${type} into Go value of type struct ` +
    '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  return unrecognized(kind, text, `couldn't get version/kind; json parse error: ${why}`);
}

function unrecognized(kind: Kind, text: string, why: string): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${summary(text)})`);
}

async function yamlSource(text: string, kind: Kind): Promise<BodySource> {
  const { json, duplicates } = await parseYaml(text, (why) => unrecognized(kind, text, why));
  const source = parseJson(json, kind);
  let first: Draft | undefined = source.draft;
  return sourceOf(() => {
    const draft = first ?? parseJson(json, kind).draft;
    first = undefined;
    return { draft, duplicates, text };
  }, text.length);
}

const fieldTypes: ReadonlyMap<string, string> = new Map([
  ["gracePeriodSeconds", "number"],
  ["orphanDependents", "boolean"],
  ["propagationPolicy", "string"],
]);

/**
 * Reads DeleteOptions.
 *
 * @returns undefined when there is no body
 * @throws StatusError 400 when it is another object, 415 when its format is unknown
 */
export async function readDeleteOptions(
  request: Request,
  decoders: readonly BodyDecoder[],
): Promise<JsonObject | undefined> {
  const value = await readValue(request, decoders);
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) throw badRequest("decoded object cannot be converted to DeleteOptions");
  const kind = read(value, "kind");
  if (kind !== undefined && kind !== "" && kind !== "DeleteOptions") {
    throw badRequest(unregistered(String(kind), String(read(value, "apiVersion") ?? "")));
  }
  for (const [field, type] of fieldTypes) checkType(value, field, type);
  const dryRun = read(value, "dryRun");
  if (dryRun !== undefined && dryRun !== null && !isJsonArray(dryRun)) throw mistyped("dryRun", dryRun, "[]string");
  return value;
}

async function readValue(request: Request, decoders: readonly BodyDecoder[]): Promise<Json | undefined> {
  // The Content-Type of an empty body does not matter.
  const bytes = await readBytes(request);
  if (bytes.byteLength === 0) return undefined;
  const format = bodyFormat(request.headers.get("content-type"), decoders);
  if (typeof format === "object") return format.decode(bytes);
  const text = new TextDecoder().decode(bytes);
  return format === "yaml" ? (await parseYaml(text, badRequest)).value : parse(text);
}

function parse(text: string): Json {
  try {
    return parseFiniteJson(text) as Json;
  } catch {
    throw badRequest(`couldn't get version/kind; json parse error: ${jsonError(text)}`);
  }
}

function checkType(options: JsonObject, field: string, type: string): void {
  const value = read(options, field);
  if (value === undefined || value === null || typeof value === type) return;
  throw mistyped(field, value, type === "number" ? "int64" : type === "boolean" ? "bool" : type);
}

function mistyped(field: string, value: Json, type: string): Error {
  const found = isJsonArray(value) ? "array" : typeof value;
  return badRequest(`json: cannot unmarshal ${found} into Go struct field DeleteOptions.${field} of type ${type}`);
}
