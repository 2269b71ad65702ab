/**
 * The types around `defineResource()`: its options, and the CustomResource that it returns. A CustomResource is a
 * Resource like those of Kubernetes, so clients, caches and controllers accept it; it adds the CRD, the validation and
 * the constructor of its kind.
 */
import type { DeepReadonly, ObjectMeta, Resource, Scope, StringMap } from "../api/mod.ts";
import type { z } from "zod";
import type { Crd, CrdColumn, CrdConversion, CrdScale } from "./crd.ts";
import type { StructuralSchema, ValidationRule } from "./structural_schema.ts";

/** The fields of every object of one kind. */
export interface CustomObject<Kind extends string = string> {
  /** The group and the version, e.g. `example.dev/v1`. */
  apiVersion: string;
  /** The kind in CamelCase. */
  kind: Kind;
  /** The names, the version, the labels and the owners. */
  metadata: ObjectMeta;
}

/** An object of the kind as the API server returns it: defaults are set. */
export type OutputOf<
  Kind extends string,
  Spec extends z.core.$ZodType,
  Status extends z.core.$ZodType,
  Fields extends z.core.$ZodType = z.core.$ZodUndefined,
> =
  & CustomObject<Kind>
  & (undefined extends z.output<Spec> ? { spec?: z.output<Spec> } : { spec: z.output<Spec> })
  & { status?: z.output<Status> }
  & (undefined extends z.output<Fields> ? unknown : z.output<Fields>);

/** An object of the kind as users write it: fields with defaults, apiVersion and kind are optional. */
export type InputOf<
  Kind extends string,
  Spec extends z.core.$ZodType,
  Status extends z.core.$ZodType,
  Fields extends z.core.$ZodType = z.core.$ZodUndefined,
> =
  & Partial<Pick<CustomObject<Kind>, "apiVersion" | "kind">>
  & { metadata: ObjectMeta }
  & (undefined extends z.input<Spec> ? { spec?: z.input<Spec> } : { spec: z.input<Spec> })
  & { status?: z.input<Status> }
  & (undefined extends z.input<Fields> ? unknown : z.input<Fields>);

/** One invalid field of a parsed value. */
export interface ParseIssue {
  /** The path of the field, e.g. `spec.replicas`; "" for the object itself. */
  readonly path: string;
  /** A sentence for people. */
  readonly message: string;
}

/**
 * The result of {@link CustomResource.safeParse}: a valid object, or the issues.
 *
 * @example
 * ```ts
 * import { defineResource, z } from "@pintle/controller";
 * import type { ParseResult } from "@pintle/controller/schema";
 *
 * const Site = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Site",
 *   scope: "Namespaced",
 *   spec: z.object({ host: z.string() }),
 * });
 * const result: ParseResult<unknown> = Site.safeParse({ metadata: { name: "a" }, spec: { host: 1 } });
 * console.assert(result.kind === "invalid" && result.issues.some((issue) => issue.path === "spec.host"));
 * ```
 */
export type ParseResult<T> =
  | { readonly kind: "valid"; readonly object: T }
  | { readonly kind: "invalid"; readonly issues: readonly ParseIssue[] };

/** Options of `parse()` and `safeParse()`. */
export interface ParseOptions {
  /** The object before an update, for rules with `oldSelf`, such as `immutable()`. @default none, as for a new object */
  readonly old?: unknown;
  /** Whether the CEL rules are evaluated; "skip" for an object that is not complete yet, or was stored before a rule. @default "evaluate" */
  readonly rules?: "evaluate" | "skip";
}

/**
 * A kind that the program itself defines: the Resource that clients, caches and controllers take, its CRD, and the
 * validation of its objects. `defineResource()` returns it.
 *
 * @example
 * ```ts
 * import { defineResource, z } from "@pintle/controller";
 *
 * const Site = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Site",
 *   scope: "Namespaced",
 *   spec: z.object({ host: z.string(), replicas: z.int32().default(1) }),
 * });
 * const site = Site.make({ metadata: { name: "a", namespace: "default" }, spec: { host: "example.dev" } });
 * console.assert(site.apiVersion === "example.dev/v1" && site.spec.replicas === 1);
 * console.assert(Site.parse(JSON.parse(JSON.stringify(site))).spec.host === "example.dev");
 * ```
 */
export interface CustomResource<T extends CustomObject = CustomObject, Input = unknown>
  extends Resource<DeepReadonly<T>, T["kind"]> {
  /** The definition that `install-crds` applies. Deeply frozen. */
  readonly crd: Crd;
  /** Never set; it carries the type. */
  readonly _input?: Input;

  /**
   * Returns the value as an object of this kind, as the API server would store it: with defaults, without unknown
   * fields in spec and status. Its CEL rules are evaluated, too. Use it for input that the API server has not validated.
   *
   * @param value Any value, e.g. parsed JSON.
   * @throws {TypeError} when the value is not valid; the message names each field
   */
  parse(value: unknown, options?: ParseOptions): DeepReadonly<T>;

  /**
   * Parses a value like `parse()`, but returns the issues instead of throwing: at most 20, so that a huge value of another
   * program costs little.
   *
   * When the fields have the right types, the CEL rules of the kind are evaluated, with the messages of the API server.
   *
   * @param value Any value, e.g. parsed JSON.
   */
  safeParse(value: unknown, options?: ParseOptions): ParseResult<DeepReadonly<T>>;

  /**
   * Returns a complete object: adds apiVersion, kind and defaults. It sends no request.
   *
   * @param input The metadata, the spec, and the status if there is one.
   * @throws {TypeError} when a field is invalid
   */
  make(input: DeepReadonly<Input>): DeepReadonly<T>;
}

/**
 * The type of an object as users write it: fields with a default are optional in `InferInput<typeof Foo>`, and set in
 * `Infer<typeof Foo>`.
 *
 * @example
 * ```ts
 * import { defineResource, type InferInput, z } from "@pintle/controller";
 *
 * const Site = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Site",
 *   scope: "Namespaced",
 *   spec: z.object({ replicas: z.int32().default(1) }),
 * });
 * const sample: InferInput<typeof Site> = { metadata: { name: "a" }, spec: {} };
 * console.assert(Site.make(sample).spec.replicas === 1);
 * ```
 */
export type InferInput<R> = R extends { readonly _input?: infer Input } ? DeepReadonly<NonNullable<Input>> : never;

/** A column of `kubectl get`; the first one is always the name. */
export interface PrinterColumn extends Omit<CrdColumn, "type"> {
  /** The type of the value. @default the type of the field that `jsonPath` names */
  readonly type?: CrdColumn["type"];
}

/** One version of a kind: its schema, and how kubectl shows its objects. */
export interface VersionOptions<
  Spec extends z.core.$ZodType = z.core.$ZodType,
  Status extends z.core.$ZodType = z.core.$ZodType,
  Rules extends readonly ValidationRule[] = readonly ValidationRule[],
  Fields extends z.core.$ZodType = z.core.$ZodType,
> {
  /**
   * The schema of the desired state, which users write; a `z.object()`, `.optional()` if objects may have no spec.
   * @default objects have no spec
   */
  readonly spec?: Spec;
  /**
   * The schema of the observed state, which the controller writes; a `z.object()`. Adds the status subresource.
   * @default no status
   */
  readonly status?: Status;
  /** Whether the status is written through a subresource of its own. @default true when there is a status */
  readonly statusSubresource?: boolean;
  /**
   * The fields beside spec and status, such as the `data` of a ConfigMap; a `z.object()`. A `z.looseObject()` keeps fields
   * that it does not name. @default none
   */
  readonly fields?: Fields;
  /** What the kind demands of `metadata.name` and `metadata.generateName`. @default nothing more than Kubernetes */
  readonly metadata?: StructuralSchema;
  /** The text of `kubectl explain` for the kind. @default none */
  readonly description?: string;
  /** CEL rules about the whole object, e.g. about spec and metadata.name together. @default [] */
  readonly validations?: Rules;
  /** The columns of `kubectl get` after the name. @default the age */
  readonly printerColumns?: readonly PrinterColumn[];
  /** The paths of fields such as `.spec.class` that field selectors may use, at most 8. @default [] */
  readonly selectableFields?: readonly string[];
  /** Adds the scale subresource. @default none */
  readonly scale?: CrdScale;
  /** The API server warns clients of this version, with this text if it is a string. @default false */
  readonly deprecated?: boolean | string;
}

/** A version beside the version that the program uses. */
export interface OtherVersionOptions extends VersionOptions {
  /** The name of the version, e.g. `v1alpha1`. */
  readonly name: string;
  /** Whether clients can use the version. @default true */
  readonly served?: boolean;
  /** Objects are stored in this version instead of the main one. @default false */
  readonly storage?: boolean;
}

/** Options of `defineResource()`. */
export interface ResourceOptions<
  Kind extends string,
  Spec extends z.core.$ZodType,
  Status extends z.core.$ZodType,
  Rules extends readonly ValidationRule[] = readonly ValidationRule[],
  Fields extends z.core.$ZodType = z.core.$ZodType,
> extends VersionOptions<Spec, Status, Rules, Fields> {
  /** The API group: a domain, e.g. `example.dev`. */
  readonly group: string;
  /** The version that the program uses, e.g. `v1alpha1`. */
  readonly version: string;
  /** The kind in CamelCase, e.g. `Website`. */
  readonly kind: Kind;
  /** Whether the objects are in Namespaces. */
  readonly scope: Scope;
  /** The plural, as in URLs. @default the kind in lower case with an s (es after s, x, z, ch and sh, ies for y) */
  readonly plural?: string;
  /** The singular, for kubectl. @default the kind in lower case */
  readonly singular?: string;
  /** The kind of a list. @default the kind with List */
  readonly listKind?: string;
  /** Short names for kubectl, e.g. `["ecsb"]`. @default [] */
  readonly shortNames?: readonly string[];
  /** Groups of resources for kubectl, e.g. `["all"]`. @default [] */
  readonly categories?: readonly string[];
  /** Annotations of the CRD. Groups under k8s.io and kubernetes.io need `api-approved.kubernetes.io`. @default {} */
  readonly annotations?: StringMap;
  /** Labels of the CRD. @default {} */
  readonly labels?: StringMap;
  /** Further versions that the API server stores or serves. @default [] */
  readonly versions?: readonly OtherVersionOptions[];
  /**
   * How the API server converts objects between versions. A conversion of the controllers (`converting()`) replaces it.
   * @default None: only apiVersion changes; versions that differ need a conversion, or this option
   */
  readonly conversion?: CrdConversion;
}
