/** From the flags of `run` to a Manager with its controllers. */
import { type Client, measuredTransport } from "../client/mod.ts";
import { EventLoopWatchdog, Manager, type ManagerElection, type OperatorController } from "../manager/mod.ts";
import { MetricsRegistry, runtimeMetrics } from "../observe/mod.ts";
import { processFacts } from "../runtime/mod.ts";
import type { Connection } from "./connection.ts";
import { endpointsOf } from "./endpoints_of.ts";
import type { RunFlags } from "./run_flags.ts";
import type { Session } from "./session.ts";
import { toldWrites } from "./told_writes.ts";
import { UsageError } from "./usage_error.ts";
import { webhooksOf } from "./webhooks_of.ts";

/** What is run, and where. */
export interface Undertaking {
  readonly controllers: readonly OperatorController[];
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly flags: RunFlags;
  readonly session: Session;
}

/** Makes the Manager; nothing runs yet. @throws UsageError when the election's times make no sense */
export async function managerOf(connection: Connection, undertaking: Undertaking): Promise<Manager> {
  const { controllers, namespaces, flags, session } = undertaking;
  const { clock, random } = session.surroundings;
  const metrics = new MetricsRegistry();
  const client = clientOf(connection, undertaking, metrics);
  const manager = new Manager({
    client,
    metrics,
    name: session.operator.name,
    instance: processFacts().hostname,
    namespaces: namespaces.length === 0 ? undefined : namespaces,
    cacheRules: session.operator.cacheRules,
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
  if (flags.metricsBindAddress !== undefined) await runtimeMetrics(metrics);
  const { endpoints } = session.operator;
  for (const endpoint of endpointsOf(flags, { manager, metrics, endpoints, reviewer: client, clock })) {
    await manager.addRunnable(endpoint, "http");
  }
  for (const runnable of controllers.flatMap((controller) => controller.runnables ?? [])) {
    await manager.addRunnable(runnable);
  }
  await manager.addRunnable(new EventLoopWatchdog({ clock }));
  const { namespace, isInCluster } = connection;
  const isLeader = () => manager.elector === undefined || manager.elector.leadership !== undefined;
  const { name, controllers: known } = session.operator;
  const { dryRun } = flags;
  const parts = { controllers, known, name, namespace, isInCluster, dryRun, client, isLeader, metrics, clock };
  const webhooks = webhooksOf(flags, parts);
  if (webhooks !== undefined) await manager.addRunnable(webhooks, "webhooks");
  return manager;
}

/** Requests are counted, and in a dry run those are told that would write. */
function clientOf(connection: Connection, { flags, session }: Undertaking, metrics: MetricsRegistry): Client {
  const { clock } = session.surroundings;
  const { host } = new URL(connection.server);
  return connection.client.over((transport) => {
    const told = flags.dryRun ? toldWrites(transport) : transport;
    return measuredTransport(told, { metrics, host, clock });
  });
}

function election(connection: Connection, { flags, session }: Undertaking): ManagerElection {
  const leaseDurationMs = flags.leaderElectionLeaseDuration;
  const renewDeadlineMs = flags.leaderElectionRenewDeadline;
  const retryPeriodMs = flags.leaderElectionRetryPeriod;
  if (flags.dryRun) {
    throw new UsageError(
      "Cannot elect a leader: a dry run that held the lease would keep those from working that store something",
      "Leave --leader-elect or --dry-run out",
    );
  }
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
