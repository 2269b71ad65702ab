/**
 * Reads the body of a request, as text or bytes within the size limit, as an object of a kind, or as DeleteOptions. It reports
 * duplicate keys, which JSON.parse accepts, rejects JSON that is nested too deeply, and reads YAML and the formats of decoders.
 */
import { parseFiniteJson } from "../../api/mod.ts";
import { knownBodyOf } from "../../runtime/mod.ts";
import {
  badRequest,
  type Draft,
  type DraftValue,
  isDraft,
  jsonError,
  type JsonObject,
  jsonTypeName,
  type Kind,
  numberLiteral,
  parseLiteralJson,
  put,
  read,
  StatusError,
} from "../model/mod.ts";
import { type ParsedBody, summary, unregistered } from "../registry/mod.ts";
import { type BodyText, goText, KnownBody, withoutLoneSurrogates } from "./body_text.ts";
import {
  checkCollections,
  duplicateKeys,
  inTextOrder,
  maxDepth,
  membersOf,
  openingAt,
  renameRepeatedKeys,
  structureOf,
} from "./json_structure.ts";
import { type BodyDecoder, bodyFormat } from "./media_types.ts";
import { parseYaml } from "./yaml.ts";

/** 3 MiB, as --max-resource-write-bytes of kube-apiserver. */
export const maxBodyBytes = 3 * 1024 * 1024;

/** Bytes of a UTF-16 code unit in UTF-8, at most. */
const maxBytesPerUnit = 3;

/** The body as text, as Go reads it. @throws StatusError 413 when it is too large */
export async function readBody(request: Request, limit = maxBodyBytes): Promise<BodyText> {
  const known = knownBodyOf(request);
  if (known !== undefined && known.length * maxBytesPerUnit <= limit) return new KnownBody(known);
  const bytes = await readBytes(request, limit);
  return { text: goText(bytes), bytes };
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
  const body = await readBody(request);
  if (format === "yaml") return await yamlSource(body, kind);
  let first: ParsedBody | undefined = parseJson(body, kind);
  return sourceOf(() => {
    const parsed = first ?? parseJson(body, kind);
    first = undefined;
    return parsed;
  }, body.text.length);
}

function decoded(format: BodyDecoder, bytes: Uint8Array, kind: Kind): Draft {
  try {
    return format.decode(bytes);
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 400) throw error;
    throw unrecognized(kind, new TextDecoder().decode(bytes), error.message);
  }
}

/** @param shown what messages quote, if it is not the text itself */
function parseJson(body: BodyText, kind: Kind, shown = body.text): ParsedBody {
  const { text } = body;
  const { depth, members, collections } = structureOf(text);
  checkCollections(collections);
  if (depth > maxDepth) {
    const why = `json parse error: invalid character '${openingAt(text, maxDepth)}' exceeded max depth`;
    throw unrecognized(kind, shown, `couldn't get version/kind; ${why}`);
  }
  const value = parsedValue(body, kind, shown);
  if (value === null) return { draft: {}, duplicates: [], text: shown };
  if (!isDraft(value)) throw notAnObject(kind, shown, value);
  const order = (problems: readonly string[]) => inTextOrder(text, problems);
  if (members === membersOf(value)) return { draft: value, duplicates: [], text: shown, order };
  const duplicates = duplicateKeys(text).map((path) => `duplicate field ${JSON.stringify(path)}`);
  if (!kind.hasStrategicMerge) return { draft: value, duplicates, text: shown, order };
  return { ...repeatedValues(body, kind, shown), duplicates, text: shown, order };
}

/** Go decodes the second value of a key into the struct or the map that the first one has filled. */
function repeatedValues(body: BodyText, kind: Kind, shown: string): Pick<ParsedBody, "draft" | "firstValues"> {
  const { text, mark } = renameRepeatedKeys(body.text);
  const [draft, firstValues] = [false, true].map((isFirst) => {
    const value = parsedValue({ text, bytes: body.bytes }, kind, shown);
    mergeRepeated(value, mark, isFirst);
    return isDraft(value) ? value : {};
  });
  return { draft: draft ?? {}, firstValues: firstValues ?? {} };
}

/** @param isFirst keeps the first value of a key, and otherwise puts each one over those before it */
function mergeRepeated(value: DraftValue, mark: string, isFirst: boolean): void {
  if (Array.isArray(value)) { for (const item of value) mergeRepeated(item, mark, isFirst); }
  if (!isDraft(value)) return;
  for (const [key, item] of Object.entries(value)) {
    mergeRepeated(item, mark, isFirst);
    const at = key.indexOf(mark);
    if (at < 0) continue;
    delete value[key];
    const name = key.slice(0, at);
    if (!isFirst) put(value, name, over(read(value, name) ?? null, item));
  }
}

function over(before: DraftValue, next: DraftValue): DraftValue {
  if (!isDraft(before) || !isDraft(next)) return next;
  for (const [key, item] of Object.entries(next)) put(before, key, over(read(before, key) ?? null, item));
  return before;
}

function parsedValue(body: BodyText, kind: Kind, shown: string): DraftValue {
  const whole = withoutLoneSurrogates(body.text);
  try {
    // Custom resources are maps, whose numbers are those of JSON.
    return (kind.hasStrategicMerge ? parseLiteralJson(whole) : parseFiniteJson(whole)) as DraftValue;
  } catch {
    throw unrecognized(kind, shown, `couldn't get version/kind; json parse error: ${jsonError(body.text, body.bytes)}`);
  }
}

function notAnObject(kind: Kind, text: string, value: DraftValue): StatusError {
  return unrecognized(kind, text, `couldn't get version/kind; json parse error: ${headError(value)}`);
}

/** Why a value that is no object has no apiVersion and kind. */
function headError(value: DraftValue): string {
  return `json: cannot unmarshal ${jsonTypeName(value)} into Go value of type struct ` +
    '{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
}

function unrecognized(kind: Kind, text: string, why: string): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${summary(text)})`);
}

async function yamlSource(source: BodyText, kind: Kind): Promise<BodySource> {
  const { text } = source;
  const { json, duplicates } = await parseYaml(source, (why) => unrecognized(kind, text, why));
  const body = { text: json(), bytes: source.bytes };
  let first: Draft | undefined = parseJson(body, kind, text).draft;
  return sourceOf(() => {
    const draft = first ?? parseJson(body, kind, text).draft;
    first = undefined;
    return { draft, duplicates, text, order: (problems) => inTextOrder(body.text, problems) };
  }, text.length);
}

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
  if (value === null) return {};
  if (!isDraft(value)) throw badRequest(`couldn't get version/kind; json parse error: ${headError(value)}`);
  for (const field of ["apiVersion", "kind"]) {
    const head = read(value, field) ?? "";
    if (typeof head === "string" && numberLiteral(head) === undefined) continue;
    const why = `json: cannot unmarshal ${jsonTypeName(head)} into Go struct field .${field} of type string`;
    throw badRequest(`couldn't get version/kind; json parse error: ${why}`);
  }
  const kind = read(value, "kind");
  if (kind !== undefined && kind !== "" && kind !== "DeleteOptions") {
    throw badRequest(unregistered(String(kind), String(read(value, "apiVersion") ?? "")));
  }
  return decodeOptions(value);
}

async function readValue(request: Request, decoders: readonly BodyDecoder[]): Promise<DraftValue | undefined> {
  // The Content-Type of an empty body does not matter.
  const bytes = await readBytes(request);
  if (bytes.byteLength === 0) return undefined;
  const format = bodyFormat(request.headers.get("content-type"), decoders);
  if (typeof format === "object") return format.decode(bytes);
  const text = format === "yaml" ? (await parseYaml(bytes, badRequest)).json() : goText(bytes);
  try {
    return parseLiteralJson(withoutLoneSurrogates(text)) as DraftValue;
  } catch {
    throw badRequest(`couldn't get version/kind; json parse error: ${jsonError(text, bytes)}`);
  }
}

/** The types of the fields, as Go names them; `preconditions` has fields of its own. */
const optionTypes: ReadonlyMap<string, string> = new Map([
  ["gracePeriodSeconds", "int64"],
  ["orphanDependents", "bool"],
  ["propagationPolicy", "v1.DeletionPropagation"],
  ["preconditions", "v1.Preconditions"],
  ["dryRun", "[]string"],
  ["ignoreStoreReadErrorWithClusterBreakingPotential", "bool"],
]);
const preconditionTypes: ReadonlyMap<string, string> = new Map([
  ["uid", "types.UID"],
  ["resourceVersion", "string"],
]);

function decodeOptions(draft: Draft): JsonObject {
  checkFields(draft, "DeleteOptions.", optionTypes);
  const dryRun = read(draft, "dryRun");
  for (const item of Array.isArray(dryRun) ? dryRun : []) {
    if (item !== null) checkOption(item, "DeleteOptions.dryRun", "string");
  }
  const preconditions = read(draft, "preconditions");
  if (isDraft(preconditions)) checkFields(preconditions, "Preconditions.preconditions.", preconditionTypes);
  return draft as JsonObject;
}

function checkFields(draft: Draft, path: string, types: ReadonlyMap<string, string>): void {
  for (const [field, type] of types) {
    const value = read(draft, field);
    if (value !== undefined && value !== null) checkOption(value, `${path}${field}`, type);
  }
}

const goTypeOf: Readonly<Record<string, string>> = {
  int64: "number",
  bool: "boolean",
  "[]string": "array",
  "v1.Preconditions": "object",
};

/** @throws StatusError 400 with the message of Go's decoder when a value does not have the type */
function checkOption(value: DraftValue, field: string, type: string): void {
  const literal = typeof value === "string" ? numberLiteral(value) : undefined;
  const expected = goTypeOf[type] ?? "string";
  const found = literal !== undefined || typeof value === "bigint"
    ? "number"
    : Array.isArray(value)
    ? "array"
    : typeof value;
  if (found === expected && literal === undefined) return;
  const shown = found === "boolean"
    ? "bool"
    : literal === undefined || expected !== "number"
    ? found
    : `number ${literal}`;
  throw badRequest(`json: cannot unmarshal ${shown} into Go struct field ${field} of type ${type}`);
}
