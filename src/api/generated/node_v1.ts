/** The types of node/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { Quantity } from "../builtin_resource.ts";
import type { ObjectMeta } from "../object.ts";
import type { Toleration } from "./core_v1.ts";

export interface Overhead {
  readonly podFixed?: Readonly<Record<string, Quantity>>;
}
export interface RuntimeClass {
  readonly kind: "RuntimeClass";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly handler: string;
  readonly overhead?: Overhead;
  readonly scheduling?: Scheduling;
}
export interface Scheduling {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
}
