/** API wire types and the values for them: objects, keys, versions, kinds, selectors, and the ListWatch interface. */
export type {
  ApiStatus,
  Condition,
  DeepReadonly,
  KubeList,
  KubeObject,
  ListMeta,
  ManagedFieldsEntry,
  ObjectMeta,
  OwnerReference,
  StatusCause,
  StatusDetails,
  StringMap,
} from "./object.ts";
export { kubeObject } from "./object.ts";
export { type ConditionNow, findCondition, isConditionTrue, withCondition } from "./condition.ts";
export { compareResourceVersions, isComparable, type ResourceVersion, resourceVersion } from "./resource_version.ts";
export { namespaceProblem, objectNameProblem } from "./names.ts";
export { parseLabelSelector } from "./parse_label_selector.ts";
export { shardHash, shardHashOf } from "./shard_hash.ts";
export { keyOf, type KeyParts, type ObjectKey, objectKey, splitKey } from "./key.ts";
export { type AccessRequest, isAllowedBy, type PolicyRule } from "./policy_rule.ts";
export {
  apiVersionOf,
  type Infer,
  type Resource,
  resourceId,
  resourceName,
  type Scope,
  type UntypedObject,
  untypedResource,
} from "./resource.ts";
export {
  type Bookmark,
  type FieldManager,
  initialEventsEnd,
  type ListOptions,
  type ListPage,
  type ListWatch,
  type ResourceVersionMatch,
  type WatchEvent,
  type WatchOptions,
} from "./list_watch.ts";
export { checkObject, InvalidResponseError, toStatus, wrongType } from "./response_shape.ts";
export { PageTokens } from "./page_tokens.ts";
export {
  controllerOf,
  controllerReference,
  isControlledBy,
  type OwnerResource,
  type ResourceOfOwner,
} from "./owner.ts";
export {
  combinedSelector,
  formatFieldSelector,
  formatLabelSelector,
  isSelected,
  type LabelRequirement,
  type LabelSelector,
  matchesFields,
  matchesLabels,
} from "./selector.ts";
export * as builtin from "./generated/kinds.ts";
export type { Base64, BuiltinResource, IntOrString, MicroTime, Quantity, Time } from "./builtin_resource.ts";
export * from "./generated/kinds.ts";
/** The types of admissionregistration/v1. */
export type * as admissionregistrationv1 from "./generated/admissionregistration_v1.ts";
/** The types of apiextensions/v1. */
export type * as apiextensionsv1 from "./generated/apiextensions_v1.ts";
/** The types of apiregistration/v1. */
export type * as apiregistrationv1 from "./generated/apiregistration_v1.ts";
/** The types of apps/v1. */
export type * as appsv1 from "./generated/apps_v1.ts";
/** The types of authentication/v1. */
export type * as authenticationv1 from "./generated/authentication_v1.ts";
/** The types of authorization/v1. */
export type * as authorizationv1 from "./generated/authorization_v1.ts";
/** The types of autoscaling/v1. */
export type * as autoscalingv1 from "./generated/autoscaling_v1.ts";
/** The types of autoscaling/v2. */
export type * as autoscalingv2 from "./generated/autoscaling_v2.ts";
/** The types of batch/v1. */
export type * as batchv1 from "./generated/batch_v1.ts";
/** The types of certificates/v1. */
export type * as certificatesv1 from "./generated/certificates_v1.ts";
/** The types of coordination/v1. */
export type * as coordinationv1 from "./generated/coordination_v1.ts";
/** The types of core/v1. */
export type * as corev1 from "./generated/core_v1.ts";
/** The types of discovery/v1. */
export type * as discoveryv1 from "./generated/discovery_v1.ts";
/** The types of events/v1. */
export type * as eventsv1 from "./generated/events_v1.ts";
/** The types of flowcontrol/v1. */
export type * as flowcontrolv1 from "./generated/flowcontrol_v1.ts";
/** The types of meta/v1. */
export type * as metav1 from "./generated/meta_v1.ts";
/** The types of networking/v1. */
export type * as networkingv1 from "./generated/networking_v1.ts";
/** The types of node/v1. */
export type * as nodev1 from "./generated/node_v1.ts";
/** The types of policy/v1. */
export type * as policyv1 from "./generated/policy_v1.ts";
/** The types of rbac/v1. */
export type * as rbacv1 from "./generated/rbac_v1.ts";
/** The types of resource/v1. */
export type * as resourcev1 from "./generated/resource_v1.ts";
/** The types of scheduling/v1. */
export type * as schedulingv1 from "./generated/scheduling_v1.ts";
/** The types of storage/v1. */
export type * as storagev1 from "./generated/storage_v1.ts";
export {
  endOfString,
  isDeepEqual,
  isJsonObject,
  isSameScalar,
  parseExactJson,
  parseFiniteJson,
  printExactJson,
  printLosslessJson,
} from "./exact_json.ts";
export { pointerKeys, pointerStep } from "./json_pointer.ts";
