/**
 * The head of an HTTP/1.1 answer: its status, its fields, and how its body follows (RFC 9112). Read strictly: an answer
 * whose end two readers could see in different places is an error, never a guess.
 */

/** How the body follows the head. */
export type ResponseFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  /** It ends where the connection does. */
  | { readonly kind: "rest" };

/** A head that was understood. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: Headers;
  readonly framing: ResponseFraming;
  /** The connection may carry another request afterwards. */
  readonly keepsAlive: boolean;
}

/** Most bytes of a head; kube-apiserver's own take less than one thousand. */
export const mostHeadBytes = 64 * 1024;

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;

/**
 * Understands a head.
 *
 * @param text all of it, without the blank line
 * @param method of the request: the answer to HEAD has no body
 * @throws Error when it breaks a rule
 */
export function parseResponseHead(text: string, method: string): ResponseHead {
  const lines = text.split("\r\n");
  const [, minor, code] = statusLine.exec(lines[0] ?? "") ?? [];
  if (code === undefined) throw malformed("its status line is not one of HTTP/1.1");
  const headers = new Headers();
  for (let index = 1; index < lines.length; index++) addField(headers, lines[index] ?? "");
  const status = Number(code);
  const framing = framingOf(headers, status, method);
  const asksToClose = /(^|,)\s*close\s*(,|$)/i.test(headers.get("connection") ?? "");
  return { status, headers, framing, keepsAlive: minor === "1" && !asksToClose && framing.kind !== "rest" };
}

/** The error of an answer that cannot be trusted to end where it seems to. */
export function malformed(state: string): Error {
  return Object.assign(new Error(`Cannot read the answer: ${state}`), { code: "EPROTO_HTTP" });
}

/** A name without space before its colon, and a value without control characters; no folded lines. */
const field = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t -~\x80-\xff]*)$/;

function addField(headers: Headers, line: string): void {
  const [, name, value] = field.exec(line) ?? [];
  if (name === undefined || value === undefined) throw malformed("a field of its head is malformed");
  headers.append(name, value);
}

function framingOf(headers: Headers, status: number, method: string): ResponseFraming {
  const encoding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (encoding !== null && length !== null) throw malformed("it has a length and is chunked");
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return { kind: "none" };
  if (encoding !== null) {
    if (encoding.toLowerCase() !== "chunked") throw malformed("its transfer encoding is not chunked");
    return { kind: "chunked" };
  }
  if (length === null) return { kind: "rest" };
  if (!/^\d{1,15}$/.test(length)) throw malformed("its length is not a number");
  return { kind: "length", bytes: Number(length) };
}
