/** Webhooks: defaulting, validating and converting objects, the server that answers, its certificates and configurations. */
export {
  type AdmissionKind,
  type AdmissionOperation,
  type AdmissionRequest,
  type AdmissionResponse,
  type AdmissionUser,
  type AdmissionVersion,
  decodeAdmissionReview,
  type DecodedReview,
  encodeAdmissionReview,
} from "./admission_review.ts";
export { allow, type Allowed, type Denied, deny, type Verdict } from "./verdict.ts";
export {
  type AdmissionContext,
  type AdmissionWebhook,
  defaulting,
  type DefaultingHandler,
  type Judgement,
  validating,
  type ValidatingHandlers,
  type WebhookOptions,
  webhookPath,
} from "./webhook.ts";
export {
  answerConversionReview,
  type Conversions,
  type ConversionWebhook,
  type ConvertedReview,
  convertible,
  converting,
  type Spoke,
} from "./conversion.ts";
export { type Webhook, type WebhookHandler, webhookHandler, type WebhookHandlerOptions } from "./handler.ts";
export { jsonPatch } from "./json_patch.ts";
export { type CertificateSource, fixedCertificate } from "./certificate_source.ts";
export { certificateFiles, type CertificateFilesOptions } from "./certificate_files.ts";
export { managedCertificates, type ManagedCertificatesOptions, serviceHosts } from "./managed_certificates.ts";
export { borrowedAnnotation, type ConfigurationTarget } from "./_live_configuration.ts";
export {
  configurationTargets,
  type WebhookAddress,
  type WebhookConfigurationOptions,
  type WebhookConfigurations,
  webhookConfigurations,
} from "./configuration.ts";
export { lintWebhooks, type WebhookFinding } from "./lint.ts";
export { type LocalWebhooks, localWebhooks, type LocalWebhooksOptions, restoreWebhooks } from "./local_webhooks.ts";
export { type WebhookRunOptions, WebhookServer, type WebhookServerOptions } from "./webhook_server.ts";
export { issueCertificates, type IssuedCertificates, type IssueOptions } from "./_issue_certificates.ts";
