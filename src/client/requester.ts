/**
 * Requester: sends one request and reads its response. Client and Discovery send everything through it. It joins the
 * transport, the limits, the warnings and the errors.
 *
 * Guarantees: an error status becomes an ApiError made from at most 64 KiB of body; every body is read to its end or
 * cancelled; an error below HTTP is an UnreachableError; an abort rejects with the reason of the signal.
 */
import { type ApiStatus, toStatus } from "../api/mod.ts";
import { type Clock, scope, systemClock, untilAborted } from "../async/mod.ts";
import { type Logger, logger as loggerOf, printable } from "../observe/mod.ts";
import { rememberBody } from "../runtime/mod.ts";
import { ApiError, reasonOf } from "./api_error.ts";
import type { ClientOptions } from "./client_options.ts";
import { isObject, parseJson } from "./decoder.ts";
import { discard, readBody, type ReadBodyOptions, readChunks, retryAfterMs } from "./response.ts";
import { askForUpgrade, type Transport } from "./transport.ts";
import { unreachable } from "./unreachable_error.ts";

/** Options of a {@link Requester}. */
type RequesterOptions = Omit<ClientOptions, "dryRun" | "fieldManager">;

/** One request to send. */
export interface OutgoingRequest {
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
  /** Asks the server to switch protocols with these headers. @default an ordinary request */
  readonly upgrade?: Readonly<Record<string, string>>;
}

/** The most bytes of the body of an error. */
const maxErrorBodyBytes = 64 * 1024;

/** The origin of the requests that the transport gets. The transport replaces it. */
const placeholderOrigin = "https://kubernetes.invalid";

/** For requests without a signal. */
const never = new AbortController().signal;

/** Sends requests and reads responses. */
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

  /**
   * Sends a request and reads the body of its response.
   *
   * @param maxBytes The most bytes of the body. @default the limit of the client
   * @throws ApiError, UnreachableError, InvalidResponseError, the reason of the signal.
   */
  text(outgoing: OutgoingRequest, maxBytes = Infinity): Promise<string> {
    return this.#read(outgoing, readBody, maxBytes);
  }

  /**
   * Sends a request and reads the body of its response in chunks.
   *
   * @param take Gets each chunk, and keeps none. It may throw an InvalidResponseError.
   * @throws as `text()`, and what `take` throws.
   */
  async chunks(outgoing: OutgoingRequest, take: (chunk: Uint8Array) => void): Promise<void> {
    await this.#read(outgoing, (response, options) => readChunks(response, options, take), Infinity);
  }

  async #read<T>(
    outgoing: OutgoingRequest,
    read: (response: Response, options: ReadBodyOptions) => Promise<T>,
    maxBytes: number,
  ): Promise<T> {
    const { action, signal: given = never } = outgoing;
    const isEndless = given === never && this.#requestTimeoutMs === Infinity;
    // The signal may live as long as the process: each Request that follows it makes every listener of it slower.
    using child = isEndless ? undefined : scope(given, { timeoutMs: this.#requestTimeoutMs, clock: this.#clock });
    const { signal } = child ?? { signal: never };
    const response = await this.#send(outgoing, signal);
    return await read(response, this.#bodyOptions(action, signal, maxBytes));
  }

  /**
   * Sends a request and returns the response with its body unread, as a watch needs it. The signal applies to the body
   * too.
   *
   * @throws ApiError, UnreachableError, the reason of the signal.
   */
  stream(outgoing: OutgoingRequest & { readonly signal: AbortSignal }): Promise<Response> {
    return this.#send(outgoing, outgoing.signal);
  }

  async #send(outgoing: OutgoingRequest, signal: AbortSignal): Promise<Response> {
    const { action, method, path, accept = "application/json", body, contentType = "application/json" } = outgoing;
    signal.throwIfAborted();
    const headers: Record<string, string> = body === undefined ? { accept } : { accept, "content-type": contentType };
    const request = new Request(placeholderOrigin + path, {
      ...{ method, headers, body },
      signal: signal === never ? null : signal,
    });
    if (body !== undefined) rememberBody(request, body);
    if (outgoing.upgrade !== undefined) askForUpgrade(request, outgoing.upgrade);
    let response: Response;
    try {
      // A transport may neither answer nor obey the abort.
      response = signal === never
        ? await this.#transport(request)
        : await untilAborted(discardedIfLate(this.#transport(request), signal), signal);
    } catch (error) {
      if (outgoing.signal?.aborted) throw outgoing.signal.reason;
      throw isKnown(error) ? error : unreachable(signal.aborted ? signal.reason : error, action);
    }
    this.#warnings.log(response.headers);
    if (response.status >= 200 && response.status < 300) return response;
    throw await this.#apiError(response, action, signal);
  }

  async #apiError(response: Response, action: string, signal: AbortSignal): Promise<ApiError> {
    const waitMs = retryAfterMs(response.headers);
    if (response.status >= 300 && response.status < 400) {
      discard(response);
      const message = "the server redirects, and redirects are not followed";
      return new ApiError({ code: response.status, message }, { action });
    }
    let text = "";
    let cause: unknown;
    try {
      text = await readBody(response, {
        ...this.#bodyOptions(action, signal),
        maxBytes: maxErrorBodyBytes,
        whenLarger: "cut",
      });
    } catch (error) {
      if (signal.aborted) throw error;
      cause = error; // The status is known, even without its text.
    }
    return new ApiError(statusOf(text, response.status), { action, retryAfterMs: waitMs, cause });
  }

  #bodyOptions(action: string, signal: AbortSignal, maxBytes = Infinity): ReadBodyOptions {
    return {
      action,
      signal,
      maxBytes: Math.min(this.#maxBodyBytes, maxBytes),
      stallMs: this.#stallTimeoutMs,
      clock: this.#clock,
      whenLarger: "throw",
    };
  }
}

async function discardedIfLate(sending: Promise<Response>, signal: AbortSignal): Promise<Response> {
  const response = await sending;
  if (signal.aborted) await discard(response);
  return response;
}

/** True for errors of transports that are not wrapped in an UnreachableError. */
function isKnown(error: unknown): boolean {
  return error instanceof Error &&
    ["CredentialsError", "UnreachableError", "ApiError", "FencedError"].includes(error.name);
}

/** The Status in `text`, or a Status made from any other text: the page of a proxy, a part of a Status, no text. */
export function statusOf(text: string, code: number): ApiStatus {
  const status = parsedStatus(text);
  if (status !== undefined) return { ...status, code: status.code ?? code };
  const message = text.trim() === "" ? "the response has no text" : textOf(text);
  return { kind: "Status", status: "Failure", code, reason: reasonOf(code), message };
}

function parsedStatus(text: string): ApiStatus | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value = parseJson(text);
    return isObject(value) && value.kind === "Status" ? toStatus(value) : undefined;
  } catch {
    return undefined;
  }
}

/** The words of a page of HTML. */
function textOf(text: string): string {
  const words = text.slice(0, 4096)
    .replace(/<(script|style)[^>]{0,256}>[^<]*<\/\1>/gi, " ")
    .replace(/<[^<>]{0,1024}>/g, " ")
    .replace(/\s+/g, " ");
  return words.trim().slice(0, 512);
}

/** The most warnings that one client remembers. */
const maxWarnings = 256;
/** The most characters of a Warning header that are read: kube-apiserver writes at most 4 KiB of warnings. */
const maxWarningLength = 8 * 1024;

/**
 * Logs the warnings of the API server (the Warning header of RFC 7234 with code 299): deprecated versions, ignored
 * fields. Each text is logged once per client.
 */
class Warnings {
  readonly #seen = new Set<string>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Logs the warnings of a response. */
  log(headers: Headers): void {
    const header = headers.get("warning");
    if (header === null) return;
    for (const text of warningTexts(header)) {
      if (this.#seen.has(text) || this.#seen.size >= maxWarnings) continue;
      this.#seen.add(text);
      this.#logger.warn("received API server warning", { warning: text });
    }
  }
}

/** The texts of `299 - "..."`. One header may contain several; other codes are about caches. */
export function warningTexts(header: string): readonly string[] {
  const found = header.slice(0, maxWarningLength).matchAll(/(?:^|,)\s*299 [^\s"]+ "((?:[^"\\]|\\.)*)"/g);
  return [...found].map((match) => printable((match[1] ?? "").replaceAll(/\\(.)/g, "$1"))).filter((text) =>
    text !== ""
  );
}
