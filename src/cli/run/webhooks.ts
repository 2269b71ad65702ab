/**
 * createWebhookRunnable(): creates the webhook server of `run` from its flags.
 *
 * There are three ways: in a cluster, with certificates that this program creates and stores in a Secret; with your own
 * certificates (`--cert-dir`); or on a developer's machine (`--webhook-host`), where the configurations of the cluster refer
 * to that machine during the run. Otherwise webhooks are not served, and a log record says why.
 *
 * Guarantees: a killed local run leaves configurations that refer to a machine that no longer responds, so that the cluster
 * rejects writes; every next start repairs that first (`local_webhooks.ts`). Two local runs do not take each other's
 * webhooks. A dry run stores nothing: neither configurations nor certificates.
 */
import { retryUnavailable } from "../connection/mod.ts";
import { CommandError, exitCode, webhookServiceName } from "../command/mod.ts";
import { aborted, type Clock, onAbort, type Random, scope } from "../../async/mod.ts";
import type { Client } from "../../client/mod.ts";
import type { OperatorController, Runnable } from "../../manager/mod.ts";
import { type Logger, logger, type MetricsRegistry, type Recorder } from "../../observe/mod.ts";
import {
  certificateFiles,
  type CertificateSource,
  type ConfigurationTarget,
  configurationTargets,
  type LocalRunIdentity,
  type LocalWebhooks,
  localWebhooks,
  managedCertificates,
  markOf,
  newLocalRun,
  renewLocalRun,
  renewLocalRunMs,
  serviceHosts,
  type Webhook,
  WebhookServer,
} from "../../webhook/mod.ts";
import { cleanUp, installLocalConfigurations, leftoverCleaner, undoDeadLocalRuns } from "./local_webhooks.ts";
import type { ServingFlags } from "./run_flags.ts";

/** What the webhook server needs. */
interface WebhookParts {
  readonly controllers: readonly OperatorController[];
  /** All controllers of the operator: a killed run may have served the webhooks of any of them. */
  readonly allControllers: readonly OperatorController[];
  /** The operator's name. Service and Secret are called NAME-webhook. */
  readonly name: string;
  /** The name of the webhook configurations. */
  readonly configurations: string;
  readonly namespace: string;
  readonly isInCluster: boolean;
  /** Nothing is stored, so the configurations cannot refer to this process. */
  readonly dryRun: boolean;
  readonly client: Client;
  readonly isLeader: () => boolean;
  readonly metrics: MetricsRegistry;
  /** @default nothing is recorded */
  readonly recorder?: Recorder;
  readonly clock: Clock;
  readonly random: Random;
}

/** What is known before the server responds. */
interface EarlyWebhookParts extends Omit<WebhookParts, "configurations"> {
  /** Finds the name of the webhook configurations. */
  readonly findConfigurations: (signal: AbortSignal) => Promise<string>;
}

/** As {@link createWebhookRunnable}, for a cluster that need not respond yet: it is asked when the phase begins. */
export function webhookRunnable(flags: ServingFlags, parts: EarlyWebhookParts): Runnable | undefined {
  const { findConfigurations, ...others } = parts;
  if (webhooksIn(parts.allControllers).length === 0) return undefined;
  let runnable: Runnable | undefined;
  return {
    name: "webhooks",
    async prepare(stop) {
      const find = () => findConfigurations(stop);
      const configurations = await retryUnavailable("find webhook configurations", find, { ...others, signal: stop });
      runnable = createWebhookRunnable(flags, { ...others, configurations });
      await runnable?.prepare?.(stop);
    },
    run: async (life) => await runnable?.run(life),
  };
}

/** Creates the server, for the Manager's phase "webhooks"; undefined when there is nothing to serve or to repair. */
export function createWebhookRunnable(flags: ServingFlags, parts: WebhookParts): Runnable | undefined {
  const webhooks = webhooksIn(parts.controllers);
  const log = logger("webhook");
  const leftovers = { ...parts, webhooks: parts.isInCluster ? webhooks : webhooksIn(parts.allControllers), log };
  if (webhooks.length === 0) return leftoverCleaner(leftovers);
  const { webhookHost: host } = flags;
  if (host !== undefined && !parts.dryRun) {
    return localServer(flags, { ...parts, webhooks, allWebhooks: webhooksIn(parts.allControllers), log, host });
  }
  const prepare = (stop: AbortSignal) => cleanUp(leftovers, stop);
  const reason = reasonNotServed(flags, parts);
  if (reason !== undefined) {
    log.info("not serving webhooks", { reason });
    return { name: "webhooks", prepare, run: () => Promise.resolve() };
  }
  const certificates = flags.certDir === undefined
    ? managedSource(parts, webhooks)
    : certificateFiles(flags.certDir, { metrics: parts.metrics, clock: parts.clock });
  const server = createServer(flags, { ...parts, webhooks }, certificates);
  return { name: "webhooks", prepare, run: ({ stop, kill }) => server.run(stop, { kill }) };
}

function webhooksIn(controllers: readonly OperatorController[]): readonly Webhook[] {
  return controllers.flatMap((controller) => controller.webhooks ?? []);
}

function reasonNotServed(flags: ServingFlags, parts: WebhookParts): string | undefined {
  if (flags.webhookHost !== undefined) return "--dry-run stores no configurations that refer to --webhook-host";
  if (flags.certDir !== undefined) return undefined;
  if (!parts.isInCluster) {
    return "this process is not a Pod, and neither --webhook-host (auto finds the address) nor --cert-dir is given";
  }
  return parts.dryRun ? "--dry-run stores no certificates, and --cert-dir is not given" : undefined;
}

function managedSource(parts: WebhookParts, webhooks: readonly Webhook[]): CertificateSource {
  const { client, namespace, name, configurations, isLeader, metrics, clock } = parts;
  const service = { namespace, name: webhookServiceName(name) };
  const [hosts, targets] = [serviceHosts(service), configurationTargets(webhooks, configurations)];
  const secret = `${namespace}/${service.name}`;
  return managedCertificates({ client, secret, hosts, targets, service, isLeader, metrics, clock });
}

interface LocalParts extends WebhookParts {
  readonly webhooks: readonly Webhook[];
  /** Those of all controllers. */
  readonly allWebhooks: readonly Webhook[];
  readonly host: string;
  readonly log: Logger;
}

/**
 * Serves webhooks on this machine. Removes the configurations that it created, and restores those that it changed. The
 * cluster calls this machine before the caches start: without a conversion they would read the content of other versions.
 */
function localServer(flags: ServingFlags, parts: LocalParts): Runnable {
  let published: PublishedRun | undefined;
  return {
    name: "webhooks",
    async prepare() {
      published = await startLocalRun(flags, parts);
    },
    async run({ stop, kill }) {
      if (published === undefined) return;
      const { server } = published;
      using _killing = onAbort(kill, () => server.kill.abort());
      try {
        await renewUntilStopped(parts, published, stop);
      } finally {
        await endLocalRun(published, kill);
      }
    },
  };
}

/** A local run that has a port. */
interface PublishedRun {
  readonly local: LocalWebhooks;
  readonly run: LocalRunIdentity;
  readonly port: number;
  /** Rejects when the server fails. */
  readonly serving: Promise<void>;
  /** End the server. */
  readonly server: { readonly stop: AbortController; readonly kill: AbortController };
}

const never = new AbortController().signal;

/** Makes the cluster call this machine. After a failure nothing has changed. */
async function startLocalRun(flags: ServingFlags, parts: LocalParts): Promise<PublishedRun> {
  const { client, webhooks, configurations, host, clock } = parts;
  const run = await newLocalRun();
  const targets = configurationTargets(webhooks, configurations);
  const local = await localWebhooks({ client, targets, host, run, clock });
  const webhookServer = createServer(flags, parts, local.certificates);
  const server = { stop: new AbortController(), kill: new AbortController() };
  const serving = webhookServer.run(server.stop.signal, { kill: server.kill.signal });
  // A port in use ends the run before the cluster is changed: another local run may use it.
  using listening = scope(never);
  const port = await Promise.race([portOf(webhookServer, listening.signal, clock), serving.then(() => 0)]);
  const published = { local, run, port, serving, server };
  try {
    await publish(parts, published, never);
    return published;
  } catch (error) {
    await endLocalRun(published, never);
    throw error;
  }
}

/** Undoes the changes while the server still responds, then stops it. */
async function endLocalRun({ local, server, serving }: PublishedRun, signal: AbortSignal): Promise<void> {
  try {
    await local.restore(signal);
  } finally {
    server.stop.abort();
    await serving;
  }
}

/** Shows other processes that this run is alive. */
async function renewUntilStopped(parts: LocalParts, published: PublishedRun, stop: AbortSignal): Promise<void> {
  const { client, webhooks, configurations, clock, log } = parts;
  const { run, serving } = published;
  const targets = configurationTargets(webhooks, configurations);
  try {
    // Rejects with the reason of the stop, and when the server fails.
    const sleep = () => Promise.race([clock.sleep(renewLocalRunMs, stop), serving.then(() => aborted(stop))]);
    for (await sleep(); !stop.aborted; await sleep()) {
      const isPublished = await renewLocalRun(run, { client, targets, clock, signal: stop }).catch((error: unknown) => {
        if (!stop.aborted) log.warn("renewing the mark of this local run failed, retrying", { error });
        return true;
      });
      if (isPublished) continue;
      log.warn("the webhooks of this local run were removed, publishing them again");
      await publish(parts, published, stop);
    }
  } catch (error) {
    if (!stop.aborted || error !== stop.reason) throw error;
  }
}

/** Points the cluster to this machine. @throws CommandError when another local run serves the same webhooks */
async function publish(
  parts: LocalParts,
  { local, run, port }: PublishedRun,
  signal: AbortSignal,
): Promise<void> {
  const { client, webhooks, allWebhooks, name, configurations, host, clock, log } = parts;
  const targets = configurationTargets(webhooks, configurations);
  // Configurations of a killed run can name webhooks that no longer exist.
  const alive = await undoDeadLocalRuns({ ...parts, webhooks: allWebhooks, log, signal });
  const isOurTarget = (one: ConfigurationTarget) =>
    targets.some(({ kind, name }) => kind === one.kind && name === one.name);
  const other = alive.find((trace) => isOurTarget(trace.target) && trace.run?.id !== run.id)?.run;
  if (other !== undefined) {
    throw new CommandError(
      `Cannot serve the webhooks of ${name} on this machine: process ${other.process} on ${other.host} serves them`,
      { code: exitCode.failed, advice: "End that run, or leave --webhook-host out" },
    );
  }
  const mark = markOf(run, clock.now());
  await installLocalConfigurations(client, {
    ...{ webhooks, operatorName: name, configurations, host, port, ca: local.ca, mark, signal },
  });
  const attached = await local.attach(port, signal);
  log.info("serving webhooks on this machine", { host, port, configurations: attached });
}

function createServer(
  flags: ServingFlags,
  parts: WebhookParts & { readonly webhooks: readonly Webhook[] },
  certificates: CertificateSource,
): WebhookServer {
  const { webhooks, metrics, recorder, clock } = parts;
  const isLocal = flags.webhookHost !== undefined;
  return new WebhookServer({
    webhooks,
    certificates,
    // A cluster that calls a loopback address runs on this machine.
    hostname: flags.webhookHost === "127.0.0.1" || flags.webhookHost === "localhost" ? "127.0.0.1" : "0.0.0.0",
    port: flags.webhookPort,
    // There are no endpoints to wait for: the cluster calls this machine directly.
    drainDelayMs: isLocal ? 0 : undefined,
    metrics,
    recorder,
    clock,
  });
}

/** Waits until the server listens. @returns Its port */
async function portOf(server: WebhookServer, signal: AbortSignal, clock: Clock): Promise<number> {
  while (server.port === undefined) await clock.sleep(20, signal);
  return server.port;
}
