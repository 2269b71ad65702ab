/** The types of coordination/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { MicroTime } from "../builtin_resource.ts";
import type { ObjectMeta } from "../object.ts";

export interface Lease {
  readonly kind: "Lease";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: LeaseSpec;
}
export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: MicroTime;
  readonly renewTime?: MicroTime;
  readonly leaseTransitions?: number;
  readonly strategy?: string;
  readonly preferredHolder?: string;
}
