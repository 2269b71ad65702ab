/** The types of networking/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { IntOrString } from "../builtin_resource.ts";
import type { Condition, ObjectMeta } from "../object.ts";
import type { LabelSelector } from "../selector.ts";
import type { TypedLocalObjectReference } from "./core_v1.ts";

export interface HTTPIngressPath {
  readonly path?: string;
  readonly pathType: "Exact" | "ImplementationSpecific" | "Prefix";
  readonly backend: IngressBackend;
}
export interface HTTPIngressRuleValue {
  readonly paths: readonly HTTPIngressPath[];
}
export interface IPAddress {
  readonly kind: "IPAddress";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: IPAddressSpec;
}
export interface IPAddressSpec {
  readonly parentRef: ParentReference;
}
export interface IPBlock {
  readonly cidr: string;
  readonly except?: readonly string[];
}
export interface Ingress {
  readonly kind: "Ingress";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: IngressSpec;
  readonly status?: IngressStatus;
}
export interface IngressBackend {
  readonly service?: IngressServiceBackend;
  readonly resource?: TypedLocalObjectReference;
}
export interface IngressClass {
  readonly kind: "IngressClass";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: IngressClassSpec;
}
export interface IngressClassParametersReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
  readonly scope?: string;
  readonly namespace?: string;
}
export interface IngressClassSpec {
  readonly controller?: string;
  readonly parameters?: IngressClassParametersReference;
}
export interface IngressLoadBalancerIngress {
  readonly ip?: string;
  readonly hostname?: string;
  readonly ports?: readonly IngressPortStatus[];
}
export interface IngressLoadBalancerStatus {
  readonly ingress?: readonly IngressLoadBalancerIngress[];
}
export interface IngressPortStatus {
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
  readonly error?: string;
}
export interface IngressRule {
  readonly host?: string;
  readonly http?: HTTPIngressRuleValue;
}
export interface IngressServiceBackend {
  readonly name: string;
  readonly port?: ServiceBackendPort;
}
export interface IngressSpec {
  readonly ingressClassName?: string;
  readonly defaultBackend?: IngressBackend;
  readonly tls?: readonly IngressTLS[];
  readonly rules?: readonly IngressRule[];
}
export interface IngressStatus {
  readonly loadBalancer?: IngressLoadBalancerStatus;
}
export interface IngressTLS {
  readonly hosts?: readonly string[];
  readonly secretName?: string;
}
export interface NetworkPolicy {
  readonly kind: "NetworkPolicy";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: NetworkPolicySpec;
}
export interface NetworkPolicyEgressRule {
  readonly ports?: readonly NetworkPolicyPort[];
  readonly to?: readonly NetworkPolicyPeer[];
}
export interface NetworkPolicyIngressRule {
  readonly ports?: readonly NetworkPolicyPort[];
  readonly from?: readonly NetworkPolicyPeer[];
}
export interface NetworkPolicyPeer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: IPBlock;
}
export interface NetworkPolicyPort {
  readonly protocol?: "SCTP" | "TCP" | "UDP";
  readonly port?: IntOrString;
  readonly endPort?: number;
}
export interface NetworkPolicySpec {
  readonly podSelector?: LabelSelector;
  readonly ingress?: readonly NetworkPolicyIngressRule[];
  readonly egress?: readonly NetworkPolicyEgressRule[];
  readonly policyTypes?: readonly ("Egress" | "Ingress")[];
}
export interface ParentReference {
  readonly group?: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
}
export interface ServiceBackendPort {
  readonly name?: string;
  readonly number?: number;
}
export interface ServiceCIDR {
  readonly kind: "ServiceCIDR";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: ServiceCIDRSpec;
  readonly status?: ServiceCIDRStatus;
}
export interface ServiceCIDRSpec {
  readonly cidrs?: readonly string[];
}
export interface ServiceCIDRStatus {
  readonly conditions?: readonly Condition[];
}
