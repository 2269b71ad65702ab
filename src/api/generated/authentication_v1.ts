/** The types of authentication/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { Time } from "../builtin_resource.ts";
import type { ObjectMeta } from "../object.ts";

export interface BoundObjectReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}
export interface SelfSubjectReview {
  readonly kind: "SelfSubjectReview";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly status?: SelfSubjectReviewStatus;
}
export interface SelfSubjectReviewStatus {
  readonly userInfo?: UserInfo;
}
export interface TokenRequest {
  readonly kind: "TokenRequest";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: TokenRequestSpec;
  readonly status?: TokenRequestStatus;
}
export interface TokenRequestSpec {
  readonly audiences?: readonly string[];
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: BoundObjectReference;
}
export interface TokenRequestStatus {
  readonly token?: string;
  readonly expirationTimestamp?: Time;
}
export interface TokenReview {
  readonly kind: "TokenReview";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: TokenReviewSpec;
  readonly status?: TokenReviewStatus;
}
export interface TokenReviewSpec {
  readonly token: string;
  readonly audiences?: readonly string[];
}
export interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: UserInfo;
  readonly audiences?: readonly string[];
  readonly error?: string;
}
export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
