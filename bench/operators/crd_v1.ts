/**
 * servedDefinition(): a CustomResourceDefinition as a present API server takes it. Operators of 2021 and before have theirs
 * in apiextensions.k8s.io/v1beta1, which Kubernetes 1.22 removed; the conversion is that of the migration guide.
 *
 * Caveats: a schema that is not structural becomes one that keeps all fields, as v1beta1 did; nothing is validated then.
 */
import { z } from "zod";

const anyObject = z.record(z.string(), z.unknown());

/** One version of a v1beta1 definition. */
const oldVersion = z.looseObject({
  name: z.string(),
  served: z.boolean().default(true),
  storage: z.boolean().default(true),
  schema: z.looseObject({ openAPIV3Schema: anyObject.optional() }).optional(),
  subresources: anyObject.optional(),
  additionalPrinterColumns: z.array(anyObject).optional(),
});

const oldDefinition = z.looseObject({
  apiVersion: z.literal("apiextensions.k8s.io/v1beta1"),
  kind: z.literal("CustomResourceDefinition"),
  metadata: anyObject,
  spec: z.looseObject({
    group: z.string(),
    names: anyObject,
    scope: z.string().default("Cluster"),
    version: z.string().optional(),
    versions: z.array(oldVersion).optional(),
    validation: z.looseObject({ openAPIV3Schema: anyObject.optional() }).optional(),
    subresources: anyObject.optional(),
    additionalPrinterColumns: z.array(anyObject).optional(),
  }),
});

const definition = z.looseObject({ kind: z.literal("CustomResourceDefinition"), metadata: anyObject });

/** The files of charts have labels that are templates. */
function withoutTemplates({ labels, ...metadata }: z.output<typeof anyObject>): unknown {
  const parsed = z.record(z.string(), z.string()).safeParse(labels);
  if (!parsed.success) return metadata;
  return {
    ...metadata,
    labels: Object.fromEntries(Object.entries(parsed.data).filter(([, text]) => !text.includes("{{"))),
  };
}

/** @returns The definition in apiextensions.k8s.io/v1; undefined for any other object. */
export function servedDefinition(document: unknown): unknown {
  const old = oldDefinition.safeParse(document);
  if (!old.success) {
    const present = definition.safeParse(document);
    return present.success ? { ...present.data, metadata: withoutTemplates(present.data.metadata) } : undefined;
  }
  const { spec } = old.data;
  const metadata = withoutTemplates(old.data.metadata);
  const { group, names, scope, version = "", versions = [{ name: version, served: true, storage: true }] } = spec;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata,
    spec: { group, names, scope, versions: versions.map((one) => newVersion(one, spec)) },
  };
}

function newVersion(
  { name, served, storage, schema, subresources, additionalPrinterColumns }: z.output<typeof oldVersion>,
  spec: z.output<typeof oldDefinition>["spec"],
): unknown {
  const openAPIV3Schema = schema?.openAPIV3Schema ?? spec.validation?.openAPIV3Schema;
  const columns = additionalPrinterColumns ?? spec.additionalPrinterColumns;
  return {
    ...{ name, served, storage, subresources: subresources ?? spec.subresources },
    schema: { openAPIV3Schema: isStructural(openAPIV3Schema) ? openAPIV3Schema : keepsAllFields },
    additionalPrinterColumns: columns?.map(({ JSONPath, ...column }) => ({ ...column, jsonPath: JSONPath })),
  };
}

const keepsAllFields = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** Whether each level names its type, which is what most schemas of v1beta1 lack. */
function isStructural(schema: unknown): boolean {
  const parsed = anyObject.safeParse(schema);
  if (!parsed.success) return false;
  const { type, properties, items, additionalProperties } = parsed.data;
  if (typeof type !== "string" && parsed.data["x-kubernetes-int-or-string"] !== true) return false;
  const fields = anyObject.safeParse(properties);
  const below = [...(fields.success ? Object.values(fields.data) : []), items, additionalProperties];
  return below.filter((one) => typeof one === "object").every(isStructural);
}
