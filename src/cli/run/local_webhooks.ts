/**
 * Webhook configurations of local runs (`--webhook-host`): creating them, and cleaning up after a killed run.
 *
 * Where the cluster has no configurations, a local run creates its own, with a label, and removes them at the end.
 * Configurations that exist are changed for the time of the run instead (`localWebhooks` of src/webhook). A killed run
 * leaves both kinds referring to a machine that no longer responds, so that the cluster rejects writes: every start of the
 * same operator, with whichever controllers, repairs that first, and so does `doctor --fix`. In a cluster only a start that
 * serves webhooks does so, because the others have no permission to read configurations.
 *
 * Guarantees: a created configuration is complete from the start, including the CA bundle and the mark; what a live run has
 * published is left alone.
 */
import type { Clock, Random } from "../../async/mod.ts";
import { type Client, isForbidden } from "../../client/mod.ts";
import type { Runnable } from "../../manager/mod.ts";
import type { Logger } from "../../observe/mod.ts";
import {
  type ConfigurationTarget,
  configurationTargets,
  findDeadLocalRuns,
  localRunAnnotation,
  localRunDeadAfterMs,
  localRunLabel,
  type LocalRunTrace,
  undoLocalRuns,
  type Webhook,
  type WebhookConfigurations,
  webhookConfigurations,
} from "../../webhook/mod.ts";
import { isAllowed, operatorLabel, retryUnavailable } from "../connection/mod.ts";
import { builtin, type Infer, type Resource } from "../../api/mod.ts";

/** What a killed local run may have left. */
interface Leftovers {
  /** The webhooks that may have been served locally. */
  readonly webhooks: readonly Webhook[];
  /** The name of the webhook configurations. */
  readonly configurations: string;
  readonly client: Client;
  /** Sends dry-run requests only. */
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Ends the wait for a renewal. @default never */
  readonly signal?: AbortSignal;
}

const never = new AbortController().signal;

/** Creates the cleanup for a start that serves no webhooks; undefined when the operator has no webhooks. */
export function leftoverCleaner(leftovers: Leftovers): Runnable | undefined {
  if (leftovers.webhooks.length === 0) return undefined;
  return {
    name: "leftover webhooks",
    prepare: (stop) => cleanUp(leftovers, stop, canReadConfigurations),
    run: () => Promise.resolve(),
  };
}

/** Repairs what a killed run has left, as soon as the server responds. @throws the signal's reason */
export async function cleanUp(
  leftovers: Leftovers,
  signal: AbortSignal,
  isNeeded: (leftovers: Leftovers) => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  const { clock, random } = leftovers;
  const work = async () => {
    if (await isNeeded(leftovers)) await undoDeadLocalRuns({ ...leftovers, signal });
  };
  await retryUnavailable("look for webhooks of killed runs", work, { clock, random, signal });
}

/**
 * Removes what a killed run created and restores what it changed. Without the permission, there was no local run.
 *
 * @returns What live runs have published
 */
export async function undoDeadLocalRuns(leftovers: Leftovers): Promise<readonly LocalRunTrace[]> {
  const { webhooks, configurations, clock, log, dryRun, signal = never } = leftovers;
  const client = dryRun ? leftovers.client.dryRunClient() : leftovers.client;
  const targets = configurationTargets(webhooks, configurations);
  try {
    const { dead, alive } = await findDeadLocalRuns({
      ...{ client, targets, clock, signal },
      onWait: ({ host, process, renewedAt }) =>
        log.info("a local run does not respond, waiting for a renewal of its mark", {
          ...{ host, process, renewedAt, forMs: localRunDeadAfterMs },
        }),
    });
    if (await undoLocalRuns(client, dead, signal, clock) > 0) {
      const runs = dead.map(({ run }) => run === undefined ? "unknown" : `${run.host} (process ${run.process})`);
      log.warn("removed the webhooks of a local run that was killed", { runs: [...new Set(runs)].join(", ") });
    }
    return alive;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    log.info("skipping the cleanup after local runs, it is forbidden", { reason: error.message });
    return [];
  }
}

const resourceOf: Readonly<Record<ConfigurationTarget["kind"], readonly [group: string, resource: string]>> = {
  mutating: ["admissionregistration.k8s.io", "mutatingwebhookconfigurations"],
  validating: ["admissionregistration.k8s.io", "validatingwebhookconfigurations"],
  converting: ["apiextensions.k8s.io", "customresourcedefinitions"],
};

/** Checks the permission first, so that a user without it leaves no denied requests in the audit log. */
async function canReadConfigurations({ webhooks, configurations, client }: Leftovers): Promise<boolean> {
  const [target] = configurationTargets(webhooks, configurations);
  if (target === undefined) return false;
  const [group, resource] = resourceOf[target.kind];
  return await isAllowed(client, { verb: "get", group, resource, name: target.name });
}

/** The configurations of a local run. */
interface LocalConfigurations {
  readonly webhooks: readonly Webhook[];
  readonly operatorName: string;
  /** Their name. */
  readonly configurations: string;
  readonly host: string;
  readonly port: number;
  /** PEM text of the certificate authority that the API server trusts. */
  readonly ca: string;
  /** The text of the mark of this run. */
  readonly mark: string;
  readonly signal: AbortSignal;
}

/** Creates the configurations that the cluster does not have. */
export async function installLocalConfigurations(client: Client, options: LocalConfigurations): Promise<void> {
  const { webhooks, operatorName, configurations: name, host, port, ca, mark, signal } = options;
  const url = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  // A local run has no namespace of its own to exclude; this name keeps the rule for namespaced kinds valid.
  const address = { kind: "url", url } as const;
  const desired = webhookConfigurations(webhooks, { name, address, caBundle: ca, ownNamespace: "kube-system" });
  await createMissing(client, builtin.MutatingWebhookConfiguration, desired.mutating, { operatorName, mark, signal });
  await createMissing(client, builtin.ValidatingWebhookConfiguration, desired.validating, {
    operatorName,
    mark,
    signal,
  });
}

type Configuration = NonNullable<WebhookConfigurations["mutating"] | WebhookConfigurations["validating"]>;

async function createMissing<R extends Resource>(
  client: Client,
  resource: R,
  configuration: (Configuration & Infer<R>) | undefined,
  { operatorName, mark, signal }: Pick<LocalConfigurations, "operatorName" | "mark" | "signal">,
): Promise<void> {
  if (configuration === undefined) return;
  const name = configuration.metadata.name ?? "";
  if (await client.find(resource, name, { signal }) !== undefined) return;
  const labels = { [localRunLabel]: "true", [operatorLabel]: operatorName };
  const own = { labels, annotations: { [localRunAnnotation]: mark } };
  const metadata = { ...configuration.metadata, ...own };
  await client.create(resource, { ...configuration, metadata } as never, { signal });
}
