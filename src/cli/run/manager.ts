/**
 * createManager(): creates the Manager of `run` from its flags: controllers, leader election, webhooks, and the listeners
 * for probes and metrics.
 *
 * Guarantees: metrics that other machines can reach are served over TLS, and only to clients that may read them.
 */
import { combinedSelector } from "../../api/mod.ts";
import { type Client, measuredTransport, type Transport } from "../../client/mod.ts";
import {
  type DebugMembers,
  debugStateOf,
  EventLoopWatchdog,
  type HealthCheck,
  HealthChecks,
  isLoopback,
  knownController,
  Manager,
  type ManagerElection,
  type ManagerOptions,
  type OperatorController,
  runEndpoints,
  type Runnable,
  serveEndpoints,
} from "../../manager/mod.ts";
import { logger, type MetricsRegistry, Recording, runtimeMetrics } from "../../observe/mod.ts";
import { processFacts, type Server } from "../../runtime/mod.ts";
import { Fleet } from "../../fleet/mod.ts";
import { providerOf } from "../clusters/mod.ts";
import { type Connection, findWebhookConfigurationName } from "../connection/mod.ts";
import type { BindAddress, RunFlags, ServingFlags } from "./run_flags.ts";
import type { OperatorEndpoints } from "../command/mod.ts";
import { logDryRunWrites } from "./dry_run_writes.ts";
import { UsageError } from "../flags/mod.ts";
import { RecordFile } from "../recording/mod.ts";
import { startTracing, tracingTarget } from "../tracing/mod.ts";
import { webhookRunnable } from "./webhooks.ts";
import { type Clock, pendingSystemTimers, untilAborted } from "../../async/mod.ts";
import { awaitRunnable } from "./await_runnable.ts";
import { debugListener, type DebugParts } from "./debug_listener.ts";
import { ownPlan } from "./own_plan.ts";
import { PublishedEndpoint } from "./published_endpoint.ts";
import { certificateOf, followCertificate, type FollowedCertificate } from "./serving_certificate.ts";
import type { CertificateServer } from "../../webhook/mod.ts";
import type { RunPlan } from "./run_plan.ts";
import { RequestLimit } from "./request_limit.ts";

/** Creates the Manager; nothing runs yet. @throws UsageError when the flags of leader election do not fit together */
export async function createManager(connection: Connection, plan: RunPlan): Promise<Manager | Fleet> {
  assertFleetFlags(plan.flags);
  const { controllers, namespaces, flags, session } = plan;
  const { processEnvironment: { clock, random }, metrics } = session;
  const limit = new RequestLimit(plan.flags, plan.session.processEnvironment.clock);
  plan.reloader?.onReload(({ flags }) => limit.set(flags));
  const client = createClient(connection, plan, limit);
  const traces = tracingTarget(flags.otlpEndpoint, session.environment);
  const isDebugged = flags.debugBindAddress !== undefined;
  const file = RecordFile.create(flags.record, { session, controllers });
  // The file and traces get the entries as they come, and only the debug endpoint needs them later.
  const recording = file === undefined && traces === undefined && !isDebugged
    ? undefined
    : new Recording({ now: () => clock.now(), maxBytes: isDebugged ? flags.recordingBytes : 0, sink: file });
  const published = new PublishedEndpoint(connection, session);
  const manager = new Manager({
    client,
    metrics,
    recorder: recording,
    name: session.operator.name,
    instance: processFacts().hostname,
    namespaces: namespaces.length === 0 ? undefined : namespaces,
    namespaceSelector: flags.namespaceSelector,
    cacheRules: session.operator.cacheRules,
    freezeCache: flags.freezeCache,
    dryRun: flags.dryRun,
    ...replicasOf(connection, plan, published),
    gracefulShutdownTimeoutMs: flags.gracefulShutdownTimeout,
    prepare: (stop) => untilAborted(awaitRunnable(connection, plan, stop), stop),
    clock,
    random,
  });
  const fleet = createFleet(manager, { client, plan, limit });
  const runner = fleet ?? manager;
  for (const controller of controllers) {
    const resyncMs = flags.resync ?? controller.options.resyncMs;
    const maxConcurrentReconciles = flags.workers ?? controller.options.maxConcurrentReconciles;
    const selector = combinedSelector(controller.options.selector, flags.selector);
    runner.add(controller, { resyncMs, maxConcurrentReconciles, selector });
  }
  if (flags.metricsBindAddress !== undefined) await runtimeMetrics(metrics, pendingSystemTimers);
  const { endpoints } = session.operator;
  const watchdog = new EventLoopWatchdog({ clock, failAfterMs: flags.leaderElectionRenewDeadline });
  const ownChecks = controllers.flatMap(({ healthChecks = [] }) => healthChecks);
  const checks = [...runner.checks(), watchdog.check, ...ownChecks];
  const debug = isDebugged && recording
    ? {
      ...{ state: debugStateOf(manager), recording, session, onListening: published.set },
      ...(fleet === undefined
        ? {
          plan: ownPlan({
            ...{ session, controllers, createClient: () => connection.createClient() },
            namespaces: () => debugStateOf(manager).namespaces ?? [],
          }),
        }
        // A plan is about one cluster.
        : { members: membersOf(fleet, controllers) }),
    }
    : undefined;
  for (const endpoint of createEndpoints(flags, { checks, metrics, endpoints, reviewer: client, clock, debug })) {
    await manager.addRunnable(endpoint, "http");
  }
  if (traces !== undefined && recording !== undefined) {
    const { operator: { name }, version } = session;
    await manager.addRunnable(await startTracing({ target: traces, name, version, recording, metrics, clock }), "http");
  }
  for (const runnable of controllers.flatMap((controller) => controller.runnables ?? [])) {
    await manager.addRunnable(runnable);
  }
  await manager.addRunnable(watchdog);
  const { reloader } = plan;
  if (reloader !== undefined) {
    await manager.addRunnable({ name: "configuration", run: ({ stop }) => reloader.run(stop) });
  }
  const { namespace, isInCluster } = connection;
  const isLeader = () => manager.elector === undefined || manager.elector.leadership !== undefined;
  const { name, controllers: allControllers } = session.operator;
  const { dryRun } = flags;
  const search = {
    connection: { client, namespace, isInCluster },
    operatorName: name,
    given: flags.webhookConfiguration,
  };
  const webhooks = webhookRunnable(flags, {
    ...{ controllers, allControllers, name, namespace, isInCluster, dryRun },
    ...{ client, isLeader, metrics, recorder: recording, clock, random },
    findConfigurations: (signal) => findWebhookConfigurationName({ ...search, signal }),
  });
  if (webhooks !== undefined) await manager.addRunnable(webhooks, "webhooks");
  await file?.open();
  return runner;
}

/** The fleet of `--clusters`, with the Manager of its hub. */
function createFleet(
  hub: Manager,
  { client, plan: { flags, session }, limit }: {
    readonly client: Client;
    readonly plan: RunPlan;
    readonly limit: RequestLimit;
  },
): Fleet | undefined {
  const { clusters, kubeconfig, requestTimeout, dryRun } = flags;
  if (clusters === undefined) return undefined;
  const wrap = (transport: Transport) =>
    dryRun ? logDryRunWrites(limit.throttle(transport)) : limit.throttle(transport);
  const provider = providerOf(clusters, { client, session, kubeconfig, wrap });
  return new Fleet({ hub, provider, requestTimeoutMs: requestTimeout === 0 ? Infinity : requestTimeout });
}

/** What the debug endpoint shows of the members of a fleet. */
function membersOf(fleet: Fleet, controllers: readonly OperatorController[]): DebugMembers {
  const known = controllers.filter(({ options }) => options.runsIn !== "hub").map(knownController);
  return {
    controllers: () => known,
    clusters: () => fleet.clusters(),
    find: (cluster) => {
      const manager = fleet.managers().get(cluster);
      return manager && debugStateOf(manager);
    },
  };
}

/** @throws UsageError when the keys of a fleet should be divided, see ADR 0026 */
function assertFleetFlags({ clusters, shards }: RunFlags): void {
  if (clusters === undefined || shards === undefined) return;
  throw new UsageError(
    "Cannot use --shards with --clusters: one replica works in all clusters of a fleet, and the slots divide the keys of one",
    "Divide the clusters instead: several operators, each with its own selector, as --clusters secrets:fleet/part=a, and its " +
      "own --leader-election-id",
  );
}

/** The client that counts its requests and, in a dry run, logs the writes. */
function createClient(connection: Connection, { flags, session }: RunPlan, limit: RequestLimit): Client {
  const { processEnvironment: { clock }, metrics } = session;
  const { host } = new URL(connection.server);
  return connection.client.withTransport((transport) => {
    const throttled = limit.throttle(transport);
    const logged = flags.dryRun ? logDryRunWrites(throttled) : throttled;
    return measuredTransport(logged, { metrics, host, clock });
  });
}

/** How this process works with other replicas. Those that divide the objects have a leader for what one replica does. */
function replicasOf(
  connection: Connection,
  plan: RunPlan,
  published: PublishedEndpoint,
): Pick<ManagerOptions, "leaderElection" | "sharding"> {
  const { leaderElect, shards: expectedReplicas } = plan.flags;
  if (!leaderElect && expectedReplicas === undefined) return {};
  const { coordinated, ...election } = createElection(connection, plan, published);
  return {
    leaderElection: { ...election, coordinated },
    ...(expectedReplicas === undefined ? {} : { sharding: { ...election, expectedReplicas } }),
  };
}

function createElection(
  connection: Connection,
  { flags, session }: RunPlan,
  published: PublishedEndpoint,
): ManagerElection {
  const leaseDurationMs = flags.leaderElectionLeaseDuration;
  const renewDeadlineMs = flags.leaderElectionRenewDeadline;
  const retryPeriodMs = flags.leaderElectionRetryPeriod;
  if (flags.dryRun) {
    const elected = [...flags.leaderElect ? ["--leader-elect"] : [], ...flags.shards === undefined ? [] : ["--shards"]];
    throw new UsageError(
      "Cannot elect a leader: a dry run that holds the lease would block the replicas that write",
      `Leave ${elected.join(" and ")} or --dry-run out`,
    );
  }
  // The condition of LeaderElector, with a message about the flags.
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > 1.2 * retryPeriodMs && retryPeriodMs > 0)) {
    throw new UsageError(
      "Cannot elect a leader: the times must satisfy lease duration > renew deadline > 1.2 * retry period > 0",
      "Example: --leader-election-lease-duration 15s --leader-election-renew-deadline 10s --leader-election-retry-period 2s",
    );
  }
  if (flags.selector !== undefined && flags.leaderElectionId === undefined) {
    logger("cli").warn("replicas with another selector need another --leader-election-id, or only one of them works", {
      lease: session.operator.name,
    });
  }
  return {
    client: connection.createClient(),
    namespace: flags.leaderElectionNamespace ?? connection.namespace,
    name: flags.leaderElectionId ?? session.operator.name,
    identity: published.identity,
    annotations: published.annotations,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    whenLost: flags.leaderElectionWhenLost === "standby" ? "standby" : "throw",
    coordinated: flags.leaderElectionCoordinated ? { binaryVersion: semanticVersion(session.version) } : undefined,
  };
}

/** A version that the API server accepts; "dev" is older than any other. */
function semanticVersion(version: string): string {
  return /^\d+\.\d+\.\d+/.test(version) ? version : "0.0.0";
}

/** The content of the endpoints, and the client that reviews the permissions of requests. */
interface EndpointParts {
  readonly checks: readonly HealthCheck[];
  readonly metrics: MetricsRegistry;
  readonly endpoints?: OperatorEndpoints;
  readonly reviewer: Client;
  readonly clock: Clock;
  /** @default no debug endpoint */
  readonly debug?: DebugParts;
}

/** Creates the listeners that the flags describe, for the Manager's phase "http". */
export function createEndpoints(flags: ServingFlags, parts: EndpointParts): readonly Runnable[] {
  const { healthProbeBindAddress: health, metricsBindAddress: metrics, debugBindAddress: debug, certDir } = flags;
  // What other machines reach has TLS.
  const following = ({ hostname }: BindAddress, server: CertificateServer) =>
    certDir === undefined || isLoopback(hostname)
      ? undefined
      : { folder: certDir, clock: parts.clock, metrics: parts.metrics, server };
  return [
    ...(health === undefined ? [] : [listener("health probes", () => serveHealth(health, parts))]),
    ...(metrics === undefined
      ? []
      : [listener("metrics", () => serveMetrics(metrics, flags, parts), following(metrics, "metrics"))]),
    ...(debug === undefined || parts.debug === undefined
      ? []
      : [listener("debugging", debugListener(debug, flags, parts.debug), following(debug, "debug"))]),
  ];
}

/**
 * A Runnable that binds its port before later phases start, and serves until the stop.
 *
 * @param following Where its certificate is followed. @default it has none
 */
export function listener(
  name: string,
  open: () => Promise<Server>,
  following?: FollowedCertificate,
): Runnable {
  let server: Server | undefined;
  return {
    name,
    async prepare() {
      server = await open();
    },
    async run({ stop }) {
      if (server === undefined) return;
      const followed = following && followCertificate(server, following, stop);
      await Promise.all([runEndpoints(server, stop), followed]);
    },
  };
}

function serveHealth(address: BindAddress, { checks, endpoints = {}, clock }: EndpointParts): Promise<Server> {
  const { livenessName, readinessName } = endpoints;
  const names = { live: listed(livenessName), ready: listed(readinessName) };
  const health = new HealthChecks({ names, clock });
  for (const check of checks) health.add(check);
  return serveEndpoints({ ...address, health, clock });
}

async function serveMetrics(address: BindAddress, flags: ServingFlags, parts: EndpointParts): Promise<Server> {
  const { reviewer, clock } = parts;
  const { metricsPath, extra } = parts.endpoints ?? {};
  const served = { ...address, metrics: parts.metrics, metricsPath, extra, clock };
  if (isLoopback(address.hostname)) return await serveEndpoints(served);
  const tls = await certificateOf(flags.certDir, {
    what: "metrics",
    address,
    advice: "Use --metrics-bind-address 127.0.0.1:8080, or set --cert-dir",
  });
  return await serveEndpoints({ ...served, reviewer, tls });
}

function listed(name: string | undefined): readonly string[] | undefined {
  return name === undefined ? undefined : [name];
}
