/**
 * Kind: what the API server knows about one kind in one version. kinds/ implements it for built-in kinds, crd/ for custom
 * resources. The other folders use nothing else of a kind.
 *
 * The order of a write: decode, (patch or apply), setDefaults, mutating admission, prepareForCreate or prepareForUpdate,
 * validate, validating admission, store. A draft belongs to the request; a stored object never changes.
 */
import type { Scope } from "../../api/mod.ts";
import type { User } from "./access.ts";
import type { FieldError } from "../../cel/mod.ts";
import type { Draft, Json, JsonObject } from "../../cel/mod.ts";
import type { TypeSchema } from "./type_schema.ts";

/** A verb of a kind, as discovery names it. */
export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** A part of an object that is read or written on its own, or an action on it. */
export interface Subresource {
  /** `status`, `scale`, `eviction`, ... */
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** The kind of its body, where it is another one, e.g. autoscaling/v1 Scale. */
  readonly body?: { readonly group: string; readonly version: string; readonly kind: string };
  /** For `scale`: the paths of its numbers. */
  readonly scale?: ScalePaths;
}

/** Where a scale subresource finds its numbers, as JSON paths like `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** A selector as text, a LabelSelector or a map of labels. */
  readonly labelSelector?: string;
}

/** How the deletion of a kind differs from the deletion of other kinds. */
export interface DeletionRules {
  /** @default "Background" */
  readonly propagation?: "Background" | "Orphan" | "Unsupported";
  /** True when the response of a completed DELETE is the object and not a Status. @default false */
  readonly returnsObject?: boolean;
  /**
   * The grace period of a deletion, in seconds; 0 deletes at once. Undefined when the kind has no grace period.
   * @param requested what the client requests, if anything
   */
  grace?(object: JsonObject, requested: number | undefined): number | undefined;
  /** True while something besides finalizers keeps the object, such as the `spec.finalizers` of a Namespace. */
  isHeld?(object: JsonObject): boolean;
  /** Changes an object that gets a deletionTimestamp: a Namespace becomes Terminating. */
  mark?(draft: Draft): void;
}

/** What the rules of a kind know about a write. */
export interface WriteContext {
  /** "" for the object itself, else e.g. `status`. */
  readonly subresource: string;
  /** The name of the user who writes. */
  readonly userName: string;
  /** The user who writes, where known: a CertificateSigningRequest records it. */
  readonly user?: User;
  /** Milliseconds since 1970, of the server's Clock. */
  readonly now: number;
  /** A random number in [0, 1), from the Random of the server. */
  random(): number;
  /** Other objects, for rules such as whether an IP is in use. */
  readonly objects: ObjectReader;
}

/** Reads stored objects. Collections are named as in {@link Kind.collection}. */
export interface ObjectReader {
  get(collection: string, namespace: string, name: string): JsonObject | undefined;
  /** @param namespace all namespaces when absent */
  list(collection: string, namespace?: string): Iterable<JsonObject>;
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** `name` for the name. */
  readonly format: string;
  readonly description: string;
  /** 0: always shown; higher: only with -o wide. */
  readonly priority: number;
}

/** How a table shows the objects of a kind. */
export interface Table {
  readonly columns: readonly Column[];
  /** One cell per column. @param now milliseconds since 1970 */
  cells(object: JsonObject, now: number): readonly Json[];
  /** Conditions of the whole row, such as a completed Pod. @default none */
  conditions?(object: JsonObject): readonly JsonObject[];
}

/** The names of a kind. */
export interface KindNames {
  /** "" for core. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: Scope;
}

/**
 * How numbers become integers: `json` is Go's decoder of JSON, which reads digits only, and `converted` its conversion of maps,
 * which merged objects pass: a whole double is an integer there, and what is too large loses its upper bits.
 */
export type NumberRule = "json" | "converted";

/**
 * What a conversion does to a custom resource beside converting it. `shown`: it drops the fields that the version does not have,
 * as for every reader. `stored`: it also sets defaults, as the storage does when it reads. `plain`: nothing, as for ownership.
 */
export type ConvertedForm = "shown" | "stored" | "plain";

/** One kind in one version. */
export interface Kind extends KindNames {
  /**
   * Where its objects are stored, for all versions: `deployments.apps`, `pods`. The two Event kinds share `events`.
   */
  readonly collection: string;
  readonly verbs: readonly Verb[];
  readonly subresources: ReadonlyMap<string, Subresource>;
  readonly schema: TypeSchema;
  /**
   * The structs and lists that a built-in kind has even in an empty object. The creator of an object does not own them.
   * @default none
   */
  readonly empty?: JsonObject;
  readonly table: Table;
  /** True for built-in kinds; custom resources have no strategic merge patch. */
  readonly hasStrategicMerge: boolean;
  /** The group in messages about an invalid object; that of an Event is always core. @default group */
  readonly errorGroup?: string;
  /** The resource in the message about an object that does not exist. @default plural */
  readonly missingResource?: string | undefined;
  /** True when an update without resourceVersion overwrites. @default hasStrategicMerge: custom resources reject it */
  readonly allowsUnconditionalUpdate?: boolean;
  /** True when an update of a missing object creates it: Leases, Roles, Events, ... @default false */
  readonly allowsCreateOnUpdate?: boolean;
  /** False for a kind whose `generateName` is taken as the name. @default true */
  readonly generatesNames?: boolean;
  /** True when names of finalizers need no domain: for custom resources, and built-in kinds such as Leases. @default false */
  readonly allowsPlainFinalizers?: boolean;
  /** @default no grace period, Background, a Status as response */
  readonly deletion?: DeletionRules;
  /** The warning in every response about the kind. @default none */
  readonly deprecation?: string | undefined;

  /**
   * Turns the body of a request into a draft of this kind: drops unknown fields, in place.
   *
   * @returns the dropped fields, e.g. `unknown field "spec.foo"`, for fieldValidation Strict and Warn
   * @throws StatusError 400 when a value has the wrong type for a built-in kind
   */
  decode(draft: Draft, numbers?: NumberRule): readonly string[];

  /** Does the same to an object that server-side apply has merged, in place. @default as `decode` with `converted` */
  decodeApplied?(draft: Draft): void;

  /** The object with its fields in the order of the Go types, for messages that quote it. @default as it is */
  inFieldOrder?(object: JsonObject): JsonObject;
  /** Sets defaults for fields that the client left out. */
  setDefaults(draft: Draft): void;
  /** Drops fields that a creator may not set, and sets those that the server decides (status, generation, IPs). */
  prepareForCreate(draft: Draft, context: WriteContext): void;
  /** The same for an update: keeps fields that this subresource may not change, and increments the generation. */
  prepareForUpdate(draft: Draft, old: JsonObject, context: WriteContext): void;
  /** Errors of a new object, except in metadata, which the server checks for every kind. */
  validate(object: JsonObject, context: WriteContext): readonly FieldError[];
  /** Errors of an update. */
  validateUpdate(object: JsonObject, old: JsonObject, context: WriteContext): readonly FieldError[];
  /** Errors of a name: for most kinds it must be a DNS subdomain. */
  validateName(name: string, isPrefix: boolean): readonly string[];
  /** Warnings for a write. @param old absent for a new object @param subresource the one that is written. @default "" */
  warnings(object: JsonObject, old?: JsonObject, subresource?: string): readonly string[];
  /**
   * The fields that a write to this subresource ("" for the object) never changes and never owns: `[["status"]]`.
   *
   * @default none
   */
  resetFields?(subresource: string): readonly (readonly string[])[];
  /**
   * The value of a field for a field selector; `undefined` when the kind has no such selectable field. The server reads
   * `metadata.name` and `metadata.namespace` itself, for every kind.
   */
  fieldValue(object: JsonObject, field: string): string | undefined;
  /** True where a field selector may name the field. */
  isSelectable(field: string): boolean;
  /** A stored object as clients see it, for a kind that hides fields from them. @default as it is stored */
  readonly shown?: ((object: JsonObject) => JsonObject) | undefined;
  /**
   * Converts objects of another version of the collection to this one. Synchronous for built-in kinds and strategy `None`.
   *
   * @param form of custom resources @default "shown"
   */
  convert(objects: readonly JsonObject[], form?: ConvertedForm): readonly JsonObject[] | Promise<readonly JsonObject[]>;
}
