/**
 * FrontServer: where a program reaches the API server of its run: HTTPS on loopback, HTTP/1.1 and HTTP/2, JSON and protobuf,
 * tokens and a client certificate. Behind it everything is JSON, because the fault layer reads and changes it there.
 *
 * Guarantees: a request belongs to the process whose token it has; after its end none of its requests passes. A connection
 * that a fault breaks is cut: the program gets no response.
 */
import { decodeProtobuf, encodeProtobuf, protobufType, watchFrame } from "../../apiserver/mod.ts";
import { parseExactJson } from "../../api/mod.ts";
import type { Transport } from "../../client/mod.ts";
import { requestInfo } from "../../manager/mod.ts";
import { type ConnectionInfo, CutConnectionError, serve, type Server } from "../../runtime/mod.ts";
import type { IssuedCertificates } from "../../webhook/mod.ts";
import { collectionOf } from "../engine.ts";

/** Sends a request of a process. @param key `namespace/name` of the object that it creates */
export type SendRequest = (request: Request, key: string | undefined) => Promise<Response>;

/** Options of a {@link FrontServer}. */
export interface FrontServerOptions {
  readonly certificates: IssuedCertificates;
  /** The authority of the certificate of the program. */
  readonly clientCa: string;
  /** How the requests of the process with a token are sent; undefined for an unknown token. */
  readonly senderOf: (token: string) => SendRequest | undefined;
  /** The same for a client certificate. */
  readonly senderOfCertificate: () => SendRequest | undefined;
  /** True for a collection of custom resources, which have no protobuf encoding. */
  readonly isCustom: (collection: string) => boolean;
  /** Serves what no fault applies to: requests that switch to another protocol, as `exec` does. */
  readonly direct: Transport;
  readonly onError: (error: unknown) => void;
}

/** A client may keep many watches open, each of them a connection of HTTP/1.1. */
const limits = { maxConnections: 2_000, maxConcurrentStreams: 1_000, idleTimeoutMs: 0 };

/** Listens on a free port of loopback. */
export async function startFrontServer(options: FrontServerOptions): Promise<Server> {
  const { certificates: { cert, key }, clientCa, onError } = options;
  return await serve({
    handler: (request, connection) => respond(request, connection, options),
    tls: { cert, key, clientCa, requireClientCertificate: false, offersHttp2: true },
    limits,
    // The streams that faults break are errors to the server.
    onError: (error) => isBroken(error) ? undefined : onError(error),
  });
}

async function respond(request: Request, connection: ConnectionInfo, options: FrontServerOptions): Promise<Response> {
  const [, token] = /^bearer (.+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  const send = token === undefined
    ? connection.clientName === undefined ? undefined : options.senderOfCertificate()
    : options.senderOf(token);
  if (send === undefined) return unauthorized();
  if (request.headers.has("upgrade")) {
    // The clients of Java watch by WebSocket, and by HTTP where a server does not know that: the faults of events need that.
    if (requestInfo(request)?.verb === "watch") return new Response(null, { status: 200 });
    return await options.direct(request);
  }
  try {
    const inner = await asJson(request);
    return await asRequested(await send(inner.request, inner.key), request, options.isCustom);
  } catch (error) {
    if (isBroken(error)) throw new CutConnectionError({ cause: error });
    throw error;
  }
}

/** The errors of the fault layer have the code of a broken connection. */
function isBroken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ECONNRESET";
}

/** The same request with a body and an Accept in JSON. */
async function asJson(request: Request): Promise<{ readonly request: Request; readonly key?: string }> {
  const headers = new Headers(request.headers);
  headers.delete("authorization");
  headers.delete("content-length");
  headers.delete("accept-encoding");
  const accept = headers.get("accept");
  if (accept !== null) headers.set("accept", accept.replaceAll(protobufType, "application/json"));
  const { method, url, signal } = request;
  if (request.body === null) return { request: new Request(url, { method, headers, signal }) };
  const bytes = new Uint8Array(await request.arrayBuffer());
  const isProtobuf = headers.get("content-type")?.startsWith(protobufType) === true;
  const text = isProtobuf ? jsonOf(bytes) : new TextDecoder().decode(bytes);
  if (text === undefined) return { request: new Request(url, { method, headers, body: bytes, signal }) };
  if (isProtobuf) headers.set("content-type", "application/json");
  // As bytes: a text would add a content-type where the client sends none, as that of Python does.
  const inner = new Request(url, {
    method,
    headers,
    signal,
    body: isProtobuf ? new TextEncoder().encode(text) : bytes,
  });
  return { request: inner, key: method === "POST" ? createdKey(inner, text) : undefined };
}

/** Undefined for a body that cannot be decoded: the server rejects it. */
function jsonOf(bytes: Uint8Array): string | undefined {
  try {
    return JSON.stringify(decodeProtobuf(bytes));
  } catch {
    return undefined;
  }
}

/** `default/web` or, for a name that the server generates, `default/web-*`. */
function createdKey(request: Request, body: string): string | undefined {
  const info = requestInfo(request);
  if (info === undefined || info.name !== undefined) return undefined;
  const { name, generateName } = metadataOf(body);
  const known = name ?? (generateName === undefined ? undefined : `${generateName}*`);
  return [info.namespace, known].filter((part) => part !== undefined).join("/");
}

function metadataOf(body: string): { readonly name?: string; readonly generateName?: string } {
  try {
    const object: { readonly metadata?: { readonly name?: string; readonly generateName?: string } } | null = JSON
      .parse(body);
    return object?.metadata ?? {};
  } catch {
    return {}; // the server rejects it
  }
}

/** The response in the format that the client prefers. */
async function asRequested(
  response: Response,
  request: Request,
  isCustom: FrontServerOptions["isCustom"],
): Promise<Response> {
  const accept = request.headers.get("accept")?.trimStart() ?? "";
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  if (!accept.startsWith(protobufType) || !isJson || response.body === null) return response;
  const info = requestInfo(request);
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  if (info?.verb === "watch" && response.ok) {
    if (isCustom(collectionOf(info)) && !accept.startsWith(`${protobufType};as=`)) return response;
    headers.set("content-type", `${protobufType};stream=watch`);
    return new Response(response.body.pipeThrough(framesOfLines()), { status: response.status, headers });
  }
  const text = await response.text();
  const bytes = encoded(text);
  if (bytes === undefined) return new Response(text, { status: response.status, headers });
  headers.set("content-type", protobufType);
  headers.set("content-length", String(bytes.length));
  return new Response(bytes, { status: response.status, headers });
}

/** Undefined for a kind that has no protobuf encoding: the client gets JSON. */
function encoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return encodeProtobuf(parseExactJson(text) as WireObject);
  } catch {
    return undefined;
  }
}

type WireObject = Parameters<typeof encodeProtobuf>[0];

/** From lines of JSON to frames of protobuf. */
function framesOfLines(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let rest = "";
  return new TransformStream({
    transform: (chunk, controller) => {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") continue;
        const { type, object } = parseExactJson(line) as { readonly type: string; readonly object: WireObject };
        controller.enqueue(watchFrame(type, encodeProtobuf(object)));
      }
    },
  });
}

function unauthorized(): Response {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "Unauthorized" };
  return Response.json({ ...status, reason: "Unauthorized", code: 401 }, { status: 401 });
}
