/** What the verbs of the Client take and give: options, patches, results. Types only. */
import type { Infer, Resource, ResourceVersion } from "../api/mod.ts";
import type { Selection } from "./_query.ts";

/** Options of a read of one object. */
export interface GetOptions {
  /** `status`, `scale`. @default the object itself */
  readonly subresource?: string;
  /** "0" allows the server to answer from its cache. @default the most recent */
  readonly resourceVersion?: string;
  /** Asks for apiVersion, kind and metadata only. @default false */
  readonly metadataOnly?: boolean;
  readonly signal?: AbortSignal;
}

/** Which part of which collection to read. */
export interface CollectionOptions extends Selection {
  /** @default all namespaces */
  readonly namespace?: string;
  /** Asks for apiVersion, kind and metadata only. @default false */
  readonly metadataOnly?: boolean;
  /** Keeps `metadata.managedFields`, which no cache needs. @default false */
  readonly keepManagedFields?: boolean;
  readonly signal?: AbortSignal;
}

/** Options of every write. */
export interface WriteOptions {
  /** `status`, `scale`. @default the object itself */
  readonly subresource?: string;
  /** Validates without storing. @default the client's */
  readonly dryRun?: boolean;
  /** Who the written fields belong to. @default the client's */
  readonly fieldManager?: string;
  /** What the server does about unknown and duplicate fields. @default the server's: Warn */
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
  readonly signal?: AbortSignal;
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes fields over that other managers own. Controllers do; people should be asked first. @default false */
  readonly force?: boolean;
}

/** Options of a deletion. */
export interface DeleteOptions {
  /** Deletes only this very object, in this very version. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: ResourceVersion };
  /** What becomes of the objects it owns. @default the kind's own, nearly always Background */
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  /** Seconds until the object goes; 0 is at once. @default the object's own */
  readonly gracePeriodSeconds?: number;
  /** @default the client's */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** What became of a deletion: gone, or the object as it is until its finalizers and grace period are over. */
export type DeleteResult<T> = { readonly kind: "deleted" } | { readonly kind: "object"; readonly object: T };

/** One step of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/** A change of some fields. Merge patches set what they name, `null` removes; strategic ones know lists by key. */
export type Patch<R extends Resource> =
  | { readonly kind: "merge"; readonly value: PatchValue<Infer<R>> }
  | { readonly kind: "strategic"; readonly value: PatchValue<Infer<R>> | Readonly<Record<string, unknown>> }
  | { readonly kind: "json"; readonly operations: readonly JsonPatchOperation[] };

/** Any part of an object, with null for what is to be removed. */
export type PatchValue<T> = T extends readonly unknown[] ? T
  : T extends object ? { readonly [Key in keyof T]?: PatchValue<T[Key]> | null }
  : T;

/** Any part of an object. */
export type Partly<T> = T extends readonly unknown[] ? T
  : T extends object ? { readonly [Key in keyof T]?: Partly<T[Key]> }
  : T;

/** An object to apply: any of its fields, and a name. apiVersion and kind come from the Resource. */
export type Draft<R extends Resource> = Partly<Infer<R>>;

/** An object to create. apiVersion and kind come from the Resource. */
export type NewObject<R extends Resource> = Infer<R> extends object
  ? Omit<Infer<R>, "apiVersion" | "kind"> & { readonly apiVersion?: string; readonly kind?: string }
  : Infer<R>;

/** Options of a token request. */
export interface TokenRequestOptions {
  /** Who shall accept the token. @default the API server */
  readonly audiences?: readonly string[];
  /** @default the server's: 3600 */
  readonly expirationSeconds?: number;
  readonly signal?: AbortSignal;
}

/** A token of a ServiceAccount. It is a secret: never log this value. */
export interface TokenRequest {
  readonly token: string;
  /** RFC 3339. */
  readonly expirationTimestamp: string;
}

/** A request that is no verb of an object. */
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
