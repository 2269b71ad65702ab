/**
 * What the API server of a test needs for controllers: their CustomResourceDefinitions and their webhooks. A server in this
 * process calls the webhooks as functions with the same bodies that would go over the network, so it needs no certificate and
 * no socket.
 */
import { builtin, printExactJson } from "../api/mod.ts";
import { type CallWebhook, WebhookCallError } from "../apiserver/mod.ts";
import type { Clock } from "../async/mod.ts";
import { type Client, isAlreadyExists, isNotFound } from "../client/mod.ts";
import { customDefinitions, type OperatorController } from "../manager/mod.ts";
import { type WebhookAddress, webhookConfigurations, webhookHandler } from "../webhook/mod.ts";

/** The service that stands for this process; there is no Service object. */
const service = { kind: "service", namespace: "kube-system", name: "in-process" } as const;

/** How the API server calls the webhooks. */
export interface WebhookTarget {
  readonly address: WebhookAddress;
  /** PEM text of the authorities of that address. @default none */
  readonly caBundle?: string;
}

/** Options of {@link installCustomResources}. */
export interface InstallOptions {
  /** Where the server calls conversion webhooks. @default in this process, by {@link webhookCaller} */
  readonly target?: WebhookTarget;
  readonly signal?: AbortSignal;
}

/**
 * Creates the CustomResourceDefinitions of the controllers, and replaces those of an earlier version. The embedded server
 * serves a kind as soon as it has responded; a real one as soon as the definition is established.
 *
 * @returns the names of the definitions
 * @throws TypeError when nothing converts between the versions of a kind
 */
export async function installCustomResources(
  client: Client,
  controllers: readonly OperatorController[],
  options: InstallOptions = {},
): Promise<readonly string[]> {
  const { target = { address: service }, signal } = options;
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const definitions = customDefinitions(controllers, target);
  for (const crd of definitions) {
    await client.raw(path, { method: "POST", body: printExactJson(crd), signal }).catch(async (error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
      const live = await client.get(builtin.CustomResourceDefinition, crd.metadata.name, { signal });
      const { resourceVersion } = live.metadata;
      const body = printExactJson({ ...crd, metadata: { ...crd.metadata, resourceVersion } });
      await client.raw(`${path}/${crd.metadata.name}`, { method: "PUT", body, signal });
    });
  }
  return definitions.map(({ metadata }) => metadata.name);
}

/**
 * Deletes the webhook configurations of an earlier process, which may have had other controllers.
 *
 * @param name of the configurations
 */
export async function removeWebhooks(client: Client, name: string): Promise<void> {
  for (const kind of [builtin.MutatingWebhookConfiguration, builtin.ValidatingWebhookConfiguration]) {
    await client.delete(kind, name).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

/** Options of {@link installWebhooks}. */
export interface InstallWebhooksOptions {
  /** The name of the configurations. */
  readonly name: string;
  /** Where the server calls the webhooks. @default in this process, by {@link webhookCaller} */
  readonly target?: WebhookTarget;
}

/** Creates the webhook configurations of the controllers. */
export async function installWebhooks(
  client: Client,
  controllers: readonly OperatorController[],
  { name, target = { address: service } }: InstallWebhooksOptions,
): Promise<void> {
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  if (webhooks.length === 0) return;
  const { mutating, validating } = webhookConfigurations(webhooks, { name, ...target });
  if (mutating !== undefined) await client.create(builtin.MutatingWebhookConfiguration, mutating);
  if (validating !== undefined) await client.create(builtin.ValidatingWebhookConfiguration, validating);
}

/** Calls the webhooks of the controllers. @param others calls all other webhooks; without it, they are unreachable */
export function webhookCaller(
  controllers: readonly OperatorController[],
  clock: Clock,
  others?: CallWebhook,
): CallWebhook {
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  const handler = webhookHandler(webhooks, { clock });
  return async (webhook, body, options) => {
    const { service: target, url } = webhook;
    if (target?.name !== service.name || target.namespace !== service.namespace) {
      if (others !== undefined) return await others(webhook, body, options);
      throw new WebhookCallError(
        `failed to call webhook: ${url ?? `service ${target?.name}`} is not in this process`,
      );
    }
    const headers = { "content-type": "application/json" };
    const response = await handler(new Request(`https://in.process${target.path}`, { method: "POST", headers, body }));
    if (!response.ok) throw new WebhookCallError(`failed to call webhook: the response was ${response.status}`);
    return await response.text();
  };
}
