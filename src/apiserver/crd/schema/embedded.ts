/**
 * Embedded resources (x-kubernetes-embedded-resource): decodes their metadata like that of any object, drops its unknown
 * fields, and validates apiVersion, kind and metadata.
 */
import {
  badRequest,
  type Draft,
  draftOf,
  type DraftValue,
  type FieldError,
  goJson,
  isDraft,
  isJsonObject,
  type Json,
  type JsonObject,
  read,
} from "../../model/mod.ts";
import { decodeObjectMeta, embeddedMetadataErrors, mistyped, ObjectMetaError } from "../../registry/mod.ts";
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

function readEmbedded(value: DraftValue, path: string, unknown: string[]): void {
  if (!isDraft(value)) return;
  for (const key of ["apiVersion", "kind"]) {
    const text = read(value, key);
    if (text === undefined || typeof text === "string") continue;
    throw badRequest(`${fieldPath(path, key)}: Invalid value: ${goJson(text)}: must be a string`);
  }
  const metadata = read(value, "metadata");
  if (metadata === undefined) return;
  const shown = goJson(metadata);
  try {
    const unknownFields = metadata === null ? [] : decodedFields(metadata);
    unknown.push(...unknownFields.map((field) => `${fieldPath(path, "metadata")}.${field}`));
  } catch (error) {
    if (!(error instanceof ObjectMetaError)) throw error;
    throw badRequest(`${fieldPath(path, "metadata")}: Invalid value: ${shown}: ${error.message}`);
  }
  if (metadata === null) value["metadata"] = {};
}

/** Decodes the metadata in place. @returns the paths of unknown fields. @throws ObjectMetaError */
function decodedFields(metadata: DraftValue): readonly string[] {
  if (!isDraft(metadata)) throw mistyped(metadata, "", "v1.ObjectMeta");
  return decodeObjectMeta(metadata, { path: "ObjectMeta", dropsEmptyEntries: true });
}

function checkEmbedded(value: Json, path: string, errors: FieldError[]): void {
  if (!isJsonObject(value)) return;
  const [apiVersion, kind, metadata] = ["apiVersion", "kind", "metadata"].map((key) => read(value, key));
  if (apiVersion === undefined) errors.push({ type: "Required", field: fieldPath(path, "apiVersion"), detail: "" });
  if (kind === undefined) errors.push({ type: "Required", field: fieldPath(path, "kind"), detail: "" });
  if (typeof apiVersion === "string") checkApiVersion(apiVersion, fieldPath(path, "apiVersion"), errors);
  if (typeof kind === "string") checkKind(kind, fieldPath(path, "kind"), errors);
  if (metadata === undefined) return;
  const problem = metadataProblem(metadata);
  if (problem !== undefined) {
    errors.push({ type: "Invalid", field: fieldPath(path, "metadata"), value: metadata, detail: problem });
    return;
  }
  if (!isJsonObject(metadata)) return;
  for (const error of embeddedMetadataErrors({ metadata })) {
    errors.push({ ...error, field: fieldPath(path, error.field) });
  }
}

/** Why Go cannot decode metadata, which may be if it was applied. */
function metadataProblem(metadata: Json): string | undefined {
  if (metadata === null) return undefined;
  try {
    decodedFields(isJsonObject(metadata) ? draftOf(metadata) : draftOf({ metadata })["metadata"] ?? null);
    return undefined;
  } catch (error) {
    if (error instanceof ObjectMetaError) return error.message;
    throw error;
  }
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
