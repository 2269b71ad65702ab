/**
 * StructuralSchema: the dialect of OpenAPI v3 that a CustomResourceDefinition speaks, as plain readonly JSON.
 *
 * A schema is structural when every value has a type, nothing is referred to, and what may be written is said once,
 * outside allOf/anyOf/oneOf/not. Only keywords that our own translation uses, or that comparing needs, are listed.
 * Source: apiextensions-apiserver `pkg/apiserver/schema` of Kubernetes 1.36.
 */

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A rule in the Common Expression Language that the API server checks on every write. */
export interface ValidationRule {
  /** `self` is the value the rule stands on, `oldSelf` its previous state (makes it a rule about changes). */
  readonly rule: string;
  /** What the writer is told. One line. */
  readonly message?: string;
  /** A CEL expression that makes the message. */
  readonly messageExpression?: string;
  /** @default "FieldValueInvalid" */
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  /** Path below this value that the error names, e.g. `.replicas`. */
  readonly fieldPath?: string;
  /** Runs a rule that uses oldSelf on creation too, with oldSelf an optional value. */
  readonly optionalOldSelf?: boolean;
}

/** How the items of a list are told apart when two writers change it. */
export type ListType = "atomic" | "set" | "map";

/** One node of a structural schema. */
export interface StructuralSchema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly example?: Json;
  readonly nullable?: boolean;
  readonly enum?: readonly Json[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: StructuralSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: ListType;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** What `.meta({ ... })` of a zod schema may say beyond title and description; this is how zod lets it be typed. */
declare module "zod" {
  interface GlobalMeta {
    /** Rules the API server checks; they become x-kubernetes-validations. */
    cel?: readonly ValidationRule[];
    /** The value can be set once and never changed; see {@link immutable}. */
    immutable?: boolean;
    /** For records: least and greatest number of keys. */
    minProperties?: number;
    maxProperties?: number;
    "x-kubernetes-list-type"?: ListType;
    "x-kubernetes-list-map-keys"?: readonly string[];
    "x-kubernetes-map-type"?: "atomic" | "granular";
    "x-kubernetes-preserve-unknown-fields"?: true;
    "x-kubernetes-embedded-resource"?: true;
  }
}
