/**
 * Requester: one request to one answer, for everything above. Where a transport, limits, warnings and errors meet.
 *
 * Guarantees: a status that is no success becomes an ApiError made from at most 64 KiB of body; every body is read to its
 * end or cancelled; what goes wrong below HTTP is an UnreachableError; an abort rejects with the signal's reason.
 */
import type { ApiStatus } from "../api/mod.ts";
import { type Clock, scope, systemClock } from "../async/mod.ts";
import { type Logger, logger as loggerOf } from "../observe/mod.ts";
import { isObject, parseJson } from "./_decode.ts";
import { discard, readBody, type ReadBodyOptions } from "./_read_body.ts";
import { retryAfterMs } from "./_retry_after.ts";
import { Warnings } from "./_warnings.ts";
import { ApiError, reasonOf } from "./api_error.ts";
import type { Transport } from "./transport.ts";
import { unreachable } from "./unreachable_error.ts";

/** Options every client has. */
export interface RequesterOptions {
  /** Milliseconds a request may take as a whole; watches are exempt. @default Infinity */
  readonly requestTimeoutMs?: number;
  /** Milliseconds without a byte after which an answer counts as lost. @default 60_000 */
  readonly stallTimeoutMs?: number;
  /** Largest answer in bytes. @default 268435456 (256 MiB) */
  readonly maxBodyBytes?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** Gets the server's warnings. @default logger("client") */
  readonly logger?: Logger;
}

/** What to send. */
export interface Outgoing {
  /** Infinitive for messages: `get Deployment "default/web"`. */
  readonly action: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query. */
  readonly path: string;
  /** @default "application/json" */
  readonly accept?: string;
  readonly body?: string;
  /** @default "application/json" */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

const errorBodyBytes = 64 * 1024;

/** Requests go to the transport with this origin, which the transport replaces with its own. */
const placeholderOrigin = "https://kubernetes.invalid";

/** Nobody aborts it: what a request without a signal follows. */
const never = new AbortController().signal;

/** Sends requests and reads answers. */
export class Requester {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #requestTimeoutMs: number;
  readonly #stallTimeoutMs: number;
  readonly #maxBodyBytes: number;
  readonly #warnings: Warnings;

  constructor(transport: Transport, options: RequesterOptions) {
    const { requestTimeoutMs = Infinity, stallTimeoutMs = 60_000, maxBodyBytes = 256 * 1024 * 1024 } = options;
    const { clock = systemClock, logger = loggerOf("client") } = options;
    if (!(requestTimeoutMs > 0 && stallTimeoutMs > 0 && maxBodyBytes > 0)) {
      throw new RangeError("Cannot create Client: a limit is not above 0");
    }
    this.#transport = transport;
    this.#clock = clock;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#maxBodyBytes = maxBodyBytes;
    this.#warnings = new Warnings(logger);
  }

  /** Sends and reads the whole answer as text. @throws ApiError, UnreachableError, RangeError, the signal's reason. */
  async text(outgoing: Outgoing): Promise<string> {
    using child = scope(outgoing.signal ?? never, { timeoutMs: this.#requestTimeoutMs, clock: this.#clock });
    const response = await this.#send(outgoing, child.signal);
    return await readBody(response, this.#bodyOptions(outgoing.action, child.signal));
  }

  /**
   * Sends and hands out the answer with its body unread, as a watch wants it. The signal governs the body as well.
   *
   * @throws ApiError, UnreachableError, the signal's reason.
   */
  stream(outgoing: Outgoing & { readonly signal: AbortSignal }): Promise<Response> {
    return this.#send(outgoing, outgoing.signal);
  }

  async #send(outgoing: Outgoing, signal: AbortSignal): Promise<Response> {
    const { action, method, path, accept = "application/json", body, contentType = "application/json" } = outgoing;
    signal.throwIfAborted();
    const headers: Record<string, string> = body === undefined ? { accept } : { accept, "content-type": contentType };
    const request = new Request(placeholderOrigin + path, { method, headers, body, signal });
    let response: Response;
    try {
      response = await this.#transport(request);
    } catch (error) {
      if (outgoing.signal?.aborted) throw outgoing.signal.reason;
      throw isOurs(error) ? error : unreachable(signal.aborted ? signal.reason : error, action);
    }
    this.#warnings.take(response.headers);
    if (response.status >= 200 && response.status < 300) return response;
    throw await this.#apiError(response, action, signal);
  }

  async #apiError(response: Response, action: string, signal: AbortSignal): Promise<ApiError> {
    const waitMs = retryAfterMs(response.headers);
    if (response.status >= 300 && response.status < 400) {
      await discard(response);
      const message = "the server redirects to elsewhere, which is not followed";
      return new ApiError({ code: response.status, message }, { action });
    }
    let text = "";
    let cause: unknown;
    try {
      text = await readBody(response, {
        ...this.#bodyOptions(action, signal),
        maxBytes: errorBodyBytes,
        whenLarger: "cut",
      });
    } catch (error) {
      if (signal.aborted) throw error;
      cause = error; // the status is worth more than the text that did not come
    }
    return new ApiError(statusOf(text, response.status), { action, retryAfterMs: waitMs, cause });
  }

  #bodyOptions(action: string, signal: AbortSignal): ReadBodyOptions {
    return {
      action,
      signal,
      maxBytes: this.#maxBodyBytes,
      stallMs: this.#stallTimeoutMs,
      clock: this.#clock,
      whenLarger: "throw",
    };
  }
}

/** Errors that a transport words itself and that say more than any wrapping would. */
function isOurs(error: unknown): boolean {
  return error instanceof Error &&
    ["CredentialsError", "UnreachableError", "ApiError", "FencedError"].includes(error.name);
}

/** The Status in `text`, or one made from what is there: a proxy's page, half a Status, nothing. */
export function statusOf(text: string, code: number): ApiStatus {
  const status = parsedStatus(text);
  if (status !== undefined) return { ...status, code: status.code ?? code };
  const message = text.trim() === "" ? "the answer has no text" : textOf(text);
  return { kind: "Status", status: "Failure", code, reason: reasonOf(code), message };
}

function parsedStatus(text: string): ApiStatus | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value = parseJson(text);
    return isObject(value) && value.kind === "Status" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A page of HTML reduced to its words. */
function textOf(text: string): string {
  const words = text.slice(0, 4096)
    .replace(/<(script|style)[^>]{0,256}>[^<]*<\/\1>/gi, " ")
    .replace(/<[^<>]{0,1024}>/g, " ")
    .replace(/\s+/g, " ");
  return words.trim().slice(0, 512);
}
