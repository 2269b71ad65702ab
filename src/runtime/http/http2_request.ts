/**
 * The head of a request in HTTP/2 (RFC 9113, 8.3): its fields become the same RequestHead as those of HTTP/1.1, under the
 * same limits, so a handler does not see which version its client speaks.
 *
 * Guarantees: a request that the protocol calls malformed resets its stream: pseudo fields that are missing, unknown,
 * doubled or late, names in upper case, fields that belong to a connection, and control characters. What only this server
 * refuses gets the status that it has in HTTP/1.1. The path stays as its bytes came.
 */
import { errorCodes, type Field, fieldBytes, StreamError } from "./h2/mod.ts";
import {
  checkTarget,
  expectsContinue,
  hostOf,
  RequestError,
  type RequestFraming,
  type RequestHead,
} from "./http_head.ts";
import type { ServeLimits } from "./serve_options.ts";

type HeadLimits = Pick<ServeLimits, "maxHeaderBytes" | "maxHeaderFields" | "maxUrlBytes">;

/** Collects the fields of one header block, up to the limits. The others are counted only. */
export class FieldList {
  readonly fields: Field[] = [];
  readonly #limits: HeadLimits;
  #leftBytes: number;
  #refusal: RequestError | undefined;

  constructor(limits: HeadLimits) {
    this.#limits = limits;
    this.#leftBytes = limits.maxHeaderBytes;
  }

  /** The error of a list above a limit. */
  get refusal(): RequestError | undefined {
    return this.#refusal;
  }

  add(field: Field): void {
    if (this.#refusal !== undefined) return;
    const { maxHeaderBytes, maxHeaderFields } = this.#limits;
    this.#leftBytes -= fieldBytes(field);
    if (this.#leftBytes < 0) this.#refuse(`the head is larger than ${maxHeaderBytes} bytes`);
    else if (this.fields.length >= maxHeaderFields + pseudoNames.size) {
      this.#refuse(`more than ${maxHeaderFields} fields`);
    } else this.fields.push(field);
  }

  #refuse(state: string): void {
    this.#refusal = new RequestError(431, state);
    this.fields.length = 0;
  }
}

const pseudoNames: ReadonlySet<string> = new Set([":method", ":scheme", ":authority", ":path"]);
/** They belong to a connection of HTTP/1.1. */
const forbiddenNames: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);
const uniqueNames: ReadonlySet<string> = new Set(["host", "content-length"]);
const fieldName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** No control characters, and no blanks around it. */
const fieldValue = /^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/;
/** Bytes that have no meaning that programs agree on. */
const foreignBytes = /[\x80-\xff]/;

/**
 * The head of a request.
 *
 * @param hasBody False if the stream of the client ends with its head.
 * @throws StreamError for a malformed request; RequestError for one that is not served
 */
export function requestHeadOf(list: FieldList, hasBody: boolean, limits: HeadLimits): RequestHead {
  if (list.refusal !== undefined) throw list.refusal;
  const { pseudo, headers } = partsOf(list.fields);
  const method = pseudo.get(":method"), target = pseudo.get(":path");
  if (method === "CONNECT") throw new RequestError(405, "the method is CONNECT");
  if (method === undefined || target === undefined || pseudo.get(":scheme") === undefined) {
    throw malformed("a pseudo field is missing");
  }
  checkTarget(method, target, limits);
  setHost(headers, pseudo.get(":authority"));
  return {
    method,
    target,
    host: hostOf(headers),
    headers,
    framing: framingOf(headers, hasBody),
    keepsAlive: true,
    expectsContinue: hasBody && expectsContinue(headers),
  };
}

/** True if fields behind a body are allowed there. Their content has no use. */
export function areTrailers({ fields }: FieldList): boolean {
  return fields.every(([name, value]) => fieldName.test(name) && fieldValue.test(value));
}

function partsOf(fields: readonly Field[]): { readonly pseudo: Map<string, string>; readonly headers: Headers } {
  const pseudo = new Map<string, string>();
  const headers = new Headers();
  let areFieldsForeign = false, isRegular = false;
  for (const [name, value] of fields) {
    if (!fieldValue.test(value)) throw malformed("a value has forbidden characters");
    areFieldsForeign ||= foreignBytes.test(value);
    if (name.startsWith(":")) {
      if (isRegular || !pseudoNames.has(name) || pseudo.has(name)) throw malformed("a pseudo field is not allowed");
      pseudo.set(name, value);
      continue;
    }
    isRegular = true;
    if (!fieldName.test(name)) throw malformed("a name has forbidden characters");
    if (forbiddenNames.has(name) || (name === "te" && value !== "trailers")) {
      throw malformed("a field belongs to HTTP/1.1");
    }
    if (uniqueNames.has(name) && headers.has(name)) throw malformed(`there are two ${name} fields`);
    // Clients send each cookie as a field of its own.
    if (name === "cookie") headers.set(name, [headers.get(name) ?? [], value].flat().join("; "));
    else headers.append(name, value);
  }
  if (areFieldsForeign) throw new RequestError(400, "a field of its head is malformed");
  return { pseudo, headers };
}

/** The handler gets the authority as the Host of HTTP/1.1. Two that differ are two hosts. */
function setHost(headers: Headers, authority: string | undefined): void {
  if (authority === undefined) return;
  const host = headers.get("host");
  if (host !== null && host !== authority) throw malformed("the authority is not the host");
  headers.set("host", authority);
}

function framingOf(headers: Headers, hasBody: boolean): RequestFraming {
  const length = headers.get("content-length");
  if (length !== null && !/^\d{1,15}$/.test(length)) throw malformed("the length is not a number");
  if (!hasBody) {
    if (length !== null && Number(length) > 0) throw malformed("the body is missing");
    return { kind: "none" };
  }
  return length === null ? { kind: "chunked" } : { kind: "length", bytes: Number(length) };
}

function malformed(state: string): StreamError {
  return new StreamError(errorCodes.protocolError, state);
}
