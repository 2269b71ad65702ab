/**
 * What `defineResource()` takes: the names of a kind, its versions, and for each version the two schemas and what
 * `kubectl get`, field selectors and `kubectl scale` make of them.
 */
import type { Scope, StringMap } from "../api/mod.ts";
import type { z } from "zod";
import type { CrdColumn, CrdConversion, CrdScale } from "./crd.ts";
import type { ValidationRule } from "./structural_schema.ts";

/** A column of `kubectl get`; the first one is always the name. */
export interface PrinterColumn extends Omit<CrdColumn, "type"> {
  /** @default The type of the field the path leads to */
  readonly type?: CrdColumn["type"];
}

/** One version of a kind: its shape and how it is shown. */
export interface VersionOptions<Spec extends z.ZodType = z.ZodType, Status extends z.ZodType = z.ZodType> {
  /** What people want; a `z.object()`. */
  readonly spec: Spec;
  /** What the controller found; a `z.object()`. Makes a status subresource. @default no status */
  readonly status?: Status;
  /** For `kubectl explain`. */
  readonly description?: string;
  /** CEL rules about the whole object, e.g. about spec and metadata.name together. @default [] */
  readonly validations?: readonly ValidationRule[];
  /** @default the name and the age, as the server shows them */
  readonly printerColumns?: readonly PrinterColumn[];
  /** Paths such as `.spec.class` that field selectors may use, at most 8. @default [] */
  readonly selectableFields?: readonly string[];
  /** Makes a scale subresource. @default none */
  readonly scale?: CrdScale;
}

/** A version beside the one the program works with. */
export interface OtherVersionOptions extends VersionOptions {
  readonly name: string;
  /** @default true */
  readonly served?: boolean;
  /** Objects are stored in this version instead of the main one. @default false */
  readonly storage?: boolean;
  /** Writers of this version are warned, with these words if any are given. @default false */
  readonly deprecated?: boolean | string;
}

/** Options of {@link defineResource}. */
export interface ResourceOptions<Kind extends string, Spec extends z.ZodType, Status extends z.ZodType>
  extends VersionOptions<Spec, Status> {
  /** A domain, e.g. `example.dev`. */
  readonly group: string;
  /** The version the program works with, e.g. `v1alpha1`. */
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
  /** Annotations of the CRD. Groups under k8s.io and kubernetes.io want `api-approved.kubernetes.io`. @default {} */
  readonly annotations?: StringMap;
  /** Labels of the CRD. @default {} */
  readonly labels?: StringMap;
  /** Further versions that the server stores or serves. @default [] */
  readonly versions?: readonly OtherVersionOptions[];
  /** @default None: only apiVersion changes between versions */
  readonly conversion?: CrdConversion;
}
