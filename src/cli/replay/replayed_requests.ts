/**
 * What a replayed reconciler sends, in the terms of the recording, and the recorded answers as responses. The Client of a
 * replayed attempt sends its requests to functions of this file instead of a server.
 */
import { keyOf } from "../../api/mod.ts";
import { UnreachableError } from "../../client/mod.ts";
import { requestInfo } from "../../manager/mod.ts";
import {
  type FailedAnswer,
  mask,
  maskedObject,
  type Plain,
  type ReadEntry,
  redactText,
  type RequestEntry,
  type WriteEntry,
} from "../../observe/mod.ts";
import type { AnsweredEntry } from "./recorded_attempts.ts";

/** A write without its answer. */
export interface SentWrite {
  /** As in the recording; of a request of the reconciler's own making, its method. */
  readonly verb: string;
  /** Empty for what is no object. */
  readonly resource: string;
  /** Absent if the server is to choose the name, and for a collection. */
  readonly key?: string;
  readonly subresource?: string;
  readonly fieldManager?: string;
  /** Of a patch. */
  readonly contentType?: string;
  /** Of a collection, and of a request of the reconciler's own making: the path and the query. */
  readonly path?: string;
  /** Without secrets. */
  readonly body?: Plain;
}

/** A request of a reconciler, in the terms of the recording. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Plain | undefined;
  /** Present for a read of an object, or of a collection, which has no key. */
  readonly read?: Pick<SentWrite, "resource" | "key" | "subresource">;
  /** Present for a write. */
  readonly write?: SentWrite;
}

const applyType = "application/apply-patch+yaml";

/** Reads a request. */
export async function sentRequest(request: Request): Promise<SentRequest> {
  const { method } = request;
  const { pathname, search, searchParams } = new URL(request.url);
  const path = redactText(`${pathname}${search}`);
  const info = requestInfo(request);
  const text = method === "GET" ? "" : await request.text();
  if (info === undefined || info.verb === "watch") return { method, path, body: bodyOf(text, "") };
  const [plural = "", subresource] = info.resource.split("/");
  const resource = info.group === "" ? plural : `${plural}.${info.group}`;
  const body = bodyOf(text, resource);
  const { namespace, name = nameIn(body) } = info;
  const key = name === undefined ? undefined : keyOf({ metadata: { namespace, name } });
  const target = {
    resource,
    ...(key === undefined ? {} : { key }),
    ...(subresource === undefined ? {} : { subresource }),
  };
  if (info.verb === "get" || info.verb === "list") return { method, path, body, read: target };
  const contentType = request.headers.get("content-type") ?? undefined;
  const fieldManager = searchParams.get("fieldManager") ?? undefined;
  const isPatch = info.verb === "patch";
  return {
    ...{ method, path, body },
    write: {
      verb: isPatch && contentType === applyType ? "apply" : info.verb,
      ...target,
      ...(fieldManager === undefined ? {} : { fieldManager }),
      ...(isPatch && contentType !== undefined ? { contentType } : {}),
      ...(info.verb === "deletecollection" ? { path } : {}),
      ...(body === undefined ? {} : { body }),
    },
  };
}

function bodyOf(text: string, resource: string): Plain | undefined {
  if (text === "") return undefined;
  try {
    return maskedObject(JSON.parse(text), resource);
  } catch {
    return mask;
  }
}

function nameIn(body: Plain | undefined): string | undefined {
  const name = (body as { readonly metadata?: { readonly name?: Plain } } | undefined)?.metadata?.name;
  return typeof name === "string" ? name : undefined;
}

/** The recorded write in the same terms. */
export function recordedWrite(entry: WriteEntry | RequestEntry): SentWrite {
  const { body } = entry;
  const content = body === undefined ? {} : { body };
  if (entry.kind === "request") return { verb: entry.method.toLowerCase(), resource: "", path: entry.path, ...content };
  const { verb, object: { resource, key }, subresource, fieldManager, contentType, path } = entry;
  const isPatch = verb === "patch" || verb === "apply";
  return {
    ...{ verb, resource },
    ...(key === undefined ? {} : { key }),
    ...(subresource === undefined ? {} : { subresource }),
    ...(fieldManager === undefined ? {} : { fieldManager }),
    ...(isPatch && contentType !== undefined ? { contentType } : {}),
    ...(path === undefined ? {} : { path }),
    ...content,
  };
}

/** True for an entry that changes something on the server. */
export function isWrite(entry: AnsweredEntry): entry is WriteEntry | RequestEntry {
  return entry.kind === "write" || (entry.kind === "request" && entry.method !== "GET");
}

/** True when a recorded read is the one that was sent. */
export function isSameRead({ object, subresource, path }: ReadEntry, sent: SentRequest): boolean {
  const { read } = sent;
  if (read === undefined || object.resource !== read.resource || object.key !== read.key) return false;
  return read.key === undefined ? path === sent.path : subresource === read.subresource;
}

/**
 * The answer to a request; undefined if the recording does not have it.
 *
 * @param next The continue token of the next page, for a page of a collection that is not the last one
 * @throws what a request without response throws
 */
export function recordedAnswer(entry: AnsweredEntry, next?: string): Response | undefined {
  switch (entry.kind) {
    case "read":
      return readAnswer(entry, next);
    case "write":
      return writeAnswer(entry);
    case "request":
      if (entry.answer.kind === "failed") return failureAnswer(entry.answer);
      return entry.state === undefined
        ? undefined
        : new Response(typeof entry.state === "string" ? entry.state : JSON.stringify(entry.state));
    default:
      return entry satisfies never;
  }
}

function readAnswer({ failure, state, object }: ReadEntry, next: string | undefined): Response | undefined {
  if (failure !== undefined) return failureAnswer(failure);
  if (object.key !== undefined) {
    // An object that does not exist is no failure.
    return state === undefined ? statusResponse(404, "NotFound", `${object.resource} not found`) : Response.json(state);
  }
  if (!Array.isArray(state)) return undefined;
  const [first] = state;
  const { kind = object.kind, apiVersion = "v1" } = (first ?? {}) as {
    readonly kind?: string;
    readonly apiVersion?: string;
  };
  const metadata = { resourceVersion: "", ...(next === undefined ? {} : { continue: next }) };
  return Response.json({ apiVersion, kind: `${kind}List`, metadata, items: state });
}

function writeAnswer({ answer, state, verb, subresource }: WriteEntry): Response | undefined {
  switch (answer.kind) {
    case "failed":
      return failureAnswer(answer);
    case "removed":
      return Response.json({ apiVersion: "v1", kind: "Status", status: "Success", details: { uid: answer.uid } });
    case "stored":
    case "dry-run":
      // Their answers show no object.
      if (verb === "deletecollection" || subresource === "eviction") {
        return Response.json({ apiVersion: "v1", kind: "Status", status: "Success" });
      }
      return state === undefined ? undefined : Response.json(state, { status: verb === "create" ? 201 : 200 });
    default:
      return answer satisfies never;
  }
}

/** The message of an ApiError has the action before the server's message, and the code after it. */
function failureAnswer({ code, reason, message }: FailedAnswer): Response {
  const [, action = "send the request", text = message] = /^Cannot (.*?): (.*)$/s.exec(message) ?? [];
  if (code === undefined) {
    throw new UnreachableError({ action, reason: { kind: "unreachable", detail: "other" }, state: text });
  }
  return statusResponse(code, reason, text.replace(/ \(\d+(?: [^()]*)?\)$/, ""));
}

function statusResponse(code: number, reason: string | undefined, message: string): Response {
  const status = { apiVersion: "v1", kind: "Status", status: "Failure", code, reason, message };
  return Response.json(status, { status: code >= 400 && code <= 599 ? code : 500 });
}
