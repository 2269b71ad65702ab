/**
 * readBody(): the body of a request as text within the limit, and as JSON: strict where JSON.parse is lenient, shallow
 * where a nesting bomb is deep, YAML where the client writes that.
 */
import {
  badRequest,
  type Draft,
  type DraftValue,
  isDraft,
  jsonError,
  type Kind,
  Refusal,
  utf8Length,
} from "../model/mod.ts";
import { type ParsedBody, summary } from "../registry/mod.ts";
import { duplicateKeys, membersOf, openingAt, structureOf } from "./_json_structure.ts";
import type { BodyDecoder } from "./body_decoder.ts";
import { bodyFormat } from "./media_types.ts";
import { parseYaml } from "./parse_yaml.ts";

/** The largest body, in bytes: 3 MiB, as kube-apiserver's --max-resource-write-bytes. */
export const largestBody = 3 * 1024 * 1024;

/** Deeper values are refused; Go's decoder allows 10000, which no real object comes near. */
export const deepestBody = 1000;

/** The body as text. @throws Refusal 413 when it is too large */
export async function readBody(request: Request, limit = largestBody): Promise<string> {
  checkAnnounced(request, limit);
  const text = await request.text();
  if (text.length > limit || (text.length * 3 > limit && utf8Length(text) > limit)) throw tooLarge(limit);
  return text;
}

/** The body as bytes. @throws Refusal 413 when it is too large */
export async function readBytes(request: Request, limit = largestBody): Promise<Uint8Array> {
  checkAnnounced(request, limit);
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.byteLength > limit) throw tooLarge(limit);
  return bytes;
}

function checkAnnounced(request: Request, limit: number): void {
  if (Number(request.headers.get("content-length") ?? "0") > limit) throw tooLarge(limit);
}

/** 413. */
export function tooLarge(limit: number): Refusal {
  return new Refusal(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`);
}

/** A body that can be parsed as often as a write is tried. */
export type BodySource = () => ParsedBody;

/**
 * Reads a body and makes a source of drafts of it.
 *
 * @param decoders of further formats, if the kind has them
 * @throws Refusal 400 when it is no object, 413 when it is too large, 415 when it is in no known format
 */
export async function bodySource(
  request: Request,
  kind: Kind,
  decoders: readonly BodyDecoder[],
): Promise<BodySource> {
  const format = bodyFormat(request.headers.get("content-type"), decoders);
  if (typeof format === "object") {
    const bytes = await readBytes(request);
    return () => ({ draft: decoded(format, bytes, kind), duplicates: [], text: "" });
  }
  const text = await readBody(request);
  if (format === "yaml") return await yamlSource(text, kind);
  let first: ParsedBody | undefined = parseJson(text, kind);
  return () => {
    const parsed = first ?? parseJson(text, kind);
    first = undefined;
    return parsed;
  };
}

function decoded(format: BodyDecoder, bytes: Uint8Array, kind: Kind): Draft {
  try {
    return format.decode(bytes);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status.code !== 400) throw error;
    throw unrecognized(kind, new TextDecoder().decode(bytes), error.message);
  }
}

function parseJson(text: string, kind: Kind): ParsedBody {
  const { depth, members } = structureOf(text);
  if (depth > deepestBody) {
    const why = `json parse error: invalid character '${openingAt(text, deepestBody)}' exceeded max depth`;
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
    return JSON.parse(text);
  } catch {
    throw unrecognized(kind, text, `couldn't get version/kind; json parse error: ${jsonError(text)}`);
  }
}

function notAnObject(kind: Kind, text: string, value: DraftValue): Refusal {
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

function unrecognized(kind: Kind, text: string, why: string): Refusal {
  return badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${summary(text)})`);
}

async function yamlSource(text: string, kind: Kind): Promise<BodySource> {
  const { value, duplicates } = await parseYaml(text, (why) => unrecognized(kind, text, why));
  const json = JSON.stringify(value);
  const source = parseJson(json, kind);
  let first: Draft | undefined = source.draft;
  return () => {
    const draft = first ?? parseJson(json, kind).draft;
    first = undefined;
    return { draft, duplicates, text };
  };
}
