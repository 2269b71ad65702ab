/**
 * How the API server reaches the webhooks: Service, Secret and configurations, and the definitions of the kinds with their
 * conversion. The configurations contain no CA bundle: the controllers add that of managed certificates, and you add that of
 * `--cert-secret`.
 */
import { builtin, type KubeObject } from "../../api/mod.ts";
import type { Crd } from "../../schema/mod.ts";
import { admissionPolicies, isCheckedByPolicy, webhookConfigurations } from "../../webhook/mod.ts";
import { crdsOf, webhookServiceName } from "../command/mod.ts";
import { type InstallPlan, ownUserOf, webhookAddressOf } from "./install_plan.ts";
import { labelsOf, metadataOf, selectorOf } from "./workload.ts";

/** Returns the objects of the webhooks; none when there are no webhooks. */
export function webhookObjects(plan: InstallPlan): readonly KubeObject[] {
  const { webhooks, operator, certSecret } = plan;
  if (webhooks.length === 0) return [];
  const name = webhookServiceName(operator.name);
  const { mutating, validating } = webhookConfigurations(webhooks, {
    name: plan.webhookConfiguration,
    address: webhookAddressOf(plan),
    ownUser: ownUserOf(plan),
    omitCheckedByPolicy: plan.hasAdmissionPolicies,
  });
  const labels = labelsOf(plan);
  return [
    service(plan, name),
    ...(certSecret === undefined ? [secret(plan, name)] : []),
    ...[mutating, validating].flatMap((configuration) =>
      configuration === undefined
        ? []
        : [{ ...configuration, metadata: { ...configuration.metadata, labels: { ...labels } } }]
    ),
    ...policyObjects(plan),
  ];
}

/** The rules of the webhooks, for the API server itself. */
function policyObjects(plan: InstallPlan): readonly KubeObject[] {
  const { hasAdmissionPolicies, webhooks, webhookConfiguration: name, namespace: ownNamespace } = plan;
  if (!hasAdmissionPolicies) return [];
  return admissionPolicies(webhooks, { name, ownNamespace, ownUser: ownUserOf(plan), labels: labelsOf(plan) });
}

/** What policies cannot check, in sentences for the user. */
export function uncheckedByPolicies({ hasAdmissionPolicies, webhooks }: InstallPlan): readonly string[] {
  if (!hasAdmissionPolicies) return [];
  return webhooks.flatMap((webhook) => {
    if (webhook.kind !== "validating" || isCheckedByPolicy(webhook)) return [];
    const { name, operations, decidedByFunction = operations } = webhook;
    return [`only the webhook ${name} can check what its functions decide about ${decidedByFunction.join(", ")}`];
  });
}

/** Returns the definitions of the controllers' kinds, with their conversion webhooks. */
export function crdObjects(plan: InstallPlan): readonly Crd[] {
  return crdsOf(plan.controllers, webhookAddressOf(plan));
}

function service(plan: InstallPlan, name: string): builtin.Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(plan, name),
    spec: {
      selector: selectorOf(plan),
      ports: [{ name: "webhooks", port: 443, targetPort: "webhooks", protocol: "TCP" }],
    },
  };
}

/**
 * The Secret for managed certificates. It has no data: the controllers fill it, and a later apply must not remove that. It
 * exists from the start, so that the controllers need no permission to create Secrets, which RBAC cannot limit to a name.
 */
function secret(plan: InstallPlan, name: string): KubeObject & { readonly type: string } {
  return { apiVersion: "v1", kind: builtin.Secret.kind, metadata: metadataOf(plan, name), type: "Opaque" };
}
