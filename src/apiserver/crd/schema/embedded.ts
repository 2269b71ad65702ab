/**
 * Embedded resources (x-kubernetes-embedded-resource): decodes their metadata like that of any object, drops its unknown
 * fields, and validates apiVersion, kind and metadata.
 */
import {
  badRequest,
  dnsSubdomainErrors,
  type Draft,
  type DraftValue,
  type FieldError,
  goJson,
  isDraft,
  isJsonObject,
  type Json,
  type JsonObject,
  labelKeyErrors,
  labelValueErrors,
  pathSegmentErrors,
  read,
} from "../../model/mod.ts";
import { dns1035LabelErrors } from "../../../cel/mod.ts";
import { fieldPath, itemPath } from "../../../cel/mod.ts";
import { type SchemaProps, valueSchema } from "../../../cel/mod.ts";

/** A function that is called for each embedded resource below a value. */
type Visit<Value, Found> = (value: Value, path: string, found: Found[]) => void;

/** Decodes the metadata of embedded resources. @returns the paths of dropped fields. Throws a StatusError (400). */
export type EmbeddedReader = (object: Draft) => readonly string[];

/** Compiles the decoder; undefined when the schema has no embedded resource. */
export function compileEmbeddedReader(schema: SchemaProps): EmbeddedReader | undefined {
  const visit = compileVisit<DraftValue, string>(schema, (value) => isDraft(value) ? value : undefined, readEmbedded);
  if (visit === undefined) return undefined;
  return (object) => {
    const unknown: string[] = [];
    visit(object, "", unknown);
    return unknown.sort();
  };
}

/** Compiles the validation of embedded resources; undefined when the schema has none. */
export function compileEmbeddedCheck(schema: SchemaProps): ((object: JsonObject) => readonly FieldError[]) | undefined {
  const visit = compileVisit<Json, FieldError>(
    schema,
    (value) => isJsonObject(value) ? value : undefined,
    checkEmbedded,
  );
  if (visit === undefined) return undefined;
  return (object) => {
    const errors: FieldError[] = [];
    visit(object, "", errors);
    return errors;
  };
}

function compileVisit<Value extends Json | DraftValue, Found>(
  schema: SchemaProps,
  asObject: (value: Value) => Readonly<Record<string, Value>> | undefined,
  visitEmbedded: Visit<Value, Found>,
): Visit<Value, Found> | undefined {
  const own = schema.isEmbeddedResource ? visitEmbedded : undefined;
  const inside = (props: SchemaProps | undefined) => props && compileVisit(props, asObject, visitEmbedded);
  const [items, values] = [inside(schema.items), inside(valueSchema(schema))];
  const fields = new Map<string, Visit<Value, Found>>();
  for (const [name, property] of schema.properties) {
    const visit = inside(property);
    if (visit !== undefined) fields.set(name, visit);
  }
  if (own === undefined && items === undefined && values === undefined && fields.size === 0) return undefined;
  return (value, path, found) => {
    if (isList<Value>(value)) {
      if (items !== undefined) value.forEach((item, index) => items(item, itemPath(path, index), found));
      return;
    }
    const object = asObject(value);
    if (object === undefined) return;
    own?.(value, path, found);
    for (const key of Object.keys(object)) {
      const entry = read(object, key);
      if (entry === undefined) continue;
      const field = fields.get(key);
      if (field !== undefined) field(entry, fieldPath(path, key), found);
      else values?.(entry, itemPath(path, key), found);
    }
  };
}

function isList<Value>(value: unknown): value is readonly Value[] {
  return Array.isArray(value);
}

const metadataTypes: ReadonlyMap<string, "text" | "texts" | "integer" | "list"> = new Map([
  ...[
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
  ]
    .map((name) => [name, "text"] as const),
  ...["labels", "annotations"].map((name) => [name, "texts"] as const),
  ...["generation", "deletionGracePeriodSeconds"].map((name) => [name, "integer"] as const),
  ...["ownerReferences", "finalizers", "managedFields"].map((name) => [name, "list"] as const),
]);

function readEmbedded(value: DraftValue, path: string, unknown: string[]): void {
  if (!isDraft(value)) return;
  for (const key of ["apiVersion", "kind"]) {
    const text = read(value, key);
    if (text === undefined || typeof text === "string") continue;
    throw badRequest(`${fieldPath(path, key)}: Invalid value: ${goJson(text)}: must be a string`);
  }
  const metadata = read(value, "metadata");
  if (metadata === undefined) return;
  const problem = metadataProblem(metadata);
  if (problem !== undefined) {
    throw badRequest(`${fieldPath(path, "metadata")}: Invalid value: ${goJson(metadata)}: ${problem}`);
  }
  if (!isDraft(metadata)) {
    value["metadata"] = {};
    return;
  }
  for (const key of Object.keys(metadata)) {
    const field = metadata[key] ?? null;
    if (!metadataTypes.has(key)) unknown.push(`${path}.metadata.${key}`);
    if (!metadataTypes.has(key) || isZero(field)) delete metadata[key];
  }
}

function isZero(value: DraftValue): boolean {
  if (value === null || value === "" || value === 0) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Go's error for metadata that it cannot decode. */
function metadataProblem(metadata: DraftValue): string | undefined {
  if (metadata === null) return undefined;
  if (!isDraft(metadata)) return mistyped(metadata, "value of type v1.ObjectMeta");
  for (const [key, value] of Object.entries(metadata)) {
    const problem = value === null ? undefined : fieldProblem(key, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function fieldProblem(key: string, value: DraftValue): string | undefined {
  const into = (type: string) => `struct field ObjectMeta.${key} of type ${type}`;
  switch (metadataTypes.get(key)) {
    case "text":
      return typeof value === "string" ? undefined : mistyped(value, into("string"));
    case "integer":
      return typeof value === "number" || typeof value === "bigint" ? undefined : mistyped(value, into("int64"));
    case "list":
      return Array.isArray(value)
        ? undefined
        : mistyped(value, into(key === "finalizers" ? "[]string" : "[]v1.OwnerReference"));
    case "texts": {
      if (!isDraft(value)) return mistyped(value, into("map[string]string"));
      const wrong = Object.values(value).find((text) => typeof text !== "string" && text !== null);
      return wrong === undefined ? undefined : mistyped(wrong, into("string"));
    }
    default:
      return undefined;
  }
}

function mistyped(value: DraftValue, into: string): string {
  const type = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return `json: cannot unmarshal ${type} into Go ${into}`;
}

function checkEmbedded(value: Json, path: string, errors: FieldError[]): void {
  if (!isJsonObject(value)) return;
  const [apiVersion, kind, metadata] = ["apiVersion", "kind", "metadata"].map((key) => read(value, key));
  if (apiVersion === undefined) errors.push({ type: "Required", field: fieldPath(path, "apiVersion"), detail: "" });
  if (kind === undefined) errors.push({ type: "Required", field: fieldPath(path, "kind"), detail: "" });
  if (typeof apiVersion === "string") checkApiVersion(apiVersion, fieldPath(path, "apiVersion"), errors);
  if (typeof kind === "string") checkKind(kind, fieldPath(path, "kind"), errors);
  if (isJsonObject(metadata)) checkMetadata(metadata, fieldPath(path, "metadata"), errors);
}

function checkApiVersion(text: string, field: string, errors: FieldError[]): void {
  if (text === "") errors.push({ type: "Invalid", field, value: text, detail: "must not be empty" });
  else if (text.split("/").length > 2) {
    errors.push({ type: "Invalid", field, value: text, detail: `unexpected GroupVersion string: ${text}` });
  }
}

function checkKind(text: string, field: string, errors: FieldError[]): void {
  if (text === "") {
    errors.push({ type: "Invalid", field, value: text, detail: "must not be empty" });
    return;
  }
  const wrong = dns1035LabelErrors(text.toLowerCase());
  if (wrong.length === 0) return;
  const detail = `may have mixed case, but should otherwise match: ${wrong.join(",")}`;
  errors.push({ type: "Invalid", field, value: text, detail });
}

function checkMetadata(metadata: JsonObject, path: string, errors: FieldError[]): void {
  const [name, namespace] = [read(metadata, "name"), read(metadata, "namespace")];
  if (typeof name === "string" && name !== "") {
    for (const detail of pathSegmentErrors(name)) {
      errors.push({ type: "Invalid", field: fieldPath(path, "name"), value: name, detail });
    }
  }
  if (typeof namespace === "string" && namespace !== "") {
    for (const detail of dnsSubdomainErrors(namespace)) {
      errors.push({ type: "Invalid", field: fieldPath(path, "namespace"), value: namespace, detail });
    }
  }
  const labels = read(metadata, "labels");
  if (isJsonObject(labels)) checkLabels(labels, fieldPath(path, "labels"), errors);
  const annotations = read(metadata, "annotations");
  if (!isJsonObject(annotations)) return;
  for (const key of Object.keys(annotations)) {
    for (const detail of labelKeyErrors(key.toLowerCase())) {
      errors.push({ type: "Invalid", field: fieldPath(path, "annotations"), value: key, detail });
    }
  }
}

function checkLabels(labels: JsonObject, field: string, errors: FieldError[]): void {
  for (const [key, value] of Object.entries(labels)) {
    for (const detail of labelKeyErrors(key)) errors.push({ type: "Invalid", field, value: key, detail });
    for (const detail of labelValueErrors(String(value))) errors.push({ type: "Invalid", field, value, detail });
  }
}
