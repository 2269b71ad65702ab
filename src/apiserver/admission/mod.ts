/** Admission plugins beside the rules of a kind: webhooks and admission policies. */
export { compositionOf } from "./compiled_policy.ts";
export { expressionRules } from "./expression_rules.ts";
export { MutatingPolicyAdmission, type MutatingPolicyAdmissionOptions } from "./mutating_policy_admission.ts";
export { PolicyAdmission, type PolicyAdmissionOptions } from "./policy_admission.ts";
export { WebhookAdmission, type WebhookAdmissionOptions } from "./webhook_admission.ts";
export {
  type CallWebhook,
  httpsWebhookCaller,
  type HttpsWebhookCallerOptions,
  targetOf,
  WebhookCallError,
  type WebhookTarget,
} from "./webhook_call.ts";
