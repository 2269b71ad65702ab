/**
 * Leadership: one term of a leader, from acquiring the Lease to releasing or losing it. `term.ts` implements it.
 *
 * Guarantees: {@link Leadership.mayWrite} is false from the renew deadline on, counted from before the last successful
 * renewal was sent, by the monotonic or the wall clock, whichever shows more time. So it is false before another process
 * can take the Lease. A term that has ended stays ended; a later leadership is a new term.
 *
 * Assumptions: the rates of the clocks of two machines differ by less than leaseDuration / renewDeadline (1.5 by default),
 * and a machine whose monotonic clock stops has a wall clock that does not.
 *
 * Caveats: a request that was sent before the deadline may still take effect after it. Writes therefore also carry
 * resourceVersions and preconditions (behaviour 52).
 */
import { printable } from "../../observe/mod.ts";

/** One term of a leader, which {@link LeaderElector.acquire} begins. Ends by `release()`, at the end of its `await using` block, or when it is lost. */
export interface Leadership extends AsyncDisposable {
  /** Aborts when the term ends: with a LeaseLostError when it was lost, with an AbortError when it was released. */
  readonly signal: AbortSignal;
  /** How often the Lease had changed its holder when this term began. It increases from leader to leader. */
  readonly epoch: number;
  /** When the last successful renewal was sent, in milliseconds on the monotonic clock. */
  readonly renewedAt: number;
  /** Why the term was lost; undefined before its end and when it was released. */
  readonly lost: LeaseLostError | undefined;
  /** True while no other process can hold the Lease. Costs two readings of the clock. */
  mayWrite(): boolean;
  /**
   * {@link mayWrite}, after a renewal if one is necessary: when the last attempt was more than two retry periods ago (the
   * process was paused, or its event loop was blocked), or when the renew deadline has passed by the wall clock alone.
   *
   * @throws the signal's reason
   */
  confirm(signal: AbortSignal): Promise<boolean>;
  /**
   * Ends the term and releases the Lease, so that a standby takes over within one retry period. Call it after the last
   * write. It does nothing when the Lease was lost, and never rejects: a Lease that cannot be released expires.
   */
  release(): Promise<void>;
}

/** Why leadership was lost; see {@link LeaseLostError}. */
export type LeaseLoss =
  /** The Lease was not renewed in time. Another process may take it when it has expired. */
  | { readonly kind: "expired"; readonly afterMs: number }
  /** The Lease has another holder, no holder (""), or was deleted. */
  | { readonly kind: "heldByOther"; readonly holder: string }
  /** The API server has chosen another process, in a coordinated election. The Lease is released when the work has ended. */
  | { readonly kind: "superseded"; readonly holder: string };

/**
 * This process was the leader and lost the Lease. {@link Leadership.signal} aborts with it, and {@link LeaderElector.run}
 * throws it.
 *
 * @example
 * ```ts
 * import { LeaseLostError } from "@pintle/controller/client";
 *
 * const lease = 'Lease "shop/operator"';
 * const error = new LeaseLostError({ lease, loss: { kind: "heldByOther", holder: "pod-2" } });
 * console.assert(error.message === 'Cannot keep leading: Lease "shop/operator" is held by "pod-2" now');
 * ```
 */
export class LeaseLostError extends Error {
  /** The name of the class. */
  override readonly name = "LeaseLostError";
  /** Why the Lease was lost. */
  readonly loss: LeaseLoss;

  /**
   * Creates the error.
   *
   * @param options.lease `Lease "namespace/name"`.
   * @param options.cause Why the last renewal failed, if it did.
   */
  constructor(options: { readonly lease: string; readonly loss: LeaseLoss; readonly cause?: unknown }) {
    super(`Cannot keep leading: ${stateOf(options)}`, { cause: options.cause });
    this.loss = options.loss;
  }
}

/** The most characters of a holder in messages. The API server stores any text. */
export const maxShownHolder = 253;

function stateOf({ lease, loss }: { readonly lease: string; readonly loss: LeaseLoss }): string {
  switch (loss.kind) {
    case "expired":
      return `${lease} was not renewed for ${Math.round(loss.afterMs)} ms`;
    case "heldByOther":
      return loss.holder === ""
        ? `${lease} has no holder now`
        : `${lease} is held by "${printable(loss.holder, maxShownHolder)}" now`;
    case "superseded":
      return `the API server prefers "${printable(loss.holder, maxShownHolder)}" for ${lease}`;
    default:
      return loss satisfies never;
  }
}
