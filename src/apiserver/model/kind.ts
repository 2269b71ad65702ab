/**
 * Kind: everything the API server has to know of one kind in one version. Built-in kinds (kinds/) and those of CRDs (crd/)
 * implement it; storage, verbs, patches, discovery and tables know nothing else of a kind.
 *
 * Order of a write: decode, (patch or apply), setDefaults, mutating admission, prepareFor…, validate, validating admission,
 * store. A draft belongs to the request; a stored object is never changed.
 */
import type { Scope } from "../../api/mod.ts";
import type { User } from "./access.ts";
import type { FieldError } from "./field_error.ts";
import type { Draft, Json, JsonObject } from "./json.ts";
import type { TypeSchema } from "./type_schema.ts";

/** What may be done with a kind, as discovery names it. */
export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

/** A part of an object that is read or written on its own, or an action on it. */
export interface Subresource {
  /** `status`, `scale`, `eviction`, ... */
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** What its body is, where that is another kind, e.g. autoscaling/v1 Scale. */
  readonly body?: { readonly group: string; readonly version: string; readonly kind: string };
  /** For `scale`: where its numbers are. */
  readonly scale?: ScalePaths;
}

/** Where a scale subresource finds its numbers: JSON paths like `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** A selector as text, a LabelSelector or a map of labels. */
  readonly labelSelector?: string;
}

/** How the deletion of a kind differs from that of the rest. */
export interface DeletionRules {
  /** @default "Background" */
  readonly propagation?: "Background" | "Orphan" | "Unsupported";
  /** True where a completed DELETE answers the object and not a Status. @default false */
  readonly answersObject?: boolean;
  /**
   * The grace a deletion gets, in seconds: 0 is deleted at once. Undefined where the kind knows no grace.
   * @param asked what the client wants, if it said so
   */
  grace?(object: JsonObject, asked: number | undefined): number | undefined;
  /** True while more than finalizers holds the object: the `spec.finalizers` of a Namespace. */
  isHeld?(object: JsonObject): boolean;
  /** Changes an object that is marked as deleted: a Namespace becomes Terminating. */
  mark?(draft: Draft): void;
}

/** What a write is, for the rules of a kind. */
export interface WriteContext {
  /** "" for the object itself, else e.g. `status`. */
  readonly subresource: string;
  /** The field manager's user. */
  readonly userName: string;
  /** Who asks, where that is known: a CertificateSigningRequest remembers it. */
  readonly user?: User;
  /** Milliseconds since 1970, of the server's Clock. */
  readonly now: number;
  /** Draws from the server's Random: [0, 1). */
  random(): number;
  /** Other objects: what a rule needs of the world, e.g. whether an IP is taken. */
  readonly objects: ObjectReader;
}

/** Reads what is stored. Names as in {@link Kind.collection}. */
export interface ObjectReader {
  get(collection: string, namespace: string, name: string): JsonObject | undefined;
  /** @param namespace all of them when absent */
  list(collection: string, namespace?: string): Iterable<JsonObject>;
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** `name` for the name. */
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, more only with -o wide. */
  readonly priority: number;
}

/** How objects of a kind are shown as a table. */
export interface Table {
  readonly columns: readonly Column[];
  /** One cell per column. @param now milliseconds since 1970 */
  cells(object: JsonObject, now: number): readonly Json[];
  /** What is to be said of a row as a whole: that a Pod has completed. @default nothing */
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

/** One kind in one version. */
export interface Kind extends KindNames {
  /**
   * Where its objects are stored, whatever the version: `deployments.apps`, `pods`. The two Events share `events`.
   */
  readonly collection: string;
  readonly verbs: readonly Verb[];
  readonly subresources: ReadonlyMap<string, Subresource>;
  readonly schema: TypeSchema;
  /**
   * What an object holds that nobody has written to: the structs and lists that a built-in kind shows even then. Who
   * creates an object does not own them. @default nothing
   */
  readonly empty?: JsonObject;
  readonly table: Table;
  /** Body content types: custom resources have no strategic merge patch. */
  readonly hasStrategicMerge: boolean;
  /** The group that messages about an invalid object name. @default group: an Event is always one of core */
  readonly errorGroup?: string;
  /** True where an update without resourceVersion overwrites. @default hasStrategicMerge: custom resources refuse it */
  readonly allowsUnconditionalUpdate?: boolean;
  /** True where an update of what is not there creates it: Leases, Roles, Events, ... @default false */
  readonly allowsCreateOnUpdate?: boolean;
  /** @default no grace, Background, a Status for an answer */
  readonly deletion?: DeletionRules;
  /** The warning that every request about the kind earns. @default none */
  readonly deprecation?: string | undefined;

  /**
   * Makes a body of a request into a draft of this kind: drops fields that are unknown, in place.
   *
   * @returns the paths of what was dropped, e.g. `unknown field "spec.foo"`, for fieldValidation Strict and Warn
   * @throws Refusal 400 when a value has the wrong type for a built-in kind
   */
  decode(draft: Draft): readonly string[];
  /** Fills in what the writer left out. */
  setDefaults(draft: Draft): void;
  /** Drops what a creator may not set, sets what the server decides (status, generation, IPs). */
  prepareForCreate(draft: Draft, context: WriteContext): void;
  /** The same for a change: keeps what this subresource may not change, bumps the generation where the spec differs. */
  prepareForUpdate(draft: Draft, old: JsonObject, context: WriteContext): void;
  /** What is wrong with a new object, beyond metadata (which the server checks for every kind). */
  validate(object: JsonObject, context: WriteContext): readonly FieldError[];
  /** What is wrong with a change. */
  validateUpdate(object: JsonObject, old: JsonObject, context: WriteContext): readonly FieldError[];
  /** How names are checked: most kinds' are DNS subdomains. */
  validateName(name: string, isPrefix: boolean): readonly string[];
  /** Warnings that a write of this object earns. @param old absent for a new object */
  warnings(object: JsonObject, old?: JsonObject): readonly string[];
  /**
   * The fields that a write of this subresource ("" for the object) does not change, and so never owns: `[["status"]]`.
   *
   * @default none
   */
  resetFields?(subresource: string): readonly (readonly string[])[];
  /**
   * The value of a field for a field selector, `undefined` where the kind cannot be selected by it.
   * `metadata.name` and `metadata.namespace` are answered by the server for every kind.
   */
  fieldValue(object: JsonObject, field: string): string | undefined;
  /** True where a field selector may name the field. */
  isSelectable(field: string): boolean;
  /** An object of another version of the collection, in this one. Built-in kinds and `None` answer at once. */
  convert(objects: readonly JsonObject[]): readonly JsonObject[] | Promise<readonly JsonObject[]>;
}
