/**
 * Webhook configurations for the time of a local run, where the cluster has none: made at the start, labelled as ours,
 * and taken away at the end. Configurations that somebody installed are borrowed instead (`webhook/local_webhooks.ts`).
 *
 * Guarantees: what is made works from its first moment, certificate and all; what has the label is never put back to
 * anything, since there was nothing before it.
 */
import { builtin, type Infer, type Resource } from "../api/mod.ts";
import { type Client, isConflict, isNotFound } from "../client/mod.ts";
import { type Webhook, type WebhookConfigurations, webhookConfigurations } from "../webhook/mod.ts";

const localLabel = "pintle.dev/local-run";

/** Whose configurations, and where they point. */
export interface LocalConfigurations {
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
