/** The types of rbac/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { ObjectMeta } from "../object.ts";
import type { LabelSelector } from "../selector.ts";

export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[];
}
export interface ClusterRole {
  readonly kind: "ClusterRole";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly rules?: readonly PolicyRule[];
  readonly aggregationRule?: AggregationRule;
}
export interface ClusterRoleBinding {
  readonly kind: "ClusterRoleBinding";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
}
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}
export interface Role {
  readonly kind: "Role";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly rules?: readonly PolicyRule[];
}
export interface RoleBinding {
  readonly kind: "RoleBinding";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
}
export interface RoleRef {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}
export interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}
