/**
 * The fields that all Kubernetes objects share, and Status. Source: the API conventions and `metav1` of Kubernetes 1.36.
 *
 * All fields are readonly: objects in the cache are shared by all readers, so a change needs a copy.
 */
import type { ResourceVersion } from "./resource_version.ts";

/** Makes all fields of a type readonly, at every depth. */
export type DeepReadonly<T> = T extends string | number | boolean | bigint | null | undefined ? T
  : T extends readonly (infer Element)[] ? readonly DeepReadonly<Element>[]
  : T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
  : T;

/** Names and values attached to an object. */
export type StringMap = Readonly<Record<string, string>>;

/** A reference from a dependent to its owner; the garbage collector uses it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** True for the one owner that controls the dependent. */
  readonly controller?: boolean;
  /** True when a foreground deletion of the owner waits for the dependent. */
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that one manager owns, as server-side apply stores them. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

/** Metadata of an object. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  /** Unique over time and space: an object that is created again has another one. */
  readonly uid?: string;
  readonly resourceVersion?: ResourceVersion;
  /** Counts changes of the desired state. */
  readonly generation?: number;
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  /** RFC 3339. Set when a deletion was requested and finalizers still prevent it. */
  readonly deletionTimestamp?: string;
  /** Seconds. */
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** The fields of any object that an API server returned. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** Metadata of a list. */
export interface ListMeta {
  readonly resourceVersion?: ResourceVersion;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** One page of a collection. */
export interface KubeList<T> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** One observation of the state of an object, as in `status.conditions`. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly observedGeneration?: number;
  /** RFC 3339. When `status` last changed. */
  readonly lastTransitionTime: string;
  /** CamelCase word for programs. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
}

/** One of several causes, e.g. of a validation failure. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  /** Path of the field, e.g. `spec.replicas`. */
  readonly field?: string;
}

/** The object and the causes of a Status. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The response of the server without an object, mostly for failures; also the object of an ERROR event. */
export interface ApiStatus {
  readonly apiVersion?: string;
  readonly kind?: "Status";
  readonly metadata?: { readonly continue?: string };
  readonly status?: "Success" | "Failure";
  readonly code?: number;
  /** CamelCase word for programs, e.g. `NotFound`. */
  readonly reason?: string;
  readonly message?: string;
  readonly details?: StatusDetails;
}
