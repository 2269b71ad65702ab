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
import type { Infer, Resource, Scope } from "./resource.ts";

type Identity = "apiVersion" | "kind" | "metadata";
type WithSpec<T> = T extends { spec?: infer Spec } ? { spec: NonNullable<Spec> } : unknown;

/** A published type, as a server returns it. */
export type Stored<T, Kind extends string> =
  & { apiVersion: string; kind: Kind; metadata: ObjectMeta }
  & Omit<T, Identity | "spec">
  & WithSpec<T>;

function builtin<T>(group: string, version: string, scope: Scope) {
  return <const Kind extends string>(kind: Kind, plural: string): Resource<Stored<T, Kind>, Kind> =>
    Object.freeze({ group, version, kind, plural, scope });
}

export const ConfigMap = builtin<core.ConfigMap>("", "v1", "Namespaced")("ConfigMap", "configmaps");
export type ConfigMap = Infer<typeof ConfigMap>;
export const CoreEvent = builtin<core.Event>("", "v1", "Namespaced")("Event", "events");
export type CoreEvent = Infer<typeof CoreEvent>;
export const Endpoints = builtin<core.Endpoints>("", "v1", "Namespaced")("Endpoints", "endpoints");
export type Endpoints = Infer<typeof Endpoints>;
export const Namespace = builtin<core.Namespace>("", "v1", "Cluster")("Namespace", "namespaces");
export type Namespace = Infer<typeof Namespace>;
export const Node = builtin<core.Node>("", "v1", "Cluster")("Node", "nodes");
export type Node = Infer<typeof Node>;
export const PersistentVolume = builtin<core.PersistentVolume>("", "v1", "Cluster")(
  "PersistentVolume",
  "persistentvolumes",
);
export type PersistentVolume = Infer<typeof PersistentVolume>;
export const PersistentVolumeClaim = builtin<core.PersistentVolumeClaim>("", "v1", "Namespaced")(
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);
export type PersistentVolumeClaim = Infer<typeof PersistentVolumeClaim>;
export const Pod = builtin<core.Pod>("", "v1", "Namespaced")("Pod", "pods");
export type Pod = Infer<typeof Pod>;
export const Secret = builtin<core.Secret>("", "v1", "Namespaced")("Secret", "secrets");
export type Secret = Infer<typeof Secret>;
export const Service = builtin<core.Service>("", "v1", "Namespaced")("Service", "services");
export type Service = Infer<typeof Service>;
export const ServiceAccount = builtin<core.ServiceAccount>("", "v1", "Namespaced")("ServiceAccount", "serviceaccounts");
export type ServiceAccount = Infer<typeof ServiceAccount>;

export const DaemonSet = builtin<apps.DaemonSet>("apps", "v1", "Namespaced")("DaemonSet", "daemonsets");
export type DaemonSet = Infer<typeof DaemonSet>;
export const Deployment = builtin<apps.Deployment>("apps", "v1", "Namespaced")("Deployment", "deployments");
export type Deployment = Infer<typeof Deployment>;
export const ReplicaSet = builtin<apps.ReplicaSet>("apps", "v1", "Namespaced")("ReplicaSet", "replicasets");
export type ReplicaSet = Infer<typeof ReplicaSet>;
export const StatefulSet = builtin<apps.StatefulSet>("apps", "v1", "Namespaced")("StatefulSet", "statefulsets");
export type StatefulSet = Infer<typeof StatefulSet>;

export const CronJob = builtin<batch.CronJob>("batch", "v1", "Namespaced")("CronJob", "cronjobs");
export type CronJob = Infer<typeof CronJob>;
export const Job = builtin<batch.Job>("batch", "v1", "Namespaced")("Job", "jobs");
export type Job = Infer<typeof Job>;

export const Ingress = builtin<networking.Ingress>("networking.k8s.io", "v1", "Namespaced")("Ingress", "ingresses");
export type Ingress = Infer<typeof Ingress>;
export const NetworkPolicy = builtin<networking.NetworkPolicy>("networking.k8s.io", "v1", "Namespaced")(
  "NetworkPolicy",
  "networkpolicies",
);
export type NetworkPolicy = Infer<typeof NetworkPolicy>;
export const PodDisruptionBudget = builtin<policy.PodDisruptionBudget>("policy", "v1", "Namespaced")(
  "PodDisruptionBudget",
  "poddisruptionbudgets",
);
export type PodDisruptionBudget = Infer<typeof PodDisruptionBudget>;
export const RuntimeClass = builtin<node.RuntimeClass>("node.k8s.io", "v1", "Cluster")(
  "RuntimeClass",
  "runtimeclasses",
);
export type RuntimeClass = Infer<typeof RuntimeClass>;

export const Event = builtin<events.Event>("events.k8s.io", "v1", "Namespaced")("Event", "events");
export type Event = Infer<typeof Event>;
export const Lease = builtin<coordination.Lease>("coordination.k8s.io", "v1", "Namespaced")("Lease", "leases");
export type Lease = Infer<typeof Lease>;

export const CustomResourceDefinition = builtin<apiextensions.CustomResourceDefinition>(
  "apiextensions.k8s.io",
  "v1",
  "Cluster",
)("CustomResourceDefinition", "customresourcedefinitions");
export type CustomResourceDefinition = Infer<typeof CustomResourceDefinition>;
export const MutatingWebhookConfiguration = builtin<admission.MutatingWebhookConfiguration>(
  "admissionregistration.k8s.io",
  "v1",
  "Cluster",
)("MutatingWebhookConfiguration", "mutatingwebhookconfigurations");
export type MutatingWebhookConfiguration = Infer<typeof MutatingWebhookConfiguration>;
export const ValidatingWebhookConfiguration = builtin<admission.ValidatingWebhookConfiguration>(
  "admissionregistration.k8s.io",
  "v1",
  "Cluster",
)("ValidatingWebhookConfiguration", "validatingwebhookconfigurations");
export type ValidatingWebhookConfiguration = Infer<typeof ValidatingWebhookConfiguration>;

export const ClusterRole = builtin<rbac.ClusterRole>("rbac.authorization.k8s.io", "v1", "Cluster")(
  "ClusterRole",
  "clusterroles",
);
export type ClusterRole = Infer<typeof ClusterRole>;
export const ClusterRoleBinding = builtin<rbac.ClusterRoleBinding>("rbac.authorization.k8s.io", "v1", "Cluster")(
  "ClusterRoleBinding",
  "clusterrolebindings",
);
export type ClusterRoleBinding = Infer<typeof ClusterRoleBinding>;
export const Role = builtin<rbac.Role>("rbac.authorization.k8s.io", "v1", "Namespaced")("Role", "roles");
export type Role = Infer<typeof Role>;
export const RoleBinding = builtin<rbac.RoleBinding>("rbac.authorization.k8s.io", "v1", "Namespaced")(
  "RoleBinding",
  "rolebindings",
);
export type RoleBinding = Infer<typeof RoleBinding>;
