/**
 * The zod schemas of types that are part of Kubernetes, for CRDs that embed them: a Pod template, a Job template. They are
 * built from what a real kube-apiserver publishes (generated/embedded_types.ts), when they are first read; who uses none
 * pays for none.
 *
 * Guarantees: fields, types, required fields, allowed texts, the keys of lists and the defaults of keys are those of the
 * published schemas, so that server-side apply merges an embedded list as it merges the original, and what the API server
 * would refuse by the schema of the original is refused in the custom object.
 * Caveats: rules that the API server has only in its code (names, ranges, exclusive fields) are checked when the embedded
 * part is used. Unknown fields are pruned. Embedded metadata has names, labels, annotations and finalizers only.
 */
import type {
  batchv1,
  Condition,
  corev1,
  LabelSelector,
  networkingv1,
  ObjectMeta,
  policyv1,
  rbacv1,
} from "../api/mod.ts";
import { z } from "zod";
import { text } from "./generated/embedded_types.ts";
import type { Json } from "./structural_schema.ts";
import { int64, intOrString, quantity } from "./value_schemas.ts";

/** The metadata of an embedded object. */
export type TemplateMetadata = Pick<
  ObjectMeta,
  "name" | "generateName" | "namespace" | "labels" | "annotations" | "finalizers"
>;

/** A schema of a type that is part of Kubernetes. */
export type EmbeddedSchema<T> = z.ZodType<T, T>;

/** The schemas for embedding; see {@link schemas}. */
export interface EmbeddedSchemas {
  /** Where Pods may run. */
  readonly affinity: EmbeddedSchema<corev1.Affinity>;
  /** An observation of the state of an object, for lists in a status. */
  readonly condition: EmbeddedSchema<Condition>;
  /** A reference to one key of a ConfigMap. */
  readonly configMapKeySelector: EmbeddedSchema<corev1.ConfigMapKeySelector>;
  /** One container of a Pod. */
  readonly container: EmbeddedSchema<corev1.Container>;
  /** One port of a container. */
  readonly containerPort: EmbeddedSchema<corev1.ContainerPort>;
  /** All keys of a ConfigMap or Secret as environment variables. */
  readonly envFromSource: EmbeddedSchema<corev1.EnvFromSource>;
  /** One environment variable of a container. */
  readonly envVar: EmbeddedSchema<corev1.EnvVar>;
  /** The spec of an Ingress. */
  readonly ingressSpec: EmbeddedSchema<networkingv1.IngressSpec>;
  /** The spec of a Job. */
  readonly jobSpec: EmbeddedSchema<batchv1.JobSpec>;
  /** The metadata and spec of Jobs to create. */
  readonly jobTemplateSpec: EmbeddedSchema<batchv1.JobTemplateSpec>;
  /** Selects objects by their labels. */
  readonly labelSelector: EmbeddedSchema<LabelSelector>;
  /** The name of an object in the same Namespace. */
  readonly localObjectReference: EmbeddedSchema<corev1.LocalObjectReference>;
  /** The spec of a NetworkPolicy. */
  readonly networkPolicySpec: EmbeddedSchema<networkingv1.NetworkPolicySpec>;
  /** The metadata of an embedded object: names, labels, annotations and finalizers. */
  readonly objectMeta: EmbeddedSchema<TemplateMetadata>;
  /** A reference to any object. */
  readonly objectReference: EmbeddedSchema<corev1.ObjectReference>;
  /** The spec of a PersistentVolumeClaim. */
  readonly persistentVolumeClaimSpec: EmbeddedSchema<corev1.PersistentVolumeClaimSpec>;
  /** The spec of a PodDisruptionBudget. */
  readonly podDisruptionBudgetSpec: EmbeddedSchema<policyv1.PodDisruptionBudgetSpec>;
  /** The security settings of a Pod. */
  readonly podSecurityContext: EmbeddedSchema<corev1.PodSecurityContext>;
  /** The spec of a Pod. */
  readonly podSpec: EmbeddedSchema<corev1.PodSpec>;
  /** The metadata and spec of Pods to create. */
  readonly podTemplateSpec: EmbeddedSchema<corev1.PodTemplateSpec>;
  /** One rule of a Role: verbs on resources. */
  readonly policyRule: EmbeddedSchema<rbacv1.PolicyRule>;
  /** How the kubelet tests a container. */
  readonly probe: EmbeddedSchema<corev1.Probe>;
  /** The resources that a container requests, and its limits. */
  readonly resourceRequirements: EmbeddedSchema<corev1.ResourceRequirements>;
  /** A reference to one key of a Secret. */
  readonly secretKeySelector: EmbeddedSchema<corev1.SecretKeySelector>;
  /** A reference to a Secret in any Namespace. */
  readonly secretReference: EmbeddedSchema<corev1.SecretReference>;
  /** The security settings of a container. */
  readonly securityContext: EmbeddedSchema<corev1.SecurityContext>;
  /** One port of a Service. */
  readonly servicePort: EmbeddedSchema<corev1.ServicePort>;
  /** The spec of a Service. */
  readonly serviceSpec: EmbeddedSchema<corev1.ServiceSpec>;
  /** A taint that Pods accept. */
  readonly toleration: EmbeddedSchema<corev1.Toleration>;
  /** How Pods are spread over Nodes or zones. */
  readonly topologySpreadConstraint: EmbeddedSchema<corev1.TopologySpreadConstraint>;
  /** One volume of a Pod. */
  readonly volume: EmbeddedSchema<corev1.Volume>;
  /** Where a container has a volume. */
  readonly volumeMount: EmbeddedSchema<corev1.VolumeMount>;
}

/** The published type of each schema. */
const typeNames: Readonly<Record<keyof EmbeddedSchemas, string>> = {
  affinity: "core/v1.Affinity",
  condition: "meta/v1.Condition",
  configMapKeySelector: "core/v1.ConfigMapKeySelector",
  container: "core/v1.Container",
  containerPort: "core/v1.ContainerPort",
  envFromSource: "core/v1.EnvFromSource",
  envVar: "core/v1.EnvVar",
  ingressSpec: "networking/v1.IngressSpec",
  jobSpec: "batch/v1.JobSpec",
  jobTemplateSpec: "batch/v1.JobTemplateSpec",
  labelSelector: "meta/v1.LabelSelector",
  localObjectReference: "core/v1.LocalObjectReference",
  networkPolicySpec: "networking/v1.NetworkPolicySpec",
  objectMeta: "meta/v1.ObjectMeta",
  objectReference: "core/v1.ObjectReference",
  persistentVolumeClaimSpec: "core/v1.PersistentVolumeClaimSpec",
  podDisruptionBudgetSpec: "policy/v1.PodDisruptionBudgetSpec",
  podSecurityContext: "core/v1.PodSecurityContext",
  podSpec: "core/v1.PodSpec",
  podTemplateSpec: "core/v1.PodTemplateSpec",
  policyRule: "rbac/v1.PolicyRule",
  probe: "core/v1.Probe",
  resourceRequirements: "core/v1.ResourceRequirements",
  secretKeySelector: "core/v1.SecretKeySelector",
  secretReference: "core/v1.SecretReference",
  securityContext: "core/v1.SecurityContext",
  servicePort: "core/v1.ServicePort",
  serviceSpec: "core/v1.ServiceSpec",
  toleration: "core/v1.Toleration",
  topologySpreadConstraint: "core/v1.TopologySpreadConstraint",
  volume: "core/v1.Volume",
  volumeMount: "core/v1.VolumeMount",
};

/**
 * Schemas of types that are part of Kubernetes, for a kind that embeds them. The API server then validates what the kind
 * embeds, merges its lists by their keys, and keeps the labels of a template.
 *
 * @example
 * ```ts
 * import { defineResource, z } from "@pintle/controller";
 * import { schemas } from "@pintle/controller/kinds";
 *
 * const Crawler = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Crawler",
 *   scope: "Namespaced",
 *   spec: z.object({ template: schemas.podTemplateSpec, resources: schemas.resourceRequirements.optional() }),
 * });
 * const containers = [{ name: "crawl", image: "crawl:1", ports: [{ containerPort: 80 }] }];
 * const { spec } = Crawler.make({ metadata: { name: "a" }, spec: { template: { spec: { containers } } } });
 * console.assert(spec.template.spec?.containers[0]?.ports?.[0]?.protocol === "TCP");
 * const wrong = { metadata: { name: "a" }, spec: { template: { spec: { containers: [{ image: "crawl:1" }] } } } };
 * console.assert(Crawler.safeParse({ apiVersion: "example.dev/v1", kind: "Crawler", ...wrong }).kind === "invalid");
 * ```
 */
export const schemas: EmbeddedSchemas = lazySchemas();

/** An object whose members are built when they are first read. */
function lazySchemas(): EmbeddedSchemas {
  const members = Object.entries(typeNames).map(([name, type]) =>
    [name, { enumerable: true, get: () => typeSchema(type) }] as const
  );
  return Object.freeze(Object.defineProperties({}, Object.fromEntries(members))) as EmbeddedSchemas;
}

/** A node of a generated schema. */
interface Node {
  readonly $ref?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Node;
  readonly items?: Node;
  readonly enum?: readonly string[];
  readonly default?: Json;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic";
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
}

const built = new Map<string, z.ZodType>();
let lines: ReadonlyMap<string, string> | undefined;

/** The schema of a published type. */
function typeSchema(name: string): z.ZodType {
  const known = built.get(name);
  if (known !== undefined) return known;
  lines ??= new Map(text.trim().split("\n").map((line) => [line.slice(0, line.indexOf("\t")), line] as const));
  const line = lines.get(name);
  if (line === undefined) throw new RangeError(`Cannot find the schema ${name}: it is not generated`);
  const node: Node = JSON.parse(line.slice(name.length + 1));
  const schema = nodeSchema(node);
  built.set(name, schema);
  return schema;
}

function nodeSchema(node: Node): z.ZodType {
  const schema = valueSchema(node);
  const { "x-kubernetes-list-type": list, "x-kubernetes-list-map-keys": keys, "x-kubernetes-map-type": map } = node;
  return schema.meta({
    ...(list === undefined || list === "atomic" ? {} : { "x-kubernetes-list-type": list }),
    ...(keys === undefined ? {} : { "x-kubernetes-list-map-keys": keys }),
    ...(map === undefined ? {} : { "x-kubernetes-map-type": map }),
  });
}

function valueSchema(node: Node): z.ZodType {
  if (node.$ref !== undefined) return typeSchema(node.$ref);
  if (node.enum !== undefined) return z.enum(node.enum);
  switch (node.type) {
    case undefined:
      return node.format === "quantity" ? quantity() : intOrString();
    case "object":
      return objectSchema(node);
    case "array":
      return z.array(nodeSchema(node.items ?? {}));
    case "string":
      return node.format === "date-time" ? z.iso.datetime({ offset: true }) : z.string();
    case "integer":
      return node.format === "int64" ? int64() : z.int32();
    case "number":
      return z.number();
    case "boolean":
      return z.boolean();
    default:
      return node.type satisfies never;
  }
}

function objectSchema(node: Node): z.ZodType {
  if (node["x-kubernetes-preserve-unknown-fields"] === true) return z.looseObject({});
  const { additionalProperties, properties = {}, required = [] } = node;
  if (additionalProperties !== undefined) return z.record(z.string(), nodeSchema(additionalProperties));
  const shape = Object.entries(properties).map(([name, field]) => {
    const schema = nodeSchema(field);
    if (field.default !== undefined) return [name, schema.default(field.default)] as const;
    return [name, required.includes(name) ? schema : schema.optional()] as const;
  });
  return z.object(Object.fromEntries(shape));
}
