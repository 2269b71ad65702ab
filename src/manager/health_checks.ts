/** The checks that every manager has: are the caches in step, does the leader lead. */
import { type InformerStatus, problemOf } from "../cache/mod.ts";
import type { HealthCheck } from "./health.ts";
import type { LeaderElector } from "./leader_elector.ts";

/** Fails while a cache is not in step, and names each resource with what is the matter (behaviours.md 16). */
export function informerSync(statuses: () => readonly InformerStatus[]): HealthCheck {
  return () => {
    const problems = statuses().map(problemOf).filter((problem) => problem !== undefined);
    return problems.length === 0 ? undefined : problems.join("; ");
  };
}

/**
 * Fails while this process should have stopped leading and has not (behaviours.md 51). A check for "live": restarting the
 * process is the way out.
 *
 * @param toleranceMs Milliseconds beyond the lease duration that are granted; 20 s as controller-runtime.
 */
export function leaderElection(elector: LeaderElector, toleranceMs = 20_000): HealthCheck {
  return () =>
    elector.isHealthy(toleranceMs)
      ? undefined
      : `${elector.lease} has run out and this process has not stopped leading`;
}
