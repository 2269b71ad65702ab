/** The kinds of the core group (pods/ and apps/ have the workloads). */
import type { KindGroup } from "../rules/mod.ts";
import {
  configMapRow,
  configMapRules,
  secretDefaults,
  secretRow,
  secretRules,
  serviceAccountRow,
  serviceAccountRules,
} from "./config.ts";
import { endpointsDefaults, endpointsRow, endpointsRules } from "./endpoints.ts";
import { coreEventRules, eventRow, newEventRules } from "./events.ts";
import { limitRangeDefaults, limitRangeRow, limitRangeRules } from "./limit_ranges.ts";
import { namespaceDefaults, namespaceRow, namespaceRules } from "./namespaces.ts";
import { componentStatusRow, componentStatusRules, nodeDefaults, nodeRow, nodeRules } from "./nodes.ts";
import { claimDefaults, claimMeter, claimRow, claimRules } from "./persistent_volume_claims.ts";
import { persistentVolumeDefaults, persistentVolumeRules, volumeRow } from "./persistent_volumes.ts";
import { quotaRules, resourceQuotaRow } from "./resource_quotas.ts";
import { serviceDefaults, serviceMeter, serviceRow, serviceRules } from "./services.ts";
export { checkAppProtocol, sortedProtocols } from "./endpoints.ts";
export { balancerWarnings, checkBalancer, loadBalancerAddresses, noIp } from "./load_balancers.ts";
export { coversScopes } from "./resource_quotas.ts";
export { firstServiceIp, serviceCidr } from "./service_ranges.ts";
export { checkInlineVolumeSpec } from "./volume_spec.ts";

/** The kinds of the core group, except for Pods, PodTemplates and ReplicationControllers. */
export const coreKinds: KindGroup = {
  rules: {
    "Namespace.": namespaceRules,
    "Node.": nodeRules,
    "ComponentStatus.": componentStatusRules,
    "ConfigMap.": configMapRules,
    "Secret.": secretRules,
    "ServiceAccount.": serviceAccountRules,
    "Service.": serviceRules,
    "Endpoints.": endpointsRules,
    "Event.": coreEventRules,
    "Event.events.k8s.io": newEventRules,
    "PersistentVolume.": persistentVolumeRules,
    "PersistentVolumeClaim.": claimRules,
    "ResourceQuota.": quotaRules,
    "LimitRange.": limitRangeRules,
  },
  defaults: {
    ...namespaceDefaults,
    ...nodeDefaults,
    ...secretDefaults,
    ...serviceDefaults,
    ...endpointsDefaults,
    ...persistentVolumeDefaults,
    ...claimDefaults,
    ...limitRangeDefaults,
  },
  rows: {
    componentstatuses: componentStatusRow,
    configmaps: configMapRow,
    endpoints: endpointsRow,
    events: eventRow,
    "events.events.k8s.io": eventRow,
    limitranges: limitRangeRow,
    namespaces: namespaceRow,
    nodes: nodeRow,
    persistentvolumeclaims: claimRow,
    persistentvolumes: volumeRow,
    resourcequotas: resourceQuotaRow,
    secrets: secretRow,
    serviceaccounts: serviceAccountRow,
    services: serviceRow,
  },
  quotaMeters: {
    persistentvolumeclaims: claimMeter,
    services: serviceMeter,
  },
};
