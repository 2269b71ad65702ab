/** The words of the wire: objects, keys, versions, kinds, selectors, and the ListWatch seam between client and cache. */
export type {
  Condition,
  DeepReadonly,
  KubeList,
  KubeObject,
  ListMeta,
  ManagedFieldsEntry,
  ObjectMeta,
  OwnerReference,
  StringMap,
} from "./object.ts";
export { type ConditionNow, findCondition, isConditionTrue, withCondition } from "./condition.ts";
export { compareResourceVersions, isComparable, type ResourceVersion, resourceVersion } from "./resource_version.ts";
export { keyOf, type KeyParts, type ObjectKey, objectKey, splitKey } from "./key.ts";
export { type UntypedObject, untypedResource } from "./untyped.ts";
export { apiVersionOf, type Infer, type Resource, resourceId, resourceName, type Scope } from "./resource.ts";
export type { ApiStatus, StatusCause, StatusDetails } from "./status.ts";
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
export { controllerOf, controllerReference, isControlledBy } from "./owner.ts";
export {
  formatFieldSelector,
  formatLabelSelector,
  isSelected,
  type LabelRequirement,
  type LabelSelector,
  matchesLabels,
} from "./selector.ts";
export * as builtin from "./builtin.ts";
export {
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
