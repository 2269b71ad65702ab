/**
 * Webhook configurations of local runs (`--webhook-host`): creating and removing them, and cleaning up after a killed run.
 *
 * Where the cluster has no configurations, a local run creates its own, with a label, and removes them at the end.
 * Configurations that exist are changed for the time of the run instead (`localWebhooks` of src/webhook). A killed run
 * leaves both kinds referring to a machine that no longer responds, so that the cluster rejects writes: every start of the
 * same operator, with whichever controllers, repairs that first. In a cluster only a start that serves webhooks does so,
 * because the others have no permission to read configurations.
 *
 * Guarantees: a created configuration is complete from the start, including the CA bundle.
 */
import type { Clock } from "../../async/mod.ts";
import { type Client, isConflict, isForbidden, isNotFound } from "../../client/mod.ts";
import type { Runnable } from "../../manager/mod.ts";
import type { Logger } from "../../observe/mod.ts";
import {
  type ConfigurationTarget,
  configurationTargets,
  restoreWebhooks,
  type Webhook,
  type WebhookConfigurations,
  webhookConfigurations,
} from "../../webhook/mod.ts";
import { isAllowed } from "../connection/mod.ts";
import { builtin, type Infer, type Resource } from "../../api/mod.ts";

/** What a killed local run may have left. */
interface Leftovers {
  /** The webhooks that may have been served locally. */
  readonly webhooks: readonly Webhook[];
  /** The operator's name. */
  readonly name: string;
  readonly client: Client;
  /** Sends dry-run requests only. */
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

const never = new AbortController().signal;

/** Creates the cleanup for a start that serves no webhooks; undefined when the operator has no webhooks. */
export function leftoverCleaner(leftovers: Leftovers): Runnable | undefined {
  if (leftovers.webhooks.length === 0) return undefined;
  return {
    name: "leftover webhooks",
    async prepare() {
      if (await canReadConfigurations(leftovers)) await undoLocalRun(leftovers);
    },
    run: () => Promise.resolve(),
  };
}

/** Removes what a killed run created and restores what it changed. Without the permission, there was no local run. */
export async function undoLocalRun(leftovers: Leftovers): Promise<void> {
  const { webhooks, name, clock, log, dryRun } = leftovers;
  const client = dryRun ? leftovers.client.dryRunClient() : leftovers.client;
  try {
    await removeLocalConfigurations(client, { name, signal: never });
    await restoreWebhooks(client, configurationTargets(webhooks, name), never, clock);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    log.info("skipping the cleanup after local runs, it is forbidden", { reason: error.message });
  }
}

const resourceOf: Readonly<Record<ConfigurationTarget["kind"], readonly [group: string, resource: string]>> = {
  mutating: ["admissionregistration.k8s.io", "mutatingwebhookconfigurations"],
  validating: ["admissionregistration.k8s.io", "validatingwebhookconfigurations"],
  converting: ["apiextensions.k8s.io", "customresourcedefinitions"],
};

/** Checks the permission first, so that a user without it leaves no denied requests in the audit log. */
async function canReadConfigurations({ webhooks, name, client }: Leftovers): Promise<boolean> {
  const [target] = configurationTargets(webhooks, name);
  if (target === undefined) return false;
  const [group, resource] = resourceOf[target.kind];
  return await isAllowed(client, { verb: "get", group, resource, name: target.name });
}

const localLabel = "pintle.dev/local-run";

/** The configurations of a local run. */
interface LocalConfigurations {
  readonly webhooks: readonly Webhook[];
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** PEM text of the certificate authority that the API server trusts. */
  readonly ca: string;
  readonly signal: AbortSignal;
}

/** Creates the configurations that the cluster does not have. */
export async function installLocalConfigurations(client: Client, options: LocalConfigurations): Promise<void> {
  const { webhooks, name, host, port, ca, signal } = options;
  const url = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  // A local run has no namespace of its own to exclude; this name keeps the rule for namespaced kinds valid.
  const address = { kind: "url", url } as const;
  const desired = webhookConfigurations(webhooks, { name, address, caBundle: ca, ownNamespace: "kube-system" });
  await createMissing(client, builtin.MutatingWebhookConfiguration, desired.mutating, signal);
  await createMissing(client, builtin.ValidatingWebhookConfiguration, desired.validating, signal);
}

/** Removes what {@link installLocalConfigurations} created, in this run or in a killed one. */
export async function removeLocalConfigurations(
  client: Client,
  options: Pick<LocalConfigurations, "name" | "signal">,
): Promise<void> {
  for (const resource of [builtin.MutatingWebhookConfiguration, builtin.ValidatingWebhookConfiguration]) {
    const live = await client.find(resource, options.name, { signal: options.signal });
    if (live?.metadata.labels?.[localLabel] !== "true") continue;
    const preconditions = { uid: live.metadata.uid };
    await client.delete(resource, options.name, { preconditions, signal: options.signal }).catch(unlessGone);
  }
}

type Configuration = NonNullable<WebhookConfigurations["mutating"] | WebhookConfigurations["validating"]>;

async function createMissing<R extends Resource>(
  client: Client,
  resource: R,
  configuration: (Configuration & Infer<R>) | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (configuration === undefined) return;
  const name = configuration.metadata.name ?? "";
  if (await client.find(resource, name, { signal }) !== undefined) return;
  const metadata = { ...configuration.metadata, labels: { [localLabel]: "true" } };
  await client.create(resource, { ...configuration, metadata } as never, { signal });
}

/** A conflict means that the UID differs: another configuration has taken its place. */
function unlessGone(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}
