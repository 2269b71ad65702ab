/**
 * Retries: sendWithRetries() below the verbs, for what the server asks to repeat and for connections that broke during a
 * read; retryOnConflict() above the verbs, for a read, a change and a write.
 *
 * Guarantees: at most 10 attempts; the delay is at least Retry-After, which counts up to 5 minutes; the body of a
 * response that is not returned is cancelled; a request that may have taken effect is repeated only if it is idempotent.
 * So a POST is repeated only after 429 and 503, which mean that the server did not start it (behaviour 74).
 */
import { Backoff, type Clock, jittered, type Random, systemClock, systemRandom } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { ApiError, isConflict } from "./api_error.ts";
import { patchKinds } from "./client_options.ts";
import { discard, readBody, retryAfterMs } from "./response.ts";
import { isUnreachable, unreachable } from "./unreachable_error.ts";

/** Options of {@link sendWithRetries}. */
export interface RetryOptions {
  readonly maxAttempts: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Called before a repetition. @param code the status of the response, or `<error>` when the connection broke */
  readonly onRetry?: (code: string) => void;
}

/** One request that can be sent several times. */
export interface RetryableRequest {
  readonly method: string;
  readonly contentType: string | null;
  readonly signal: AbortSignal;
  send(): Promise<Response>;
}

/** What client-go's metrics call the code of a request without a response. */
export const noResponse = "<error>";

/** The most attempts of a read whose connection breaks. If the server is down, the caller retries with its own backoff. */
const maxResetAttempts = 3;

/** Sends a request until there is a response to return. */
export async function sendWithRetries(request: RetryableRequest, options: RetryOptions): Promise<Response> {
  const { maxAttempts, clock, random, logger, onRetry } = options;
  const backoff = new Backoff({ initialMs: 100, maxMs: 1_000, jitter: 1, clock, random });
  for (let attempts = 1;; attempts++) {
    let response: Response;
    try {
      response = await request.send();
    } catch (error) {
      const isLast = attempts >= Math.min(maxResetAttempts, maxAttempts);
      if (request.signal.aborted || isLast || !isReset(error, request)) throw error;
      // The first retry is immediate, because the server may have closed an idle connection.
      onRetry?.(noResponse);
      if (attempts > 1) await clock.sleep(backoff.next(), request.signal);
      continue;
    }
    const delayMs = retryDelayMs(response, request);
    if (delayMs === undefined || attempts >= maxAttempts) return response;
    if (response.status === 504) {
      const { text, copy } = await peek(response, request, clock);
      if (tooLargeVersion.test(text)) return copy;
    }
    logger.debug("retrying request", { status: response.status, delayMs, attempts });
    discard(response);
    onRetry?.(String(response.status));
    await clock.sleep(delayMs, request.signal);
  }
}

/**
 * The error for a resourceVersion that the server does not have yet. The server has waited 3 s for it and asks to retry;
 * it is better to list without a version, so this error is returned at once.
 */
const tooLargeVersion = /ResourceVersionTooLarge|Too large resource version/;

/** Reads the body of a short response, and makes a copy of the response whose body is unread. */
async function peek(
  response: Response,
  request: RetryableRequest,
  clock: Clock,
): Promise<{ text: string; copy: Response }> {
  const { signal } = request;
  const limits = { maxBytes: 64 * 1024, stallMs: 10_000, whenLarger: "cut" } as const;
  const text = await readBody(response, { action: "read the response", signal, clock, ...limits });
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return { text, copy: new Response(text, { status: response.status, headers }) };
}

/** The delay before the next attempt; undefined if the server does not ask for one, or the request must not be repeated. */
function retryDelayMs(response: Response, request: RetryableRequest): number | undefined {
  const { status } = response;
  if (status !== 429 && status < 500) return undefined;
  const delayMs = retryAfterMs(response.headers);
  if (delayMs === undefined) return undefined;
  const hasNotStarted = status === 429 || status === 503;
  return hasNotStarted || isIdempotent(request) ? delayMs : undefined;
}

const idempotentPatches: ReadonlySet<string | null> = new Set(
  Object.values(patchKinds).filter(({ isIdempotent }) => isIdempotent).map(({ contentType }) => contentType),
);

/** True if sending the request twice has the same result as once. */
function isIdempotent(request: RetryableRequest): boolean {
  switch (request.method) {
    case "GET":
    case "HEAD":
    case "PUT":
    case "DELETE":
      return true;
    case "PATCH":
      return idempotentPatches.has(request.contentType);
    default:
      return false;
  }
}

function isReset(error: unknown, request: RetryableRequest): boolean {
  if (request.method !== "GET") return false;
  const { reason } = unreachable(error, "send");
  return reason.kind === "unreachable" && reason.detail === "reset";
}

/** Options of {@link retryOnConflict}. */
export interface RetryOnConflictOptions {
  /** The most attempts. @default 5 */
  readonly attempts?: number;
  /** Milliseconds between two attempts, before jitter. @default 10 */
  readonly delayMs?: number;
  /** The source of time for the delays. @default systemClock */
  readonly clock?: Clock;
  /** The source of jitter. @default systemRandom */
  readonly random?: Random;
  /** Ends the wait between two attempts. @default no signal */
  readonly signal?: AbortSignal;
}

const never = new AbortController().signal;

/**
 * Calls a function until it does not throw a conflict. The delays are those of DefaultRetry in client-go: 10 ms, jitter
 * 0.1, five attempts (behaviour 75).
 *
 * @param fn Reads the object, changes it and writes it. It must read the object in each call.
 * @returns The result of `fn`.
 * @throws The last conflict of `fn`; any other error of `fn` at once.
 *
 * @example
 * ```ts
 * import { ApiError } from "@pintle/controller";
 * import { retryOnConflict } from "@pintle/controller/client";
 *
 * let calls = 0;
 * const value = await retryOnConflict(() => {
 *   if (++calls < 3) throw new ApiError({ code: 409, reason: "Conflict" }, { action: 'update ConfigMap "a/b"' });
 *   return Promise.resolve("written");
 * });
 * console.assert(value === "written" && calls === 3);
 * ```
 */
export async function retryOnConflict<T>(fn: () => Promise<T>, options: RetryOnConflictOptions = {}): Promise<T> {
  const { attempts = 5, delayMs = 10, clock = systemClock, random = systemRandom, signal = never } = options;
  if (!(attempts >= 1)) throw new RangeError(`Cannot retry: attempts ${attempts} is below 1`);
  for (let calls = 1;; calls++) {
    try {
      return await fn();
    } catch (error) {
      if (!isConflict(error) || calls >= attempts) throw error;
    }
    await clock.sleep(jittered(delayMs, 0.1, random), signal);
  }
}

/** True for what a later request may not meet: no server responds, or it is overloaded or broken at present. */
export function isTemporary(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof ApiError && (error.code >= 500 || error.code === 429));
}
