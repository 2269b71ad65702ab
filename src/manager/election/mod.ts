/** Leader election: one leader among the replicas that use the same Lease. */
export { elapsedMs, type Instant, instantOn, microTime } from "./instant.ts";
export {
  type ElectorState,
  type LeaderElectionMetrics,
  leaderElectionMetrics,
  LeaderElector,
  type LeaderElectorOptions,
} from "./leader_elector.ts";
export type { CandidateVersions } from "./lease_candidate.ts";
export { type Leadership, type LeaseLoss, LeaseLostError } from "./leadership.ts";
export { type ClaimOutcome, LeaseClaim } from "./lease_claim.ts";
export { LeaseForbiddenError, LeaseLock, type LeaseVerb } from "./lease_lock.ts";
export { deletedLeaseMs, type LeaseTiming, leaseTimingOf } from "./lease_timing.ts";
export { Term } from "./term.ts";
