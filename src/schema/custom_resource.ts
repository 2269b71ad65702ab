/**
 * The types around `defineResource()`: its options, and the CustomResource that it returns. A CustomResource is a
 * Resource like those of Kubernetes, so clients, caches and controllers accept it; it adds the CRD, the validation and
 * the constructor of its kind.
 */
import type { DeepReadonly, ObjectMeta, Resource, Scope, StringMap } from "../api/mod.ts";
import type { z } from "zod";
import type { Crd, CrdColumn, CrdConversion, CrdScale } from "./crd.ts";
import type { ValidationRule } from "./structural_schema.ts";

/** The fields of every object of one kind. */
export interface CustomObject<Kind extends string = string> {
  apiVersion: string;
  kind: Kind;
  metadata: ObjectMeta;
}

/** An object of the kind as the API server returns it: defaults are set. */
export type OutputOf<Kind extends string, Spec extends z.ZodType, Status extends z.ZodType> =
  & CustomObject<Kind>
  & { spec: z.output<Spec>; status?: z.output<Status> };

/** An object of the kind as users write it: fields with defaults, apiVersion and kind are optional. */
export type InputOf<Kind extends string, Spec extends z.ZodType, Status extends z.ZodType> =
  & Partial<Pick<CustomObject<Kind>, "apiVersion" | "kind">>
  & { metadata: ObjectMeta; spec: z.input<Spec>; status?: z.input<Status> };

/** One invalid field of a value. */
export interface ParseIssue {
  /** `spec.replicas`; "" for the object itself. */
  readonly path: string;
  readonly message: string;
}

/** The result of parsing a value. */
export type ParseResult<T> =
  | { readonly kind: "valid"; readonly object: T }
  | { readonly kind: "invalid"; readonly issues: readonly ParseIssue[] };

/** A kind that the program itself defines. */
export interface CustomResource<T extends CustomObject = CustomObject, Input = unknown> extends Resource<T, T["kind"]> {
  /** The definition that `install-crds` applies. Deeply frozen. */
  readonly crd: Crd;
  /** Never set. It only carries the type. */
  readonly _input?: Input;

  /**
   * Returns the value as an object of this kind, as the API server would store it: with defaults, without unknown
   * fields in spec and status. Use it for input that the API server has not validated.
   *
   * @throws TypeError when the value is not valid; the message names each field.
   */
  parse(value: unknown): DeepReadonly<T>;

  /** Like parse(), but returns the issues instead of throwing. */
  safeParse(value: unknown): ParseResult<DeepReadonly<T>>;

  /**
   * Returns a complete object: adds apiVersion, kind and defaults to `input`. Does not send a request.
   *
   * @throws TypeError when a field is invalid.
   */
  make(input: DeepReadonly<Input>): DeepReadonly<T>;
}

/** The type of an object as users write it: defaults are optional in `InferInput<typeof Foo>` and set in `Infer`. */
export type InferInput<R> = R extends { readonly _input?: infer Input } ? DeepReadonly<NonNullable<Input>> : never;

/** A column of `kubectl get`; the first one is always the name. */
export interface PrinterColumn extends Omit<CrdColumn, "type"> {
  /** @default The type of the field the path leads to */
  readonly type?: CrdColumn["type"];
}

/** One version of a kind: its shape and how it is shown. */
export interface VersionOptions<Spec extends z.ZodType = z.ZodType, Status extends z.ZodType = z.ZodType> {
  /** The desired state that users write; a `z.object()`. */
  readonly spec: Spec;
  /** The observed state that the controller writes; a `z.object()`. Adds the status subresource. @default no status */
  readonly status?: Status;
  /** For `kubectl explain`. */
  readonly description?: string;
  /** CEL rules about the whole object, e.g. about spec and metadata.name together. @default [] */
  readonly validations?: readonly ValidationRule[];
  /** @default the name and the age, as the API server shows them */
  readonly printerColumns?: readonly PrinterColumn[];
  /** Paths such as `.spec.class` that field selectors may use, at most 8. @default [] */
  readonly selectableFields?: readonly string[];
  /** Adds the scale subresource. @default none */
  readonly scale?: CrdScale;
}

/** A version beside the version that the program uses. */
export interface OtherVersionOptions extends VersionOptions {
  readonly name: string;
  /** @default true */
  readonly served?: boolean;
  /** Objects are stored in this version instead of the main one. @default false */
  readonly storage?: boolean;
  /** The API server warns clients of this version, with this text if it is a string. @default false */
  readonly deprecated?: boolean | string;
}

/** Options of {@link defineResource}. */
export interface ResourceOptions<Kind extends string, Spec extends z.ZodType, Status extends z.ZodType>
  extends VersionOptions<Spec, Status> {
  /** A domain, e.g. `example.dev`. */
  readonly group: string;
  /** The version that the program uses, e.g. `v1alpha1`. */
  readonly version: string;
  readonly kind: Kind;
  readonly scope: Scope;
  /** @default the kind in lower case with an s (es after s, x, z, ch and sh, ies for y) */
  readonly plural?: string;
  /** @default the kind in lower case */
  readonly singular?: string;
  /** @default the kind with List */
  readonly listKind?: string;
  /** For kubectl, e.g. `["ecsb"]`. @default [] */
  readonly shortNames?: readonly string[];
  /** Groups of resources for kubectl, e.g. `["all"]`. @default [] */
  readonly categories?: readonly string[];
  /** Annotations of the CRD. Groups under k8s.io and kubernetes.io need `api-approved.kubernetes.io`. @default {} */
  readonly annotations?: StringMap;
  /** Labels of the CRD. @default {} */
  readonly labels?: StringMap;
  /** Further versions that the API server stores or serves. @default [] */
  readonly versions?: readonly OtherVersionOptions[];
  /** @default None: only apiVersion changes between versions */
  readonly conversion?: CrdConversion;
}
