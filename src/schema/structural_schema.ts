/**
 * StructuralSchema: the subset of OpenAPI v3 that a CustomResourceDefinition uses, as readonly JSON.
 *
 * A schema is structural when every value has a type, it has no `$ref`, and each field is declared once, outside
 * allOf/anyOf/oneOf/not. Only keywords that our translation or comparison needs are listed.
 * Source: apiextensions-apiserver `pkg/apiserver/schema` of Kubernetes 1.36.
 */

/** Any JSON value. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * A rule in the Common Expression Language (CEL) that the API server checks on every write. Attach rules to a schema with
 * `.meta({ cel: [...] })`, or to a kind with the option `validations`.
 *
 * @example
 * ```ts
 * import { z } from "@pintle/controller";
 * import { structuralSchema, type ValidationRule } from "@pintle/controller/schema";
 *
 * const ordered: ValidationRule = { rule: "self.min <= self.max", message: "min must not exceed max" };
 * const range = z.object({ min: z.int32(), max: z.int32() }).meta({ cel: [ordered] });
 * console.assert(structuralSchema(range, "Foo")["x-kubernetes-validations"]?.length === 1);
 * ```
 */
export interface ValidationRule {
  /** `self` is the value at this node, `oldSelf` its previous state. A rule with oldSelf runs on updates only. */
  readonly rule: string;
  /** The message for the client. One line. @default the text of the rule */
  readonly message?: string;
  /** A CEL expression that computes the message. @default none */
  readonly messageExpression?: string;
  /** The reason of the error, for programs. @default "FieldValueInvalid" */
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  /** The path below this value that the error names, e.g. `.replicas`. @default this value */
  readonly fieldPath?: string;
  /** Also runs a rule with oldSelf on creation; oldSelf is then an optional value. @default false */
  readonly optionalOldSelf?: boolean;
}

/**
 * The metadata that `.meta({ ... })` of a zod schema accepts for Kubernetes, beside title and description.
 *
 * @example
 * ```ts
 * import { z } from "@pintle/controller";
 * import { type SchemaMeta, structuralSchema } from "@pintle/controller/schema";
 *
 * const byName: SchemaMeta = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
 * const ports = z.array(z.object({ name: z.string(), port: z.int32() })).meta({ ...byName });
 * console.assert(structuralSchema(ports, "Foo")["x-kubernetes-list-type"] === "map");
 * ```
 */
export interface SchemaMeta {
  /** CEL rules that the API server checks; they become `x-kubernetes-validations`. */
  cel?: readonly ValidationRule[];
  /** The value can be set once and never be changed; see `immutable()`. @default false */
  immutable?: boolean;
  /** The fewest keys of a record. */
  minProperties?: number;
  /** The most keys of a record. */
  maxProperties?: number;
  /** How server-side apply merges an array. @default "atomic" */
  "x-kubernetes-list-type"?: ListType;
  /** The fields that identify an item of an array of type `map`. */
  "x-kubernetes-list-map-keys"?: readonly string[];
  /** Whether server-side apply merges an object by fields, or replaces it as a whole. @default "granular" */
  "x-kubernetes-map-type"?: "atomic" | "granular";
  /** The API server keeps fields that the schema does not declare. @default not set */
  "x-kubernetes-preserve-unknown-fields"?: true;
  /** The value is a whole Kubernetes object; see `embeddedResource()`. @default not set */
  "x-kubernetes-embedded-resource"?: true;
  /**
   * Keywords that zod cannot say, such as `format`, `oneOf` and `not`. They can only be added to those that the zod schema
   * gives, so that the API server still rejects every value that zod rejects. Beside `z.unknown()`, which gives none, they
   * are the whole schema. The keywords are those of {@link StructuralSchema}; its type would be too deep for zod.
   */
  openapi?: Readonly<Record<string, unknown>>;
}

/**
 * How server-side apply merges a list: `atomic` replaces it as a whole, `set` merges scalars by value, `map` merges
 * objects by their key fields.
 */
export type ListType = "atomic" | "set" | "map";

/**
 * One node of the OpenAPI schema in a CRD. {@link structuralSchema} makes it from a zod schema.
 *
 * @example
 * ```ts
 * import { objectProblems, type StructuralSchema } from "@pintle/controller/schema";
 *
 * const schema: StructuralSchema = {
 *   type: "object",
 *   properties: { size: { type: "integer", maximum: 10, default: 1 } },
 * };
 * console.assert(objectProblems(schema, { size: 12 })[0]?.path === "size");
 * ```
 */
export interface StructuralSchema {
  /** The type of the value. @default any type */
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  /** A short name for people. */
  readonly title?: string;
  /** The text of `kubectl explain`. */
  readonly description?: string;
  /** The value that the API server sets when the field is absent. */
  readonly default?: Json;
  /** A value for people. */
  readonly example?: Json;
  /** Whether null is allowed. @default false */
  readonly nullable?: boolean;
  /** The allowed values. */
  readonly enum?: readonly Json[];
  /** A format of a string or a number, e.g. `date-time` or `int32`. */
  readonly format?: string;
  /** A regular expression (RE2) that a string must match. */
  readonly pattern?: string;
  /** The fewest characters of a string. */
  readonly minLength?: number;
  /** The most characters of a string. */
  readonly maxLength?: number;
  /** The smallest number. */
  readonly minimum?: number;
  /** The largest number. */
  readonly maximum?: number;
  /** Whether `minimum` itself is forbidden. @default false */
  readonly exclusiveMinimum?: boolean;
  /** Whether `maximum` itself is forbidden. @default false */
  readonly exclusiveMaximum?: boolean;
  /** A number must be a multiple of this one. */
  readonly multipleOf?: number;
  /** The fields of an object. */
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  /** The fields that an object must have. */
  readonly required?: readonly string[];
  /** The schema of the values of a map, or whether an object may have any other field. */
  readonly additionalProperties?: StructuralSchema | boolean;
  /** The fewest fields of an object, or keys of a map. */
  readonly minProperties?: number;
  /** The most fields of an object, or keys of a map. */
  readonly maxProperties?: number;
  /** The schema of the items of a list. */
  readonly items?: StructuralSchema;
  /** The fewest items of a list. */
  readonly minItems?: number;
  /** The most items of a list. */
  readonly maxItems?: number;
  /** The value must satisfy all of these too. They declare no fields. */
  readonly allOf?: readonly StructuralSchema[];
  /** The value must satisfy at least one of these too. They declare no fields. */
  readonly anyOf?: readonly StructuralSchema[];
  /** The value must satisfy exactly one of these too. They declare no fields. */
  readonly oneOf?: readonly StructuralSchema[];
  /** The value must not satisfy this one. It declares no fields. */
  readonly not?: StructuralSchema;
  /** Where people find more about the field. */
  readonly externalDocs?: { readonly url?: string; readonly description?: string };
  /** Whether the API server keeps fields that the schema does not declare. @default false */
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  /** Whether the value is a whole Kubernetes object. @default false */
  readonly "x-kubernetes-embedded-resource"?: boolean;
  /** Whether the value is an integer or a string. @default false */
  readonly "x-kubernetes-int-or-string"?: boolean;
  /** How server-side apply merges a list. @default "atomic" */
  readonly "x-kubernetes-list-type"?: ListType;
  /** The fields that identify an item of a list of type `map`. */
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  /** Whether server-side apply merges an object by fields, or replaces it as a whole. @default "granular" */
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  /** CEL rules that the API server checks on every write. */
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}
