/**
 * Types of a CustomResourceDefinition as `install-crds` applies it and as the golden YAML in crds/ shows it.
 * Source: `apiextensions.k8s.io/v1` of Kubernetes 1.36.
 */
import type { Condition, ObjectMeta, Resource, Scope, StringMap } from "../api/mod.ts";
import type { StructuralSchema } from "./structural_schema.ts";

/** A column of `kubectl get`. */
export interface CrdColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description?: string;
  readonly format?: string;
  /** 0 is always shown, larger numbers with `-o wide`. */
  readonly priority?: number;
}

/** Paths of the fields of the scale subresource. */
export interface CrdScale {
  /** Under `.spec`. */
  readonly specReplicasPath: string;
  /** Under `.status`. */
  readonly statusReplicasPath: string;
  /** A label selector in its text form. A HorizontalPodAutoscaler needs it. */
  readonly labelSelectorPath?: string;
}

/** One version of a kind. */
export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources?: {
    readonly status?: Readonly<Record<string, never>>;
    readonly scale?: CrdScale;
  };
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** How the API server converts an object between versions. */
export type CrdConversion =
  | { readonly strategy: "None" }
  | {
    readonly strategy: "Webhook";
    readonly webhook: {
      readonly conversionReviewVersions: readonly string[];
      readonly clientConfig: {
        readonly url?: string;
        readonly caBundle?: string;
        readonly service?: {
          readonly namespace: string;
          readonly name: string;
          readonly path?: string;
          readonly port?: number;
        };
      };
    };
  };

/** The names of a kind. */
export interface CrdNames {
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** A CustomResourceDefinition. */
export interface Crd {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string; readonly annotations?: StringMap; readonly labels?: StringMap };
  readonly spec: {
    readonly group: string;
    readonly scope: Scope;
    readonly names: CrdNames;
    readonly versions: readonly CrdVersion[];
    readonly conversion?: CrdConversion;
  };
}

/** A CustomResourceDefinition as the API server returns it. */
export interface StoredCrd extends Omit<Crd, "metadata"> {
  readonly metadata: ObjectMeta;
  readonly status?: {
    /** `Established` is True once objects of the kind can be written. */
    readonly conditions?: readonly Pick<Condition, "type" | "status" | "reason" | "message">[];
    /** Versions in which etcd may hold objects. */
    readonly storedVersions?: readonly string[];
    readonly acceptedNames?: Partial<CrdNames>;
  };
}

/**
 * The resource to write and read CRDs with. Unlike `builtin.CustomResourceDefinition`, its type has the x-kubernetes-*
 * extensions and accepts the CRD of {@link defineResource}.
 */
export const CrdResource: Resource<StoredCrd, "CustomResourceDefinition"> = Object.freeze({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});
