/** The types of policy/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { IntOrString, Time } from "../builtin_resource.ts";
import type { Condition, ObjectMeta } from "../object.ts";
import type { LabelSelector } from "../selector.ts";
import type { DeleteOptions } from "./meta_v1.ts";

export interface Eviction {
  readonly kind: "Eviction";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly deleteOptions?: DeleteOptions;
}
export interface PodDisruptionBudget {
  readonly kind: "PodDisruptionBudget";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
}
export interface PodDisruptionBudgetSpec {
  readonly minAvailable?: IntOrString;
  readonly selector?: LabelSelector;
  readonly maxUnavailable?: IntOrString;
  readonly unhealthyPodEvictionPolicy?: "AlwaysAllow" | "IfHealthyBudget";
}
export interface PodDisruptionBudgetStatus {
  readonly observedGeneration?: number;
  readonly disruptedPods?: Readonly<Record<string, Time>>;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly expectedPods?: number;
  readonly conditions?: readonly Condition[];
}
