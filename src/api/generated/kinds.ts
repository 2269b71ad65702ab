/** The Resources of all built-in kinds, and the types of their objects. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import { type BuiltinResource, clusterScoped, namespaced } from "../builtin_resource.ts";
import type * as admissionregistration_v1 from "./admissionregistration_v1.ts";
import type * as apiextensions_v1 from "./apiextensions_v1.ts";
import type * as apiregistration_v1 from "./apiregistration_v1.ts";
import type * as apps_v1 from "./apps_v1.ts";
import type * as authentication_v1 from "./authentication_v1.ts";
import type * as authorization_v1 from "./authorization_v1.ts";
import type * as autoscaling_v1 from "./autoscaling_v1.ts";
import type * as autoscaling_v2 from "./autoscaling_v2.ts";
import type * as batch_v1 from "./batch_v1.ts";
import type * as certificates_v1 from "./certificates_v1.ts";
import type * as coordination_v1 from "./coordination_v1.ts";
import type * as core_v1 from "./core_v1.ts";
import type * as discovery_v1 from "./discovery_v1.ts";
import type * as events_v1 from "./events_v1.ts";
import type * as flowcontrol_v1 from "./flowcontrol_v1.ts";
import type * as networking_v1 from "./networking_v1.ts";
import type * as node_v1 from "./node_v1.ts";
import type * as policy_v1 from "./policy_v1.ts";
import type * as rbac_v1 from "./rbac_v1.ts";
import type * as resource_v1 from "./resource_v1.ts";
import type * as scheduling_v1 from "./scheduling_v1.ts";
import type * as storage_v1 from "./storage_v1.ts";

/** The kind APIService of `apiregistration.k8s.io/v1`: a group and version that another API server serves. */
export const APIService: BuiltinResource<apiregistration_v1.APIService, "APIService"> = clusterScoped("apiregistration.k8s.io/v1", "APIService", "apiservices");
/** A readonly object of the kind APIService, as the server returns it. */
export type APIService = apiregistration_v1.APIService;
/** The kind Binding of `v1`: assigns a Pod to a Node; it is only created. */
export const Binding: BuiltinResource<core_v1.Binding, "Binding"> = namespaced("v1", "Binding", "bindings");
/** A readonly object of the kind Binding, as the server returns it. */
export type Binding = core_v1.Binding;
/** The kind CSIDriver of `storage.k8s.io/v1`: what a storage driver supports. */
export const CSIDriver: BuiltinResource<storage_v1.CSIDriver, "CSIDriver"> = clusterScoped("storage.k8s.io/v1", "CSIDriver", "csidrivers");
/** A readonly object of the kind CSIDriver, as the server returns it. */
export type CSIDriver = storage_v1.CSIDriver;
/** The kind CSINode of `storage.k8s.io/v1`: the storage drivers of a Node. */
export const CSINode: BuiltinResource<storage_v1.CSINode, "CSINode"> = clusterScoped("storage.k8s.io/v1", "CSINode", "csinodes");
/** A readonly object of the kind CSINode, as the server returns it. */
export type CSINode = storage_v1.CSINode;
/** The kind CSIStorageCapacity of `storage.k8s.io/v1`: how much storage a driver can still provide in a part of the cluster. */
export const CSIStorageCapacity: BuiltinResource<storage_v1.CSIStorageCapacity, "CSIStorageCapacity"> = namespaced("storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities");
/** A readonly object of the kind CSIStorageCapacity, as the server returns it. */
export type CSIStorageCapacity = storage_v1.CSIStorageCapacity;
/** The kind CertificateSigningRequest of `certificates.k8s.io/v1`: asks a signer of the cluster for a certificate. */
export const CertificateSigningRequest: BuiltinResource<certificates_v1.CertificateSigningRequest, "CertificateSigningRequest"> = clusterScoped("certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests");
/** A readonly object of the kind CertificateSigningRequest, as the server returns it. */
export type CertificateSigningRequest = certificates_v1.CertificateSigningRequest;
/** The kind ClusterRole of `rbac.authorization.k8s.io/v1`: permissions for the whole cluster, or to be granted in Namespaces. */
export const ClusterRole: BuiltinResource<rbac_v1.ClusterRole, "ClusterRole"> = clusterScoped("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles");
/** A readonly object of the kind ClusterRole, as the server returns it. */
export type ClusterRole = rbac_v1.ClusterRole;
/** The kind ClusterRoleBinding of `rbac.authorization.k8s.io/v1`: grants a ClusterRole in the whole cluster. */
export const ClusterRoleBinding: BuiltinResource<rbac_v1.ClusterRoleBinding, "ClusterRoleBinding"> = clusterScoped("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings");
/** A readonly object of the kind ClusterRoleBinding, as the server returns it. */
export type ClusterRoleBinding = rbac_v1.ClusterRoleBinding;
/** The kind ComponentStatus of `v1`: the health of a part of the control plane; no longer in use. */
export const ComponentStatus: BuiltinResource<core_v1.ComponentStatus, "ComponentStatus"> = clusterScoped("v1", "ComponentStatus", "componentstatuses");
/** A readonly object of the kind ComponentStatus, as the server returns it. */
export type ComponentStatus = core_v1.ComponentStatus;
/** The kind ConfigMap of `v1`: configuration data that Pods read as files or variables. */
export const ConfigMap: BuiltinResource<core_v1.ConfigMap, "ConfigMap"> = namespaced("v1", "ConfigMap", "configmaps");
/** A readonly object of the kind ConfigMap, as the server returns it. */
export type ConfigMap = core_v1.ConfigMap;
/** The kind ControllerRevision of `apps/v1`: a stored revision of a DaemonSet or a StatefulSet. */
export const ControllerRevision: BuiltinResource<apps_v1.ControllerRevision, "ControllerRevision"> = namespaced("apps/v1", "ControllerRevision", "controllerrevisions");
/** A readonly object of the kind ControllerRevision, as the server returns it. */
export type ControllerRevision = apps_v1.ControllerRevision;
/** The kind Event of `v1`: reports about objects, in the older API; {@link Event} is the newer one. */
export const CoreEvent: BuiltinResource<core_v1.Event, "Event"> = namespaced("v1", "Event", "events");
/** A readonly object of the kind Event, as the server returns it. */
export type CoreEvent = core_v1.Event;
/** The kind CronJob of `batch/v1`: Jobs on a schedule. */
export const CronJob: BuiltinResource<batch_v1.CronJob, "CronJob"> = namespaced("batch/v1", "CronJob", "cronjobs");
/** A readonly object of the kind CronJob, as the server returns it. */
export type CronJob = batch_v1.CronJob;
/** The kind CustomResourceDefinition of `apiextensions.k8s.io/v1`: the definition of a custom kind. `CrdResource` of `/schema` has a more exact type. */
export const CustomResourceDefinition: BuiltinResource<apiextensions_v1.CustomResourceDefinition, "CustomResourceDefinition"> = clusterScoped("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions");
/** A readonly object of the kind CustomResourceDefinition, as the server returns it. */
export type CustomResourceDefinition = apiextensions_v1.CustomResourceDefinition;
/** The kind DaemonSet of `apps/v1`: one Pod on each matching Node. */
export const DaemonSet: BuiltinResource<apps_v1.DaemonSet, "DaemonSet"> = namespaced("apps/v1", "DaemonSet", "daemonsets");
/** A readonly object of the kind DaemonSet, as the server returns it. */
export type DaemonSet = apps_v1.DaemonSet;
/** The kind Deployment of `apps/v1`: a number of equal Pods, with rolling updates. */
export const Deployment: BuiltinResource<apps_v1.Deployment, "Deployment"> = namespaced("apps/v1", "Deployment", "deployments");
/** A readonly object of the kind Deployment, as the server returns it. */
export type Deployment = apps_v1.Deployment;
/** The kind DeviceClass of `resource.k8s.io/v1`: devices of a sort that claims can ask for. */
export const DeviceClass: BuiltinResource<resource_v1.DeviceClass, "DeviceClass"> = clusterScoped("resource.k8s.io/v1", "DeviceClass", "deviceclasses");
/** A readonly object of the kind DeviceClass, as the server returns it. */
export type DeviceClass = resource_v1.DeviceClass;
/** The kind EndpointSlice of `discovery.k8s.io/v1`: a part of the addresses behind a Service. */
export const EndpointSlice: BuiltinResource<discovery_v1.EndpointSlice, "EndpointSlice"> = namespaced("discovery.k8s.io/v1", "EndpointSlice", "endpointslices");
/** A readonly object of the kind EndpointSlice, as the server returns it. */
export type EndpointSlice = discovery_v1.EndpointSlice;
/** The kind Endpoints of `v1`: the addresses behind a Service, in the older form. */
export const Endpoints: BuiltinResource<core_v1.Endpoints, "Endpoints"> = namespaced("v1", "Endpoints", "endpoints");
/** A readonly object of the kind Endpoints, as the server returns it. */
export type Endpoints = core_v1.Endpoints;
/** The kind Event of `events.k8s.io/v1`: reports about objects, which `kubectl describe` shows. A controller writes them with `ctx.event()`. */
export const Event: BuiltinResource<events_v1.Event, "Event"> = namespaced("events.k8s.io/v1", "Event", "events");
/** A readonly object of the kind Event, as the server returns it. */
export type Event = events_v1.Event;
/** The kind FlowSchema of `flowcontrol.apiserver.k8s.io/v1`: which requests to the API server have which priority. */
export const FlowSchema: BuiltinResource<flowcontrol_v1.FlowSchema, "FlowSchema"> = clusterScoped("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas");
/** A readonly object of the kind FlowSchema, as the server returns it. */
export type FlowSchema = flowcontrol_v1.FlowSchema;
/** The kind HorizontalPodAutoscaler of `autoscaling/v2`: scales a workload by its metrics. */
export const HorizontalPodAutoscaler: BuiltinResource<autoscaling_v2.HorizontalPodAutoscaler, "HorizontalPodAutoscaler"> = namespaced("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers");
/** A readonly object of the kind HorizontalPodAutoscaler, as the server returns it. */
export type HorizontalPodAutoscaler = autoscaling_v2.HorizontalPodAutoscaler;
/** The kind HorizontalPodAutoscaler of `autoscaling/v1`: scales a workload by its CPU use, in the older version; {@link HorizontalPodAutoscaler} is the newer one. */
export const HorizontalPodAutoscalerV1: BuiltinResource<autoscaling_v1.HorizontalPodAutoscaler, "HorizontalPodAutoscaler"> = namespaced("autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers");
/** A readonly object of the kind HorizontalPodAutoscaler, as the server returns it. */
export type HorizontalPodAutoscalerV1 = autoscaling_v1.HorizontalPodAutoscaler;
/** The kind IPAddress of `networking.k8s.io/v1`: an address that belongs to a Service. */
export const IPAddress: BuiltinResource<networking_v1.IPAddress, "IPAddress"> = clusterScoped("networking.k8s.io/v1", "IPAddress", "ipaddresses");
/** A readonly object of the kind IPAddress, as the server returns it. */
export type IPAddress = networking_v1.IPAddress;
/** The kind Ingress of `networking.k8s.io/v1`: HTTP routes from outside of the cluster to Services. */
export const Ingress: BuiltinResource<networking_v1.Ingress, "Ingress"> = namespaced("networking.k8s.io/v1", "Ingress", "ingresses");
/** A readonly object of the kind Ingress, as the server returns it. */
export type Ingress = networking_v1.Ingress;
/** The kind IngressClass of `networking.k8s.io/v1`: a controller that Ingresses can select. */
export const IngressClass: BuiltinResource<networking_v1.IngressClass, "IngressClass"> = clusterScoped("networking.k8s.io/v1", "IngressClass", "ingressclasses");
/** A readonly object of the kind IngressClass, as the server returns it. */
export type IngressClass = networking_v1.IngressClass;
/** The kind Job of `batch/v1`: Pods that run to completion. */
export const Job: BuiltinResource<batch_v1.Job, "Job"> = namespaced("batch/v1", "Job", "jobs");
/** A readonly object of the kind Job, as the server returns it. */
export type Job = batch_v1.Job;
/** The kind Lease of `coordination.k8s.io/v1`: a lock with a time limit, e.g. for leader election. */
export const Lease: BuiltinResource<coordination_v1.Lease, "Lease"> = namespaced("coordination.k8s.io/v1", "Lease", "leases");
/** A readonly object of the kind Lease, as the server returns it. */
export type Lease = coordination_v1.Lease;
/** The kind LimitRange of `v1`: defaults and limits for the resources of Pods in a Namespace. */
export const LimitRange: BuiltinResource<core_v1.LimitRange, "LimitRange"> = namespaced("v1", "LimitRange", "limitranges");
/** A readonly object of the kind LimitRange, as the server returns it. */
export type LimitRange = core_v1.LimitRange;
/** The kind LocalSubjectAccessReview of `authorization.k8s.io/v1`: asks what a user may do in one Namespace; it is only created. */
export const LocalSubjectAccessReview: BuiltinResource<authorization_v1.LocalSubjectAccessReview, "LocalSubjectAccessReview"> = namespaced("authorization.k8s.io/v1", "LocalSubjectAccessReview", "localsubjectaccessreviews");
/** A readonly object of the kind LocalSubjectAccessReview, as the server returns it. */
export type LocalSubjectAccessReview = authorization_v1.LocalSubjectAccessReview;
/** The kind MutatingAdmissionPolicy of `admissionregistration.k8s.io/v1`: CEL expressions that change objects before they are stored. */
export const MutatingAdmissionPolicy: BuiltinResource<admissionregistration_v1.MutatingAdmissionPolicy, "MutatingAdmissionPolicy"> = clusterScoped("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies");
/** A readonly object of the kind MutatingAdmissionPolicy, as the server returns it. */
export type MutatingAdmissionPolicy = admissionregistration_v1.MutatingAdmissionPolicy;
/** The kind MutatingAdmissionPolicyBinding of `admissionregistration.k8s.io/v1`: where a MutatingAdmissionPolicy applies, and with which parameters. */
export const MutatingAdmissionPolicyBinding: BuiltinResource<admissionregistration_v1.MutatingAdmissionPolicyBinding, "MutatingAdmissionPolicyBinding"> = clusterScoped("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings");
/** A readonly object of the kind MutatingAdmissionPolicyBinding, as the server returns it. */
export type MutatingAdmissionPolicyBinding = admissionregistration_v1.MutatingAdmissionPolicyBinding;
/** The kind MutatingWebhookConfiguration of `admissionregistration.k8s.io/v1`: which webhooks may change objects before they are stored. */
export const MutatingWebhookConfiguration: BuiltinResource<admissionregistration_v1.MutatingWebhookConfiguration, "MutatingWebhookConfiguration"> = clusterScoped("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations");
/** A readonly object of the kind MutatingWebhookConfiguration, as the server returns it. */
export type MutatingWebhookConfiguration = admissionregistration_v1.MutatingWebhookConfiguration;
/** The kind Namespace of `v1`: a scope for names. */
export const Namespace: BuiltinResource<core_v1.Namespace, "Namespace"> = clusterScoped("v1", "Namespace", "namespaces");
/** A readonly object of the kind Namespace, as the server returns it. */
export type Namespace = core_v1.Namespace;
/** The kind NetworkPolicy of `networking.k8s.io/v1`: which traffic Pods may send and receive. */
export const NetworkPolicy: BuiltinResource<networking_v1.NetworkPolicy, "NetworkPolicy"> = namespaced("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies");
/** A readonly object of the kind NetworkPolicy, as the server returns it. */
export type NetworkPolicy = networking_v1.NetworkPolicy;
/** The kind Node of `v1`: a machine that runs Pods. */
export const Node: BuiltinResource<core_v1.Node, "Node"> = clusterScoped("v1", "Node", "nodes");
/** A readonly object of the kind Node, as the server returns it. */
export type Node = core_v1.Node;
/** The kind PersistentVolume of `v1`: a piece of storage of the cluster. */
export const PersistentVolume: BuiltinResource<core_v1.PersistentVolume, "PersistentVolume"> = clusterScoped("v1", "PersistentVolume", "persistentvolumes");
/** A readonly object of the kind PersistentVolume, as the server returns it. */
export type PersistentVolume = core_v1.PersistentVolume;
/** The kind PersistentVolumeClaim of `v1`: a request for storage. */
export const PersistentVolumeClaim: BuiltinResource<core_v1.PersistentVolumeClaim, "PersistentVolumeClaim"> = namespaced("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
/** A readonly object of the kind PersistentVolumeClaim, as the server returns it. */
export type PersistentVolumeClaim = core_v1.PersistentVolumeClaim;
/** The kind Pod of `v1`: containers that run together on one Node. */
export const Pod: BuiltinResource<core_v1.Pod, "Pod"> = namespaced("v1", "Pod", "pods");
/** A readonly object of the kind Pod, as the server returns it. */
export type Pod = core_v1.Pod;
/** The kind PodDisruptionBudget of `policy/v1`: how many Pods of a set may be evicted at the same time. */
export const PodDisruptionBudget: BuiltinResource<policy_v1.PodDisruptionBudget, "PodDisruptionBudget"> = namespaced("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");
/** A readonly object of the kind PodDisruptionBudget, as the server returns it. */
export type PodDisruptionBudget = policy_v1.PodDisruptionBudget;
/** The kind PodTemplate of `v1`: a stored template of Pods, for controllers that share one. */
export const PodTemplate: BuiltinResource<core_v1.PodTemplate, "PodTemplate"> = namespaced("v1", "PodTemplate", "podtemplates");
/** A readonly object of the kind PodTemplate, as the server returns it. */
export type PodTemplate = core_v1.PodTemplate;
/** The kind PriorityClass of `scheduling.k8s.io/v1`: a priority that Pods can select. */
export const PriorityClass: BuiltinResource<scheduling_v1.PriorityClass, "PriorityClass"> = clusterScoped("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses");
/** A readonly object of the kind PriorityClass, as the server returns it. */
export type PriorityClass = scheduling_v1.PriorityClass;
/** The kind PriorityLevelConfiguration of `flowcontrol.apiserver.k8s.io/v1`: how many requests of a priority the API server handles at the same time. */
export const PriorityLevelConfiguration: BuiltinResource<flowcontrol_v1.PriorityLevelConfiguration, "PriorityLevelConfiguration"> = clusterScoped("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "prioritylevelconfigurations");
/** A readonly object of the kind PriorityLevelConfiguration, as the server returns it. */
export type PriorityLevelConfiguration = flowcontrol_v1.PriorityLevelConfiguration;
/** The kind ReplicaSet of `apps/v1`: a number of equal Pods; usually a Deployment owns it. */
export const ReplicaSet: BuiltinResource<apps_v1.ReplicaSet, "ReplicaSet"> = namespaced("apps/v1", "ReplicaSet", "replicasets");
/** A readonly object of the kind ReplicaSet, as the server returns it. */
export type ReplicaSet = apps_v1.ReplicaSet;
/** The kind ReplicationController of `v1`: a number of equal Pods, in the older form; {@link ReplicaSet} is the newer one. */
export const ReplicationController: BuiltinResource<core_v1.ReplicationController, "ReplicationController"> = namespaced("v1", "ReplicationController", "replicationcontrollers");
/** A readonly object of the kind ReplicationController, as the server returns it. */
export type ReplicationController = core_v1.ReplicationController;
/** The kind ResourceClaim of `resource.k8s.io/v1`: a request for devices. */
export const ResourceClaim: BuiltinResource<resource_v1.ResourceClaim, "ResourceClaim"> = namespaced("resource.k8s.io/v1", "ResourceClaim", "resourceclaims");
/** A readonly object of the kind ResourceClaim, as the server returns it. */
export type ResourceClaim = resource_v1.ResourceClaim;
/** The kind ResourceClaimTemplate of `resource.k8s.io/v1`: a template of ResourceClaims, one for each Pod. */
export const ResourceClaimTemplate: BuiltinResource<resource_v1.ResourceClaimTemplate, "ResourceClaimTemplate"> = namespaced("resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates");
/** A readonly object of the kind ResourceClaimTemplate, as the server returns it. */
export type ResourceClaimTemplate = resource_v1.ResourceClaimTemplate;
/** The kind ResourceQuota of `v1`: limits for all objects of a Namespace together. */
export const ResourceQuota: BuiltinResource<core_v1.ResourceQuota, "ResourceQuota"> = namespaced("v1", "ResourceQuota", "resourcequotas");
/** A readonly object of the kind ResourceQuota, as the server returns it. */
export type ResourceQuota = core_v1.ResourceQuota;
/** The kind ResourceSlice of `resource.k8s.io/v1`: the devices that a driver offers. */
export const ResourceSlice: BuiltinResource<resource_v1.ResourceSlice, "ResourceSlice"> = clusterScoped("resource.k8s.io/v1", "ResourceSlice", "resourceslices");
/** A readonly object of the kind ResourceSlice, as the server returns it. */
export type ResourceSlice = resource_v1.ResourceSlice;
/** The kind Role of `rbac.authorization.k8s.io/v1`: permissions in one Namespace. */
export const Role: BuiltinResource<rbac_v1.Role, "Role"> = namespaced("rbac.authorization.k8s.io/v1", "Role", "roles");
/** A readonly object of the kind Role, as the server returns it. */
export type Role = rbac_v1.Role;
/** The kind RoleBinding of `rbac.authorization.k8s.io/v1`: grants a Role or a ClusterRole in one Namespace. */
export const RoleBinding: BuiltinResource<rbac_v1.RoleBinding, "RoleBinding"> = namespaced("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings");
/** A readonly object of the kind RoleBinding, as the server returns it. */
export type RoleBinding = rbac_v1.RoleBinding;
/** The kind RuntimeClass of `node.k8s.io/v1`: a container runtime that Pods can select. */
export const RuntimeClass: BuiltinResource<node_v1.RuntimeClass, "RuntimeClass"> = clusterScoped("node.k8s.io/v1", "RuntimeClass", "runtimeclasses");
/** A readonly object of the kind RuntimeClass, as the server returns it. */
export type RuntimeClass = node_v1.RuntimeClass;
/** The kind Secret of `v1`: data such as passwords. Never log it. */
export const Secret: BuiltinResource<core_v1.Secret, "Secret"> = namespaced("v1", "Secret", "secrets");
/** A readonly object of the kind Secret, as the server returns it. */
export type Secret = core_v1.Secret;
/** The kind SelfSubjectAccessReview of `authorization.k8s.io/v1`: asks whether the client may do something; it is only created. */
export const SelfSubjectAccessReview: BuiltinResource<authorization_v1.SelfSubjectAccessReview, "SelfSubjectAccessReview"> = clusterScoped("authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews");
/** A readonly object of the kind SelfSubjectAccessReview, as the server returns it. */
export type SelfSubjectAccessReview = authorization_v1.SelfSubjectAccessReview;
/** The kind SelfSubjectReview of `authentication.k8s.io/v1`: asks the server who the client is; it is only created. */
export const SelfSubjectReview: BuiltinResource<authentication_v1.SelfSubjectReview, "SelfSubjectReview"> = clusterScoped("authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews");
/** A readonly object of the kind SelfSubjectReview, as the server returns it. */
export type SelfSubjectReview = authentication_v1.SelfSubjectReview;
/** The kind SelfSubjectRulesReview of `authorization.k8s.io/v1`: asks for all that the client may do in a Namespace; it is only created. */
export const SelfSubjectRulesReview: BuiltinResource<authorization_v1.SelfSubjectRulesReview, "SelfSubjectRulesReview"> = clusterScoped("authorization.k8s.io/v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews");
/** A readonly object of the kind SelfSubjectRulesReview, as the server returns it. */
export type SelfSubjectRulesReview = authorization_v1.SelfSubjectRulesReview;
/** The kind Service of `v1`: one address for a set of Pods. */
export const Service: BuiltinResource<core_v1.Service, "Service"> = namespaced("v1", "Service", "services");
/** A readonly object of the kind Service, as the server returns it. */
export type Service = core_v1.Service;
/** The kind ServiceAccount of `v1`: an identity for the processes in Pods. */
export const ServiceAccount: BuiltinResource<core_v1.ServiceAccount, "ServiceAccount"> = namespaced("v1", "ServiceAccount", "serviceaccounts");
/** A readonly object of the kind ServiceAccount, as the server returns it. */
export type ServiceAccount = core_v1.ServiceAccount;
/** The kind ServiceCIDR of `networking.k8s.io/v1`: a range of addresses for Services. */
export const ServiceCIDR: BuiltinResource<networking_v1.ServiceCIDR, "ServiceCIDR"> = clusterScoped("networking.k8s.io/v1", "ServiceCIDR", "servicecidrs");
/** A readonly object of the kind ServiceCIDR, as the server returns it. */
export type ServiceCIDR = networking_v1.ServiceCIDR;
/** The kind StatefulSet of `apps/v1`: Pods with stable names and storage. */
export const StatefulSet: BuiltinResource<apps_v1.StatefulSet, "StatefulSet"> = namespaced("apps/v1", "StatefulSet", "statefulsets");
/** A readonly object of the kind StatefulSet, as the server returns it. */
export type StatefulSet = apps_v1.StatefulSet;
/** The kind StorageClass of `storage.k8s.io/v1`: how storage of a class is provided. */
export const StorageClass: BuiltinResource<storage_v1.StorageClass, "StorageClass"> = clusterScoped("storage.k8s.io/v1", "StorageClass", "storageclasses");
/** A readonly object of the kind StorageClass, as the server returns it. */
export type StorageClass = storage_v1.StorageClass;
/** The kind SubjectAccessReview of `authorization.k8s.io/v1`: asks whether a user may do something; it is only created. */
export const SubjectAccessReview: BuiltinResource<authorization_v1.SubjectAccessReview, "SubjectAccessReview"> = clusterScoped("authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews");
/** A readonly object of the kind SubjectAccessReview, as the server returns it. */
export type SubjectAccessReview = authorization_v1.SubjectAccessReview;
/** The kind TokenReview of `authentication.k8s.io/v1`: asks the server whom a token belongs to; it is only created. */
export const TokenReview: BuiltinResource<authentication_v1.TokenReview, "TokenReview"> = clusterScoped("authentication.k8s.io/v1", "TokenReview", "tokenreviews");
/** A readonly object of the kind TokenReview, as the server returns it. */
export type TokenReview = authentication_v1.TokenReview;
/** The kind ValidatingAdmissionPolicy of `admissionregistration.k8s.io/v1`: CEL expressions that reject objects before they are stored. */
export const ValidatingAdmissionPolicy: BuiltinResource<admissionregistration_v1.ValidatingAdmissionPolicy, "ValidatingAdmissionPolicy"> = clusterScoped("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies");
/** A readonly object of the kind ValidatingAdmissionPolicy, as the server returns it. */
export type ValidatingAdmissionPolicy = admissionregistration_v1.ValidatingAdmissionPolicy;
/** The kind ValidatingAdmissionPolicyBinding of `admissionregistration.k8s.io/v1`: where a ValidatingAdmissionPolicy applies, and with which parameters. */
export const ValidatingAdmissionPolicyBinding: BuiltinResource<admissionregistration_v1.ValidatingAdmissionPolicyBinding, "ValidatingAdmissionPolicyBinding"> = clusterScoped("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings");
/** A readonly object of the kind ValidatingAdmissionPolicyBinding, as the server returns it. */
export type ValidatingAdmissionPolicyBinding = admissionregistration_v1.ValidatingAdmissionPolicyBinding;
/** The kind ValidatingWebhookConfiguration of `admissionregistration.k8s.io/v1`: which webhooks may reject objects before they are stored. */
export const ValidatingWebhookConfiguration: BuiltinResource<admissionregistration_v1.ValidatingWebhookConfiguration, "ValidatingWebhookConfiguration"> = clusterScoped("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations");
/** A readonly object of the kind ValidatingWebhookConfiguration, as the server returns it. */
export type ValidatingWebhookConfiguration = admissionregistration_v1.ValidatingWebhookConfiguration;
/** The kind VolumeAttachment of `storage.k8s.io/v1`: attaches a PersistentVolume to a Node. */
export const VolumeAttachment: BuiltinResource<storage_v1.VolumeAttachment, "VolumeAttachment"> = clusterScoped("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments");
/** A readonly object of the kind VolumeAttachment, as the server returns it. */
export type VolumeAttachment = storage_v1.VolumeAttachment;
/** The kind VolumeAttributesClass of `storage.k8s.io/v1`: parameters of storage that can change after its creation. */
export const VolumeAttributesClass: BuiltinResource<storage_v1.VolumeAttributesClass, "VolumeAttributesClass"> = clusterScoped("storage.k8s.io/v1", "VolumeAttributesClass", "volumeattributesclasses");
/** A readonly object of the kind VolumeAttributesClass, as the server returns it. */
export type VolumeAttributesClass = storage_v1.VolumeAttributesClass;
