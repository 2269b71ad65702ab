/**
 * Leadership: one term of leading by a Lease, from taking it to giving it back or losing it.
 *
 * Guarantees: {@link Leadership.mayWrite} is false from the renew deadline on, counted from before the last successful
 * renewal was sent, by the monotonic or the wall clock, whichever shows more time; so it is false before anybody else
 * may take the Lease. A term that ended stays ended: who leads again has a new one.
 *
 * Assumptions: the clocks of two machines run at rates that differ by less than leaseDuration / renewDeadline (1.5 by
 * default), and a machine whose monotonic clock stood still has a wall clock that did not.
 *
 * Caveats: a request that is under way when time runs out may still take effect; writes therefore carry resourceVersions
 * and preconditions as well (behaviours.md 52).
 */
import type { LeaseLostError } from "./lease_lost_error.ts";

/** Ends by `release()`, by leaving its `await using` block, or by being lost. */
export interface Leadership extends AsyncDisposable {
  /** Aborts when the term ends: with a LeaseLostError when it was lost, with an AbortError when it was released. */
  readonly signal: AbortSignal;
  /** How often the Lease had changed hands when this term began: grows from leader to leader. */
  readonly epoch: number;
  /** When the last successful renewal was sent, in milliseconds on the monotonic clock. */
  readonly renewedAt: number;
  /** Why the term was lost; undefined while it lasts and when it was released. */
  readonly lost: LeaseLostError | undefined;
  /** True while nobody else can hold the Lease. Costs two readings of the clock. */
  mayWrite(): boolean;
  /**
   * {@link mayWrite}, after a look at the Lease where one is due: when nothing was heard about it for two retry periods
   * (the process was paused, or its event loop blocked), or when the wall clock alone says that time is up.
   *
   * @throws the signal's reason
   */
  confirm(signal: AbortSignal): Promise<boolean>;
  /**
   * Ends the term and gives the Lease up, so that a standby takes over within one retry period. Call it after the last
   * write. Does nothing when the term was lost; never rejects: a Lease that cannot be given up runs out.
   */
  release(): Promise<void>;
}
