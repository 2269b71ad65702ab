/**
 * What a local run of webhooks (`--webhook-host`) leaves behind when it is killed: configurations that point at a machine
 * where nobody answers, so that the cluster refuses writes. Every start of the same operator puts that right first,
 * whichever of its controllers it runs.
 *
 * In a cluster only who serves webhooks looks: a controller without them has no permission to, and none is asked for.
 */
/* MERGED local_configurations.ts
 * Webhook configurations for the time of a local run, where the cluster has none: made at the start, labelled as ours,
 * and taken away at the end. Configurations that somebody installed are borrowed instead (`webhook/local_webhooks.ts`).
 *
 * Guarantees: what is made works from its first moment, certificate and all; what has the label is never put back to
 * anything, since there was nothing before it.
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
import { builtin, type Infer, type Resource } from "../../api/mod.ts";

/** Whose leftovers, and where. */
interface Leftovers {
  /** The webhooks that may have been run locally. */
  readonly webhooks: readonly Webhook[];
  /** The operator's name. */
  readonly name: string;
  readonly client: Client;
  /** Says what would be done, and does nothing. */
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

const never = new AbortController().signal;

/** Looks once, at the start of a run that serves no webhooks; undefined where there can be nothing. */
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

/** Removes what a killed run made and puts back what it changed. Without the permission to, nothing of it was ours. */
export async function undoLocalRun(leftovers: Leftovers): Promise<void> {
  const { webhooks, name, clock, log, dryRun } = leftovers;
  const client = dryRun ? leftovers.client.dryRunClient() : leftovers.client;
  try {
    await removeLocalConfigurations(client, { name, signal: never });
    await restoreWebhooks(client, configurationTargets(webhooks, name), never, clock);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    log.info("not looked for what a killed local run may have left: it is forbidden", { reason: error.message });
  }
}

const pluralOf: Readonly<Record<ConfigurationTarget["kind"], readonly [group: string, resource: string]>> = {
  mutating: ["admissionregistration.k8s.io", "mutatingwebhookconfigurations"],
  validating: ["admissionregistration.k8s.io", "validatingwebhookconfigurations"],
  converting: ["apiextensions.k8s.io", "customresourcedefinitions"],
};

/** Asks first, so that a user without the permission is not seen to try. */
async function canReadConfigurations({ webhooks, name, client }: Leftovers): Promise<boolean> {
  const [target] = configurationTargets(webhooks, name);
  if (target === undefined) return false;
  const [group, resource] = pluralOf[target.kind];
  const spec = { resourceAttributes: { verb: "get", group, resource, name: target.name } };
  const body = JSON.stringify({ apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec });
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const answer: unknown = JSON.parse(await client.raw(path, { method: "POST", body }));
  return typeof answer === "object" && answer !== null && "status" in answer && isAllowed(answer.status);
}

function isAllowed(status: unknown): boolean {
  return typeof status === "object" && status !== null && "allowed" in status && status.allowed === true;
}

const localLabel = "pintle.dev/local-run";

/** Whose configurations, and where they point. */
interface LocalConfigurations {
  readonly webhooks: readonly Webhook[];
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** PEM text of the authority that the API server shall believe. */
  readonly ca: string;
  readonly signal: AbortSignal;
}

/** Makes the configurations that the cluster does not have. */
export async function installLocalConfigurations(client: Client, options: LocalConfigurations): Promise<void> {
  const { webhooks, name, host, port, ca, signal } = options;
  const url = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  // Cluster-scoped kinds have no namespace to exclude; a namespace of this name keeps the others' rule well formed.
  const address = { kind: "url", url } as const;
  const made = webhookConfigurations(webhooks, { name, address, caBundle: ca, ownNamespace: "kube-system" });
  await makeMissing(client, builtin.MutatingWebhookConfiguration, made.mutating, signal);
  await makeMissing(client, builtin.ValidatingWebhookConfiguration, made.validating, signal);
}

/** Takes away what {@link installLocalConfigurations} made, in this run or in one that was killed. */
export async function removeLocalConfigurations(
  client: Client,
  options: Pick<LocalConfigurations, "name" | "signal">,
): Promise<void> {
  for (const resource of [builtin.MutatingWebhookConfiguration, builtin.ValidatingWebhookConfiguration]) {
    const held = await client.find(resource, options.name, { signal: options.signal });
    if (held?.metadata.labels?.[localLabel] !== "true") continue;
    const preconditions = { uid: held.metadata.uid };
    await client.delete(resource, options.name, { preconditions, signal: options.signal }).catch(unlessGone);
  }
}

type Made = NonNullable<WebhookConfigurations["mutating"] | WebhookConfigurations["validating"]>;

async function makeMissing<R extends Resource>(
  client: Client,
  resource: R,
  configuration: (Made & Infer<R>) | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (configuration === undefined) return;
  const name = configuration.metadata.name ?? "";
  if (await client.find(resource, name, { signal }) !== undefined) return;
  const metadata = { ...configuration.metadata, labels: { [localLabel]: "true" } };
  await client.create(resource, { ...configuration, metadata } as never, { signal });
}

/** A conflict with the UID: somebody made another one in its place. */
function unlessGone(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}
