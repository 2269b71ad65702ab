/** The requests that a server passes to its handler, the same in each version of HTTP. */
import { RequestError, type RequestHead } from "./http_head.ts";
import type { ConnectionInfo, ReceivedHead } from "./serve_options.ts";

/** The handler gets a body of known length, however it came. */
export function setLength(headers: Headers, bytes: number): void {
  headers.delete("transfer-encoding");
  headers.set("content-length", String(bytes));
}

/** The error of a request that the memory for bodies has no room for. */
export function bodiesTooLarge(): RequestError {
  return new RequestError(503, "the bodies in memory are too large together");
}

/** The reason of the signal of a request whose client has left. */
export function clientLeft(): DOMException {
  return new DOMException("The client closed the connection", "AbortError");
}

/** What is known of a request without its body. @throws RequestError */
export function receivedHeadOf({ method, headers, host, target }: RequestHead, info: ConnectionInfo): ReceivedHead {
  try {
    return { method, headers, url: new URL(`${originOf(host, info)}${target}`).href };
  } catch {
    throw notValid();
  }
}

/** The request for the handler. @throws RequestError */
export function requestOf(
  head: RequestHead,
  body: Uint8Array<ArrayBuffer> | undefined,
  info: ConnectionInfo,
  signal: AbortSignal,
): Request {
  const { method, headers, host, target } = head;
  try {
    return new Request(`${originOf(host, info)}${target}`, { method, headers, body, signal });
  } catch {
    throw notValid();
  }
}

function originOf(host: string, { isTls }: ConnectionInfo): string {
  return `${isTls ? "https" : "http"}://${host}`;
}

function notValid(): RequestError {
  return new RequestError(400, "the method, the host or the target is not valid in HTTP");
}

/** The response of a handler that has thrown. */
export function internalError(): Response {
  return new Response("Internal error\n", { status: 500, headers: { "content-length": "15" } });
}

/** The response to a request that is not served. */
export function refusalOf({ message, status }: RequestError): Response {
  const text = `${message}\n`;
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": String(text.length) };
  return new Response(text, { status, headers });
}
