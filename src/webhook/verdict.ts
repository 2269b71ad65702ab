/**
 * Verdict: what a webhook's handler decides, as a value. A refusal is an expected outcome, not an exception; what a handler
 * throws is a fault of the webhook and is answered with 500.
 */
import type { StatusCause } from "../api/mod.ts";

/** The request may go on. */
export interface Allowed {
  readonly kind: "allowed";
  /** Shown to the user. 256 characters at most are. */
  readonly warnings?: readonly string[];
}

/** The request is refused. */
export interface Denied {
  readonly kind: "denied";
  /** A sentence for people: kubectl prints it. */
  readonly message: string;
  /** The fields that are wrong; with them the answer is 422 Invalid, as the API server's own validation gives. */
  readonly causes?: readonly StatusCause[];
  /** @default 422 with causes, else 403 */
  readonly code?: number;
  readonly warnings?: readonly string[];
}

/** What became of a request. */
export type Verdict = Allowed | Denied;

/** Lets the request go on, with warnings for the user where there are some. */
export function allow(warnings: readonly string[] = []): Allowed {
  return { kind: "allowed", warnings };
}

/**
 * Refuses the request.
 *
 * @example
 * ```ts
 * import { deny } from "./mod.ts";
 *
 * const verdict = deny("the handler of a pool with members cannot change", {
 *   causes: [{ reason: "FieldValueForbidden", field: "spec.handler", message: "is immutable while there are members" }],
 * });
 * console.assert(verdict.kind === "denied");
 * ```
 */
export function deny(message: string, options: Omit<Denied, "kind" | "message"> = {}): Denied {
  return { kind: "denied", message, ...options };
}
