/** The times of a run: how long it waits until everything has settled, and what counts as settled. */

/** A run uses no sockets: microtasks lead from one event to the next, so one turn of the event loop is enough. */
export const turnsPerDrain = 1;

/** Virtual milliseconds without a write after which a run has settled. */
export const quietMs = 3_000;
/** The same while keys are still retried. */
export const retryingQuietMs = 45_000;
/** Virtual milliseconds after which a run counts as unsettled. */
export const settleTimeoutMs = 1_200_000;
/** Events within one wait at most. Each replica that divides the keys reads the Leases and renews its own every 2 s. */
export function maxEventsOf({ replicas, sharded }: { readonly replicas: number; readonly sharded: boolean }): number {
  return 5_000 * (sharded ? 1 + replicas : 1);
}
/** Virtual milliseconds in which late writes are counted at the end. */
export const finalQuietMs = 60_000;
/** Requeues that are due within this time are waited for after each step, and after the last one. */
export const stepTimerMs = 65_000;
export const finalTimerMs = 310_000;
/** Virtual milliseconds between the end of a process and its restart. */
export const restartMs = 1_000;
