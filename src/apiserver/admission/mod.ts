/** Who may change or refuse a write besides the kind's own rules: webhooks, policies, and what every cluster has built in. */
export { httpsWebhookCaller, type HttpsWebhookCallerOptions } from "./https_webhook_caller.ts";
export { type CallWebhook, type WebhookTarget, WebhookUnreachable } from "./webhook_call.ts";
export { WebhookAdmission, type WebhookAdmissionOptions } from "./webhook_admission.ts";
export { PolicyAdmission, type PolicyAdmissionOptions } from "./policy_admission.ts";
export { expressionRules } from "./expression_rules.ts";
export { targetOf } from "./_hook.ts";
