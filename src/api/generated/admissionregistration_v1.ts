/** The types of admissionregistration/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { Base64 } from "../builtin_resource.ts";
import type { Condition, ObjectMeta } from "../object.ts";
import type { LabelSelector } from "../selector.ts";

export interface ApplyConfiguration {
  readonly expression?: string;
}
export interface AuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}
export interface JSONPatch {
  readonly expression?: string;
}
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}
export interface MatchResources {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: "Equivalent" | "Exact";
}
export interface MutatingAdmissionPolicy {
  readonly kind: "MutatingAdmissionPolicy";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: MutatingAdmissionPolicySpec;
}
export interface MutatingAdmissionPolicyBinding {
  readonly kind: "MutatingAdmissionPolicyBinding";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: MutatingAdmissionPolicyBindingSpec;
}
export interface MutatingAdmissionPolicyBindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
}
export interface MutatingAdmissionPolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly variables?: readonly Variable[];
  readonly mutations?: readonly Mutation[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly reinvocationPolicy?: "IfNeeded" | "Never";
}
export interface MutatingWebhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly RuleWithOperations[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions: readonly string[];
  readonly reinvocationPolicy?: "IfNeeded" | "Never";
  readonly matchConditions?: readonly MatchCondition[];
}
export interface MutatingWebhookConfiguration {
  readonly kind: "MutatingWebhookConfiguration";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly webhooks?: readonly MutatingWebhook[];
}
export interface Mutation {
  readonly patchType: "ApplyConfiguration" | "JSONPatch";
  readonly applyConfiguration?: ApplyConfiguration;
  readonly jsonPatch?: JSONPatch;
}
export interface NamedRuleWithOperations {
  readonly resourceNames?: readonly string[];
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
}
export interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}
export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
}
export interface RuleWithOperations {
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
}
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}
export interface TypeChecking {
  readonly expressionWarnings?: readonly ExpressionWarning[];
}
export interface ValidatingAdmissionPolicy {
  readonly kind: "ValidatingAdmissionPolicy";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: ValidatingAdmissionPolicySpec;
  readonly status?: ValidatingAdmissionPolicyStatus;
}
export interface ValidatingAdmissionPolicyBinding {
  readonly kind: "ValidatingAdmissionPolicyBinding";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: ValidatingAdmissionPolicyBindingSpec;
}
export interface ValidatingAdmissionPolicyBindingSpec {
  readonly policyName: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  readonly validationActions: readonly ("Audit" | "Deny" | "Warn")[];
}
export interface ValidatingAdmissionPolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly validations?: readonly Validation[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly auditAnnotations?: readonly AuditAnnotation[];
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
}
export interface ValidatingAdmissionPolicyStatus {
  readonly observedGeneration?: number;
  readonly typeChecking?: TypeChecking;
  readonly conditions?: readonly Condition[];
}
export interface ValidatingWebhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly RuleWithOperations[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions: readonly string[];
  readonly matchConditions?: readonly MatchCondition[];
}
export interface ValidatingWebhookConfiguration {
  readonly kind: "ValidatingWebhookConfiguration";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly webhooks?: readonly ValidatingWebhook[];
}
export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly reason?: string;
  readonly messageExpression?: string;
}
export interface Variable {
  readonly name: string;
  readonly expression: string;
}
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: ServiceReference;
  readonly caBundle?: Base64;
}
