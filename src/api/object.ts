/**
 * The fields that all Kubernetes objects share, and Status. Source: the API conventions and `metav1` of Kubernetes 1.36.
 *
 * All fields are readonly: objects in the cache are shared by all readers, so a change needs a copy.
 */
import type { ResourceVersion } from "./resource_version.ts";

/**
 * Makes all fields of a type readonly, at every depth. `defineResource` applies it to the objects of a kind.
 *
 * @example
 * ```ts
 * import type { DeepReadonly } from "@pintle/controller";
 *
 * const shared: DeepReadonly<{ ports: number[] }> = { ports: [80] };
 * // @ts-expect-error: a shared object cannot be changed, so make a copy
 * shared.ports.push;
 * const changed = { ...shared, ports: [...shared.ports, 443] };
 * console.assert(shared.ports.length === 1 && changed.ports.length === 2);
 * ```
 */
export type DeepReadonly<T> = T extends string | number | boolean | bigint | null | undefined ? T
  : T extends readonly (infer Element)[] ? readonly DeepReadonly<Element>[]
  : T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
  : T;

/** Names and values that are attached to an object, such as labels and annotations. */
export type StringMap = Readonly<Record<string, string>>;

/**
 * A reference from a dependent to its owner. The garbage collector deletes a dependent whose owners are deleted.
 * {@link controllerReference} creates one.
 */
export interface OwnerReference {
  /** The group and the version of the owner, e.g. `apps/v1`. */
  readonly apiVersion: string;
  /** The kind of the owner. */
  readonly kind: string;
  /** The name of the owner, which is in the same Namespace or cluster-scoped. */
  readonly name: string;
  /** The UID of the owner. An object that is created again under the same name is another owner. */
  readonly uid: string;
  /** True for the one owner that controls the dependent. */
  readonly controller?: boolean;
  /** True when a foreground deletion of the owner waits for the dependent. */
  readonly blockOwnerDeletion?: boolean;
}

/** The fields that one manager owns, as server-side apply stores them. */
export interface ManagedFieldsEntry {
  /** The name of the field manager. */
  readonly manager?: string;
  /** `Apply` for server-side apply, `Update` for all other writes. */
  readonly operation?: "Apply" | "Update";
  /** The version of the kind in which the manager wrote the fields. */
  readonly apiVersion?: string;
  /** When the manager last changed the set of its fields. RFC 3339. */
  readonly time?: string;
  /** The format of `fieldsV1`; always `FieldsV1`. */
  readonly fieldsType?: string;
  /** The fields, as a tree of keys such as `f:spec`. */
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  /** The subresource that the manager wrote to; absent for the object itself. */
  readonly subresource?: string;
}

/**
 * The metadata of an object: its names, its version, its labels and its owners.
 *
 * @example
 * ```ts
 * import type { ObjectMeta } from "@pintle/controller";
 *
 * const isBeingDeleted = (metadata: ObjectMeta) => metadata.deletionTimestamp !== undefined;
 * console.assert(!isBeingDeleted({ name: "web", namespace: "default", labels: { app: "web" } }));
 * ```
 */
export interface ObjectMeta {
  /** Unique among the objects of a kind in one Namespace. */
  readonly name?: string;
  /** A prefix: the server appends random characters to it when a create has no `name`. */
  readonly generateName?: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  /** Unique over time and space: an object that is created again has another one. */
  readonly uid?: string;
  /** Changes with every write. An update with an older version is a conflict. */
  readonly resourceVersion?: ResourceVersion;
  /** Counts changes of the desired state. */
  readonly generation?: number;
  /** When the server created the object. RFC 3339. */
  readonly creationTimestamp?: string;
  /** Set when a deletion was requested and finalizers or the grace period delay it. RFC 3339. */
  readonly deletionTimestamp?: string;
  /** The grace period of the deletion, in seconds. */
  readonly deletionGracePeriodSeconds?: number;
  /** Names and values that selectors can use. */
  readonly labels?: StringMap;
  /** Names and values for programs and people, which selectors cannot use. */
  readonly annotations?: StringMap;
  /** The owners. The garbage collector deletes the object when all of them are deleted. */
  readonly ownerReferences?: readonly OwnerReference[];
  /** Names of controllers that must clean up before the server removes the object. */
  readonly finalizers?: readonly string[];
  /** Which manager owns which fields. Caches drop it by default. */
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/**
 * The fields of any object that an API server returned, whatever its kind.
 *
 * @example
 * ```ts
 * import { keyOf, type KubeObject } from "@pintle/controller";
 *
 * const describe = (object: KubeObject) => `${object.kind} ${keyOf(object)}`;
 * console.assert(describe({ apiVersion: "v1", kind: "Node", metadata: { name: "a" } }) === "Node a");
 * ```
 */
export interface KubeObject {
  /** The group and the version, e.g. `apps/v1`, or `v1` for the core group. */
  readonly apiVersion: string;
  /** The kind in CamelCase, e.g. `Deployment`. */
  readonly kind: string;
  /** The names, the version, the labels and the owners. */
  readonly metadata: ObjectMeta;
}

/** The metadata of a list. */
export interface ListMeta {
  /** The version of the whole list; a watch can start from it. */
  readonly resourceVersion?: ResourceVersion;
  /** The token of the next page; absent on the last. */
  readonly continue?: string;
  /** How many items come after this page; absent when the server does not count them. */
  readonly remainingItemCount?: number;
}

/** A list as the API server sends it: one page of a collection. `Client.list` returns a {@link ListPage}. */
export interface KubeList<T> {
  /** The group and the version, e.g. `apps/v1`. */
  readonly apiVersion: string;
  /** The kind of the list, e.g. `DeploymentList`. */
  readonly kind: string;
  /** The version of the list, and the token of the next page. */
  readonly metadata: ListMeta;
  /** The objects. In lists of kinds that are part of Kubernetes they have no apiVersion and kind. */
  readonly items: readonly T[];
}

/**
 * One observation of the state of an object, as in `status.conditions`. {@link withCondition} writes one,
 * {@link findCondition} reads one.
 *
 * @example
 * ```ts
 * import { type Condition, isConditionTrue } from "@pintle/controller";
 *
 * const ready: Condition = {
 *   type: "Ready",
 *   status: "True",
 *   lastTransitionTime: "2026-01-01T00:00:00Z",
 *   reason: "AllPodsRun",
 *   message: "3 of 3 Pods are ready",
 * };
 * console.assert(isConditionTrue([ready], "Ready"));
 * ```
 */
export interface Condition {
  /** The name of the observation in CamelCase, e.g. `Ready`. Unique among the conditions of an object. */
  readonly type: string;
  /** `Unknown` when the controller cannot decide. */
  readonly status: "True" | "False" | "Unknown";
  /** The `metadata.generation` that the controller observed. */
  readonly observedGeneration?: number;
  /** When `status` last changed. RFC 3339. */
  readonly lastTransitionTime: string;
  /** CamelCase word for programs. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
}

/** One of several causes, e.g. of a validation failure. */
export interface StatusCause {
  /** A CamelCase word for programs, e.g. `FieldValueInvalid`. */
  readonly reason?: string;
  /** A sentence for people. */
  readonly message?: string;
  /** The path of the field, e.g. `spec.replicas`. */
  readonly field?: string;
}

/** The object and the causes of a Status. */
export interface StatusDetails {
  /** The name of the object. */
  readonly name?: string;
  /** The group of the object. */
  readonly group?: string;
  /** The kind or the plural of the object. */
  readonly kind?: string;
  /** The UID of the object. */
  readonly uid?: string;
  /** The causes of the failure, e.g. one for each invalid field. */
  readonly causes?: readonly StatusCause[];
  /** Seconds that the client should wait before it retries. */
  readonly retryAfterSeconds?: number;
}

/**
 * The response of the server when it is not an object, mostly for failures; also the object of an ERROR event of a watch.
 * An `ApiError` has it as `status`.
 */
export interface ApiStatus {
  /** Always `v1`. */
  readonly apiVersion?: string;
  /** Always `Status`. */
  readonly kind?: "Status";
  /** The token to continue an expired list with newer objects, if the server sent one. */
  readonly metadata?: { readonly continue?: string };
  /** Whether the request succeeded. */
  readonly status?: "Success" | "Failure";
  /** The HTTP status. */
  readonly code?: number;
  /** CamelCase word for programs, e.g. `NotFound`. */
  readonly reason?: string;
  /** A sentence for people. */
  readonly message?: string;
  /** The object and the causes. */
  readonly details?: StatusDetails;
}

/** An object of a Resource as a KubeObject, which each one is; TypeScript cannot see that through `Infer` of a type parameter. */
export function kubeObject(object: unknown): KubeObject {
  return object as KubeObject;
}
