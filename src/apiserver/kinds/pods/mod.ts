/** Pods and PodTemplates, and the rules of Pod specs and templates that other groups use. */
import type { KindGroup } from "../rules/mod.ts";
import { podDefaults } from "./pod_defaults.ts";
import { podRow } from "./pod_row.ts";
import { podTemplateRow, podTemplateRules } from "./pod_templates.ts";
import { podMeter, podRules } from "./pods.ts";
export { checkAccessModes, checkClaimSpec, checkVolumeMode, claimSpecWarnings } from "./claim_spec.ts";
export { aggregateResources, qosClassOf } from "./pod_containers.ts";
export { podConditions } from "./pod_row.ts";
export { checkPodAnnotations, checkPodTemplate, dropDisabled } from "./pod_spec.ts";
export {
  checkCollisions,
  checkLongRunning,
  checkLongRunningTemplate,
  checkRequiredSelector,
  checkTemplateLabels,
  dropDisabledInTemplate,
  isValidSelector,
  podNameWarnings,
  templateWarnings,
} from "./pod_templates.ts";
export { claimNames, configMapNames, secretNames } from "./references.ts";
export { podWarnings } from "./pod_warnings.ts";
export {
  allowsOvercommit,
  checkContainerResourceName,
  checkQuotaResourceName,
  checkResourceAmount,
  checkResourceName,
  checkResourceRequirements,
  isStandardQuota,
} from "./resources.ts";
export {
  checkNodeSelector,
  checkTaints,
  checkTolerations,
  hasInvalidNodeValue,
  nodeLabelWarning,
  nodeLabelWarnings,
  nodeSelectorWarnings,
  nodeTermWarnings,
} from "./scheduling.ts";
export { checkVolumePlugin, refuseSecondSource } from "./volume_plugins.ts";
export { checkDriverName } from "./volumes.ts";

/** Everything about Pods and PodTemplates. */
export const podKinds: KindGroup = {
  rules: {
    "Pod.": podRules,
    "PodTemplate.": podTemplateRules,
  },
  defaults: podDefaults,
  rows: {
    pods: podRow,
    podtemplates: podTemplateRow,
  },
  quotaMeters: {
    pods: podMeter,
  },
};
