/**
 * From the flags of `run` to a webhook server.
 *
 * Three ways: in a cluster with certificates made here and shared in a Secret, with certificates of one's own
 * (`--cert-dir`), or from a developer's machine (`--webhook-host`), to which the cluster is pointed for the time being.
 * Otherwise webhooks are not served, and a log record says so.
 */
import type { Clock } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import type { OperatorController, Runnable } from "../manager/mod.ts";
import { type Logger, logger, type MetricsRegistry } from "../observe/mod.ts";
import {
  certificateFiles,
  type CertificateSource,
  type ConfigurationTarget,
  configurationTargets,
  localWebhooks,
  managedCertificates,
  restoreWebhooks,
  serviceHosts,
  type Webhook,
  WebhookServer,
} from "../webhook/mod.ts";
import { installLocalConfigurations, removeLocalConfigurations } from "./local_configurations.ts";
import type { ServingFlags } from "./serving_flags.ts";

/** What the webhooks are served with. */
export interface WebhookParts {
  readonly controllers: readonly OperatorController[];
  /** The operator's name: that of the configurations, and with `-webhook` that of Service and Secret. */
  readonly name: string;
  readonly namespace: string;
  readonly isInCluster: boolean;
  readonly client: Client;
  readonly isLeader: () => boolean;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
}

/** The server, to be added to the Manager's phase "webhooks"; undefined when there is nothing to serve, or nowhere. */
export function webhooksOf(flags: ServingFlags, parts: WebhookParts): Runnable | undefined {
  const webhooks = parts.controllers.flatMap((controller) => controller.webhooks ?? []);
  if (webhooks.length === 0) return undefined;
  const log = logger("webhook");
  if (flags.webhookHost !== undefined) return localServer(flags, { ...parts, webhooks, log, host: flags.webhookHost });
  if (flags.certDir === undefined && !parts.isInCluster) {
    log.info("webhooks are not served: this is no pod, and neither --webhook-host nor --cert-dir is given");
    return undefined;
  }
  const targets = configurationTargets(webhooks, parts.name);
  const certificates = flags.certDir === undefined
    ? managed(parts, targets)
    : certificateFiles(flags.certDir, { clock: parts.clock });
  const server = serverOf(flags, { ...parts, webhooks }, certificates);
  return {
    name: "webhooks",
    prepare: async () => void await restoreWebhooks(parts.client, targets, never, parts.clock),
    run: ({ stop, kill }) => server.run(stop, { kill }),
  };
}

const never = new AbortController().signal;

function managed(parts: WebhookParts, targets: readonly ConfigurationTarget[]): CertificateSource {
  const { client, namespace, name, isLeader, metrics, clock } = parts;
  const service = `${name}-webhook`;
  const hosts = serviceHosts({ namespace, name: service });
  return managedCertificates({ client, secret: `${namespace}/${service}`, hosts, targets, isLeader, metrics, clock });
}

interface LocalParts extends WebhookParts {
  readonly webhooks: readonly Webhook[];
  readonly host: string;
  readonly log: Logger;
}

/** Serves from here. What this puts into the cluster it takes out again, and what it changes it puts back. */
function localServer(flags: ServingFlags, parts: LocalParts): Runnable {
  const { client, webhooks, name, host, clock, log } = parts;
  const targets = configurationTargets(webhooks, name);
  return {
    name: "webhooks",
    async run({ stop, kill }) {
      const local = await localWebhooks({ client, targets, host, clock });
      const server = serverOf(flags, parts, local.certificates);
      const serverStop = new AbortController();
      const serving = server.run(serverStop.signal, { kill });
      try {
        const port = await Promise.race([portOf(server, stop, clock), serving.then(() => 0)]);
        await installLocalConfigurations(client, { webhooks, name, host, port, signal: stop });
        const attached = await local.attach(port, stop);
        log.info("the cluster calls the webhooks here", { host, port, configurations: attached });
        await Promise.race([aborted(stop), serving]);
      } finally {
        // The cluster is pointed away first: a webhook that is called and not there refuses every write.
        await local.restore(kill);
        await removeLocalConfigurations(client, { name, signal: kill });
        serverStop.abort();
        await serving;
      }
    },
  };
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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
