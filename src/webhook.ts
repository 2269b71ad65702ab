/**
 * Admission webhooks: defaulting and validation of objects before the API server stores them.
 *
 * @module
 */
export {
  type AdmissionContext,
  type AdmissionWebhook,
  allow,
  defaulting,
  type DefaultingHandler,
  deny,
  validating,
  type ValidatingHandlers,
  type Verdict,
  type WebhookOptions,
} from "./webhook/mod.ts";
