/**
 * createWebhookRunnable(): creates the webhook server of `run` from its flags.
 *
 * There are three ways: in a cluster, with certificates that this program creates and stores in a Secret; with your own
 * certificates (`--cert-dir`); or on a developer's machine (`--webhook-host`), where the configurations of the cluster refer
 * to that machine during the run. Otherwise webhooks are not served, and a log record says why.
 *
 * Guarantees: a killed local run leaves configurations that refer to a machine that no longer responds, so that the cluster
 * rejects writes; every next start repairs that first (`local_webhooks.ts`). A dry run stores nothing: neither
 * configurations nor certificates.
 */
import { webhookServiceName } from "../command/mod.ts";
import { aborted, type Clock } from "../../async/mod.ts";
import type { Client } from "../../client/mod.ts";
import type { Life, OperatorController, Runnable } from "../../manager/mod.ts";
import { type Logger, logger, type MetricsRegistry } from "../../observe/mod.ts";
import {
  certificateFiles,
  type CertificateSource,
  configurationTargets,
  type LocalWebhooks,
  localWebhooks,
  managedCertificates,
  serviceHosts,
  type Webhook,
  WebhookServer,
} from "../../webhook/mod.ts";
import {
  installLocalConfigurations,
  leftoverCleaner,
  removeLocalConfigurations,
  undoLocalRun,
} from "./local_webhooks.ts";
import type { ServingFlags } from "./run_flags.ts";

/** What the webhook server needs. */
interface WebhookParts {
  readonly controllers: readonly OperatorController[];
  /** All controllers of the operator: a killed run may have served the webhooks of any of them. */
  readonly allControllers: readonly OperatorController[];
  /** The operator's name. It is the name of the configurations; Service and Secret are called NAME-webhook. */
  readonly name: string;
  readonly namespace: string;
  readonly isInCluster: boolean;
  /** Nothing is stored, so the configurations cannot refer to this process. */
  readonly dryRun: boolean;
  readonly client: Client;
  readonly isLeader: () => boolean;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
}

/** Creates the server, for the Manager's phase "webhooks"; undefined when there is nothing to serve or to repair. */
export function createWebhookRunnable(flags: ServingFlags, parts: WebhookParts): Runnable | undefined {
  const webhooks = webhooksIn(parts.controllers);
  const log = logger("webhook");
  const leftovers = { ...parts, webhooks: parts.isInCluster ? webhooks : webhooksIn(parts.allControllers), log };
  if (webhooks.length === 0) return leftoverCleaner(leftovers);
  const { webhookHost: host } = flags;
  if (host !== undefined && !parts.dryRun) return localServer(flags, { ...parts, webhooks, log, host });
  const prepare = () => undoLocalRun(leftovers);
  const reason = reasonNotServed(flags, parts);
  if (reason !== undefined) {
    log.info("not serving webhooks", { reason });
    return { name: "webhooks", prepare, run: () => Promise.resolve() };
  }
  const certificates = flags.certDir === undefined
    ? managedSource(parts, webhooks)
    : certificateFiles(flags.certDir, { clock: parts.clock });
  const server = createServer(flags, { ...parts, webhooks }, certificates);
  return { name: "webhooks", prepare, run: ({ stop, kill }) => server.run(stop, { kill }) };
}

function webhooksIn(controllers: readonly OperatorController[]): readonly Webhook[] {
  return controllers.flatMap((controller) => controller.webhooks ?? []);
}

function reasonNotServed(flags: ServingFlags, parts: WebhookParts): string | undefined {
  if (flags.webhookHost !== undefined) return "--dry-run stores no configurations that refer to --webhook-host";
  if (flags.certDir !== undefined) return undefined;
  if (!parts.isInCluster) return "this process is not a Pod, and neither --webhook-host nor --cert-dir is given";
  return parts.dryRun ? "--dry-run stores no certificates, and --cert-dir is not given" : undefined;
}

function managedSource(parts: WebhookParts, webhooks: readonly Webhook[]): CertificateSource {
  const { client, namespace, name, isLeader, metrics, clock } = parts;
  const service = webhookServiceName(name);
  const hosts = serviceHosts({ namespace, name: service });
  const targets = configurationTargets(webhooks, name);
  return managedCertificates({ client, secret: `${namespace}/${service}`, hosts, targets, isLeader, metrics, clock });
}

interface LocalParts extends WebhookParts {
  readonly webhooks: readonly Webhook[];
  readonly host: string;
  readonly log: Logger;
}

/** Serves webhooks on this machine. Removes the configurations that it created, and restores those that it changed. */
function localServer(flags: ServingFlags, parts: LocalParts): Runnable {
  const { client, webhooks, name, host, clock } = parts;
  const targets = configurationTargets(webhooks, name);
  return {
    name: "webhooks",
    async run({ stop, kill }) {
      const local = await localWebhooks({ client, targets, host, clock });
      const server = createServer(flags, parts, local.certificates);
      const serverStop = new AbortController();
      const serving = server.run(serverStop.signal, { kill });
      try {
        // A port in use ends the run before the cluster is changed: another local run may use it.
        const port = await Promise.race([portOf(server, stop, clock), serving.then(() => 0)]);
        await attachUntilStopped(parts, { local, port, serving, life: { stop, kill } });
      } finally {
        serverStop.abort();
        await serving;
      }
    },
  };
}

interface LocalRun {
  readonly local: LocalWebhooks;
  readonly port: number;
  /** Rejects when the server fails. */
  readonly serving: Promise<void>;
  readonly life: Life;
}

/** Makes the cluster call this machine until the stop, and undoes that while the server still responds. */
async function attachUntilStopped(parts: LocalParts, run: LocalRun): Promise<void> {
  const { client, webhooks, name, host, log } = parts;
  const { local, port, serving, life: { stop, kill } } = run;
  try {
    // Configurations of a killed run can name webhooks that no longer exist.
    await removeLocalConfigurations(client, { name, signal: stop });
    await installLocalConfigurations(client, { webhooks, name, host, port, ca: local.ca, signal: stop });
    const configurations = await local.attach(port, stop);
    log.info("serving webhooks on this machine", { host, port, configurations });
    await Promise.race([aborted(stop), serving]);
  } finally {
    await removeLocalConfigurations(client, { name, signal: kill });
    await local.restore(kill);
  }
}

function createServer(
  flags: ServingFlags,
  parts: WebhookParts & { readonly webhooks: readonly Webhook[] },
  certificates: CertificateSource,
): WebhookServer {
  const { webhooks, metrics, clock } = parts;
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
    clock,
  });
}

/** Waits until the server listens. @returns Its port */
async function portOf(server: WebhookServer, signal: AbortSignal, clock: Clock): Promise<number> {
  while (server.port === undefined) await clock.sleep(20, signal);
  return server.port;
}
