/**
 * Heads of HTTP/1.1 messages: one parser for the requests of the server and the responses of the client (RFC 9112).
 *
 * Guarantees: a message whose end two programs could see in different places is refused, because request smuggling
 * depends on such differences (security 14). Lines end in CR LF; there are no folded lines, no spaces before a colon and
 * no control characters; a body is announced by one Content-Length or by `Transfer-Encoding: chunked`, never by both.
 * A request is read more strictly than a response: it has exactly one Host, and its framing fields occur once.
 */
import { Buffer } from "node:buffer";

/** Why a request is not served. The peer gets the status before its connection is closed. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  /** The HTTP status. */
  readonly status: number;

  constructor(status: number, state: string) {
    super(`Cannot serve request: ${state}`);
    this.status = status;
  }
}

/** The error of a response whose end is not certain. */
export function responseError(state: string): Error {
  return Object.assign(new Error(`Cannot read response: ${state}`), { code: "EPROTO_HTTP" });
}

/** How the body of a request follows its head. */
export type RequestFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" };

/** How the body of a response follows its head. `untilClose`: it ends when the connection ends. */
export type ResponseFraming = RequestFraming | { readonly kind: "untilClose" };

/** The limits of the head of a request. */
export interface RequestHeadLimits {
  readonly maxHeaderFields: number;
  readonly maxUrlBytes: number;
}

/** The head of a request. */
export interface RequestHead {
  readonly method: string;
  /** The path and query. Begins with a slash. */
  readonly target: string;
  readonly host: string;
  readonly headers: Headers;
  readonly framing: RequestFraming;
  /** False if the peer closes the connection after this request. */
  readonly keepsAlive: boolean;
  /** True if the peer waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
}

/** The head of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: Headers;
  readonly framing: ResponseFraming;
  /** True if the connection may carry another request after this response. */
  readonly keepsAlive: boolean;
}

type MakeError = (state: string) => Error;

const requestError: MakeError = (state) => new RequestError(400, state);

const carriageReturn = 13;
const lineFeed = 10;

/**
 * Finds the end of a head.
 *
 * @param scannedTo The bytes before this index are known to contain no end.
 * @returns the index after the blank line, or -1 if more bytes are needed
 * @throws what `makeError` makes, for a line feed without a carriage return, as soon as it is there
 */
export function findHeadEnd(bytes: Uint8Array, scannedTo: number, makeError: MakeError = requestError): number {
  for (let at = bytes.indexOf(lineFeed, scannedTo); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    if (bytes[at - 1] !== carriageReturn) throw makeError("a line ends without a carriage return");
    if (at === 1 || bytes[at - 2] === lineFeed) return at + 1;
  }
  return -1;
}

const requestLine = /^([A-Z]{1,16}) (\S+) (HTTP\/\d\.\d)$/;
/** The others are refused: Bun makes a GET of a Request with a method that it does not know. */
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const hostName = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
// Visible ASCII except `"#<>\^`{|}`: URL parsing would change a backslash or a fragment.
const targetForm = /^\/[!$-;=?-[\]_a-z~]*$/;
/** These fields occur once in a request: a second one contradicts where the body ends, or which host is meant. */
const uniqueRequestFields: ReadonlySet<string> = new Set(["host", "content-length", "transfer-encoding"]);

/**
 * Parses the head of a request.
 *
 * @param bytes The head with its blank line.
 * @throws RequestError when it breaks a rule or a limit
 */
export function parseRequestHead(bytes: Uint8Array, limits: RequestHeadLimits): RequestHead {
  const lines = linesOf(bytes);
  const { method, target } = parseRequestLine(lines[0] ?? "", limits);
  if (lines.length - 1 > limits.maxHeaderFields) {
    throw new RequestError(431, `more than ${limits.maxHeaderFields} fields`);
  }
  const headers = parseFields(lines, requestError, { form: requestFieldLine, uniqueNames: uniqueRequestFields });
  return {
    method,
    target,
    host: hostOf(headers),
    headers,
    framing: announcedFraming(headers, requestError) ?? { kind: "none" },
    keepsAlive: !closesConnection(headers),
    expectsContinue: expectsContinue(headers),
  };
}

function parseRequestLine(line: string, limits: RequestHeadLimits): { method: string; target: string } {
  const [, method, target, version] = requestLine.exec(line) ?? [];
  if (method === undefined || target === undefined) throw new RequestError(400, "the request line is malformed");
  if (version !== "HTTP/1.1") throw new RequestError(505, "the version is not HTTP/1.1");
  checkTarget(method, target, limits);
  return { method, target };
}

/** Checks what every request names, in each version of HTTP. @throws RequestError */
export function checkTarget(method: string, target: string, limits: Pick<RequestHeadLimits, "maxUrlBytes">): void {
  if (target.length > limits.maxUrlBytes) {
    throw new RequestError(414, `the URL is longer than ${limits.maxUrlBytes} bytes`);
  }
  if (method === "CONNECT" || method === "TRACE") throw new RequestError(405, `the method is ${method}`);
  if (!methods.has(method)) throw new RequestError(501, "the method is unknown");
  if (!targetForm.test(target)) throw new RequestError(400, "the target is not a path");
}

/** The host of a request, with its port. @throws RequestError */
export function hostOf(headers: Headers): string {
  const host = headers.get("host") ?? "";
  if (!hostName.test(host)) throw new RequestError(400, "there is no usable Host field");
  return host;
}

/** True if the client waits for `100 Continue`. @throws RequestError for another expectation */
export function expectsContinue(headers: Headers): boolean {
  const expected = headers.get("expect");
  if (expected === null) return false;
  if (expected.toLowerCase() !== "100-continue") throw new RequestError(417, "the expectation is not 100-continue");
  return true;
}

/** The most bytes of the head of a response; the heads of kube-apiserver have less than one thousand. */
export const maxResponseHeadBytes = 64 * 1024;

/** The most answers with a status below 200 before the answer, as net/http of Go. */
export const maxInterimAnswers = 5;

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;

/**
 * Parses the head of a response.
 *
 * @param bytes The head with its blank line.
 * @param method The method of the request: a response to HEAD has no body.
 * @throws Error when it breaks a rule
 */
export function parseResponseHead(bytes: Uint8Array, method: string): ResponseHead {
  const lines = linesOf(bytes);
  const [, minor, code] = statusLine.exec(lines[0] ?? "") ?? [];
  if (code === undefined) throw responseError("its status line is not one of HTTP/1.1");
  const headers = parseFields(lines, responseError);
  const status = Number(code);
  const isBodiless = method === "HEAD" || status < 200 || status === 204 || status === 205 || status === 304;
  const framing = announcedFraming(headers, responseError, isBodiless) ?? { kind: "untilClose" };
  // A 205 may announce a body, which must be empty; without a length of 0, the bytes behind its head have no known end.
  const hasEnd = framing.kind !== "untilClose" && (status !== 205 || headers.get("content-length") === "0");
  const keepsAlive = minor === "1" && !closesConnection(headers) && hasEnd;
  return { status, headers, framing, keepsAlive };
}

/** The lines of a head, one character for each byte, as `Headers` holds them. */
function linesOf(bytes: Uint8Array): readonly string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.max(0, bytes.length - 4)).toString("latin1");
  return text.split("\r\n");
}

/**
 * A field line of a request. Bytes above 127 have no meaning that programs agree on (RFC 9110, 5.5), and no client of an API
 * server sends them.
 */
const requestFieldLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t -~]*)$/;
/** The form of a field line: a name without a space before its colon, and a value without control characters. */
export const fieldLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t -~\x80-\xff]*)$/;

interface FieldRules {
  readonly form: RegExp;
  readonly uniqueNames: ReadonlySet<string>;
}

const responseFields: FieldRules = { form: fieldLine, uniqueNames: new Set() };

function parseFields(lines: readonly string[], makeError: MakeError, rules = responseFields): Headers {
  const { form, uniqueNames } = rules;
  const headers = new Headers();
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (!form.test(line)) throw makeError("a field of its head is malformed");
    const colon = line.indexOf(":");
    const key = line.slice(0, colon).toLowerCase();
    if (uniqueNames.has(key) && headers.has(key)) throw makeError(`its head has two ${key} fields`);
    headers.append(key, trimmed(line.slice(colon + 1)));
  }
  return headers;
}

/** `value` without the spaces and tabs around it. `trim()` would remove other characters too. */
function trimmed(value: string): string {
  let start = 0, end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** The framing that the fields announce; undefined if they announce none. */
function announcedFraming(headers: Headers, makeError: MakeError, isBodiless = false): RequestFraming | undefined {
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding !== null && length !== null) throw makeError("it has both Content-Length and Transfer-Encoding");
  if (isBodiless) return { kind: "none" };
  if (coding !== null) {
    if (coding.toLowerCase() !== "chunked") throw makeError("its transfer coding is not chunked alone");
    return { kind: "chunked" };
  }
  if (length === null) return undefined;
  if (!/^\d{1,15}$/.test(length)) throw makeError("its Content-Length is not a number");
  return { kind: "length", bytes: Number(length) };
}

function closesConnection(headers: Headers): boolean {
  return /(^|,)\s*close\s*(,|$)/i.test(headers.get("connection") ?? "");
}
