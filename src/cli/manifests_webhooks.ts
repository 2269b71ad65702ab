/**
 * How the API server reaches webhooks: the Service in front of the Pods, the Secret that their certificates are kept in,
 * and the configurations. Authorities are not in there: the controllers publish those of the certificates that they make,
 * and those of `--cert-secret` are up to whoever fills it.
 */
import { builtin, type KubeObject } from "../api/mod.ts";
import type { Crd } from "../schema/mod.ts";
import { type WebhookConfigurations, webhookConfigurations } from "../webhook/mod.ts";
import { crdsOf } from "./custom_resources.ts";
import type { InstallPlan } from "./manifests_plan.ts";
import { labelsOf, metadataOf, selectorOf } from "./manifests_workload.ts";
import { webhookServiceName } from "./webhooks_of.ts";

/** Nothing where there are no webhooks. */
export function webhookObjects(plan: InstallPlan): readonly KubeObject[] {
  const { webhooks, operator, certSecret } = plan;
  if (webhooks.length === 0) return [];
  const name = webhookServiceName(operator.name);
  const { mutating, validating } = configurationsOf(plan);
  const labels = labelsOf(plan);
  return [
    service(plan, name),
    ...(certSecret === undefined ? [secret(plan, name)] : []),
    ...[mutating, validating].flatMap((configuration) =>
      configuration === undefined
        ? []
        : [{ ...configuration, metadata: { ...configuration.metadata, labels: { ...labels } } }]
    ),
  ];
}

/** The definitions of the controllers' kinds; versions that a webhook converts go through it. */
export function crdObjects(plan: InstallPlan): readonly Crd[] {
  const { conversions } = configurationsOf(plan);
  return crdsOf(plan.controllers).map((crd) => {
    const conversion = conversions.get(crd.metadata.name);
    return conversion === undefined ? crd : { ...crd, spec: { ...crd.spec, conversion } };
  });
}

function configurationsOf({ webhooks, operator, namespace }: InstallPlan): WebhookConfigurations {
  const address = { kind: "service", namespace, name: webhookServiceName(operator.name) } as const;
  return webhookConfigurations(webhooks, { name: operator.name, address });
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
 * Empty, since that is all an apply may say about it: the controllers fill it. That it is there already saves them the
 * right to create Secrets, which RBAC cannot restrict to a name.
 */
function secret(plan: InstallPlan, name: string): KubeObject & { readonly type: string } {
  return { apiVersion: "v1", kind: builtin.Secret.kind, metadata: metadataOf(plan, name), type: "Opaque" };
}
