/**
 * What an API server in this process needs for controllers: their CustomResourceDefinitions and their webhooks. The webhooks
 * are called as functions with the same bodies that would go over the network, so no certificate and no socket is needed.
 */
import { builtin, type Resource, resourceId } from "../api/mod.ts";
import { type CallWebhook, WebhookCallError } from "../apiserver/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import type { CustomResource } from "../schema/mod.ts";
import { webhookConfigurations, webhookHandler } from "../webhook/mod.ts";

/** The service that stands for this process; there is no Service object. */
const service = { kind: "service", namespace: "kube-system", name: "in-process" } as const;

/** The custom resources that the controllers watch, each once. */
export function customResourcesOf(controllers: readonly OperatorController[]): readonly CustomResource[] {
  const all = controllers.flatMap(({ watches }) => watches.map(({ resource }) => resource)).filter(isCustom);
  return [...new Map(all.map((resource) => [resourceId(resource), resource])).values()];
}

function isCustom(resource: Resource): resource is CustomResource {
  return "crd" in resource;
}

/** Creates the CustomResourceDefinitions of the controllers. */
export async function installCustomResources(
  client: Client,
  controllers: readonly OperatorController[],
): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  for (const { crd } of customResourcesOf(controllers)) {
    await client.raw(path, { method: "POST", body: JSON.stringify(crd) });
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
