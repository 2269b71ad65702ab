/** The types of autoscaling/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { Time } from "../builtin_resource.ts";
import type { ObjectMeta } from "../object.ts";

export interface CrossVersionObjectReference {
  readonly kind: string;
  readonly name: string;
  readonly apiVersion?: string;
}
export interface HorizontalPodAutoscaler {
  readonly kind: "HorizontalPodAutoscaler";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status?: HorizontalPodAutoscalerStatus;
}
export interface HorizontalPodAutoscalerSpec {
  readonly scaleTargetRef: CrossVersionObjectReference;
  readonly minReplicas?: number;
  readonly maxReplicas: number;
  readonly targetCPUUtilizationPercentage?: number;
}
export interface HorizontalPodAutoscalerStatus {
  readonly observedGeneration?: number;
  readonly lastScaleTime?: Time;
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly currentCPUUtilizationPercentage?: number;
}
export interface Scale {
  readonly kind: "Scale";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: ScaleSpec;
  readonly status?: ScaleStatus;
}
export interface ScaleSpec {
  readonly replicas?: number;
}
export interface ScaleStatus {
  readonly replicas: number;
  readonly selector?: string;
}
