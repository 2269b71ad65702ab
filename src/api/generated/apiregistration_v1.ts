/** The types of apiregistration/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { Base64, Time } from "../builtin_resource.ts";
import type { ObjectMeta } from "../object.ts";

export interface APIService {
  readonly kind: "APIService";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: APIServiceSpec;
  readonly status?: APIServiceStatus;
}
export interface APIServiceCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: Time;
  readonly reason?: string;
  readonly message?: string;
}
export interface APIServiceSpec {
  readonly service?: ServiceReference;
  readonly group?: string;
  readonly version?: string;
  readonly insecureSkipTLSVerify?: boolean;
  readonly caBundle?: Base64;
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
}
export interface APIServiceStatus {
  readonly conditions?: readonly APIServiceCondition[];
}
export interface ServiceReference {
  readonly namespace?: string;
  readonly name?: string;
  readonly port?: number;
}
