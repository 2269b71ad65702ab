/**
 * ApiError: the API server's "no", whatever shape it came in, and the questions one asks about it.
 *
 * Guarantees: `status` is always filled in, also when a proxy in between answered with a page of HTML; text of the server
 * is on one line, without control characters and bounded; no header of the request is in here, so no token can be.
 */
import type { ApiStatus } from "../api/mod.ts";
import { printable } from "./_printable.ts";

/** Options of an {@link ApiError}. */
export interface ApiErrorOptions {
  /** What was tried, as the infinitive of the message: `get Deployment "default/web"`. */
  readonly action: string;
  /** Milliseconds the server wants the caller to wait. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * An answer of the API server that is not the one that was asked for.
 *
 * @example
 * ```ts
 * import { ApiError, isNotFound } from "./mod.ts";
 *
 * const error = new ApiError({ code: 404, reason: "NotFound", message: 'pods "a" not found' }, { action: 'get Pod "b/a"' });
 * console.assert(isNotFound(error));
 * console.assert(error.message === 'Cannot get Pod "b/a": pods "a" not found (404 NotFound)');
 * ```
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status. */
  readonly code: number;
  /** CamelCase word for programs; "" when the server gave none and the code implies none. */
  readonly reason: string;
  readonly status: ApiStatus;
  /** Milliseconds the server wants the caller to wait, if it said so. */
  readonly retryAfterMs: number | undefined;

  constructor(status: ApiStatus, options: ApiErrorOptions) {
    const code = status.code ?? 0;
    const reason = status.reason ?? reasonOf(code);
    const state = printable(status.message ?? "") || "no reason given";
    super(`Cannot ${options.action}: ${state} (${reason === "" ? code : `${code} ${printable(reason, 64)}`})`, {
      cause: options.cause,
    });
    this.code = code;
    this.reason = reason;
    this.status = status;
    const seconds = status.details?.retryAfterSeconds;
    this.retryAfterMs = options.retryAfterMs ?? (seconds === undefined ? undefined : seconds * 1000);
  }
}

/** The reason a bare HTTP status stands for, as apimachinery's `NewGenericServerResponse` has it; "" for others. */
export function reasonOf(code: number): string {
  return reasons.get(code) ?? "";
}

const reasons: ReadonlyMap<number, string> = new Map([
  [400, "BadRequest"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "NotFound"],
  [405, "MethodNotAllowed"],
  [406, "NotAcceptable"],
  [409, "Conflict"],
  [410, "Gone"],
  [413, "RequestEntityTooLarge"],
  [415, "UnsupportedMediaType"],
  [422, "Invalid"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
]);

/** An object does not exist: so says an API server (ApiError), or a cache (NotInCacheError). */
export interface NotFoundError extends Error {
  readonly code: number;
  readonly reason: string;
}

/** The object, or the kind itself, does not exist. */
export function isNotFound(error: unknown): error is NotFoundError {
  return error instanceof Error && "reason" in error && error.reason === "NotFound" && "code" in error;
}

/** A create met an object of the same name. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return hasReason(error, "AlreadyExists");
}

/** The object changed since it was read, or another field manager owns a field: read again, then write. */
export function isConflict(error: unknown): error is ApiError {
  return hasReason(error, "Conflict");
}

/** The resourceVersion or continue token is too old: list anew. */
export function isGone(error: unknown): error is ApiError {
  return hasReason(error, "Gone") || hasReason(error, "Expired");
}

/** The server does not know the resourceVersion yet: list without it. */
export function isTooLargeResourceVersion(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  const causes = error.status.details?.causes ?? [];
  // The cause since 1.20; the two messages before (client-go reflector.go, isTooLargeResourceVersionError).
  return causes.some((cause) => cause.reason === "ResourceVersionTooLarge" || cause.message === tooLarge) ||
    (error.status.message ?? "").includes(tooLarge);
}

const tooLarge = "Too large resource version";

/** The credentials were not accepted. */
export function isUnauthorized(error: unknown): error is ApiError {
  return hasReason(error, "Unauthorized");
}

/** The credentials were accepted and do not suffice. */
export function isForbidden(error: unknown): error is ApiError {
  return hasReason(error, "Forbidden");
}

/** The object is not valid; `status.details.causes` names the fields. */
export function isInvalid(error: unknown): error is ApiError {
  return hasReason(error, "Invalid");
}

/** The server is overloaded, or a disruption budget forbids an eviction for now. */
export function isTooManyRequests(error: unknown): error is ApiError {
  return hasReason(error, "TooManyRequests") || (error instanceof ApiError && error.code === 429);
}

/** The server ran out of time; the request may have taken effect. */
export function isTimeout(error: unknown): error is ApiError {
  return hasReason(error, "Timeout") || hasReason(error, "ServerTimeout");
}

/** The server, or what it depends on, is not working at present. */
export function isInternalError(error: unknown): error is ApiError {
  return hasReason(error, "InternalError") || hasReason(error, "ServiceUnavailable");
}

function hasReason(error: unknown, reason: string): boolean {
  return error instanceof ApiError && error.reason === reason;
}
