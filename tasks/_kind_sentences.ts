/** What each built-in kind is, in a few words of our own: the docstrings of the Resources that tasks/types.ts writes. */

/** The words by `group/version Kind`, where the core group has none: `v1 Pod`. */
export const kindSentences: Readonly<Record<string, string>> = {
  "v1 Binding": "assigns a Pod to a Node; it is only created",
  "v1 ComponentStatus": "the health of a part of the control plane; no longer in use",
  "v1 ConfigMap": "configuration data that Pods read as files or variables",
  "v1 Endpoints": "the addresses behind a Service, in the older form",
  "v1 Event": "reports about objects, in the older API; {@link Event} is the newer one",
  "v1 LimitRange": "defaults and limits for the resources of Pods in a Namespace",
  "v1 Namespace": "a scope for names",
  "v1 Node": "a machine that runs Pods",
  "v1 PersistentVolumeClaim": "a request for storage",
  "v1 PersistentVolume": "a piece of storage of the cluster",
  "v1 Pod": "containers that run together on one Node",
  "v1 PodTemplate": "a stored template of Pods, for controllers that share one",
  "v1 ReplicationController": "a number of equal Pods, in the older form; {@link ReplicaSet} is the newer one",
  "v1 ResourceQuota": "limits for all objects of a Namespace together",
  "v1 Secret": "data such as passwords. Never log it",
  "v1 ServiceAccount": "an identity for the processes in Pods",
  "v1 Service": "one address for a set of Pods",
  "apiregistration.k8s.io/v1 APIService": "a group and version that another API server serves",
  "apps/v1 ControllerRevision": "a stored revision of a DaemonSet or a StatefulSet",
  "apps/v1 DaemonSet": "one Pod on each matching Node",
  "apps/v1 Deployment": "a number of equal Pods, with rolling updates",
  "apps/v1 ReplicaSet": "a number of equal Pods; usually a Deployment owns it",
  "apps/v1 StatefulSet": "Pods with stable names and storage",
  "events.k8s.io/v1 Event":
    "reports about objects, which `kubectl describe` shows. A controller writes them with `ctx.event()`",
  "authentication.k8s.io/v1 SelfSubjectReview": "asks the server who the client is; it is only created",
  "authentication.k8s.io/v1 TokenReview": "asks the server whom a token belongs to; it is only created",
  "authorization.k8s.io/v1 LocalSubjectAccessReview": "asks what a user may do in one Namespace; it is only created",
  "authorization.k8s.io/v1 SelfSubjectAccessReview": "asks whether the client may do something; it is only created",
  "authorization.k8s.io/v1 SelfSubjectRulesReview":
    "asks for all that the client may do in a Namespace; it is only created",
  "authorization.k8s.io/v1 SubjectAccessReview": "asks whether a user may do something; it is only created",
  "autoscaling/v2 HorizontalPodAutoscaler": "scales a workload by its metrics",
  "autoscaling/v1 HorizontalPodAutoscaler":
    "scales a workload by its CPU use, in the older version; {@link HorizontalPodAutoscaler} is the newer one",
  "batch/v1 CronJob": "Jobs on a schedule",
  "batch/v1 Job": "Pods that run to completion",
  "certificates.k8s.io/v1 CertificateSigningRequest": "asks a signer of the cluster for a certificate",
  "networking.k8s.io/v1 IngressClass": "a controller that Ingresses can select",
  "networking.k8s.io/v1 Ingress": "HTTP routes from outside of the cluster to Services",
  "networking.k8s.io/v1 IPAddress": "an address that belongs to a Service",
  "networking.k8s.io/v1 NetworkPolicy": "which traffic Pods may send and receive",
  "networking.k8s.io/v1 ServiceCIDR": "a range of addresses for Services",
  "policy/v1 PodDisruptionBudget": "how many Pods of a set may be evicted at the same time",
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": "grants a ClusterRole in the whole cluster",
  "rbac.authorization.k8s.io/v1 ClusterRole": "permissions for the whole cluster, or to be granted in Namespaces",
  "rbac.authorization.k8s.io/v1 RoleBinding": "grants a Role or a ClusterRole in one Namespace",
  "rbac.authorization.k8s.io/v1 Role": "permissions in one Namespace",
  "storage.k8s.io/v1 CSIDriver": "what a storage driver supports",
  "storage.k8s.io/v1 CSINode": "the storage drivers of a Node",
  "storage.k8s.io/v1 CSIStorageCapacity": "how much storage a driver can still provide in a part of the cluster",
  "storage.k8s.io/v1 StorageClass": "how storage of a class is provided",
  "storage.k8s.io/v1 VolumeAttachment": "attaches a PersistentVolume to a Node",
  "storage.k8s.io/v1 VolumeAttributesClass": "parameters of storage that can change after its creation",
  "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy":
    "CEL expressions that change objects before they are stored",
  "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding":
    "where a MutatingAdmissionPolicy applies, and with which parameters",
  "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration":
    "which webhooks may change objects before they are stored",
  "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy":
    "CEL expressions that reject objects before they are stored",
  "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding":
    "where a ValidatingAdmissionPolicy applies, and with which parameters",
  "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration":
    "which webhooks may reject objects before they are stored",
  "apiextensions.k8s.io/v1 CustomResourceDefinition":
    "the definition of a custom kind. `CrdResource` of `/schema` has a more exact type",
  "scheduling.k8s.io/v1 PriorityClass": "a priority that Pods can select",
  "coordination.k8s.io/v1 Lease": "a lock with a time limit, e.g. for leader election",
  "node.k8s.io/v1 RuntimeClass": "a container runtime that Pods can select",
  "discovery.k8s.io/v1 EndpointSlice": "a part of the addresses behind a Service",
  "resource.k8s.io/v1 DeviceClass": "devices of a sort that claims can ask for",
  "resource.k8s.io/v1 ResourceClaim": "a request for devices",
  "resource.k8s.io/v1 ResourceClaimTemplate": "a template of ResourceClaims, one for each Pod",
  "resource.k8s.io/v1 ResourceSlice": "the devices that a driver offers",
  "flowcontrol.apiserver.k8s.io/v1 FlowSchema": "which requests to the API server have which priority",
  "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration":
    "how many requests of a priority the API server handles at the same time",
};
