/**
 * Result: what a reconciler says when it did not throw. Throwing means "retry with backoff", `TerminalError` means
 * "do not retry before something changes".
 */

/** How a reconcile ended well. */
export type Result =
  | { readonly kind: "done" }
  | { readonly kind: "requeue"; readonly afterMs: number };

/** Nothing more to do until something changes. */
export const done: Result = Object.freeze({ kind: "done" });

/**
 * Reconcile again after `ms` milliseconds, whatever happens in between. Not rate limited, and forgets past failures.
 *
 * @throws RangeError when `ms` is negative or not a number.
 */
export function requeueAfter(ms: number): Result {
  if (!(ms >= 0)) throw new RangeError(`Cannot requeue: a delay of ${ms} ms is not a time from now`);
  return { kind: "requeue", afterMs: ms };
}

/** Thrown by a reconciler whose input cannot work: logged and counted, not retried until the object changes. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
}
