/** The kinds of the group admissionregistration.k8s.io. */
import type { KindGroup } from "../rules/mod.ts";
import {
  mutatingBindingRules,
  mutatingPolicyRow,
  mutatingPolicyRules,
  policyBindingRow,
  policyDefaults,
  validatingBindingRules,
  validatingPolicyRow,
  validatingPolicyRules,
} from "./policies.ts";
import { mutatingWebhookRules, validatingWebhookRules, webhookConfigurationRow, webhookDefaults } from "./webhooks.ts";
export { mutatingRules, policyRules } from "./policies.ts";
export { checkClientConfig, webhookRules } from "./webhooks.ts";

/** The kinds of the group admissionregistration.k8s.io. */
export const admissionKinds: KindGroup = {
  rules: {
    "ValidatingWebhookConfiguration.admissionregistration.k8s.io": validatingWebhookRules,
    "MutatingWebhookConfiguration.admissionregistration.k8s.io": mutatingWebhookRules,
    "ValidatingAdmissionPolicy.admissionregistration.k8s.io": validatingPolicyRules,
    "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io": validatingBindingRules,
    "MutatingAdmissionPolicy.admissionregistration.k8s.io": mutatingPolicyRules,
    "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io": mutatingBindingRules,
  },
  defaults: { ...webhookDefaults, ...policyDefaults },
  rows: {
    "validatingwebhookconfigurations.admissionregistration.k8s.io": webhookConfigurationRow,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": webhookConfigurationRow,
    "validatingadmissionpolicies.admissionregistration.k8s.io": validatingPolicyRow,
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": policyBindingRow,
    "mutatingadmissionpolicies.admissionregistration.k8s.io": mutatingPolicyRow,
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": policyBindingRow,
  },
};
