/**
 * classify(): what a failed LIST or WATCH means to a reflector.
 *
 * Errors are told apart by their shape (numeric `code`, string `reason`, `details`), never by class: this folder does
 * not know the client. The same function reads the ApiStatus of an ERROR event.
 */
import type { ApiStatus } from "../api/mod.ts";
import type { WaitReason } from "./status.ts";

/** Why a request or a stream failed. */
export interface Failure {
  readonly reason: WaitReason;
  readonly error: unknown;
  /** What the server asked for, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** An ERROR event as an error. */
export class WatchError extends Error {
  override readonly name = "WatchError";
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly status: ApiStatus;

  constructor(status: ApiStatus) {
    super(status?.message ?? `Cannot go on watching: ${status?.reason ?? "the server sent an ERROR event"}`);
    this.code = status?.code;
    this.reason = status?.reason;
    this.status = status;
  }
}

/** Tells what an error means. */
export function classify(error: unknown): Failure {
  const status = statusOf(error);
  const retryAfterMs = status.retryAfterMs;
  return { reason: reasonOf(status), error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

interface StatusView {
  readonly code: number | undefined;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly { readonly reason: string; readonly message: string }[];
  readonly retryAfterMs: number | undefined;
}

function reasonOf(status: StatusView): WaitReason {
  const { code, reason } = status;
  if (isTooLarge(status)) return "future";
  if (code === 410 || reason === "Expired" || reason === "Gone") return "expired";
  if (code === 429 || reason === "TooManyRequests") return "throttled";
  if (code === 401 || reason === "Unauthorized") return "unauthorized";
  if (code === 403 || reason === "Forbidden") return "forbidden";
  if (code === 404 || reason === "NotFound") return "missing";
  // An object in etcd that does not decode; sent when it is force-deleted (KEP-3926).
  if (reason === "StorageReadError") return "unreadable";
  if (code === 500 || reason === "InternalError") return "internal";
  if (code === undefined) return reason === "" ? "unreachable" : "unavailable";
  if (code === 408 || code >= 500) return "unavailable";
  return code >= 400 ? "refused" : "unreachable";
}

/** The three forms in which servers say that a resourceVersion lies ahead of what they have (client-go reflector.go). */
function isTooLarge(status: StatusView): boolean {
  const { causes, message } = status;
  if (causes.some((cause) => cause.reason === "ResourceVersionTooLarge")) return true;
  if (status.reason !== "Timeout" && status.code !== 504) return false;
  return message.includes(tooLarge) || causes.some((cause) => cause.message === tooLarge);
}

const tooLarge = "Too large resource version";

function statusOf(error: unknown): StatusView {
  const inner = field(error, "status");
  const code = field(error, "code") ?? field(inner, "code");
  const details = field(error, "details") ?? field(inner, "details");
  const causes = field(details, "causes");
  const seconds = field(details, "retryAfterSeconds");
  const retryAfterMs = field(error, "retryAfterMs") ?? (typeof seconds === "number" ? seconds * 1000 : undefined);
  return {
    // A transport's error may carry a code as well: a string such as ECONNREFUSED.
    code: typeof code === "number" && code > 0 ? code : undefined,
    reason: typeof code === "string" ? "" : text(field(error, "reason") ?? field(inner, "reason")),
    message: text(field(inner, "message") ?? field(error, "message")),
    causes: Array.isArray(causes)
      ? causes.map((cause) => ({ reason: text(field(cause, "reason")), message: text(field(cause, "message")) }))
      : [],
    retryAfterMs: typeof retryAfterMs === "number" && retryAfterMs > 0 ? retryAfterMs : undefined,
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
