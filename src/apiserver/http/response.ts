/**
 * Responses with objects, lists, Statuses and warnings. An object in its stored version is sent as the JSON that the storage
 * has, or as its protobuf message (encoded_messages.ts), without parsing or writing it again.
 */
import { apiVersionOf, parseExactJson, printExactJson } from "../../api/mod.ts";
import { rememberText } from "../../runtime/mod.ts";
import { type JsonObject, type Kind, StatusError } from "../model/mod.ts";
import { encodeList, encodeProtobuf } from "../protobuf/mod.ts";
import type { Page, Representation } from "../registry/mod.ts";
import { encodedMessage, encodedObject } from "./encoded_messages.ts";
import { contentTypes, type Format, type Negotiated } from "./media_types.ts";
import { plainTable, type TableOptions, tableOptions, transformList, transformObject } from "./table.ts";
import { warningHeaders } from "./warnings.ts";
import { yamlText } from "./yaml.ts";

/** The format of a response. */
export interface ResponseFormat {
  readonly negotiated: Negotiated;
  readonly isPretty: boolean;
  readonly table: TableOptions;
  readonly warnings: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const encoder = new TextEncoder();

/** The format that a request requires. @throws StatusError 400 when its table options make no sense */
export function responseFormat(
  negotiated: Negotiated,
  request: Request,
  query: URLSearchParams,
  warnings: ReadonlySet<string>,
  now: number,
): ResponseFormat {
  return {
    negotiated,
    isPretty: negotiated.isPretty || isPrettyRequested(request, query),
    table: negotiated.transform?.kind === "Table" ? tableOptions(query) : plainTable,
    warnings,
    now,
  };
}

/** True for indented JSON: with `pretty`, and for browsers, curl and Wget. */
export function isPrettyRequested(request: Request, query: URLSearchParams): boolean {
  const pretty = query.get("pretty");
  if (pretty !== null && pretty !== "") return ["1", "t", "T", "true", "TRUE", "True"].includes(pretty);
  const agent = request.headers.get("user-agent") ?? "";
  return agent.startsWith("curl") || agent.startsWith("Wget") || agent.startsWith("Mozilla/5.0");
}

/** A response with one object of a kind. */
export function objectResponse(
  kind: Kind,
  result: Representation,
  code: number,
  format: ResponseFormat,
): Promise<Response> | Response {
  const { transform } = format.negotiated;
  // `result.object` would parse the text again: most stored objects exist only as text.
  if (transform === undefined) {
    if (format.negotiated.format === "protobuf") return protobufResponse(encodedObject(result), code, format);
    return textResponse(undefined, result.json, code, format);
  }
  const isStatus = result.object["kind"] === "Status" && result.object["apiVersion"] === "v1";
  if (isStatus) return textResponse(result.object, result.json, code, format);
  const object = transformObject(kind, result.object, transform, format.table, format.now);
  return textResponse(object, undefined, code, format);
}

/** A response with an object that is not of the kind in the URL: a Scale or a review. */
export function plainObjectResponse(
  object: JsonObject,
  code: number,
  format: ResponseFormat,
): Promise<Response> | Response {
  return textResponse(object, undefined, code, format);
}

/** A response with one page of a list. @param shard the shard selector that was applied */
export function listResponse(
  kind: Kind,
  page: Page,
  format: ResponseFormat,
  shard?: string,
): Promise<Response> | Response {
  const { transform } = format.negotiated;
  const metadata = {
    ...(page.revision === undefined ? {} : { resourceVersion: String(page.revision) }),
    // Lists of custom resources always have the field, their tables do not.
    ...(page.continue === "" && (kind.hasStrategicMerge || transform !== undefined) ? {} : { continue: page.continue }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
    // Neither lists of custom resources nor tables have the field.
    ...(shard === undefined || !kind.hasStrategicMerge || transform !== undefined
      ? {}
      : { shardInfo: { selector: shard } }),
  };
  if (transform !== undefined) {
    const objects = page.items.map(({ object }) => object);
    const target = { transform, options: format.table, now: format.now };
    return textResponse(transformList(kind, objects, metadata, target), undefined, 200, format);
  }
  if (format.negotiated.format === "protobuf") {
    const items = page.items.map(encodedMessage);
    return protobufResponse(encodeList(apiVersionOf(kind), kind.listKind, metadata, items), 200, format);
  }
  const head = JSON.stringify({ kind: kind.listKind, apiVersion: apiVersionOf(kind), metadata });
  const items = page.items.map((item) => listItem(kind, item.json)).join(",");
  const json = `${head.slice(0, -1)},"items":[${items}]}`;
  return textResponse(undefined, json, 200, format);
}

/** Items of built-in kinds do not repeat apiVersion and kind of the list. */
export function listItem(kind: Kind, json: string): string {
  if (!kind.hasStrategicMerge) return json;
  const head = `{"apiVersion":"${apiVersionOf(kind)}","kind":"${kind.kind}",`;
  return json.startsWith(head) ? `{${json.slice(head.length)}` : json;
}

/** The response to a rejected request. */
export function statusErrorResponse(
  error: StatusError,
  format: Format,
  isPretty: boolean,
  warnings: ReadonlySet<string>,
): Promise<Response> | Response {
  const { status } = error;
  const { reason, ...rest } = status;
  // kube-apiserver leaves out an empty reason.
  const object = reason === undefined || reason === "" ? rest : status;
  const json = JSON.stringify(object);
  const negotiated: Negotiated = { format, isPretty, transform: undefined };
  const full: ResponseFormat = { negotiated, isPretty, table: plainTable, warnings, now: 0 };
  return textResponse(undefined, json, status.code, full, status.details?.retryAfterSeconds);
}

/** A response with plain text. */
export function plainText(text: string, code = 200): Response {
  return new Response(text, {
    status: code,
    headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  });
}

/** A scrape of metrics. Names have no characters that Prometheus would have to escape. */
export function metricsText(text: string): Response {
  return new Response(text, {
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8; escaping=underscores" },
  });
}

/** @param object may be absent when `json` is present @param json the JSON of the object, if it exists already */
function textResponse(
  object: JsonObject | undefined,
  json: string | undefined,
  code: number,
  format: ResponseFormat,
  retryAfterSeconds?: number,
): Promise<Response> | Response {
  const { negotiated, isPretty, warnings } = format;
  const parsed = () => object ?? parseExactJson(json ?? "null") as JsonObject;
  if (negotiated.format === "yaml") return yamlResponse(parsed(), code, format);
  if (negotiated.format === "protobuf") {
    return protobufResponse(encodeProtobuf(parsed()), code, format, retryAfterSeconds);
  }
  const text = isPretty ? printExactJson(parsed(), 2) : json ?? printExactJson(object);
  const line = `${text}\n`;
  return rememberText(bytesResponse(encoder.encode(line), code, contentTypes.json, warnings, retryAfterSeconds), line);
}

async function yamlResponse(object: JsonObject, code: number, format: ResponseFormat): Promise<Response> {
  return bytesResponse(encoder.encode(await yamlText(object)), code, contentTypes.yaml, format.warnings);
}

function protobufResponse(
  bytes: Uint8Array<ArrayBuffer>,
  code: number,
  format: ResponseFormat,
  retryAfterSeconds?: number,
): Response {
  return bytesResponse(bytes, code, contentTypes.protobuf, format.warnings, retryAfterSeconds);
}

function bytesResponse(
  bytes: Uint8Array<ArrayBuffer>,
  code: number,
  contentType: string,
  warnings: ReadonlySet<string>,
  retryAfterSeconds?: number,
): Response {
  const headers: Record<string, string> = {
    "content-type": contentType,
    "cache-control": "no-cache, private",
    "content-length": String(bytes.byteLength),
  };
  if (retryAfterSeconds !== undefined) headers["retry-after"] = String(retryAfterSeconds);
  const response = new Response(bytes, { status: code, headers });
  for (const warning of warningHeaders(warnings)) response.headers.append("warning", warning);
  return response;
}
