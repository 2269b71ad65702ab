/**
 * The validation of metadata, the same for all kinds: apimachinery `api/validation/objectmeta.go`.
 */
import {
  dnsLabelErrors,
  type FieldError,
  goJson,
  isJsonArray,
  isJsonNumber,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  type Kind,
  labelKeyErrors,
  labelValueErrors,
  pathSegmentErrors,
  read,
  utf8Length,
} from "../model/mod.ts";
import { readMetadata } from "./metadata.ts";

/** The limit for all keys and values of the annotations together. */
const maxAnnotationBytes = 256 * 1024;
const orphanFinalizer = "orphan";
const foregroundFinalizer = "foregroundDeletion";

/** Errors in the metadata of a new object. A generated name is set before. */
export function metadataErrors(object: JsonObject, kind: Kind): readonly FieldError[] {
  const metadata = readMetadata(object);
  const errors: FieldError[] = [];
  nameErrors(metadata, errors);
  namespaceErrors(metadata, kind, errors);
  generationErrors(metadata, errors);
  commonErrors(metadata, errors);
  finalizerErrors(metadata, errors);
  if (kind.hasStrategicMerge && kind.allowsPlainFinalizers !== true) unqualifiedFinalizers(metadata, errors);
  return errors;
}

/** Errors in the metadata of an embedded resource, which may lack a name and a namespace. */
export function embeddedMetadataErrors(object: JsonObject): readonly FieldError[] {
  const metadata = readMetadata(object);
  const errors: FieldError[] = [];
  nameErrors(textOf(metadata, "name") === "" ? { ...metadata, name: "unnamed" } : metadata, errors);
  const namespace = textOf(metadata, "namespace");
  if (namespace !== "") pushAll(errors, "metadata.namespace", namespace, dnsLabelErrors(namespace));
  generationErrors(metadata, errors);
  commonErrors(metadata, errors);
  finalizerErrors(metadata, errors);
  managedFieldsErrors(metadata, errors);
  return errors;
}

function generationErrors(metadata: JsonObject, errors: FieldError[]): void {
  const generation = read(metadata, "generation");
  if (!isJsonNumber(generation) || generation >= 0) return;
  const detail = "must be greater than or equal to 0";
  errors.push({ type: "Invalid", field: "metadata.generation", value: generation, detail });
}

/** Errors in the managedFields of an embedded resource, which no server has written. */
function managedFieldsErrors(metadata: JsonObject, errors: FieldError[]): void {
  const entries = read(metadata, "managedFields");
  if (!isJsonArray(entries)) return;
  entries.forEach((entry, index) => {
    if (!isJsonObject(entry)) return;
    const [field, operation] = [`metadata.managedFields[${index}]`, textOf(entry, "operation")];
    if (operation !== "Apply" && operation !== "Update") {
      pushAll(errors, `${field}.operation`, operation, ["must be `Apply` or `Update`"]);
    }
    const type = textOf(entry, "fieldsType");
    if (type !== "" && type !== "FieldsV1") pushAll(errors, `${field}.fieldsType`, type, ["must be `FieldsV1`"]);
  });
}

/** Errors in an update of the metadata. */
export function metadataUpdateErrors(object: JsonObject, old: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [metadata, before] = [readMetadata(object), readMetadata(old)];
  if (read(before, "deletionTimestamp") !== undefined) newFinalizerErrors(metadata, before, errors);
  const [generation, oldGeneration] = [numberOf(metadata, "generation"), numberOf(before, "generation")];
  if (generation < oldGeneration) {
    errors.push({
      type: "Invalid",
      field: "metadata.generation",
      value: generation,
      detail: "must not be decremented",
    });
  }
  for (const field of immutable) {
    const value = read(metadata, field);
    if (isSameJson(value, read(before, field))) continue;
    errors.push({
      type: "Invalid",
      field: `metadata.${field}`,
      value: value ?? emptyOf(field),
      detail: "field is immutable",
    });
  }
  commonErrors(metadata, errors);
  return errors;
}

const immutable = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

function emptyOf(field: string): Json {
  return field.startsWith("deletion") || field === "creationTimestamp" ? null : "";
}

function numberOf(metadata: JsonObject, field: string): number {
  const value = read(metadata, field);
  return typeof value === "number" ? value : 0;
}

function nameErrors(metadata: JsonObject, errors: FieldError[]): void {
  const prefix = read(metadata, "generateName");
  if (typeof prefix === "string" && prefix !== "") {
    pushAll(errors, "metadata.generateName", prefix, pathSegmentErrors(prefix, true));
  }
  const name = read(metadata, "name");
  if (typeof name !== "string" || name === "") {
    errors.push({ type: "Required", field: "metadata.name", detail: "name or generateName is required" });
  } else pushAll(errors, "metadata.name", name, pathSegmentErrors(name));
}

/** Errors of the name of a new object by the rules of its kind. */
export function kindNameErrors(object: JsonObject, kind: Kind): readonly FieldError[] {
  const metadata = readMetadata(object);
  const errors: FieldError[] = [];
  const prefix = read(metadata, "generateName");
  if (typeof prefix === "string" && prefix !== "") {
    pushAll(errors, "metadata.generateName", prefix, kind.validateName(prefix, true));
  }
  const name = read(metadata, "name");
  if (typeof name === "string" && name !== "") pushAll(errors, "metadata.name", name, kind.validateName(name, false));
  return errors;
}

function namespaceErrors(metadata: JsonObject, kind: Kind, errors: FieldError[]): void {
  const namespace = read(metadata, "namespace");
  const isSet = typeof namespace === "string" && namespace !== "";
  if (kind.scope === "Cluster") {
    if (isSet) errors.push({ type: "Forbidden", field: "metadata.namespace", detail: "not allowed on this type" });
  } else if (isSet) pushAll(errors, "metadata.namespace", namespace, dnsLabelErrors(namespace));
  else errors.push({ type: "Required", field: "metadata.namespace", detail: "" });
}

/** Cache of valid label keys: there are few different ones, and every object has some. */
const validKeys = new Set<string>();
const maxValidKeys = 4096;

function keyErrors(key: string): readonly string[] {
  if (validKeys.has(key)) return [];
  const errors = labelKeyErrors(key);
  if (errors.length > 0) return errors;
  if (validKeys.size >= maxValidKeys) validKeys.clear();
  validKeys.add(key);
  return errors;
}

function commonErrors(metadata: JsonObject, errors: FieldError[]): void {
  const labels = read(metadata, "labels");
  if (isJsonObject(labels)) {
    for (const [key, value] of Object.entries(labels)) {
      pushAll(errors, "metadata.labels", key, keyErrors(key));
      pushAll(errors, "metadata.labels", value, labelValueErrors(String(value)));
    }
  }
  const annotations = read(metadata, "annotations");
  if (isJsonObject(annotations)) annotationErrors(annotations, errors);
  const references = read(metadata, "ownerReferences");
  if (isJsonArray(references)) ownerErrors(references, errors);
}

function annotationErrors(annotations: JsonObject, errors: FieldError[]): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    pushAll(errors, "metadata.annotations", key, keyErrors(key.toLowerCase()));
    bytes += utf8Length(key) + (typeof value === "string" ? utf8Length(value) : 0);
  }
  if (bytes <= maxAnnotationBytes) return;
  errors.push({
    type: "TooLong",
    field: "metadata.annotations",
    detail: `may not be more than ${maxAnnotationBytes} bytes`,
  });
}

function ownerErrors(references: readonly Json[], errors: FieldError[]): void {
  const field = "metadata.ownerReferences";
  let controller = "";
  // Written once: each error shows all references.
  let shown: string | undefined;
  for (const reference of references) {
    if (!isJsonObject(reference)) continue;
    referenceErrors(reference, errors);
    if (read(reference, "controller") !== true) continue;
    const current = `${textOf(reference, "kind")}/${textOf(reference, "name")}`;
    if (controller === "") controller = current;
    else {
      const detail = "Only one reference can have Controller set to true. " +
        `Found "true" in references for ${controller} and ${current}`;
      shown ??= `[${references.map(shownReference).join(",")}]`;
      errors.push({ type: "Invalid", field, value: references, shown, detail });
    }
  }
}

/** The JSON of a reference in the order of the Go struct. */
function shownReference(reference: Json): string {
  if (!isJsonObject(reference)) return goJson(reference);
  const fields = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"].flatMap((key) => {
    const value = read(reference, key);
    return value === undefined ? [] : [`${goJson(key)}:${goJson(value)}`];
  });
  return `{${fields.join(",")}}`;
}

function referenceErrors(reference: JsonObject, errors: FieldError[]): void {
  const field = "metadata.ownerReferences";
  const apiVersion = textOf(reference, "apiVersion");
  const required = [
    ["apiVersion", versionOf(apiVersion), "version must not be empty"],
    ["kind", textOf(reference, "kind"), "must not be empty"],
    ["name", textOf(reference, "name"), "must not be empty"],
    ["uid", textOf(reference, "uid"), "must not be empty"],
  ] as const;
  for (const [key, value, detail] of required) {
    if (value !== "") continue;
    errors.push({ type: "Invalid", field: `${field}.${key}`, value: textOf(reference, key), detail });
  }
  if (apiVersion === "v1" && textOf(reference, "kind") === "Event") {
    const detail = "/v1, Kind=Event is disallowed from being an owner";
    errors.push({ type: "Invalid", field, value: reference, detail });
  }
}

/** The version of an apiVersion; "" for a malformed one with two slashes. */
function versionOf(apiVersion: string): string {
  const parts = apiVersion.split("/");
  return parts.length > 2 ? "" : parts.at(-1) ?? "";
}

function finalizerErrors(metadata: JsonObject, errors: FieldError[]): void {
  const finalizers = read(metadata, "finalizers");
  if (!isJsonArray(finalizers)) return;
  const field = "metadata.finalizers";
  for (const finalizer of finalizers) {
    if (typeof finalizer === "string") pushAll(errors, field, finalizer, keyErrors(finalizer));
  }
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    const detail = `finalizer ${orphanFinalizer} and ${foregroundFinalizer} cannot be both set`;
    errors.push({ type: "Invalid", field, value: finalizers, detail });
  }
}

/** Finalizers of built-in kinds must be qualified names or standard finalizers of Kubernetes. */
function unqualifiedFinalizers(metadata: JsonObject, errors: FieldError[]): void {
  const finalizers = read(metadata, "finalizers");
  if (!isJsonArray(finalizers)) return;
  finalizers.forEach((finalizer, index) => {
    if (typeof finalizer !== "string" || finalizer.includes("/") || standardFinalizers.has(finalizer)) return;
    const detail = "name is neither a standard finalizer name nor is it fully qualified";
    errors.push({ type: "Invalid", field: `metadata.finalizers[${index}]`, value: finalizer, detail });
  });
}

const standardFinalizers: ReadonlySet<string> = new Set(["kubernetes", orphanFinalizer, foregroundFinalizer]);

function newFinalizerErrors(metadata: JsonObject, before: JsonObject, errors: FieldError[]): void {
  const old = read(before, "finalizers");
  const known = new Set<Json>(isJsonArray(old) ? old : []);
  const now = read(metadata, "finalizers");
  const extra = (isJsonArray(now) ? now : []).filter((finalizer) => !known.has(finalizer)).sort();
  if (extra.length === 0) return;
  const listed = [...new Set(extra)].map((finalizer) => JSON.stringify(finalizer)).join(", ");
  const detail = "no new finalizers can be added if the object is being deleted, " +
    `found new finalizers []string{${listed}}`;
  errors.push({ type: "Forbidden", field: "metadata.finalizers", detail });
}

function pushAll(errors: FieldError[], field: string, value: Json, details: readonly string[]): void {
  for (const detail of details) errors.push({ type: "Invalid", field, value, detail });
}

function textOf(object: JsonObject, field: string): string {
  const value = read(object, field);
  return typeof value === "string" ? value : "";
}
