/** Metrics of leader election, under Kubernetes' own names. */
import type { MetricsRegistry } from "../observe/mod.ts";

/** Told by a LeaderElector of what happens to it. */
export interface LeaderElectionMetrics {
  /** Whether this process leads now. */
  leading(isLeader: boolean): void;
  /** A renewal had to read the Lease first. */
  slowPath(): void;
}

/** Options of {@link leaderElectionMetrics}. */
export interface LeaderElectionMetricsOptions {
  /** Value of the label `name`: the Lease's. */
  readonly name: string;
}

/** Keeps leader_election_master_status and leader_election_slowpath_total of one Lease in `registry`. */
export function leaderElectionMetrics(
  registry: MetricsRegistry,
  options: LeaderElectionMetricsOptions,
): LeaderElectionMetrics {
  const { name } = options;
  const status = registry.gauge({
    name: "leader_election_master_status",
    help: "Whether this process is the leader by the lease of this name: 1 leader, 0 standby",
    labelNames: ["name"],
  }).labels({ name });
  const slowPath = registry.counter({
    name: "leader_election_slowpath_total",
    help: "Renewals of the lease of this name that had to read it first",
    labelNames: ["name"],
  }).labels({ name });
  return {
    leading: (isLeader) => status.set(isLeader ? 1 : 0),
    slowPath: () => slowPath.inc(),
  };
}
