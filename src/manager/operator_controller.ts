/**
 * OperatorController: a controller together with the webhooks of its kind, as an operator lists them. The two halves do
 * not know each other; this is where they meet.
 */
import type { ControllerDefinition } from "../controller/mod.ts";
import type { Webhook } from "../webhook/mod.ts";

/** A controller, and the webhooks that belong to it. */
export interface OperatorController extends ControllerDefinition {
  /** @default none */
  readonly webhooks?: readonly Webhook[];
}

/**
 * Adds webhooks to a controller.
 *
 * @example
 * ```ts
 * import { allow, ConfigMap, controller, deny, done, validating, withWebhooks } from "@pintle/controller";
 *
 * const keeper = controller("keeper").for(ConfigMap).reconcile(() => Promise.resolve(done));
 * const notEmpty = validating(ConfigMap, { create: (map) => map.data === undefined ? deny("data is missing") : allow() });
 * console.assert(withWebhooks(keeper, [notEmpty]).webhooks?.length === 1);
 * ```
 */
export function withWebhooks(definition: ControllerDefinition, webhooks: readonly Webhook[]): OperatorController {
  return { ...definition, webhooks };
}
