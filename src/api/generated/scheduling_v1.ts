/** The types of scheduling/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { ObjectMeta } from "../object.ts";

export interface PriorityClass {
  readonly kind: "PriorityClass";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly description?: string;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority";
}
