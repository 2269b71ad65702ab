/**
 * From the flags of `run` to a webhook server.
 *
 * Three ways: in a cluster with certificates made here and shared in a Secret, with certificates of one's own
 * (`--cert-dir`), or from a developer's machine (`--webhook-host`), to which the cluster is pointed for the time being.
 * Otherwise webhooks are not served, and a log record says so.
 *
 * Guarantees: a local run that was killed leaves a cluster that calls nobody and refuses writes; every next start puts
 * that right first, whichever of the ways it goes (`leftover_webhooks.ts`). A dry run stores nothing: it neither points
 * the cluster anywhere nor keeps certificates in it.
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

/** What the webhooks are served with. */
interface WebhookParts {
  readonly controllers: readonly OperatorController[];
  /** All that the operator has, of which those are some: a killed run may have served the webhooks of any. */
  readonly known: readonly OperatorController[];
  /** The operator's name: that of the configurations, and with `-webhook` that of Service and Secret. */
  readonly name: string;
  readonly namespace: string;
  readonly isInCluster: boolean;
  /** Nothing is stored, so the cluster cannot be pointed anywhere either. */
  readonly dryRun: boolean;
  readonly client: Client;
  readonly isLeader: () => boolean;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
}

/** The server, to be added to the Manager's phase "webhooks"; undefined when there is nothing to serve or to put right. */
export function createWebhookRunnable(flags: ServingFlags, parts: WebhookParts): Runnable | undefined {
  const webhooks = webhooksIn(parts.controllers);
  const log = logger("webhook");
  const leftovers = { ...parts, webhooks: parts.isInCluster ? webhooks : webhooksIn(parts.known), log };
  if (webhooks.length === 0) return leftoverCleaner(leftovers);
  const { webhookHost: host } = flags;
  if (host !== undefined && !parts.dryRun) return localServer(flags, { ...parts, webhooks, log, host });
  const prepare = () => undoLocalRun(leftovers);
  const obstacle = reasonNotServed(flags, parts);
  if (obstacle !== undefined) {
    log.info(`webhooks are not served: ${obstacle}`);
    return { name: "webhooks", prepare, run: () => Promise.resolve() };
  }
  const certificates = flags.certDir === undefined
    ? managed(parts, webhooks)
    : certificateFiles(flags.certDir, { clock: parts.clock });
  const server = serverOf(flags, { ...parts, webhooks }, certificates);
  return { name: "webhooks", prepare, run: ({ stop, kill }) => server.run(stop, { kill }) };
}

function webhooksIn(controllers: readonly OperatorController[]): readonly Webhook[] {
  return controllers.flatMap((controller) => controller.webhooks ?? []);
}

function reasonNotServed(flags: ServingFlags, parts: WebhookParts): string | undefined {
  if (flags.webhookHost !== undefined) return "--dry-run stores nothing, so the cluster cannot be pointed here";
  if (flags.certDir !== undefined) return undefined;
  if (!parts.isInCluster) return "this is no pod, and neither --webhook-host nor --cert-dir is given";
  return parts.dryRun ? "--dry-run stores no certificates, and --cert-dir is not given" : undefined;
}

function managed(parts: WebhookParts, webhooks: readonly Webhook[]): CertificateSource {
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

/** Serves from here. What this puts into the cluster it takes out again, and what it changes it puts back. */
function localServer(flags: ServingFlags, parts: LocalParts): Runnable {
  const { client, webhooks, name, host, clock } = parts;
  const targets = configurationTargets(webhooks, name);
  return {
    name: "webhooks",
    async run({ stop, kill }) {
      const local = await localWebhooks({ client, targets, host, clock });
      const server = serverOf(flags, parts, local.certificates);
      const serverStop = new AbortController();
      const serving = server.run(serverStop.signal, { kill });
      try {
        // A port that is taken ends it before the cluster is touched: it may belong to a local run that is alive.
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

/** Points the cluster here until the stop; then away again while the server still answers. */
async function attachUntilStopped(parts: LocalParts, run: LocalRun): Promise<void> {
  const { client, webhooks, name, host, log } = parts;
  const { local, port, serving, life: { stop, kill } } = run;
  try {
    // What a killed run made may name webhooks that there are no more.
    await removeLocalConfigurations(client, { name, signal: stop });
    await installLocalConfigurations(client, { webhooks, name, host, port, ca: local.ca, signal: stop });
    const configurations = await local.attach(port, stop);
    log.info("the cluster calls the webhooks here", { host, port, configurations });
    await Promise.race([aborted(stop), serving]);
  } finally {
    await removeLocalConfigurations(client, { name, signal: kill });
    await local.restore(kill);
  }
}

function serverOf(
  flags: ServingFlags,
  parts: WebhookParts & { readonly webhooks: readonly Webhook[] },
  certificates: CertificateSource,
): WebhookServer {
  const { webhooks, metrics, clock } = parts;
  const isLocal = flags.webhookHost !== undefined;
  return new WebhookServer({
    webhooks,
    certificates,
    // Nobody else need reach a webhook that is called by way of this very machine.
    hostname: flags.webhookHost === "127.0.0.1" || flags.webhookHost === "localhost" ? "127.0.0.1" : "0.0.0.0",
    port: flags.webhookPort,
    // No endpoints follow a developer's machine.
    drainDelayMs: isLocal ? 0 : undefined,
    metrics,
    clock,
  });
}

/** The port the server listens on, once it does. */
async function portOf(server: WebhookServer, signal: AbortSignal, clock: Clock): Promise<number> {
  while (server.port === undefined) await clock.sleep(20, signal);
  return server.port;
}
