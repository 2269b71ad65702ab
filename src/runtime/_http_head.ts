/**
 * The head of an HTTP/1.1 request: request line and fields, read strictly (RFC 9112). Whatever two servers in a row could
 * read in different ways is refused: that is what request smuggling lives on (behaviours.md, security 14).
 *
 * Guarantees: one way to write each thing. Lines end in CR LF; no folding, no space before a colon, no control
 * characters; exactly one Host; a body is announced by one Content-Length or by `Transfer-Encoding: chunked`, never both.
 */
import { Refusal } from "./_http_refusal.ts";

/** What a head may weigh. */
export interface HeadLimits {
  readonly headerBytes: number;
  readonly headerFields: number;
  readonly urlBytes: number;
}

/** How the body follows the head. */
export type BodyFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" };

/** A head that was understood. */
export interface RequestHead {
  readonly method: string;
  /** The path and query. Begins with a slash. */
  readonly target: string;
  readonly host: string;
  readonly headers: Headers;
  readonly framing: BodyFraming;
  /** False when the peer asked to close after this request. */
  readonly keepsAlive: boolean;
  /** The peer waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
}

const carriageReturn = 13;
const lineFeed = 10;

/**
 * The index after the blank line that ends the head, or -1 when more bytes are needed.
 *
 * @param scannedTo the bytes before it are known to hold no end
 * @throws Refusal for a line feed without a carriage return, as soon as it is there
 */
export function findHeadEnd(bytes: Uint8Array, scannedTo: number): number {
  for (let at = bytes.indexOf(lineFeed, scannedTo); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    if (bytes[at - 1] !== carriageReturn) throw new Refusal(400, "a line ends without a carriage return");
    if (at === 1 || bytes[at - 2] === lineFeed) return at + 1;
  }
  return -1;
}

const decoder = new TextDecoder("latin1");
// deno-lint-ignore no-control-regex -- control characters are what it looks for
const forbidden = /[\x00-\x08\x0a-\x1f\x7f]/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const requestLine = /^([A-Z]{1,16}) (\S+) (HTTP\/\d\.\d)$/;
const hostName = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
// Visible ASCII but `"#<>\^`{|}`: a backslash or a fragment would not survive URL parsing as it was sent.
const targetForm = /^\/[!$-;=?-[\]_a-z~]*$/;

/**
 * Understands a head.
 *
 * @param bytes everything up to and including the blank line
 * @throws Refusal when it breaks a rule or a limit
 */
export function parseHead(bytes: Uint8Array, limits: HeadLimits): RequestHead {
  const lines = decoder.decode(bytes.subarray(0, Math.max(0, bytes.length - 4))).split("\r\n");
  const { method, target } = parseRequestLine(lines[0] ?? "", limits);
  if (lines.length - 1 > limits.headerFields) throw new Refusal(431, `more than ${limits.headerFields} fields`);
  const headers = new Headers();
  for (let index = 1; index < lines.length; index++) addField(headers, lines[index] ?? "");
  const connection = listOf(headers.get("connection"));
  return {
    method,
    target,
    host: hostOf(headers),
    headers,
    framing: framingOf(headers),
    keepsAlive: !connection.includes("close"),
    expectsContinue: expectsContinue(headers),
  };
}

function parseRequestLine(line: string, limits: HeadLimits): { method: string; target: string } {
  const [, method, target, version] = requestLine.exec(line) ?? [];
  if (method === undefined || target === undefined) throw new Refusal(400, "the request line is malformed");
  if (version !== "HTTP/1.1") throw new Refusal(505, "the version is not HTTP/1.1");
  if (target.length > limits.urlBytes) throw new Refusal(414, `the URL is longer than ${limits.urlBytes} bytes`);
  if (method === "CONNECT" || method === "TRACE") throw new Refusal(405, `the method is ${method}`);
  if (!targetForm.test(target)) throw new Refusal(400, "the target is not a path");
  return { method, target };
}

/** Fields that may stand once only: a second one is a second opinion on where the body ends or whom it is for. */
const singular = new Set(["host", "content-length", "transfer-encoding"]);

function addField(headers: Headers, line: string): void {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(0, colon));
  if (!token.test(name)) throw new Refusal(400, "a field name is malformed");
  const value = line.slice(colon + 1);
  if (forbidden.test(value)) throw new Refusal(400, "a field value has control characters");
  const key = name.toLowerCase();
  if (singular.has(key) && headers.has(key)) throw new Refusal(400, `${key} stands twice`);
  headers.append(key, trimmed(value));
}

/** Without the spaces and tabs around it, and nothing else: `trim()` knows more kinds of space. */
function trimmed(value: string): string {
  let start = 0, end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

function hostOf(headers: Headers): string {
  const host = headers.get("host") ?? "";
  if (!hostName.test(host)) throw new Refusal(400, "there is no usable Host field");
  return host;
}

function framingOf(headers: Headers): BodyFraming {
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding !== null) {
    if (length !== null) throw new Refusal(400, "both Content-Length and Transfer-Encoding are given");
    if (coding.toLowerCase() !== "chunked") throw new Refusal(400, "the transfer coding is not chunked alone");
    return { kind: "chunked" };
  }
  if (length === null) return { kind: "none" };
  if (!/^\d{1,15}$/.test(length)) throw new Refusal(400, "Content-Length is not a number");
  const bytes = Number(length);
  return bytes === 0 ? { kind: "none" } : { kind: "length", bytes };
}

function expectsContinue(headers: Headers): boolean {
  const expected = headers.get("expect");
  if (expected === null) return false;
  if (expected.toLowerCase() !== "100-continue") throw new Refusal(417, "the expectation is not 100-continue");
  return true;
}

function listOf(value: string | null): readonly string[] {
  return value === null ? [] : value.toLowerCase().split(",").map((item) => item.trim());
}
