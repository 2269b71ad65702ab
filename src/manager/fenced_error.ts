/** FencedError: a write that did not leave this process, or was cut off, because it does not lead. */

/** Options of a {@link FencedError}. */
export interface FencedErrorOptions {
  /** What was tried, as the infinitive of the message: `create deployments.apps in namespace "default"`. */
  readonly action: string;
  /** `Lease "namespace/name"`. */
  readonly lease: string;
  /** False: it was never sent. True: it was under way, and nobody can say whether it took effect. */
  readonly wasSent: boolean;
  /** Why leadership ended, if that is known. */
  readonly cause?: unknown;
}

/** A write was refused by the fence. Whoever leads next does the same work from the state it finds. */
export class FencedError extends Error {
  override readonly name = "FencedError";
  readonly wasSent: boolean;

  constructor(options: FencedErrorOptions) {
    const { action, lease, wasSent, cause } = options;
    const state = wasSent ? `this process lost ${lease} meanwhile` : `this process does not hold ${lease}`;
    super(`Cannot ${action}: ${state}`, { cause });
    this.wasSent = wasSent;
  }
}

/** True when `error`, or what caused it, is a FencedError. */
export function isFenced(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof FencedError) return true;
  }
  return false;
}
