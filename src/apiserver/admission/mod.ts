/** Who may change or refuse a write besides the kind's own rules: webhooks, policies, and what every cluster has built in. */
export { type CallWebhook, type WebhookTarget, WebhookUnreachable } from "./webhook_call.ts";
export { WebhookAdmission, type WebhookAdmissionOptions } from "./webhook_admission.ts";
export { type ConditionVariables, type EvaluateCondition } from "./conditions.ts";
