/** Webhooks: defaulting, validating and conversion, their server, its certificates and the webhook configurations. */
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
export type { AdmissionRule } from "./admission_rules.ts";
export { admissionPolicies, type AdmissionPoliciesOptions, policyNameOf } from "./admission_policies.ts";
export {
  type AdmissionContext,
  type AdmissionDecision,
  type AdmissionWebhook,
  allow,
  type Allowed,
  defaulting,
  type DefaultingHandler,
  type Denied,
  deny,
  validating,
  type ValidatingHandlers,
  type Verdict,
  type WebhookOptions,
  webhookPath,
} from "./webhook.ts";
export {
  type Conversions,
  type ConversionWebhook,
  type ConvertedReview,
  convertible,
  converting,
  handleConversionReview,
  type Spoke,
} from "./conversion.ts";
export { type Webhook, type WebhookHandler, webhookHandler, type WebhookHandlerOptions } from "./handler.ts";
export { jsonPatch } from "./json_patch.ts";
export { certificateFiles, type CertificateFilesOptions } from "./certificate_files.ts";
export {
  managedCertificates,
  type ManagedCertificatesOptions,
  publishStoredAuthorities,
  serviceHosts,
} from "./managed_certificates.ts";
export {
  type ConfigurationTarget,
  localRunAnnotation,
  localRunLabel,
  savedConfigAnnotation,
  type WebhookClientConfig,
} from "./live_configuration.ts";
export {
  configurationTargets,
  isCheckedByPolicy,
  isRepairCondition,
  lintWebhooks,
  serviceAccountUser,
  type WebhookAddress,
  type WebhookConfigurationOptions,
  type WebhookConfigurations,
  webhookConfigurations,
  type WebhookFinding,
} from "./configuration.ts";
export {
  findDeadLocalRuns,
  findLocalRuns,
  hasEnded,
  type LocalRun,
  localRunDeadAfterMs,
  type LocalRunIdentity,
  type LocalRunTrace,
  markOf,
  newLocalRun,
  type ObserveOptions,
  renewLocalRun,
  renewLocalRunMs,
  respondsLocally,
} from "./local_run.ts";
export { type LocalWebhooks, localWebhooks, type LocalWebhooksOptions, undoLocalRuns } from "./local_webhooks.ts";
export {
  type AdmissionProbe,
  admissionProbe,
  conversionProbe,
  type ProbeOptions,
  type ProbeResult,
  probeWebhook,
  problemOf,
} from "./webhook_probe.ts";
export { type WebhookRunOptions, WebhookServer, type WebhookServerOptions } from "./webhook_server.ts";
export {
  certificateFacts,
  type CertificateServer,
  type CertificateSource,
  fixedCertificate,
  issueCertificates,
  type IssuedCertificates,
  type IssueOptions,
} from "./certificates.ts";
