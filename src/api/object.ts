/**
 * The shape every Kubernetes object shares. Source: the API conventions and `metav1.ObjectMeta` of Kubernetes 1.36.
 *
 * All of it is readonly: an object that came from the cache is everybody's, and a change to it is a copy.
 */
import type { ResourceVersion } from "./resource_version.ts";

/** Makes a wire type readonly all the way down. */
export type DeepReadonly<T> = T extends string | number | boolean | bigint | null | undefined ? T
  : T extends readonly (infer Element)[] ? readonly DeepReadonly<Element>[]
  : T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
  : T;

/** Names and values attached to an object. */
export type StringMap = Readonly<Record<string, string>>;

/** A reference from a child to the object it belongs to; the garbage collector follows it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** True for the one owner that controls the object. */
  readonly controller?: boolean;
  /** True when a foreground deletion of the owner waits for this object. */
  readonly blockOwnerDeletion?: boolean;
}

/** Which fields one writer owns: the bookkeeping of server-side apply. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

/** What every object says about itself. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  /** Unique over time and space: a re-created name has a new one. */
  readonly uid?: string;
  readonly resourceVersion?: ResourceVersion;
  /** Counts changes of the desired state. */
  readonly generation?: number;
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  /** RFC 3339. Set once deletion was asked for and finalizers still hold the object. */
  readonly deletionTimestamp?: string;
  /** Seconds. */
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** The least that is known of any object the API server returned. */
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

/** One observation of an object's state, as `status.conditions` holds them. */
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
