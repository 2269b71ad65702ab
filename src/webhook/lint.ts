/**
 * lintWebhooks(): webhook settings that have locked clusters, found before they are installed (peers.md, ask 23). A webhook
 * that fails closed and is down stops everything it judges; what a cluster needs to get well again must not be among that.
 */
import { matchesLabels, resourceName } from "../api/mod.ts";
import type { Webhook } from "./handler.ts";
import type { AdmissionWebhook } from "./webhook.ts";

/** One thing to think about. */
export interface WebhookFinding {
  readonly webhook: string;
  /** What `acceptedRisks` would have to name. */
  readonly rule: "locks-cluster" | "locks-own-namespace" | "waits-long" | "judges-itself" | "blocks-deletion";
  readonly severity: "refused" | "warning";
  readonly message: string;
}

/** Without these a control plane, a node or an election stops: leases, nodes, access reviews, API machinery. */
const vital = new Set([
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

/** The API server never asks webhooks about these, so that they can always be repaired. */
const unaskable = new Set([
  "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
]);

/** What an operator's own Pods need to start. */
const needed = new Set([
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

/** Finds what is risky. @param ownNamespace where the operator runs */
export function lintWebhooks(webhooks: readonly Webhook[], ownNamespace?: string): readonly WebhookFinding[] {
  return webhooks.filter((webhook) => webhook.kind !== "converting")
    .flatMap((webhook) => [...findingsOf(webhook, ownNamespace)])
    .filter((finding) => !isAccepted(webhooks, finding));
}

function* findingsOf(webhook: AdmissionWebhook, ownNamespace: string | undefined): Generator<WebhookFinding> {
  const { name, resource, timeoutSeconds, operations, options } = webhook;
  const of = resourceName(resource);
  const failsClosed = (options.failurePolicy ?? "Fail") === "Fail";
  if (unaskable.has(of)) {
    yield {
      webhook: name,
      rule: "judges-itself",
      severity: "refused",
      message: `the API server asks nobody about ${of}`,
    };
  }
  if (!failsClosed) return;
  if (vital.has(of)) {
    const message =
      `while it is down nobody can write ${of}, which the cluster needs to work; use failurePolicy Ignore`;
    yield { webhook: name, rule: "locks-cluster", severity: "refused", message };
  }
  for (const namespace of ["kube-system", ...(ownNamespace === undefined ? [] : [ownNamespace])]) {
    if (needed.has(of) && asks(webhook, namespace)) {
      const message = `while it is down no ${of} can be written in namespace ${namespace}, so it cannot come back`;
      yield { webhook: name, rule: "locks-own-namespace", severity: "refused", message };
    }
  }
  if (timeoutSeconds > 15) {
    const message = `while it is down every write waits ${timeoutSeconds} s; clients give up before that`;
    yield { webhook: name, rule: "waits-long", severity: "refused", message };
  }
  if (operations.includes("DELETE")) {
    const message = `while it is down no ${of} can be deleted, namespaces that hold one included`;
    yield { webhook: name, rule: "blocks-deletion", severity: "warning", message };
  }
}

/** A selector of the webhook's own that does not leave `namespace` out. The default one does. */
function asks(webhook: AdmissionWebhook, namespace: string): boolean {
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
