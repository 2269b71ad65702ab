/**
 * The annotation that client-side apply keeps its last configuration in. Whoever moves from `kubectl apply` to
 * `kubectl apply --server-side` meets no conflict over what kubectl itself applied before, and may move back, as the
 * annotation is kept up to date.
 */
import { isJsonObject, type Json, type JsonObject, read, type TypeSchema } from "../model/mod.ts";
import { FieldsError } from "./_fields_error.ts";
import { goJson } from "./_go_text.ts";
import { validateValue } from "./_validate_value.ts";
import { compareFields } from "./compare_fields.ts";
import { differenceOf, type FieldSet } from "./field_set.ts";
import { ownedFields } from "./owned_fields.ts";

const annotation = "kubectl.kubernetes.io/last-applied-configuration";

/** All annotations of an object together: 256 KiB, as apimachinery validation. */
const maxAnnotationsBytes = 256 * 1024;

/** The only manager for whom the annotation counts. */
export const kubectlName = "kubectl";

/**
 * The fields that client-side apply set and that still have its values, so that an apply by kubectl may take them.
 *
 * @param live without its managed fields
 * @returns undefined when there is no such annotation, or it cannot be understood
 */
export function lastAppliedFields(live: JsonObject, apiVersion: string, type: TypeSchema): FieldSet | undefined {
  const text = read(annotationsOf(live), annotation);
  if (typeof text !== "string" || text === "") return undefined;
  const config = parsed(text);
  if (!isJsonObject(config) || read(config, "apiVersion") !== apiVersion) return undefined;
  try {
    validateValue(live, type);
    validateValue(config, type);
    const fields = ownedFields(config, type);
    const comparison = compareFields(config, live, type);
    if (comparison === undefined) return fields;
    const { added, modified, removed } = comparison;
    return [modified, added, removed].reduce(differenceOf, fields);
  } catch (error) {
    if (error instanceof FieldsError) return undefined;
    throw error;
  }
}

/** The merged object with the annotation of this configuration, where it has the annotation at all. */
export function withLastApplied(merged: JsonObject, config: JsonObject): JsonObject {
  const annotations = annotationsOf(merged);
  const before = read(annotations, annotation);
  if (typeof before !== "string" || before === "") return merged;
  const updated: Record<string, Json> = { ...annotations, [annotation]: `${goJson(withoutAnnotation(config))}\n` };
  if (bytesOf(updated) > maxAnnotationsBytes) delete updated[annotation];
  return withAnnotations(merged, updated);
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const annotations = annotationsOf(config);
  if (!Object.hasOwn(annotations, annotation)) return config;
  const { [annotation]: _, ...rest } = annotations;
  return withAnnotations(config, rest);
}

function annotationsOf(object: JsonObject): JsonObject {
  const metadata = read(object, "metadata");
  const annotations = isJsonObject(metadata) ? read(metadata, "annotations") : undefined;
  return isJsonObject(annotations) ? annotations : {};
}

function withAnnotations(object: JsonObject, annotations: JsonObject): JsonObject {
  const metadata = read(object, "metadata");
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), annotations } };
}

function bytesOf(annotations: JsonObject): number {
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    bytes += encoder.encode(key).length + (typeof value === "string" ? encoder.encode(value).length : 0);
  }
  return bytes;
}

function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
