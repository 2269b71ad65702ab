/**
 * The objects that make the API server call webhooks, read off the webhook values: a MutatingWebhookConfiguration, a
 * ValidatingWebhookConfiguration, and the conversion of a CRD.
 *
 * Guarantees: the defaults are the safe ones (fail closed, equivalent versions too, no side effects, 10 s, own namespace and
 * kube-system excluded); what `lintWebhooks` finds too risky is refused until the webhook says that it was thought about.
 */
import { apiVersionOf, builtin, type LabelSelector, resourceName } from "../api/mod.ts";
import type { CrdConversion } from "../schema/mod.ts";
import type { ConfigurationTarget, WebhookClientConfig } from "./_live_configuration.ts";
import type { ConversionWebhook } from "./conversion.ts";
import type { Webhook } from "./handler.ts";
import { lintWebhooks } from "./lint.ts";
import type { AdmissionWebhook } from "./webhook.ts";

/** Where the API server finds the webhooks. */
export type WebhookAddress =
  | {
    readonly kind: "service";
    readonly namespace: string;
    readonly name: string;
    /** @default 443 */
    readonly port?: number;
  }
  | {
    readonly kind: "url";
    /** `https://host:port`, without a path. */
    readonly url: string;
  };

/** Options of {@link webhookConfigurations}. */
export interface WebhookConfigurationOptions {
  /** The operator's name; the configurations are named after it. */
  readonly name: string;
  readonly address: WebhookAddress;
  /** PEM text of the authorities. @default none yet: `managedCertificates` publishes them */
  readonly caBundle?: string;
  /** The namespace the operator runs in, which its webhooks leave alone. @default that of the service */
  readonly ownNamespace?: string;
}

/** What an API server has to be told. */
export interface WebhookConfigurations {
  /** Absent when there is no defaulting webhook. */
  readonly mutating?: builtin.MutatingWebhookConfiguration;
  /** Absent when there is no validating webhook. */
  readonly validating?: builtin.ValidatingWebhookConfiguration;
  /** By the name of the CRD: its `spec.conversion`. */
  readonly conversions: ReadonlyMap<string, CrdConversion>;
}

/**
 * Generates the configurations of `webhooks`.
 *
 * @throws TypeError when one of them is too risky; the message names each finding
 */
export function webhookConfigurations(
  webhooks: readonly Webhook[],
  options: WebhookConfigurationOptions,
): WebhookConfigurations {
  const refused = lintWebhooks(webhooks, ownNamespaceOf(options)).filter((finding) => finding.severity === "refused");
  if (refused.length > 0) {
    const list = refused.map(({ webhook, rule, message }) => `${webhook}: ${message} (${rule})`).join("; ");
    throw new TypeError(`Cannot generate webhook configurations: ${list}`);
  }
  const admission = webhooks.filter((webhook) => webhook.kind !== "converting");
  const entries = (kind: AdmissionWebhook["kind"]) =>
    admission.filter((webhook) => webhook.kind === kind).map((webhook) => entryOf(webhook, options));
  const mutating = entries("mutating"), validating = entries("validating");
  const metadata = { name: options.name };
  const apiVersion = apiVersionOf(builtin.MutatingWebhookConfiguration);
  return {
    ...(mutating.length === 0
      ? {}
      : { mutating: { apiVersion, kind: "MutatingWebhookConfiguration", metadata, webhooks: mutating } }),
    ...(validating.length === 0
      ? {}
      : { validating: { apiVersion, kind: "ValidatingWebhookConfiguration", metadata, webhooks: validating } }),
    conversions: new Map(
      webhooks.filter((webhook) => webhook.kind === "converting")
        .map((webhook) => [resourceName(webhook.resource), conversionOf(webhook, options)]),
    ),
  };
}

/** The objects in which the bundle of `webhooks` stands: what `managedCertificates` and `localWebhooks` change. */
export function configurationTargets(webhooks: readonly Webhook[], name: string): readonly ConfigurationTarget[] {
  const kinds = new Set(webhooks.map((webhook) => webhook.kind));
  return [
    ...(["mutating", "validating"] as const).filter((kind) => kinds.has(kind)).map((kind) => ({ kind, name })),
    ...webhooks.filter((webhook) => webhook.kind === "converting")
      .map((webhook) => ({ kind: "converting", name: resourceName(webhook.resource) } as const)),
  ];
}

function entryOf(webhook: AdmissionWebhook, options: WebhookConfigurationOptions) {
  const { resource, operations, timeoutSeconds, path, name } = webhook;
  const { failurePolicy = "Fail", matchPolicy = "Equivalent", sideEffects = "None" } = webhook.options;
  const { objectSelector, matchConditions, subresources = [], reinvocationPolicy = "IfNeeded" } = webhook.options;
  const namespaceSelector = webhook.options.namespaceSelector ?? namespacesBut(ownNamespaceOf(options));
  return {
    name,
    admissionReviewVersions: ["v1"],
    clientConfig: clientConfigOf(path, options),
    rules: [{
      apiGroups: [resource.group],
      apiVersions: [resource.version],
      operations: [...operations],
      resources: [resource.plural, ...subresources.map((part) => `${resource.plural}/${part}`)],
      scope: resource.scope === "Namespaced" ? "Namespaced" : "Cluster",
    }],
    failurePolicy,
    matchPolicy,
    sideEffects,
    timeoutSeconds,
    namespaceSelector,
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(matchConditions === undefined ? {} : { matchConditions: [...matchConditions] }),
    ...(webhook.kind === "mutating" ? { reinvocationPolicy } : {}),
  };
}

function conversionOf(webhook: ConversionWebhook, options: WebhookConfigurationOptions): CrdConversion {
  const clientConfig = clientConfigOf(webhook.path, options);
  return { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig } };
}

function clientConfigOf(path: string, options: WebhookConfigurationOptions): WebhookClientConfig {
  const { address, caBundle } = options;
  const trust = caBundle === undefined ? {} : { caBundle: new TextEncoder().encode(caBundle).toBase64() };
  switch (address.kind) {
    case "service": {
      const { namespace, name, port = 443 } = address;
      return { service: { namespace, name, path, port }, ...trust };
    }
    case "url":
      return { url: `${address.url}${path}`, ...trust };
    default:
      return address satisfies never;
  }
}

function ownNamespaceOf(options: WebhookConfigurationOptions): string | undefined {
  const { ownNamespace, address } = options;
  return ownNamespace ?? (address.kind === "service" ? address.namespace : undefined);
}

/** All namespaces but the operator's own and the cluster's: a webhook that is down must not keep them from starting. */
function namespacesBut(ownNamespace: string | undefined): LabelSelector {
  const values = [...(ownNamespace === undefined ? [] : [ownNamespace]), "kube-system"];
  return { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values }] };
}
