/**
 * admissionPolicies(): the rules of validating webhooks as ValidatingAdmissionPolicies with their bindings, which the API
 * server evaluates itself.
 *
 * Guarantees: a policy matches the same requests as its webhook, and denies with the same message and code
 * (`admission_rules.ts`). What functions decide is named in an annotation: it stays with the webhook.
 */
import { apiVersionOf, builtin } from "../api/mod.ts";
import { validationsOf } from "./admission_rules.ts";
import { matchOf, type OwnParts } from "./configuration.ts";
import type { Webhook } from "./handler.ts";
import type { AdmissionWebhook } from "./webhook.ts";

/** Options of {@link admissionPolicies}. */
export interface AdmissionPoliciesOptions extends OwnParts {
  /** The name of the webhook configurations; those of the policies begin with it. */
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The annotation with the operations that functions of the webhook decide about. */
export const functionsAnnotation = "pintle.dev/decided-by-webhook";

/** Returns the policy of each webhook with rules, and after it its binding. */
export function admissionPolicies(
  webhooks: readonly Webhook[],
  options: AdmissionPoliciesOptions,
): readonly (builtin.ValidatingAdmissionPolicy | builtin.ValidatingAdmissionPolicyBinding)[] {
  return webhooks.flatMap((webhook) =>
    webhook.kind === "validating" && (webhook.rules ?? []).length > 0
      ? [policyOf(webhook, options), bindingOf(webhook, options)]
      : []
  );
}

/** The name of the policy of a webhook, and of its binding. */
export function policyNameOf(webhook: AdmissionWebhook, configuration: string): string {
  return `${configuration}.${webhook.name}`;
}

function policyOf(webhook: AdmissionWebhook, options: AdmissionPoliciesOptions): builtin.ValidatingAdmissionPolicy {
  const { rules = [], decidedByFunction = [], operations } = webhook;
  const { rules: resourceRules, failurePolicy, matchConditions, ...selected } = matchOf(webhook, options);
  const metadata = metadataOf(webhook, options);
  return {
    apiVersion: apiVersionOf(builtin.ValidatingAdmissionPolicy),
    kind: "ValidatingAdmissionPolicy",
    metadata: decidedByFunction.length === 0
      ? metadata
      : { ...metadata, annotations: { [functionsAnnotation]: decidedByFunction.join(", ") } },
    spec: {
      failurePolicy,
      matchConstraints: { resourceRules, ...selected },
      ...(matchConditions === undefined ? {} : { matchConditions }),
      validations: validationsOf(rules, operations),
    },
  };
}

function bindingOf(
  webhook: AdmissionWebhook,
  options: AdmissionPoliciesOptions,
): builtin.ValidatingAdmissionPolicyBinding {
  return {
    apiVersion: apiVersionOf(builtin.ValidatingAdmissionPolicyBinding),
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: metadataOf(webhook, options),
    spec: { policyName: policyNameOf(webhook, options.name), validationActions: ["Deny"] },
  };
}

function metadataOf(webhook: AdmissionWebhook, { name, labels }: AdmissionPoliciesOptions) {
  return { name: policyNameOf(webhook, name), ...(labels === undefined ? {} : { labels: { ...labels } }) };
}
