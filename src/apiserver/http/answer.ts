/**
 * Answers: objects, lists, Statuses and warnings as Responses. Where the client takes an object as it is stored, its JSON
 * is sent as it was made when it was written.
 */
import { apiVersionOf } from "../../api/mod.ts";
import { type JsonObject, type Kind, Refusal } from "../model/mod.ts";
import type { Page, Representation } from "../registry/mod.ts";
import { contentTypes, type Format, type Negotiated } from "./media_types.ts";
import { plainTable, type TableOptions, tableOptions, transformList, transformObject } from "./table.ts";
import { yamlText } from "./yaml_text.ts";

/** How an answer shall look. */
export interface AnswerForm {
  readonly negotiated: Negotiated;
  readonly isPretty: boolean;
  readonly table: TableOptions;
  readonly warnings: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const encoder = new TextEncoder();

/** The form that a request asks for. @throws Refusal 400 when its table options make no sense */
export function answerForm(
  negotiated: Negotiated,
  request: Request,
  query: URLSearchParams,
  warnings: ReadonlySet<string>,
  now: number,
): AnswerForm {
  return {
    negotiated,
    isPretty: negotiated.isPretty || asksForPretty(request, query),
    table: negotiated.transform?.kind === "Table" ? tableOptions(query) : plainTable,
    warnings,
    now,
  };
}

/** People with a browser or curl, and whoever says so, get their JSON indented. */
export function asksForPretty(request: Request, query: URLSearchParams): boolean {
  const asked = query.get("pretty");
  if (asked !== null && asked !== "") return ["1", "t", "T", "true", "TRUE", "True"].includes(asked);
  const agent = request.headers.get("user-agent") ?? "";
  return agent.startsWith("curl") || agent.startsWith("Wget") || agent.startsWith("Mozilla/5.0");
}

/** One object of a kind. */
export function objectAnswer(
  kind: Kind,
  result: Representation,
  code: number,
  form: AnswerForm,
): Promise<Response> | Response {
  const { transform } = form.negotiated;
  // Asking for the object would read it from its text again: most stored objects are kept as text alone.
  if (transform === undefined) return textAnswer(undefined, result.json, code, form);
  const isStatus = result.object["kind"] === "Status" && result.object["apiVersion"] === "v1";
  if (isStatus) return textAnswer(result.object, result.json, code, form);
  const object = transformObject(kind, result.object, transform, form.table, form.now);
  return textAnswer(object, undefined, code, form);
}

/** An object that is no object of the kind in the URL: a Scale, a review. */
export function plainAnswer(object: JsonObject, code: number, form: AnswerForm): Promise<Response> | Response {
  return textAnswer(object, undefined, code, form);
}

/** One page of a list. */
export function listAnswer(kind: Kind, page: Page, form: AnswerForm): Promise<Response> | Response {
  const { transform } = form.negotiated;
  const metadata = {
    resourceVersion: String(page.revision),
    // Lists of custom resources always say it, tables of them do not.
    ...(page.continue === "" && (kind.hasStrategicMerge || transform !== undefined) ? {} : { continue: page.continue }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
  if (transform !== undefined) {
    const objects = page.items.map(({ object }) => object);
    const wanted = { transform, options: form.table, now: form.now };
    return textAnswer(transformList(kind, objects, metadata, wanted), undefined, 200, form);
  }
  const head = JSON.stringify({ kind: kind.listKind, apiVersion: apiVersionOf(kind), metadata });
  const items = page.items.map((item) => listItem(kind, item.json)).join(",");
  const json = `${head.slice(0, -1)},"items":[${items}]}`;
  return textAnswer(undefined, json, 200, form);
}

/** Items of built-in kinds do not repeat what the list says already. */
export function listItem(kind: Kind, json: string): string {
  if (!kind.hasStrategicMerge) return json;
  const head = `{"apiVersion":"${apiVersionOf(kind)}","kind":"${kind.kind}",`;
  return json.startsWith(head) ? `{${json.slice(head.length)}` : json;
}

/** Why a request was not done. */
export function refusalAnswer(
  refusal: Refusal,
  format: Format,
  isPretty: boolean,
  warnings: ReadonlySet<string>,
): Promise<Response> | Response {
  const { status } = refusal;
  const { reason, ...rest } = status;
  // The real server leaves an empty reason out.
  const object = reason === undefined || reason === "" ? rest : status;
  const json = JSON.stringify(object);
  const negotiated: Negotiated = { format, isPretty, transform: undefined };
  const form: AnswerForm = { negotiated, isPretty, table: plainTable, warnings, now: 0 };
  return textAnswer(undefined, json, status.code, form, status.details?.retryAfterSeconds);
}

/** A text for people and probes. */
export function plainText(text: string, code = 200): Response {
  return new Response(text, {
    status: code,
    headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  });
}

/** @param json the object's JSON where it is made already @param object may be left out where `json` is given */
function textAnswer(
  object: JsonObject | undefined,
  json: string | undefined,
  code: number,
  form: AnswerForm,
  retryAfterSeconds?: number,
): Promise<Response> | Response {
  const { negotiated, isPretty, warnings } = form;
  if (negotiated.format === "yaml") return yamlAnswer(object ?? JSON.parse(json ?? "null"), code, form);
  const text = isPretty
    ? JSON.stringify(object ?? JSON.parse(json ?? "null"), undefined, 2)
    : json ?? JSON.stringify(object);
  return bytesAnswer(`${text}\n`, code, contentTypes.json, warnings, retryAfterSeconds);
}

async function yamlAnswer(object: JsonObject, code: number, form: AnswerForm): Promise<Response> {
  return bytesAnswer(await yamlText(object), code, contentTypes.yaml, form.warnings);
}

function bytesAnswer(
  text: string,
  code: number,
  contentType: string,
  warnings: ReadonlySet<string>,
  retryAfterSeconds?: number,
): Response {
  const bytes = encoder.encode(text);
  const headers: Record<string, string> = {
    "content-type": contentType,
    "cache-control": "no-cache, private",
    "content-length": String(bytes.byteLength),
  };
  if (retryAfterSeconds !== undefined) headers["retry-after"] = String(retryAfterSeconds);
  const response = new Response(bytes, { status: code, headers });
  for (const warning of warnings) response.headers.append("warning", warningHeader(warning));
  return response;
}

/** `299 - "text"`, as RFC 7234 has it; what a header cannot carry is escaped or dropped. */
export function warningHeader(text: string): string {
  // deno-lint-ignore no-control-regex
  const clean = text.replace(/[\x00-\x1f\x7f]/g, " ").replace(/[^\x20-\x7e]/g, "?");
  return `299 - "${clean.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
