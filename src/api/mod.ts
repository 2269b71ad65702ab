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
export { type ConditionNow, findCondition, isConditionTrue, withCondition } from "./condition.ts";
export { compareResourceVersions, isComparable, type ResourceVersion, resourceVersion } from "./resource_version.ts";
export { namespaceProblem, objectNameProblem } from "./names.ts";
export { parseLabelSelector } from "./parse_label_selector.ts";
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
export { controllerOf, controllerReference, isControlledBy } from "./owner.ts";
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
export * as builtin from "./builtin.ts";
export {
  type BuiltinResource,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CoreEvent,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Endpoints,
  Event,
  Ingress,
  Job,
  Lease,
  MutatingWebhookConfiguration,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Role,
  RoleBinding,
  RuntimeClass,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  ValidatingWebhookConfiguration,
} from "./builtin.ts";
export {
  isDeepEqual,
  isJsonObject,
  isSameScalar,
  parseExactJson,
  parseFiniteJson,
  printExactJson,
} from "./exact_json.ts";
