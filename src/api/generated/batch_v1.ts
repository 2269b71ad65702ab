/** The types of batch/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { Time } from "../builtin_resource.ts";
import type { ObjectMeta } from "../object.ts";
import type { LabelSelector } from "../selector.ts";
import type { ObjectReference, PodTemplateSpec } from "./core_v1.ts";

export interface CronJob {
  readonly kind: "CronJob";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: CronJobSpec;
  readonly status?: CronJobStatus;
}
export interface CronJobSpec {
  readonly schedule: string;
  readonly timeZone?: string;
  readonly startingDeadlineSeconds?: number;
  readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
  readonly suspend?: boolean;
  readonly jobTemplate: JobTemplateSpec;
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
}
export interface CronJobStatus {
  readonly active?: readonly ObjectReference[];
  readonly lastScheduleTime?: Time;
  readonly lastSuccessfulTime?: Time;
}
export interface Job {
  readonly kind: "Job";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: JobSpec;
  readonly status?: JobStatus;
}
export interface JobCondition {
  readonly type: string;
  readonly status: string;
  readonly lastProbeTime?: Time;
  readonly lastTransitionTime?: Time;
  readonly reason?: string;
  readonly message?: string;
}
export interface JobSpec {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly activeDeadlineSeconds?: number;
  readonly podFailurePolicy?: PodFailurePolicy;
  readonly successPolicy?: SuccessPolicy;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly selector?: LabelSelector;
  readonly manualSelector?: boolean;
  readonly template: PodTemplateSpec;
  readonly ttlSecondsAfterFinished?: number;
  readonly completionMode?: "Indexed" | "NonIndexed";
  readonly suspend?: boolean;
  readonly podReplacementPolicy?: "Failed" | "TerminatingOrFailed";
  readonly managedBy?: string;
}
export interface JobStatus {
  readonly conditions?: readonly JobCondition[];
  readonly startTime?: Time;
  readonly completionTime?: Time;
  readonly active?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly terminating?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly uncountedTerminatedPods?: UncountedTerminatedPods;
  readonly ready?: number;
}
export interface JobTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec?: JobSpec;
}
export interface PodFailurePolicy {
  readonly rules: readonly PodFailurePolicyRule[];
}
export interface PodFailurePolicyOnExitCodesRequirement {
  readonly containerName?: string;
  readonly operator: "In" | "NotIn";
  readonly values: readonly number[];
}
export interface PodFailurePolicyOnPodConditionsPattern {
  readonly type: string;
  readonly status?: string;
}
export interface PodFailurePolicyRule {
  readonly action: "Count" | "FailIndex" | "FailJob" | "Ignore";
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[];
}
export interface SuccessPolicy {
  readonly rules: readonly SuccessPolicyRule[];
}
export interface SuccessPolicyRule {
  readonly succeededIndexes?: string;
  readonly succeededCount?: number;
}
export interface UncountedTerminatedPods {
  readonly succeeded?: readonly string[];
  readonly failed?: readonly string[];
}
