/**
 * Resource values of the kinds that are part of Kubernetes. Their types come from `kubernetes-types`.
 *
 * An object from a server always has apiVersion, kind, metadata and (where its kind has one) spec; the published types
 * make all of them optional, because a client may omit them in a patch.
 */
import type * as admission from "kubernetes-types/admissionregistration/v1";
import type * as apiextensions from "kubernetes-types/apiextensions/v1";
import type * as apps from "kubernetes-types/apps/v1";
import type * as batch from "kubernetes-types/batch/v1";
import type * as coordination from "kubernetes-types/coordination/v1";
import type * as core from "kubernetes-types/core/v1";
import type * as events from "kubernetes-types/events/v1";
import type * as networking from "kubernetes-types/networking/v1";
import type * as node from "kubernetes-types/node/v1";
import type * as policy from "kubernetes-types/policy/v1";
import type * as rbac from "kubernetes-types/rbac/v1";
import type { ObjectMeta } from "./object.ts";
import type { Infer, Resource } from "./resource.ts";

/**
 * The Resource of a kind that is part of Kubernetes, e.g. {@link ConfigMap}. Its objects have the published type `T` of
 * `kubernetes-types`, with the fields that the server always returns made required.
 *
 * @example
 * ```ts
 * import { Deployment, type Resource } from "@pintle/controller";
 *
 * // A Deployment is a value with names and a type with fields.
 * const replicasOf = (deployment: Deployment): number => deployment.spec.replicas ?? 1;
 * const kinds: readonly Resource[] = [Deployment];
 * console.assert(kinds[0]?.plural === "deployments" && replicasOf.length === 1);
 * ```
 */
export type BuiltinResource<T, Kind extends string> = Resource<
  & { apiVersion: string; kind: Kind; metadata: ObjectMeta }
  & Omit<T, "apiVersion" | "kind" | "metadata" | "spec">
  & (T extends { spec?: infer Spec } ? { spec: NonNullable<Spec> } : unknown),
  Kind
>;

function namespaced<Kind extends string>(apiVersion: string, kind: Kind, plural: string): Resource<never, Kind> {
  return builtin(apiVersion, { kind, plural, scope: "Namespaced" });
}

function clusterScoped<Kind extends string>(apiVersion: string, kind: Kind, plural: string): Resource<never, Kind> {
  return builtin(apiVersion, { kind, plural, scope: "Cluster" });
}

/** A Resource<never> is assignable to the Resource of any object type, because the type has no value. */
function builtin<Kind extends string>(
  apiVersion: string,
  names: Pick<Resource<never, Kind>, "kind" | "plural" | "scope">,
): Resource<never, Kind> {
  const slash = apiVersion.indexOf("/");
  const [group, version] = [apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1)];
  const { kind, plural, scope } = names;
  return Object.freeze({ group, version, kind, plural, scope });
}

/** The kind ConfigMap of `v1`: configuration data that Pods read as files or variables. */
export const ConfigMap: BuiltinResource<core.ConfigMap, "ConfigMap"> = namespaced("v1", "ConfigMap", "configmaps");
/** A readonly object of the kind ConfigMap, as the server returns it. */
export type ConfigMap = Infer<typeof ConfigMap>;
/** The kind Event of `v1`: reports about objects, in the older API; {@link Event} is the newer one. */
export const CoreEvent: BuiltinResource<core.Event, "Event"> = namespaced("v1", "Event", "events");
/** A readonly object of the kind Event, as the server returns it. */
export type CoreEvent = Infer<typeof CoreEvent>;
/** The kind Endpoints of `v1`: the addresses behind a Service, in the older form. */
export const Endpoints: BuiltinResource<core.Endpoints, "Endpoints"> = namespaced("v1", "Endpoints", "endpoints");
/** A readonly object of the kind Endpoints, as the server returns it. */
export type Endpoints = Infer<typeof Endpoints>;
/** The kind Namespace of `v1`: a scope for names. */
export const Namespace: BuiltinResource<core.Namespace, "Namespace"> = clusterScoped("v1", "Namespace", "namespaces");
/** A readonly object of the kind Namespace, as the server returns it. */
export type Namespace = Infer<typeof Namespace>;
/** The kind Node of `v1`: a machine that runs Pods. */
export const Node: BuiltinResource<core.Node, "Node"> = clusterScoped("v1", "Node", "nodes");
/** A readonly object of the kind Node, as the server returns it. */
export type Node = Infer<typeof Node>;
/** The kind PersistentVolume of `v1`: a piece of storage of the cluster. */
export const PersistentVolume: BuiltinResource<core.PersistentVolume, "PersistentVolume"> = clusterScoped(
  "v1",
  "PersistentVolume",
  "persistentvolumes",
);
/** A readonly object of the kind PersistentVolume, as the server returns it. */
export type PersistentVolume = Infer<typeof PersistentVolume>;
/** The kind PersistentVolumeClaim of `v1`: a request for storage. */
export const PersistentVolumeClaim: BuiltinResource<core.PersistentVolumeClaim, "PersistentVolumeClaim"> = namespaced(
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);
/** A readonly object of the kind PersistentVolumeClaim, as the server returns it. */
export type PersistentVolumeClaim = Infer<typeof PersistentVolumeClaim>;
/** The kind Pod of `v1`: containers that run together on one Node. */
export const Pod: BuiltinResource<core.Pod, "Pod"> = namespaced("v1", "Pod", "pods");
/** A readonly object of the kind Pod, as the server returns it. */
export type Pod = Infer<typeof Pod>;
/** The kind Secret of `v1`: data such as passwords. Never log it. */
export const Secret: BuiltinResource<core.Secret, "Secret"> = namespaced("v1", "Secret", "secrets");
/** A readonly object of the kind Secret, as the server returns it. */
export type Secret = Infer<typeof Secret>;
/** The kind Service of `v1`: one address for a set of Pods. */
export const Service: BuiltinResource<core.Service, "Service"> = namespaced("v1", "Service", "services");
/** A readonly object of the kind Service, as the server returns it. */
export type Service = Infer<typeof Service>;
/** The kind ServiceAccount of `v1`: an identity for the processes in Pods. */
export const ServiceAccount: BuiltinResource<core.ServiceAccount, "ServiceAccount"> = namespaced(
  "v1",
  "ServiceAccount",
  "serviceaccounts",
);
/** A readonly object of the kind ServiceAccount, as the server returns it. */
export type ServiceAccount = Infer<typeof ServiceAccount>;

/** The kind DaemonSet of `apps/v1`: one Pod on each matching Node. */
export const DaemonSet: BuiltinResource<apps.DaemonSet, "DaemonSet"> = namespaced("apps/v1", "DaemonSet", "daemonsets");
/** A readonly object of the kind DaemonSet, as the server returns it. */
export type DaemonSet = Infer<typeof DaemonSet>;
/** The kind Deployment of `apps/v1`: a number of equal Pods, with rolling updates. */
export const Deployment: BuiltinResource<apps.Deployment, "Deployment"> = namespaced(
  "apps/v1",
  "Deployment",
  "deployments",
);
/** A readonly object of the kind Deployment, as the server returns it. */
export type Deployment = Infer<typeof Deployment>;
/** The kind ReplicaSet of `apps/v1`: a number of equal Pods; usually a Deployment owns it. */
export const ReplicaSet: BuiltinResource<apps.ReplicaSet, "ReplicaSet"> = namespaced(
  "apps/v1",
  "ReplicaSet",
  "replicasets",
);
/** A readonly object of the kind ReplicaSet, as the server returns it. */
export type ReplicaSet = Infer<typeof ReplicaSet>;
/** The kind StatefulSet of `apps/v1`: Pods with stable names and storage. */
export const StatefulSet: BuiltinResource<apps.StatefulSet, "StatefulSet"> = namespaced(
  "apps/v1",
  "StatefulSet",
  "statefulsets",
);
/** A readonly object of the kind StatefulSet, as the server returns it. */
export type StatefulSet = Infer<typeof StatefulSet>;

/** The kind CronJob of `batch/v1`: Jobs on a schedule. */
export const CronJob: BuiltinResource<batch.CronJob, "CronJob"> = namespaced("batch/v1", "CronJob", "cronjobs");
/** A readonly object of the kind CronJob, as the server returns it. */
export type CronJob = Infer<typeof CronJob>;
/** The kind Job of `batch/v1`: Pods that run to completion. */
export const Job: BuiltinResource<batch.Job, "Job"> = namespaced("batch/v1", "Job", "jobs");
/** A readonly object of the kind Job, as the server returns it. */
export type Job = Infer<typeof Job>;

/** The kind Ingress of `networking.k8s.io/v1`: HTTP routes from outside of the cluster to Services. */
export const Ingress: BuiltinResource<networking.Ingress, "Ingress"> = namespaced(
  "networking.k8s.io/v1",
  "Ingress",
  "ingresses",
);
/** A readonly object of the kind Ingress, as the server returns it. */
export type Ingress = Infer<typeof Ingress>;
/** The kind NetworkPolicy of `networking.k8s.io/v1`: which traffic Pods may send and receive. */
export const NetworkPolicy: BuiltinResource<networking.NetworkPolicy, "NetworkPolicy"> = namespaced(
  "networking.k8s.io/v1",
  "NetworkPolicy",
  "networkpolicies",
);
/** A readonly object of the kind NetworkPolicy, as the server returns it. */
export type NetworkPolicy = Infer<typeof NetworkPolicy>;
/** The kind PodDisruptionBudget of `policy/v1`: how many Pods of a set may be evicted at the same time. */
export const PodDisruptionBudget: BuiltinResource<policy.PodDisruptionBudget, "PodDisruptionBudget"> = namespaced(
  "policy/v1",
  "PodDisruptionBudget",
  "poddisruptionbudgets",
);
/** A readonly object of the kind PodDisruptionBudget, as the server returns it. */
export type PodDisruptionBudget = Infer<typeof PodDisruptionBudget>;
/** The kind RuntimeClass of `node.k8s.io/v1`: a container runtime that Pods can select. */
export const RuntimeClass: BuiltinResource<node.RuntimeClass, "RuntimeClass"> = clusterScoped(
  "node.k8s.io/v1",
  "RuntimeClass",
  "runtimeclasses",
);
/** A readonly object of the kind RuntimeClass, as the server returns it. */
export type RuntimeClass = Infer<typeof RuntimeClass>;

/** The kind Event of `events.k8s.io/v1`: reports about objects, which `kubectl describe` shows. A controller writes them with `ctx.event()`. */
export const Event: BuiltinResource<events.Event, "Event"> = namespaced("events.k8s.io/v1", "Event", "events");
/** A readonly object of the kind Event, as the server returns it. */
export type Event = Infer<typeof Event>;
/** The kind Lease of `coordination.k8s.io/v1`: a lock with a time limit, e.g. for leader election. */
export const Lease: BuiltinResource<coordination.Lease, "Lease"> = namespaced(
  "coordination.k8s.io/v1",
  "Lease",
  "leases",
);
/** A readonly object of the kind Lease, as the server returns it. */
export type Lease = Infer<typeof Lease>;

/** The kind CustomResourceDefinition of `apiextensions.k8s.io/v1`: the definition of a custom kind. `CrdResource` of `/schema` has a more exact type. */
export const CustomResourceDefinition: BuiltinResource<
  apiextensions.CustomResourceDefinition,
  "CustomResourceDefinition"
> = clusterScoped("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions");
/** A readonly object of the kind CustomResourceDefinition, as the server returns it. */
export type CustomResourceDefinition = Infer<typeof CustomResourceDefinition>;
/** The kind MutatingWebhookConfiguration of `admissionregistration.k8s.io/v1`: which webhooks may change objects before they are stored. */
export const MutatingWebhookConfiguration: BuiltinResource<
  admission.MutatingWebhookConfiguration,
  "MutatingWebhookConfiguration"
> = clusterScoped("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations");
/** A readonly object of the kind MutatingWebhookConfiguration, as the server returns it. */
export type MutatingWebhookConfiguration = Infer<typeof MutatingWebhookConfiguration>;
/** The kind ValidatingWebhookConfiguration of `admissionregistration.k8s.io/v1`: which webhooks may reject objects before they are stored. */
export const ValidatingWebhookConfiguration: BuiltinResource<
  admission.ValidatingWebhookConfiguration,
  "ValidatingWebhookConfiguration"
> = clusterScoped(
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration",
  "validatingwebhookconfigurations",
);
/** A readonly object of the kind ValidatingWebhookConfiguration, as the server returns it. */
export type ValidatingWebhookConfiguration = Infer<typeof ValidatingWebhookConfiguration>;

/** The kind ClusterRole of `rbac.authorization.k8s.io/v1`: permissions for the whole cluster, or to be granted in Namespaces. */
export const ClusterRole: BuiltinResource<rbac.ClusterRole, "ClusterRole"> = clusterScoped(
  "rbac.authorization.k8s.io/v1",
  "ClusterRole",
  "clusterroles",
);
/** A readonly object of the kind ClusterRole, as the server returns it. */
export type ClusterRole = Infer<typeof ClusterRole>;
/** The kind ClusterRoleBinding of `rbac.authorization.k8s.io/v1`: grants a ClusterRole in the whole cluster. */
export const ClusterRoleBinding: BuiltinResource<rbac.ClusterRoleBinding, "ClusterRoleBinding"> = clusterScoped(
  "rbac.authorization.k8s.io/v1",
  "ClusterRoleBinding",
  "clusterrolebindings",
);
/** A readonly object of the kind ClusterRoleBinding, as the server returns it. */
export type ClusterRoleBinding = Infer<typeof ClusterRoleBinding>;
/** The kind Role of `rbac.authorization.k8s.io/v1`: permissions in one Namespace. */
export const Role: BuiltinResource<rbac.Role, "Role"> = namespaced("rbac.authorization.k8s.io/v1", "Role", "roles");
/** A readonly object of the kind Role, as the server returns it. */
export type Role = Infer<typeof Role>;
/** The kind RoleBinding of `rbac.authorization.k8s.io/v1`: grants a Role or a ClusterRole in one Namespace. */
export const RoleBinding: BuiltinResource<rbac.RoleBinding, "RoleBinding"> = namespaced(
  "rbac.authorization.k8s.io/v1",
  "RoleBinding",
  "rolebindings",
);
/** A readonly object of the kind RoleBinding, as the server returns it. */
export type RoleBinding = Infer<typeof RoleBinding>;
