/**
 * StructuralSchema: the subset of OpenAPI v3 that a CustomResourceDefinition uses, as readonly JSON.
 *
 * A schema is structural when every value has a type, it has no `$ref`, and each field is declared once, outside
 * allOf/anyOf/oneOf/not. Only keywords that our translation or comparison needs are listed.
 * Source: apiextensions-apiserver `pkg/apiserver/schema` of Kubernetes 1.36.
 */

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A rule in the Common Expression Language that the API server checks on every write. */
export interface ValidationRule {
  /** `self` is the value at this node, `oldSelf` its previous state. A rule with oldSelf runs on updates only. */
  readonly rule: string;
  /** The message for the client. One line. */
  readonly message?: string;
  /** A CEL expression that computes the message. */
  readonly messageExpression?: string;
  /** @default "FieldValueInvalid" */
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  /** Path below this value that the error names, e.g. `.replicas`. */
  readonly fieldPath?: string;
  /** Also runs a rule with oldSelf on creation; oldSelf is then an optional value. */
  readonly optionalOldSelf?: boolean;
}

/** How server-side apply identifies the items of a list. */
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

/** The metadata that `.meta({ ... })` of a zod schema accepts beyond title and description. zod reads it from here. */
declare module "zod" {
  interface GlobalMeta {
    /** CEL rules that the API server checks; they become x-kubernetes-validations. */
    cel?: readonly ValidationRule[];
    /** The value can be set once and never be changed; see {@link immutable}. */
    immutable?: boolean;
    /** For records: the minimum and maximum number of keys. */
    minProperties?: number;
    maxProperties?: number;
    "x-kubernetes-list-type"?: ListType;
    "x-kubernetes-list-map-keys"?: readonly string[];
    "x-kubernetes-map-type"?: "atomic" | "granular";
    "x-kubernetes-preserve-unknown-fields"?: true;
    "x-kubernetes-embedded-resource"?: true;
  }
}
