/** From the flags of `run` to a Manager with its controllers. */
import type { ControllerDefinition } from "../controller/mod.ts";
import { Manager, type ManagerElection } from "../manager/mod.ts";
import { processFacts } from "../runtime/mod.ts";
import type { Connection } from "./connection.ts";
import type { RunFlags } from "./run_flags.ts";
import type { Session } from "./session.ts";
import { UsageError } from "./usage_error.ts";

/** What is run, and where. */
export interface Undertaking {
  readonly controllers: readonly ControllerDefinition[];
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly flags: RunFlags;
  readonly session: Session;
}

/** Makes the Manager; nothing runs yet. @throws UsageError when the election's times make no sense */
export function managerOf(connection: Connection, undertaking: Undertaking): Manager {
  const { controllers, namespaces, flags, session } = undertaking;
  const { clock, random } = session.surroundings;
  const manager = new Manager({
    client: connection.client,
    name: session.operator.name,
    instance: processFacts().hostname,
    namespaces: namespaces.length === 0 ? undefined : namespaces,
    dryRun: flags.dryRun,
    leaderElection: flags.leaderElect ? election(connection, undertaking) : undefined,
    gracefulShutdownTimeoutMs: flags.gracefulShutdownTimeout,
    clock,
    random,
  });
  for (const controller of controllers) {
    const resyncMs = flags.resync === undefined ? controller.options.resyncMs : noneIfZero(flags.resync);
    const maxConcurrentReconciles = flags.workers ?? controller.options.maxConcurrentReconciles;
    manager.add(controller, { resyncMs, maxConcurrentReconciles });
  }
  return manager;
}

function election(connection: Connection, { flags, session }: Undertaking): ManagerElection {
  const leaseDurationMs = flags.leaderElectionLeaseDuration;
  const renewDeadlineMs = flags.leaderElectionRenewDeadline;
  const retryPeriodMs = flags.leaderElectionRetryPeriod;
  // As LeaderElector asks; said here in the words of the flags.
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > 1.2 * retryPeriodMs && retryPeriodMs > 0)) {
    throw new UsageError(
      "Cannot elect a leader: lease duration > renew deadline > 1.2 * retry period does not hold",
      "Example: --leader-election-lease-duration 15s --leader-election-renew-deadline 10s --leader-election-retry-period 2s",
    );
  }
  return {
    client: connection.separate(),
    namespace: flags.leaderElectionNamespace ?? connection.namespace,
    name: flags.leaderElectionId ?? session.operator.name,
    // Two processes of one host, or one and its successor, are not the same replica.
    identity: `${processFacts().hostname}_${crypto.randomUUID()}`,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    whenLost: flags.leaderElectionWhenLost === "standby" ? "standby" : "throw",
  };
}

function noneIfZero(ms: number): number | undefined {
  return ms === 0 ? undefined : ms;
}
