/**
 * The normal form of a definition: what means nothing is left out, and what the API server fills in is filled in. Two
 * definitions with the same normal form are the same for the API server, and for `kubectl explain`.
 */
import type { Crd, CrdColumn, CrdVersion, Json, StructuralSchema } from "../../schema/mod.ts";

type Schema = StructuralSchema & Readonly<Record<string, unknown>>;

/** Annotations that tools write, and that say nothing about the kind. */
const foreignAnnotations: ReadonlySet<string> = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);

/** Returns the normal form. */
export function normalDefinition({ apiVersion, kind, metadata, spec }: Crd): Crd {
  const { name, annotations = {}, labels = {} } = metadata;
  const kept = Object.entries(annotations).filter(([key]) => !foreignAnnotations.has(key));
  const { names, conversion } = spec;
  const lower = names.kind.toLowerCase();
  return {
    apiVersion,
    kind,
    metadata: { name, ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }), ...filled({ labels }) },
    spec: {
      group: spec.group,
      scope: spec.scope,
      names: {
        kind: names.kind,
        listKind: names.listKind ?? `${names.kind}List`,
        plural: names.plural,
        singular: names.singular || lower,
        ...filled({ shortNames: names.shortNames, categories: names.categories }),
      },
      versions: spec.versions.map(normalVersion),
      ...(conversion === undefined || conversion.strategy === "None" ? {} : { conversion }),
    },
  };
}

/** The fields that are neither absent nor empty. */
function filled<T extends object>(value: T): Partial<T> {
  const kept = Object.entries(value).filter(([, item]) => {
    if (item === undefined || item === null || item === "" || item === false || item === 0) return false;
    return typeof item !== "object" || Object.keys(item).length > 0;
  });
  return Object.fromEntries(kept) as Partial<T>;
}

function normalVersion(version: CrdVersion): CrdVersion {
  const { name, served, storage, deprecated, deprecationWarning, schema, subresources = {} } = version;
  const { status, scale } = subresources;
  return {
    name,
    served,
    storage,
    ...filled({ deprecated, deprecationWarning }),
    schema: { openAPIV3Schema: normalRoot(schema.openAPIV3Schema) },
    ...filled({
      subresources: { ...(status === undefined ? {} : { status: {} }), ...(scale ? { scale: filled(scale) } : {}) },
    }),
    ...filled({
      additionalPrinterColumns: version.additionalPrinterColumns?.map((column) => filled(column) as CrdColumn),
      selectableFields: version.selectableFields,
    }),
  } as CrdVersion;
}

/** The API server has its own descriptions of apiVersion, kind and metadata. */
function normalRoot(schema: StructuralSchema): StructuralSchema {
  const { properties = {}, ...root } = normalSchema(schema);
  const { apiVersion: _version, kind: _kind, metadata = {}, ...others } = properties;
  const { description: _description, ...ownMetadata } = metadata;
  return {
    ...root,
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { ...ownMetadata, type: "object" },
      ...others,
    },
  };
}

/** Keywords whose empty or false value means nothing. */
const emptyMeansNothing: ReadonlySet<string> = new Set([
  ...["title", "description", "format", "pattern", "nullable", "exclusiveMinimum", "exclusiveMaximum", "uniqueItems"],
  ...["required", "enum", "allOf", "anyOf", "oneOf", "properties"],
  ...["x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-validations"],
  ...["x-kubernetes-list-map-keys", "x-kubernetes-preserve-unknown-fields"],
]);
/** The API server reads them as doubles. */
const doubles: ReadonlySet<string> = new Set(["minimum", "maximum", "multipleOf"]);
const schemaLists: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf"]);

/** Returns the normal form of a schema. */
export function normalSchema(schema: StructuralSchema): StructuralSchema {
  const normal: [string, unknown][] = [];
  for (const [name, value] of Object.entries(schema as Schema)) {
    if (value === undefined || value === null || (emptyMeansNothing.has(name) && isEmpty(value))) continue;
    normal.push([name, normalKeyword(name, value)]);
  }
  const found = Object.fromEntries(normal) as StructuralSchema;
  // The API server takes the extension alone for an integer or a string.
  return found["x-kubernetes-int-or-string"] === true && isIntOrString(found.anyOf)
    ? { ...found, anyOf: [{ type: "integer" }, { type: "string" }] }
    : found;
}

function isIntOrString(anyOf: readonly StructuralSchema[] | undefined): boolean {
  const types = anyOf?.map((one) => Object.keys(one).length === 1 ? one.type : undefined).sort().join();
  return types === undefined || types === "integer,string";
}

function normalKeyword(name: string, value: unknown): unknown {
  if (doubles.has(name)) return Number(value);
  if (name === "properties") {
    return Object.fromEntries(
      Object.entries(value as Readonly<Record<string, StructuralSchema>>).map(([key, one]) => [key, normalSchema(one)]),
    );
  }
  if (name === "items" || name === "not" || (name === "additionalProperties" && typeof value === "object")) {
    return normalSchema(value as StructuralSchema);
  }
  if (schemaLists.has(name)) return (value as readonly StructuralSchema[]).map(normalSchema);
  if (name === "required") return [...new Set(value as readonly string[])].sort();
  if (name === "enum") return [...new Set(value as readonly Json[])];
  if (name === "x-kubernetes-validations") return (value as readonly object[]).map((rule) => filled(rule));
  return value;
}

function isEmpty(value: unknown): boolean {
  return value === "" || value === false ||
    (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}
