/**
 * Webhooks: defaulting and validation of objects before the API server stores them, and conversion between the versions of
 * a kind. `withWebhooks()` of the main entry adds them to a controller.
 *
 * @module
 */
export {
  type AdmissionContext,
  type AdmissionDecision,
  type AdmissionKind,
  type AdmissionOperation,
  type AdmissionRequest,
  type AdmissionRule,
  type AdmissionUser,
  type AdmissionWebhook,
  allow,
  type Allowed,
  type Conversions,
  type ConversionWebhook,
  convertible,
  converting,
  defaulting,
  type DefaultingHandler,
  type Denied,
  deny,
  type Spoke,
  validating,
  type ValidatingHandlers,
  type Verdict,
  type Webhook,
  type WebhookOptions,
} from "./webhook/mod.ts";
