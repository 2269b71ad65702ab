/**
 * What an API server in this process needs for controllers: their CustomResourceDefinitions and their webhooks. The webhooks
 * are called as functions with the same bodies that would go over the network, so no certificate and no socket is needed.
 */
import { builtin, printExactJson } from "../api/mod.ts";
import { type CallWebhook, WebhookCallError } from "../apiserver/mod.ts";
import type { Clock } from "../async/mod.ts";
import { type Client, isAlreadyExists, isNotFound } from "../client/mod.ts";
import { customDefinitions, type OperatorController } from "../manager/mod.ts";
import { webhookConfigurations, webhookHandler } from "../webhook/mod.ts";

/** The service that stands for this process; there is no Service object. */
const service = { kind: "service", namespace: "kube-system", name: "in-process" } as const;

/**
 * Creates the CustomResourceDefinitions of the controllers, and replaces those of an earlier version. The server serves a kind
 * as soon as it has responded.
 *
 * @throws TypeError when nothing converts between the versions of a kind
 */
export async function installCustomResources(
  client: Client,
  controllers: readonly OperatorController[],
  signal?: AbortSignal,
): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const crd of customDefinitions(controllers, { address: service })) {
    await client.raw(path, { method: "POST", body: printExactJson(crd), signal }).catch(async (error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
      const live = await client.get(builtin.CustomResourceDefinition, crd.metadata.name, { signal });
      const { resourceVersion } = live.metadata;
      const body = printExactJson({ ...crd, metadata: { ...crd.metadata, resourceVersion } });
      await client.raw(`${path}/${crd.metadata.name}`, { method: "PUT", body, signal });
    });
  }
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

/** Creates the webhook configurations of the controllers. @param name of the configurations */
export async function installWebhooks(
  client: Client,
  controllers: readonly OperatorController[],
  name: string,
): Promise<void> {
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  if (webhooks.length === 0) return;
  const { mutating, validating } = webhookConfigurations(webhooks, { name, address: service });
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
