/** Parameters and results of the verbs of the Client: options, patches, results. */
import type { Infer, LabelSelector, Resource, ResourceVersion, StringMap } from "../api/mod.ts";

/** Options of a read of one object. */
export interface GetOptions {
  /** `status` or `scale`. @default the object itself */
  readonly subresource?: string;
  /** "0" allows the server to read from its cache. @default the most recent version */
  readonly resourceVersion?: string;
  /** Requests only apiVersion, kind and metadata. @default false */
  readonly metadataOnly?: boolean;
  readonly signal?: AbortSignal;
}

/** The selectors of a collection. */
export interface Selection {
  /** As text (`app=web,tier in (a,b)`) or in the form of a LabelSelector field. */
  readonly labelSelector?: string | LabelSelector;
  /** As text (`spec.nodeName=a`) or as fields and their values. */
  readonly fieldSelector?: string | StringMap;
}

/** Options of a read or a deletion of a collection. */
export interface CollectionOptions extends Selection {
  /** @default all namespaces */
  readonly namespace?: string;
  /** Requests only apiVersion, kind and metadata. @default false */
  readonly metadataOnly?: boolean;
  /** Keeps `metadata.managedFields`, which caches do not need. @default false */
  readonly keepManagedFields?: boolean;
  readonly signal?: AbortSignal;
}

/** Options of every write. */
export interface WriteOptions {
  /** `status` or `scale`. @default the object itself */
  readonly subresource?: string;
  /** Validates the write without storing it. @default that of the client */
  readonly dryRun?: boolean;
  /** The field manager of the written fields. @default that of the client */
  readonly fieldManager?: string;
  /** How the server handles unknown and duplicate fields. @default Warn, the default of the server */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
  readonly signal?: AbortSignal;
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes over fields that other managers own. Right for controllers; ask before doing it for a user. @default false */
  readonly force?: boolean;
}

/** Options of a deletion. */
export interface DeleteOptions {
  /** Deletes the object only if it has this UID and this version. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: ResourceVersion };
  /** What happens to the dependents. @default that of the kind, nearly always Background */
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  /** Seconds until the object is removed; 0: at once. @default that of the object */
  readonly gracePeriodSeconds?: number;
  /** Validates the deletion without storing it. @default that of the client */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** Result of a deletion: the object is removed, or it stays until its finalizers and its grace period are over. */
export type DeleteResult<T> = { readonly kind: "deleted" } | { readonly kind: "object"; readonly object: T };

/** One step of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/**
 * The kinds of patches, with their content types. `isIdempotent`: applying the patch twice has the same result as once; a
 * JSON or strategic patch may append to a list.
 */
export const patchKinds = {
  merge: { contentType: "application/merge-patch+json", isIdempotent: true },
  strategic: { contentType: "application/strategic-merge-patch+json", isIdempotent: false },
  json: { contentType: "application/json-patch+json", isIdempotent: false },
  // The server parses the body as YAML, of which JSON is a part.
  apply: { contentType: "application/apply-patch+yaml", isIdempotent: true },
} as const satisfies Record<
  Patch<Resource>["kind"] | "apply",
  { readonly contentType: `application/${string}`; readonly isIdempotent: boolean }
>;

/**
 * A change of some fields. A merge patch sets the fields that it names, and `null` removes a field; a strategic merge
 * patch merges lists by their keys.
 */
export type Patch<R extends Resource> =
  | { readonly kind: "merge"; readonly value: PatchValue<Infer<R>> }
  | { readonly kind: "strategic"; readonly value: PatchValue<Infer<R>> | Readonly<Record<string, unknown>> }
  | { readonly kind: "json"; readonly operations: readonly JsonPatchOperation[] };

/** Any part of an object, with null for fields to be removed. */
export type PatchValue<T> = T extends readonly unknown[] ? T
  : T extends object ? { readonly [Key in keyof T]?: PatchValue<T[Key]> | null }
  : T;

/** Any part of an object. */
export type DeepPartial<T> = T extends readonly unknown[] ? T
  : T extends object ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> }
  : T;

/** An object for `apply`: a name and any of its fields. apiVersion and kind come from the Resource. */
export type ApplyConfiguration<R extends Resource> = DeepPartial<Infer<R>>;

/** An object for `create`. apiVersion and kind come from the Resource. */
export type NewObject<R extends Resource> = Infer<R> extends object
  ? Omit<Infer<R>, "apiVersion" | "kind"> & { readonly apiVersion?: string; readonly kind?: string }
  : Infer<R>;

/** Options of a token request. */
export interface TokenRequestOptions {
  /** The audiences that accept the token. @default the API server */
  readonly audiences?: readonly string[];
  /** @default 3600, the default of the server */
  readonly expirationSeconds?: number;
  readonly signal?: AbortSignal;
}

/** A token of a ServiceAccount. It is a secret: never log this value. */
export interface TokenRequest {
  readonly token: string;
  /** RFC 3339. */
  readonly expirationTimestamp: string;
}

/** A request that no verb of the Client sends. */
export interface RawRequest {
  /** @default "GET" */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: string;
  /** @default "application/json" */
  readonly contentType?: string;
  /** @default "application/json" */
  readonly accept?: string;
  readonly signal?: AbortSignal;
}
