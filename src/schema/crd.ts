/**
 * Types of a CustomResourceDefinition as `install-crds` applies it and as the golden YAML in crds/ shows it.
 * Source: `apiextensions.k8s.io/v1` of Kubernetes 1.36.
 */
import type { Condition, ObjectMeta, Resource, Scope, StringMap } from "../api/mod.ts";
import type { StructuralSchema } from "./structural_schema.ts";

/** A column of `kubectl get`. */
export interface CrdColumn {
  /** The heading. */
  readonly name: string;
  /** The type of the value, which decides how kubectl shows it: a date as an age. */
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** The path of the field, e.g. `.spec.replicas`. */
  readonly jsonPath: string;
  /** A sentence about the column. */
  readonly description?: string;
  /** The OpenAPI format of the value, e.g. `int32`. */
  readonly format?: string;
  /** 0 is always shown, larger numbers with `-o wide`. @default 0 */
  readonly priority?: number;
}

/** The scale subresource, which `kubectl scale` and a HorizontalPodAutoscaler use: the paths of its fields. */
export interface CrdScale {
  /** The path of the desired number of replicas, under `.spec`. */
  readonly specReplicasPath: string;
  /** The path of the observed number of replicas, under `.status`. */
  readonly statusReplicasPath: string;
  /** The path of a label selector in its text form. A HorizontalPodAutoscaler needs it. @default none */
  readonly labelSelectorPath?: string;
}

/** One version of a kind in its CRD. */
export interface CrdVersion {
  /** The name of the version, e.g. `v1alpha1`. */
  readonly name: string;
  /** Whether clients can use the version. */
  readonly served: boolean;
  /** Whether the API server stores objects in this version. True for exactly one version. */
  readonly storage: boolean;
  /** Whether the API server warns the clients of this version. */
  readonly deprecated?: boolean;
  /** The text of that warning. @default the API server writes one */
  readonly deprecationWarning?: string;
  /** The schema of a whole object. */
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  /** The subresources that the API server serves. */
  readonly subresources?: {
    /** Present when the status is written through a subresource. */
    readonly status?: Readonly<Record<string, never>>;
    /** Present when the number of replicas can be set without knowledge of the kind. */
    readonly scale?: CrdScale;
  };
  /** The columns of `kubectl get` after the name. @default the age */
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  /** The fields that field selectors may use. */
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

/** The names of a kind in its CRD. */
export interface CrdNames {
  /** The kind in CamelCase, e.g. `Website`. */
  readonly kind: string;
  /** The kind of a list, e.g. `WebsiteList`. */
  readonly listKind: string;
  /** The plural in lower case, as in URLs, e.g. `websites`. */
  readonly plural: string;
  /** The singular in lower case, e.g. `website`. */
  readonly singular: string;
  /** Short names for kubectl, e.g. `ws`. */
  readonly shortNames?: readonly string[];
  /** Groups of resources for kubectl, e.g. `all`. */
  readonly categories?: readonly string[];
}

/**
 * A CustomResourceDefinition, as `defineResource()` makes it and `install-crds` applies it.
 *
 * @example
 * ```ts
 * import { defineResource, z } from "@pintle/controller";
 * import type { Crd } from "@pintle/controller/schema";
 *
 * const { crd } = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Site",
 *   scope: "Namespaced",
 *   spec: z.object({ host: z.string() }),
 * });
 * const storageVersion = ({ spec }: Crd) => spec.versions.find((version) => version.storage)?.name;
 * console.assert(storageVersion(crd) === "v1");
 * ```
 */
export interface Crd {
  /** The version of the definition itself. */
  readonly apiVersion: "apiextensions.k8s.io/v1";
  /** The kind of the definition itself. */
  readonly kind: "CustomResourceDefinition";
  /** The name is `<plural>.<group>`. */
  readonly metadata: { readonly name: string; readonly annotations?: StringMap; readonly labels?: StringMap };
  /** The names, the versions and the schemas of the kind. */
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
  /** The metadata that the API server has completed. */
  readonly metadata: ObjectMeta;
  /** What the API server reports about the definition. */
  readonly status?: {
    /** `Established` is True once objects of the kind can be written. */
    readonly conditions?: readonly Pick<Condition, "type" | "status" | "reason" | "message">[];
    /** Versions in which etcd may hold objects. */
    readonly storedVersions?: readonly string[];
    /** The names under which the API server serves the kind. */
    readonly acceptedNames?: Partial<CrdNames>;
  };
}

/**
 * The Resource to read and write CRDs with. Unlike that of `CustomResourceDefinition`, its type has the
 * x-kubernetes-* extensions and accepts the CRD of `defineResource()`.
 *
 * @example
 * ```ts
 * import { defineResource, z } from "@pintle/controller";
 * import { CrdResource } from "@pintle/controller/schema";
 * import { World } from "@pintle/controller/testing";
 *
 * const { crd } = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Site",
 *   scope: "Namespaced",
 *   spec: z.object({ host: z.string() }),
 * });
 * await using world = await World.start({ controllers: [], cluster: false });
 * await world.client.create(CrdResource, crd);
 * console.assert((await world.client.get(CrdResource, "sites.example.dev")).spec.names.kind === "Site");
 * ```
 */
export const CrdResource: Resource<StoredCrd, "CustomResourceDefinition"> = Object.freeze({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  scope: "Cluster",
});
