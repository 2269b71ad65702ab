/**
 * webhookConfigurations(): generates the objects that make the API server call webhooks: a MutatingWebhookConfiguration,
 * a ValidatingWebhookConfiguration and the conversion of a CRD. lintWebhooks(): finds settings that can lock a cluster.
 *
 * Guarantees: the defaults are the safe ones (fail closed, match equivalent versions, no side effects, 10 s, exclude the
 * own namespace and kube-system). Settings that lintWebhooks() refuses are an error until the webhook accepts the risk.
 * A webhook that fails closed and is down blocks every write it matches, so it must not match what its repair needs: the API
 * server never calls it for an update of an object that is being deleted, nor for an update of the operator itself that leaves
 * `spec` as it is, such as that of a finalizer.
 */
import { apiVersionOf, builtin, type LabelSelector, matchesLabels, resourceName } from "../api/mod.ts";
import type { CrdConversion } from "../schema/mod.ts";
import type { ConfigurationTarget, WebhookClientConfig } from "./live_configuration.ts";
import type { ConversionWebhook } from "./conversion.ts";
import type { Webhook } from "./handler.ts";
import type { AdmissionWebhook } from "./webhook.ts";
import { toBase64 } from "../runtime/mod.ts";

/** The address of the webhooks. */
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
  /** PEM text of the authorities. @default none; `managedCertificates` publishes them later */
  readonly caBundle?: string;
  /** The namespace of the operator, which its webhooks exclude. @default that of the service */
  readonly ownNamespace?: string;
  /** Omits validating webhooks of which `admissionPolicies` checks everything. @default false */
  readonly omitCheckedByPolicy?: boolean;
  /** The user name of the operator, whose updates of metadata pass. @default unknown: they are reviewed as all others */
  readonly ownUser?: string;
}

/** The generated configurations. */
export interface WebhookConfigurations {
  /** Absent when there is no defaulting webhook. */
  readonly mutating?: builtin.MutatingWebhookConfiguration;
  /** Absent when there is no validating webhook. */
  readonly validating?: builtin.ValidatingWebhookConfiguration;
  /** `spec.conversion` by the name of the CRD. */
  readonly conversions: ReadonlyMap<string, CrdConversion>;
}

/**
 * Generates the configurations of `webhooks`.
 *
 * @throws TypeError when a setting is too risky; the message names each finding. Also when two webhooks have one name
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
  // The API server rejects a whole configuration for one webhook without operations.
  const isOmitted = (webhook: AdmissionWebhook) =>
    webhook.operations.length === 0 || (options.omitCheckedByPolicy === true && isCheckedByPolicy(webhook));
  const entries = (kind: AdmissionWebhook["kind"]) =>
    admission.filter((webhook) => webhook.kind === kind && !isOmitted(webhook))
      .map((webhook) => entryOf(webhook, options));
  const mutating = entries("mutating"), validating = entries("validating");
  assertDifferentNames([mutating, validating]);
  const hasValidating = admission.some(({ kind }) => kind === "validating");
  const metadata = { name: options.name };
  const apiVersion = apiVersionOf(builtin.MutatingWebhookConfiguration);
  return {
    ...(mutating.length === 0
      ? {}
      : { mutating: { apiVersion, kind: "MutatingWebhookConfiguration", metadata, webhooks: mutating } }),
    // Also without entries: the operator and doctor look for the object of each kind of webhook.
    ...(!hasValidating
      ? {}
      : { validating: { apiVersion, kind: "ValidatingWebhookConfiguration", metadata, webhooks: validating } }),
    conversions: new Map(
      webhooks.filter((webhook) => webhook.kind === "converting")
        .map((webhook) => [resourceName(webhook.resource), conversionOf(webhook, options)]),
    ),
  };
}

/** The API server rejects a configuration in which two webhooks have one name. */
function assertDifferentNames(configurations: readonly (readonly { readonly name: string }[])[]): void {
  for (const webhooks of configurations) {
    const names = webhooks.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice === undefined) continue;
    throw new TypeError(
      `Cannot generate webhook configurations: two webhooks have the name "${twice}"; set the option name of one`,
    );
  }
}

/** The objects that hold the CA bundle of `webhooks`: `managedCertificates` and `localWebhooks` change them. */
export function configurationTargets(webhooks: readonly Webhook[], name: string): readonly ConfigurationTarget[] {
  const kinds = new Set(webhooks.map((webhook) => webhook.kind));
  return [
    ...(["mutating", "validating"] as const).filter((kind) => kinds.has(kind)).map((kind) => ({ kind, name })),
    ...webhooks.filter((webhook) => webhook.kind === "converting")
      .map((webhook) => ({ kind: "converting", name: resourceName(webhook.resource) } as const)),
  ];
}

function entryOf(webhook: AdmissionWebhook, options: WebhookConfigurationOptions) {
  const { timeoutSeconds, path, name } = webhook;
  const { sideEffects = "None", reinvocationPolicy = "IfNeeded" } = webhook.options;
  return {
    name,
    admissionReviewVersions: ["v1"],
    clientConfig: clientConfigOf(path, options),
    ...matchOf(webhook, { ownNamespace: ownNamespaceOf(options), ownUser: options.ownUser }),
    sideEffects,
    timeoutSeconds,
    ...(webhook.kind === "mutating" ? { reinvocationPolicy } : {}),
  };
}

/** The operator to whom webhooks belong. */
export interface OwnParts {
  readonly ownNamespace: string | undefined;
  readonly ownUser: string | undefined;
}

/** Which requests a webhook is for, and what happens when it fails; a policy of its rules has the same. */
export function matchOf(webhook: AdmissionWebhook, { ownNamespace, ownUser }: OwnParts) {
  const { resource, operations } = webhook;
  const { failurePolicy = "Fail", matchPolicy = "Equivalent", objectSelector, subresources = [] } = webhook.options;
  const matchConditions = [...repairConditions(webhook, ownUser), ...webhook.options.matchConditions ?? []];
  const namespaceSelector = webhook.options.namespaceSelector ?? allNamespacesExcept(ownNamespace);
  return {
    rules: [{
      apiGroups: [resource.group],
      apiVersions: [resource.version],
      operations: [...operations],
      resources: [resource.plural, ...subresources.map((part) => `${resource.plural}/${part}`)],
      scope: resource.scope,
    }],
    failurePolicy,
    matchPolicy,
    namespaceSelector,
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(matchConditions.length === 0 ? {} : { matchConditions }),
  };
}

/** True for a webhook that has rules and no functions: a policy checks all that it checks. */
export function isCheckedByPolicy({ rules = [], decidedByFunction }: AdmissionWebhook): boolean {
  return rules.length > 0 && decidedByFunction?.length === 0;
}

/** Prefix of the names of the conditions that every webhook has. */
const repairConditionPrefix = "pintle.dev/";

/** True for a condition that {@link webhookConfigurations} added itself. It never excludes the creation of an object. */
export function isRepairCondition({ name }: { readonly name: string }): boolean {
  return name.startsWith(repairConditionPrefix);
}

/** What must pass while the webhook does not respond. The API server evaluates it, so that it needs no answer. */
function repairConditions({ operations }: AdmissionWebhook, ownUser: string | undefined) {
  if (!operations.includes("UPDATE")) return [];
  const isUpdate = "request.operation == 'UPDATE'";
  const isSameSpec = "has(object.spec) && has(oldObject.spec) && object.spec == oldObject.spec";
  const isOwn = `request.userInfo.username == '${ownUser}'`;
  return [
    // Otherwise the last finalizer could not be removed, and the object would stay.
    {
      name: `${repairConditionPrefix}not-being-deleted`,
      expression: `!(${isUpdate} && has(object.metadata.deletionTimestamp))`,
    },
    ...(ownUser === undefined ? [] : [{
      name: `${repairConditionPrefix}not-own-metadata`,
      expression: `!(${isUpdate} && ${isOwn} && ${isSameSpec})`,
    }]),
  ];
}

function conversionOf(webhook: ConversionWebhook, options: WebhookConfigurationOptions): CrdConversion {
  const clientConfig = clientConfigOf(webhook.path, options);
  return { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig } };
}

function clientConfigOf(path: string, options: WebhookConfigurationOptions): WebhookClientConfig {
  const { address, caBundle } = options;
  const trust = caBundle === undefined ? {} : { caBundle: toBase64(caBundle) };
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

/** The user name of a ServiceAccount. */
export function serviceAccountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** All namespaces except kube-system and that of the operator: their Pods must be able to start while it is down. */
function allNamespacesExcept(ownNamespace: string | undefined): LabelSelector {
  const values = [...(ownNamespace === undefined ? [] : [ownNamespace]), "kube-system"];
  return { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values }] };
}

/** One risky setting. */
export interface WebhookFinding {
  readonly webhook: string;
  /** The name that `acceptedRisks` must contain to accept it. */
  readonly rule: "locks-cluster" | "locks-own-namespace" | "waits-long" | "judges-itself" | "blocks-deletion";
  readonly severity: "refused" | "warning";
  readonly message: string;
}

/** Control plane, nodes and leader elections need to write these at all times. */
const clusterResources = new Set([
  "leases.coordination.k8s.io",
  "nodes",
  "namespaces",
  "events",
  "events.events.k8s.io",
  "endpoints",
  "endpointslices.discovery.k8s.io",
  "customresourcedefinitions.apiextensions.k8s.io",
  "apiservices.apiregistration.k8s.io",
  "flowschemas.flowcontrol.apiserver.k8s.io",
  "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
  "tokenreviews.authentication.k8s.io",
  "subjectaccessreviews.authorization.k8s.io",
]);

/** The API server never calls webhooks for these, so that they can always be repaired. */
const exemptResources = new Set([
  "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
]);

/** The Pods of an operator need these to start. */
const podResources = new Set([
  "pods",
  "configmaps",
  "secrets",
  "serviceaccounts",
  "services",
  "persistentvolumeclaims",
  "deployments.apps",
  "replicasets.apps",
  "statefulsets.apps",
  "daemonsets.apps",
]);

/** Finds risky settings. @param ownNamespace the namespace of the operator */
export function lintWebhooks(webhooks: readonly Webhook[], ownNamespace?: string): readonly WebhookFinding[] {
  return webhooks.filter((webhook) => webhook.kind !== "converting")
    .flatMap((webhook) => [...findingsOf(webhook, ownNamespace)])
    .filter((finding) => !isAccepted(webhooks, finding));
}

function* findingsOf(webhook: AdmissionWebhook, ownNamespace: string | undefined): Generator<WebhookFinding> {
  const { name, resource, timeoutSeconds, operations, options } = webhook;
  const resourceKey = resourceName(resource);
  const failsClosed = (options.failurePolicy ?? "Fail") === "Fail";
  if (exemptResources.has(resourceKey)) {
    yield {
      webhook: name,
      rule: "judges-itself",
      severity: "refused",
      message: `the API server calls no webhooks for ${resourceKey}`,
    };
  }
  if (!failsClosed) return;
  if (clusterResources.has(resourceKey)) {
    const message =
      `while it is down, ${resourceKey} cannot be written, which the cluster needs to work; use failurePolicy Ignore`;
    yield { webhook: name, rule: "locks-cluster", severity: "refused", message };
  }
  for (const namespace of ["kube-system", ...(ownNamespace === undefined ? [] : [ownNamespace])]) {
    if (podResources.has(resourceKey) && matches(webhook, namespace)) {
      const message =
        `while it is down, ${resourceKey} cannot be written in namespace ${namespace}, so it cannot restart`;
      yield { webhook: name, rule: "locks-own-namespace", severity: "refused", message };
    }
  }
  if (timeoutSeconds > 15) {
    const message = `while it is down, every write waits ${timeoutSeconds} s; clients give up before that`;
    yield { webhook: name, rule: "waits-long", severity: "refused", message };
  }
  if (operations.includes("DELETE")) {
    const message = `while it is down, ${resourceKey} cannot be deleted, nor can namespaces that contain one`;
    yield { webhook: name, rule: "blocks-deletion", severity: "warning", message };
  }
}

/** True when the webhook has its own namespaceSelector and it selects `namespace`. The default one does not. */
function matches(webhook: AdmissionWebhook, namespace: string): boolean {
  const { namespaceSelector } = webhook.options;
  if (namespaceSelector === undefined || webhook.options.objectSelector !== undefined) return false;
  return matchesLabels(namespaceSelector, { "kubernetes.io/metadata.name": namespace });
}

function isAccepted(webhooks: readonly Webhook[], finding: WebhookFinding): boolean {
  return webhooks.some((webhook) =>
    webhook.kind !== "converting" && webhook.name === finding.webhook &&
    (webhook.options.acceptedRisks ?? []).includes(finding.rule)
  );
}
