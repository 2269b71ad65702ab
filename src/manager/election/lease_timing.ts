/**
 * LeaseTiming: the three times of a process that holds a Lease, with their defaults. LeaderElector and ShardMember both use it.
 *
 * Guarantees: a process has time to stop its writes before its Lease expires, and at least one renewal fits before that.
 */

/** The times of a Lease, in milliseconds. */
export interface LeaseTiming {
  /** Without a renewal for so long, another process can take the Lease. */
  readonly leaseDurationMs: number;
  /** Without a renewal for so long, the process stops writing. */
  readonly renewDeadlineMs: number;
  /** Between two attempts to renew the Lease. */
  readonly retryPeriodMs: number;
}

/** Varies the retry period, so that replicas do not send their requests at the same time. As client-go's JitterFactor. */
export const retryJitter = 1.2;

/**
 * Adds the defaults, and checks that the times fit together.
 *
 * @param action for the message: `create LeaderElector`
 * @throws {RangeError} when they do not give a process time to stop before its Lease expires
 */
export function leaseTimingOf(
  { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 }: Partial<LeaseTiming>,
  action: string,
): LeaseTiming {
  const isOrdered = retryPeriodMs > 0 && renewDeadlineMs > retryJitter * retryPeriodMs &&
    leaseDurationMs > renewDeadlineMs;
  if (isOrdered && leaseDurationMs < Infinity) return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
  throw new RangeError(
    `Cannot ${action}: leaseDurationMs ${leaseDurationMs} > renewDeadlineMs ${renewDeadlineMs} > ` +
      `${retryJitter} * retryPeriodMs ${retryPeriodMs} > 0 does not hold. Choose times in this order`,
  );
}

/** More than usual operators have: the lease duration on single-node OpenShift is 270 s. */
const maxDeletedLeaseMs = 300_000;

/**
 * How long the holder of a deleted Lease is waited for, since it may not have noticed yet. It creates the Lease again with its
 * next renewal, so a duration that nobody would wait for, such as that of an edited Lease, does not count in full: to delete
 * the Lease must help.
 */
export function deletedLeaseMs(durationMs: number, ownDurationMs: number): number {
  return Math.max(Math.min(durationMs, maxDeletedLeaseMs), ownDurationMs);
}
