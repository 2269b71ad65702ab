/**
 * Outages: failures that are nobody's but the network's. While the server cannot be reached no key is to blame, so they use up
 * none of its retries; and nobody could be told that it was dropped.
 */
import type { ObjectKey } from "../api/mod.ts";
import { isUnreachable } from "../client/mod.ts";
import type { Outcome } from "./_attempt.ts";

/** Counts them, per key, from one success to the next. */
export class Outages {
  readonly #counts = new Map<ObjectKey, number>();

  /** Takes an outcome in. @returns How many of the key's failures in a row were outages; Infinity when this one is */
  note(key: ObjectKey, outcome: Outcome): number {
    if (outcome.kind !== "failed") {
      if (this.#counts.size > 0) this.#counts.delete(key);
      return 0;
    }
    const before = this.#counts.get(key) ?? 0;
    if (!isOutage(outcome.error)) return before;
    this.#counts.set(key, before + 1);
    return Infinity;
  }

  /** The key is given up. */
  forget(key: ObjectKey): void {
    this.#counts.delete(key);
  }
}

/** True when there was no answer to what the reconciler sent. */
function isOutage(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof Error && isUnreachable(error.cause));
}
