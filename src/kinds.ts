/**
 * All kinds that are part of Kubernetes 1.36, and the types inside of their objects: `Pod` is a kind, `corev1.PodSpec` a
 * type. The namespaces have the names that Go programs use. The main entry has the most usual kinds too.
 *
 * Fields that the API server requires or always returns are required, all data is readonly, and texts that the API server
 * checks against a list have the type of that list.
 *
 * {@link schemas} has the schemas of those that custom kinds embed.
 *
 * @example
 * ```ts
 * import { type corev1, IngressClass, Pod } from "@pintle/controller/kinds";
 *
 * const limits: corev1.ResourceRequirements = { limits: { memory: "64Mi" } };
 * const spec: corev1.PodSpec = { containers: [{ name: "web", image: "web:1" }], resources: limits };
 * const imagesOf = (pod: Pod): readonly (string | undefined)[] => pod.spec.containers.map(({ image }) => image);
 * console.assert(spec.containers.length === 1 && imagesOf.length === 1 && IngressClass.scope === "Cluster");
 * ```
 *
 * @module
 */
export type { Base64, BuiltinResource, IntOrString, MicroTime, Quantity, Time } from "./api/mod.ts";
export type {
  admissionregistrationv1,
  apiextensionsv1,
  apiregistrationv1,
  appsv1,
  authenticationv1,
  authorizationv1,
  autoscalingv1,
  autoscalingv2,
  batchv1,
  certificatesv1,
  coordinationv1,
  corev1,
  discoveryv1,
  eventsv1,
  flowcontrolv1,
  metav1,
  networkingv1,
  nodev1,
  policyv1,
  rbacv1,
  resourcev1,
  schedulingv1,
  storagev1,
} from "./api/mod.ts";
export {
  APIService,
  Binding,
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  ComponentStatus,
  ConfigMap,
  ControllerRevision,
  CoreEvent,
  CronJob,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  DeviceClass,
  Endpoints,
  EndpointSlice,
  Event,
  FlowSchema,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerV1,
  Ingress,
  IngressClass,
  IPAddress,
  Job,
  Lease,
  LimitRange,
  LocalSubjectAccessReview,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PodTemplate,
  PriorityClass,
  PriorityLevelConfiguration,
  ReplicaSet,
  ReplicationController,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceQuota,
  ResourceSlice,
  Role,
  RoleBinding,
  RuntimeClass,
  Secret,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  Service,
  ServiceAccount,
  ServiceCIDR,
  StatefulSet,
  StorageClass,
  SubjectAccessReview,
  TokenReview,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  VolumeAttachment,
  VolumeAttributesClass,
} from "./api/mod.ts";
export { type EmbeddedSchema, type EmbeddedSchemas, schemas, type TemplateMetadata } from "./schema/mod.ts";
