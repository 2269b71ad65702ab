/** Parameters and results of the Client and its verbs: options, patches, results. */
import type { Infer, LabelSelector, Resource, ResourceVersion, StringMap } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";

/** Options of a {@link Client}. */
export interface ClientOptions {
  /** The server validates every write and stores none. @default false */
  readonly dryRun?: boolean;
  /** The field manager of the writes without one. @default the server derives it from the User-Agent */
  readonly fieldManager?: string;
  /** The most milliseconds of a request with its response, except for watches. @default Infinity */
  readonly requestTimeoutMs?: number;
  /** Milliseconds without a byte after which a response counts as lost. @default 60_000 */
  readonly stallTimeoutMs?: number;
  /** The most bytes of a response. @default 268435456 (256 MiB) */
  readonly maxBodyBytes?: number;
  /** The source of time for time limits. @default systemClock */
  readonly clock?: Clock;
  /** Gets the warnings of the server. @default logger("client") */
  readonly logger?: Logger;
}

/** Options of `Client.get` and `Client.find`. */
export interface GetOptions {
  /** `status` or `scale`. @default the object itself */
  readonly subresource?: string;
  /** "0" allows the server to read from its cache. @default the most recent version */
  readonly resourceVersion?: string;
  /** Requests only apiVersion, kind and metadata. @default false */
  readonly metadataOnly?: boolean;
  /** Ends the request; it then rejects with the reason of the signal. @default no signal */
  readonly signal?: AbortSignal;
}

/** Options of a read, a watch or a deletion of a collection. */
export interface CollectionOptions {
  /** Selects by labels: as text (`app=web,tier in (a,b)`) or in the form of a LabelSelector. @default all objects */
  readonly labelSelector?: string | LabelSelector;
  /** Selects by fields: as text (`spec.nodeName=a`) or as fields and their values. @default all objects */
  readonly fieldSelector?: string | StringMap;
  /** The Namespace of the objects. @default all Namespaces */
  readonly namespace?: string;
  /** Requests only apiVersion, kind and metadata. @default false */
  readonly metadataOnly?: boolean;
  /** Keeps `metadata.managedFields`, which caches do not need. @default false */
  readonly keepManagedFields?: boolean;
  /** Adds to each event of a watch who wrote the newest state, from managedFields that are not kept. @default false */
  readonly reportManagers?: boolean;
  /** Ends the request; it then rejects with the reason of the signal. @default no signal */
  readonly signal?: AbortSignal;
}

/** The selectors of a collection. An object must satisfy both. */
export type Selection = Pick<CollectionOptions, "labelSelector" | "fieldSelector">;

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
  /** Ends the request; the write may have taken effect nevertheless. @default no signal */
  readonly signal?: AbortSignal;
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  /** The name that owns the applied fields. Use the same one in each apply. */
  readonly fieldManager: string;
  /** Takes over fields owned by other managers. Right for controllers; ask before doing it for a user. @default false */
  readonly force?: boolean;
}

/** Options of a deletion. */
export interface DeleteOptions {
  /** Deletes the object only if it has this UID and this version. @default none */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: ResourceVersion };
  /** What happens to the dependents. @default that of the kind, nearly always Background */
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  /** Seconds until the object is removed; 0: at once. @default that of the object */
  readonly gracePeriodSeconds?: number;
  /** Validates the deletion without storing it. @default that of the client */
  readonly dryRun?: boolean;
  /** Ends the request; the deletion may have taken effect nevertheless. @default no signal */
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
 * A change of some fields for `Client.patch`. A merge patch sets the fields that it names, and `null` removes a field; a
 * strategic merge patch merges lists by their keys, which only kinds that are part of Kubernetes support; a JSON patch is
 * a list of operations on paths.
 *
 * @example
 * ```ts
 * import type { ConfigMap } from "@pintle/controller";
 * import type { Patch } from "@pintle/controller/client";
 *
 * const merge: Patch<typeof ConfigMap> = { kind: "merge", value: { data: { color: "red", size: null } } };
 * const json: Patch<typeof ConfigMap> = {
 *   kind: "json",
 *   operations: [{ op: "test", path: "/data/color", value: "red" }, { op: "remove", path: "/data/color" }],
 * };
 * console.assert(merge.kind === "merge" && json.operations.length === 2);
 * ```
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

/** Options of `Client.createToken`. */
export interface TokenRequestOptions {
  /** The audiences that accept the token. @default the API server */
  readonly audiences?: readonly string[];
  /** Seconds until the token expires. @default 3600, the default of the server */
  readonly expirationSeconds?: number;
  /** Ends the request; it then rejects with the reason of the signal. @default no signal */
  readonly signal?: AbortSignal;
}

/** A token of a ServiceAccount. It is a secret: never log this value. */
export interface TokenRequest {
  /** The token, a JWT. */
  readonly token: string;
  /** When the token expires. RFC 3339. */
  readonly expirationTimestamp: string;
}

/** A request that no verb of the Client sends, for `Client.raw`. */
export interface RawRequest {
  /** The HTTP method. @default "GET" */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The text to send. @default no body */
  readonly body?: string;
  /** The media type of `body`. @default "application/json" */
  readonly contentType?: string;
  /** The media type of the response. @default "application/json" */
  readonly accept?: string;
  /** Ends the request; it then rejects with the reason of the signal. @default no signal */
  readonly signal?: AbortSignal;
}
