/** The rules of all kinds that have any, by `<kind>.<group>`. */
import type { RuleBook } from "./kind_rules.ts";
import { leaseRules, nodeRules, priorityClassRules, runtimeClassRules } from "./rules/cluster.ts";
import { configMapRules, namespaceRules, secretRules, serviceAccountRules } from "./rules/config.ts";
import { coreEventRules, newEventRules } from "./rules/events.ts";
import { autoscalerRules } from "./rules/autoscalers.ts";
import { budgetRules } from "./rules/budgets.ts";
import { signingRequestRules } from "./rules/certificates.ts";
import { claimRules } from "./rules/claims.ts";
import { persistentVolumeRules } from "./rules/persistent_volumes.ts";
import { storageClassRules } from "./rules/storage_classes.ts";
import { daemonSetRules } from "./rules/daemon_sets.ts";
import { deploymentRules, replicaSetRules, replicationControllerRules } from "./rules/deployments.ts";
import { cronJobRules, jobRules } from "./rules/jobs.ts";
import { controllerRevisionRules, podTemplateRules, statefulSetRules } from "./rules/stateful_sets.ts";
import { ingressClassRules, ingressRules } from "./rules/ingress.ts";
import { endpointSliceRules, endpointsRules, networkPolicyRules } from "./rules/network.ts";
import { limitRangeRules } from "./rules/limit_ranges.ts";
import { quotaRules } from "./rules/quotas.ts";
import {
  apartRules,
  attachmentRules,
  carefulRules,
  componentRules,
  countedRules,
  driverRules,
  flowRules,
} from "./rules/plain_kinds.ts";
import { podRules } from "./rules/pods.ts";
import {
  mutatingBindingRules,
  mutatingPolicyRules,
  validatingBindingRules,
  validatingPolicyRules,
} from "./rules/policies.ts";
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from "./rules/rbac.ts";
import { serviceRules } from "./rules/services.ts";
import { mutatingWebhookRules, validatingWebhookRules } from "./rules/webhooks.ts";

const admission = "admissionregistration.k8s.io";
const rbac = "rbac.authorization.k8s.io";

/** What kinds without an entry get is in `builtin_kinds.ts`: their schema. */
export const ruleBook: RuleBook = new Map([
  ["Namespace.", namespaceRules],
  ["ConfigMap.", configMapRules],
  ["Secret.", secretRules],
  ["ServiceAccount.", serviceAccountRules],
  ["Event.", coreEventRules],
  ["Event.events.k8s.io", newEventRules],
  ["Node.", nodeRules],
  ["Lease.coordination.k8s.io", leaseRules],
  ["RuntimeClass.node.k8s.io", runtimeClassRules],
  ["PriorityClass.scheduling.k8s.io", priorityClassRules],
  ["PodDisruptionBudget.policy", budgetRules],
  ["ResourceQuota.", quotaRules],
  ["LimitRange.", limitRangeRules],
  ["HorizontalPodAutoscaler.autoscaling", autoscalerRules],
  ["PersistentVolume.", persistentVolumeRules],
  ["PersistentVolumeClaim.", claimRules],
  ["StorageClass.storage.k8s.io", storageClassRules],
  ["CertificateSigningRequest.certificates.k8s.io", signingRequestRules],
  ["ComponentStatus.", componentRules],
  ["ServiceCIDR.networking.k8s.io", apartRules],
  ["ResourceClaim.resource.k8s.io", apartRules],
  ["ResourceSlice.resource.k8s.io", countedRules],
  ["DeviceClass.resource.k8s.io", countedRules],
  ["FlowSchema.flowcontrol.apiserver.k8s.io", flowRules],
  ["PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io", flowRules],
  ["VolumeAttachment.storage.k8s.io", attachmentRules],
  ["CSIDriver.storage.k8s.io", driverRules],
  ["CSINode.storage.k8s.io", carefulRules],
  ["CSIStorageCapacity.storage.k8s.io", carefulRules],
  ["Pod.", podRules],
  ["PodTemplate.", podTemplateRules],
  ["ReplicationController.", replicationControllerRules],
  ["Deployment.apps", deploymentRules],
  ["ReplicaSet.apps", replicaSetRules],
  ["StatefulSet.apps", statefulSetRules],
  ["DaemonSet.apps", daemonSetRules],
  ["ControllerRevision.apps", controllerRevisionRules],
  ["Job.batch", jobRules],
  ["CronJob.batch", cronJobRules],
  ["Service.", serviceRules],
  ["Endpoints.", endpointsRules],
  ["EndpointSlice.discovery.k8s.io", endpointSliceRules],
  ["Ingress.networking.k8s.io", ingressRules],
  ["IngressClass.networking.k8s.io", ingressClassRules],
  ["NetworkPolicy.networking.k8s.io", networkPolicyRules],
  [`Role.${rbac}`, roleRules],
  [`ClusterRole.${rbac}`, clusterRoleRules],
  [`RoleBinding.${rbac}`, roleBindingRules],
  [`ClusterRoleBinding.${rbac}`, clusterRoleBindingRules],
  [`ValidatingWebhookConfiguration.${admission}`, validatingWebhookRules],
  [`MutatingWebhookConfiguration.${admission}`, mutatingWebhookRules],
  [`ValidatingAdmissionPolicy.${admission}`, validatingPolicyRules],
  [`ValidatingAdmissionPolicyBinding.${admission}`, validatingBindingRules],
  [`MutatingAdmissionPolicy.${admission}`, mutatingPolicyRules],
  [`MutatingAdmissionPolicyBinding.${admission}`, mutatingBindingRules],
]);
