/**
 * Retries below the verbs: what the server asks to have repeated, and connections that broke under a read.
 *
 * Guarantees: at most 10 tries; Retry-After is never undercut, and capped at 5 minutes; the body of an answer that is not
 * handed on is cancelled; a request that may have taken effect is repeated only if doing it twice is doing it once. So a
 * POST is repeated after 429 and 503 alone, with which the server says that it did not start (behaviours.md 74).
 */
import { Backoff, type Clock, type Random } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { discard, readBody } from "./_read_body.ts";
import { retryAfterMs } from "./_retry_after.ts";
import { unreachable } from "./unreachable_error.ts";

/** Options of {@link sendWithRetries}. */
export interface RetryOptions {
  /** @default 10 */
  readonly maxTries: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** One request that can be sent several times. */
export interface Attempt {
  readonly method: string;
  readonly contentType: string | null;
  readonly signal: AbortSignal;
  send(): Promise<Response>;
}

/** A read whose connection breaks is tried so often; a server that is down is the caller's business, with its backoff. */
const resetTries = 3;

/** Sends until there is an answer to hand on. */
export async function sendWithRetries(attempt: Attempt, options: RetryOptions): Promise<Response> {
  const { maxTries, clock, random, logger } = options;
  const backoff = new Backoff({ initialMs: 100, maxMs: 1_000, jitter: 1, clock, random });
  for (let tries = 1;; tries++) {
    let response: Response;
    try {
      response = await attempt.send();
    } catch (error) {
      if (attempt.signal.aborted || tries >= Math.min(resetTries, maxTries) || !isReset(error, attempt)) throw error;
      // The first time at once: it was a kept connection that the server had closed.
      if (tries > 1) await clock.sleep(backoff.next(), attempt.signal);
      continue;
    }
    const waitMs = waitBefore(response, attempt);
    if (waitMs === undefined || tries >= maxTries) return response;
    if (response.status === 504) {
      const { text, copy } = await peek(response, attempt, clock);
      if (tooLarge.test(text)) return copy;
    }
    logger.debug("the API server asks to wait", { status: response.status, waitMs, tries });
    await discard(response);
    await clock.sleep(waitMs, attempt.signal);
  }
}

/**
 * A version that the server does not have yet: it has waited 3 s for it, and asks to try again. Who lists does better to
 * ask without a version, so it is told at once.
 */
const tooLarge = /ResourceVersionTooLarge|Too large resource version/;

/** Reads a short answer, and makes one like it whose body is still unread. */
async function peek(response: Response, attempt: Attempt, clock: Clock): Promise<{ text: string; copy: Response }> {
  const { signal } = attempt;
  const limits = { maxBytes: 64 * 1024, stallMs: 10_000, whenLarger: "cut" } as const;
  const text = await readBody(response, { action: "read the answer", signal, clock, ...limits });
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return { text, copy: new Response(text, { status: response.status, headers }) };
}

/** Milliseconds until the same may be sent again; undefined when it may not, or the server does not ask for it. */
function waitBefore(response: Response, attempt: Attempt): number | undefined {
  const { status } = response;
  if (status !== 429 && status < 500) return undefined;
  const waitMs = retryAfterMs(response.headers);
  if (waitMs === undefined) return undefined;
  const hasNotStarted = status === 429 || status === 503;
  return hasNotStarted || isRepeatable(attempt) ? waitMs : undefined;
}

/** True when twice is once. A JSON or strategic patch may append to a list, so it is not. */
function isRepeatable(attempt: Attempt): boolean {
  switch (attempt.method) {
    case "GET":
    case "HEAD":
    case "PUT":
    case "DELETE":
      return true;
    case "PATCH":
      return attempt.contentType === "application/apply-patch+yaml" ||
        attempt.contentType === "application/merge-patch+json";
    default:
      return false;
  }
}

function isReset(error: unknown, attempt: Attempt): boolean {
  if (attempt.method !== "GET") return false;
  const { reason } = unreachable(error, "send");
  return reason.kind === "unreachable" && reason.detail === "reset";
}
