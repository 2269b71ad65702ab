/**
 * ApiError: an error response of the API server, and the functions that classify it.
 *
 * Guarantees: `status` is always set, also when a proxy has responded with a page of HTML; the message is on one line,
 * without control characters and bounded; it contains no header of the request, so it cannot contain a token.
 */
import type { ApiStatus } from "../api/mod.ts";
import { printable } from "../observe/mod.ts";

/** Options of an {@link ApiError}. */
export interface ApiErrorOptions {
  /** Infinitive for the message: what the request should do, e.g. `get Deployment "default/web"`. */
  readonly action: string;
  /** Milliseconds that the server asks to wait before a retry. */
  readonly retryAfterMs?: number;
  /** The error that led to this one. @default none */
  readonly cause?: unknown;
}

/**
 * An error response of the API server. Classify it with `isNotFound`, `isConflict` and the like. The message is one line
 * and contains no credentials, so it can be logged.
 *
 * @example
 * ```ts
 * import { ApiError, isNotFound } from "@pintle/controller";
 *
 * const error = new ApiError({ code: 404, reason: "NotFound", message: 'pods "a" not found' }, { action: 'get Pod "b/a"' });
 * console.assert(isNotFound(error));
 * console.assert(error.message === 'Cannot get Pod "b/a": pods "a" not found (404 NotFound)');
 * ```
 */
export class ApiError extends Error {
  /** Always "ApiError". */
  override readonly name = "ApiError";
  /** The HTTP status. */
  readonly code: number;
  /** The reason for programs, in CamelCase; "" if the server gave none and the code implies none. */
  readonly reason: string;
  /** The response of the server, with the causes of the failure. */
  readonly status: ApiStatus;
  /** Milliseconds that the server asks to wait before a retry, if any. */
  readonly retryAfterMs: number | undefined;

  /**
   * Creates the error, e.g. for a fake server in a test.
   *
   * @param status The response of the server.
   */
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

/** The reason that an HTTP status implies, as in `NewGenericServerResponse` of apimachinery; "" for others. */
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

/** The error for an object that does not exist: from an API server (ApiError) or from a cache (NotInCacheError). */
export interface NotFoundError extends Error {
  /** The HTTP status, 404. */
  readonly code: number;
  /** Always `NotFound`. */
  readonly reason: string;
}

/**
 * Checks for an error that means that the object, or its kind, does not exist.
 *
 * @param error Any caught value: an error of a client or of a cache.
 *
 * @example
 * ```ts
 * import { ApiError, isNotFound } from "@pintle/controller";
 *
 * const error = new ApiError({ code: 404 }, { action: 'get Pod "default/web"' });
 * console.assert(isNotFound(error) && !isNotFound(new Error("other")));
 * ```
 */
export function isNotFound(error: unknown): error is NotFoundError {
  return error instanceof Error && "reason" in error && error.reason === "NotFound" && "code" in error;
}

/**
 * Checks for the error of a create whose name is taken.
 *
 * @param error Any caught value.
 *
 * @example
 * ```ts
 * import { ApiError, isAlreadyExists } from "@pintle/controller";
 *
 * const error = new ApiError({ code: 409, reason: "AlreadyExists" }, { action: 'create Pod "default/web"' });
 * console.assert(isAlreadyExists(error));
 * ```
 */
export function isAlreadyExists(error: unknown): error is ApiError {
  return hasReason(error, "AlreadyExists");
}

/**
 * Checks for the error of a write to an object that has changed since it was read, or of an apply to a field that another
 * manager owns. Read the object again, then write; `retryOnConflict()` does that.
 *
 * @param error Any caught value.
 *
 * @example
 * ```ts
 * import { ApiError, isConflict } from "@pintle/controller";
 *
 * console.assert(isConflict(new ApiError({ code: 409 }, { action: 'update Pod "default/web"' })));
 * ```
 */
export function isConflict(error: unknown): error is ApiError {
  return hasReason(error, "Conflict");
}

/**
 * Checks for the error of a list or a watch whose resourceVersion or continue token has expired. List again.
 *
 * @param error Any caught value.
 *
 * @example
 * ```ts
 * import { ApiError, isGone } from "@pintle/controller";
 *
 * console.assert(isGone(new ApiError({ code: 410, reason: "Expired" }, { action: "list Pods" })));
 * ```
 */
export function isGone(error: unknown): error is ApiError {
  return hasReason(error, "Gone") || hasReason(error, "Expired");
}

/** True if the server does not have the resourceVersion yet. List without it. */
export function isTooLargeResourceVersion(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  const causes = error.status.details?.causes ?? [];
  // Servers since 1.20 send the cause, older ones one of the two messages (client-go reflector.go, isTooLargeResourceVersionError).
  return causes.some((cause) => cause.reason === "ResourceVersionTooLarge" || cause.message === tooLarge) ||
    (error.status.message ?? "").includes(tooLarge);
}

const tooLarge = "Too large resource version";

/** True if the server rejected the credentials. */
export function isUnauthorized(error: unknown): error is ApiError {
  return hasReason(error, "Unauthorized");
}

/**
 * Checks for the error of a request for which the user has no permission, or that an admission webhook denied.
 *
 * @param error Any caught value.
 *
 * @example
 * ```ts
 * import { ApiError, isForbidden } from "@pintle/controller";
 *
 * console.assert(isForbidden(new ApiError({ code: 403 }, { action: "list Secrets" })));
 * ```
 */
export function isForbidden(error: unknown): error is ApiError {
  return hasReason(error, "Forbidden");
}

/**
 * Checks for the error of a write whose object is invalid. `status.details.causes` names the fields.
 *
 * @param error Any caught value.
 *
 * @example
 * ```ts
 * import { ApiError, isInvalid } from "@pintle/controller";
 *
 * const details = { causes: [{ field: "spec.replicas", message: "must be at least 0" }] };
 * const error: unknown = new ApiError({ code: 422, details }, { action: 'create Deployment "default/web"' });
 * console.assert(isInvalid(error) && error.status.details?.causes?.[0]?.field === "spec.replicas");
 * ```
 */
export function isInvalid(error: unknown): error is ApiError {
  return hasReason(error, "Invalid");
}

/** True if the server is overloaded, or a disruption budget forbids an eviction for now. */
export function isTooManyRequests(error: unknown): error is ApiError {
  return hasReason(error, "TooManyRequests") || (error instanceof ApiError && error.code === 429);
}

/** True if the request took too long in the server; it may have taken effect. */
export function isTimeout(error: unknown): error is ApiError {
  return hasReason(error, "Timeout") || hasReason(error, "ServerTimeout");
}

/** True if the server, or a service that it needs, does not work at present. */
export function isInternalError(error: unknown): error is ApiError {
  return hasReason(error, "InternalError") || hasReason(error, "ServiceUnavailable");
}

function hasReason(error: unknown, reason: string): boolean {
  return error instanceof ApiError && error.reason === reason;
}
