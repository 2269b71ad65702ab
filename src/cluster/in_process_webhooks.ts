/**
 * The webhooks of controllers that run beside the server: called as functions, with the very bodies that would go over the
 * wire. No certificate and no socket is needed for that.
 */
import { type CallWebhook, WebhookUnreachable } from "../apiserver/mod.ts";
import type { Clock } from "../async/mod.ts";
import { builtin } from "../api/mod.ts";
import type { Client } from "../client/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import { webhookConfigurations, webhookHandler } from "../webhook/mod.ts";

/** The service that stands for this process; no Service object is needed. */
const service = { kind: "service", namespace: "kube-system", name: "in-process" } as const;

/** Calls the webhooks of the controllers. @param others asked for whatever is not in this process; absent: nobody */
export function webhookCaller(
  controllers: readonly OperatorController[],
  clock: Clock,
  others?: CallWebhook,
): CallWebhook {
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  const handler = webhookHandler(webhooks, { clock });
  return async (asked, body, options) => {
    const { service: target, url } = asked;
    if (target?.name !== service.name || target.namespace !== service.namespace) {
      if (others !== undefined) return await others(asked, body, options);
      throw new WebhookUnreachable(
        `failed to call webhook: ${url ?? `service ${target?.name}`} is not in this process`,
      );
    }
    const headers = { "content-type": "application/json" };
    const response = await handler(new Request(`https://in.process${target.path}`, { method: "POST", headers, body }));
    if (!response.ok) throw new WebhookUnreachable(`failed to call webhook: it answered ${response.status}`);
    return await response.text();
  };
}

/** Tells the server about the webhooks. */
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
