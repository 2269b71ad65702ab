/**
 * TypeSchema: what the merging of two writers' work has to know of a type, compiled from the OpenAPI of a built-in kind or
 * from the structural schema of a CRD, so that apply, patches and decoding read one form.
 *
 * A value of it may be cyclic (JSONSchemaProps holds itself). What may be written into a field (formats, lengths, rules) is
 * not said here: that is validation, and each family of kinds does its own.
 */
import type { Json } from "./json.ts";

/** A leaf: owned and replaced as a whole. */
export interface ScalarSchema {
  readonly kind: "scalar";
  /** `intOrString`: IntOrString; `quantity`: written as a number or a string. */
  readonly type: "string" | "integer" | "number" | "boolean" | "intOrString" | "quantity";
  /** `date-time`, `byte`, `int32`, ... as OpenAPI has it. */
  readonly format?: string;
}

/** How a strategic merge patch treats a field (x-kubernetes-patch-strategy and -merge-key). */
export interface PatchStrategy {
  readonly strategy: "merge" | "replace" | "retainKeys" | "merge,retainKeys";
  readonly mergeKey?: string;
}

/** An object with known fields. */
export interface StructSchema {
  readonly kind: "struct";
  readonly fields: ReadonlyMap<string, TypeSchema>;
  /** Per field, for built-in kinds. */
  readonly patch: ReadonlyMap<string, PatchStrategy>;
  /** One owner for all of it. */
  readonly isAtomic: boolean;
  /** Fields that are not listed stay (x-kubernetes-preserve-unknown-fields), as `any`. */
  readonly keepsUnknown: boolean;
}

/** An object with free keys. */
export interface MapSchema {
  readonly kind: "map";
  readonly values: TypeSchema;
  readonly isAtomic: boolean;
}

/** A list. */
export interface ListSchema {
  readonly kind: "list";
  readonly items: TypeSchema;
  readonly listType: "atomic" | "set" | "map";
  /** The fields that identify an item of a `map` list. */
  readonly keys: readonly string[];
  /** Values of keys that an item may leave out, e.g. protocol TCP of a Service's port. */
  readonly keyDefaults: ReadonlyMap<string, Json>;
}

/** A value without a schema: its fields are deduced, lists are atomic. */
export interface AnySchema {
  readonly kind: "any";
}

/** The type of one value. */
export type TypeSchema = ScalarSchema | StructSchema | MapSchema | ListSchema | AnySchema;
