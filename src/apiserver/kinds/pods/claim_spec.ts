/**
 * Rules of the specs of PersistentVolumeClaims. They are here since the ephemeral volumes of Pods contain templates of claims.
 */
import { isSameJson, type JsonObject, read } from "../../model/mod.ts";
import {
  checkAnnotations,
  checkLabels,
  checkSelector,
  type FieldPath,
  labelErrors,
  type Problems,
  subdomainErrors,
} from "../rules/mod.ts";
import {
  compareQuantities,
  findObject,
  has,
  objectAt,
  parseQuantity,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const volumeModes = ["Block", "Filesystem"];
const claimKind = "PersistentVolumeClaim";
const nanosPerByte = 1_000_000_000n;

/** Checks the access modes of a volume or a claim. */
export function checkAccessModes(spec: JsonObject, detail: string, path: FieldPath, problems: Problems): void {
  const modes = textsAt(spec, "accessModes");
  const place = path.child("accessModes");
  if (modes.length === 0) problems.required(place, detail);
  for (const mode of modes) if (!accessModes.includes(mode)) problems.notSupported(place, mode, accessModes);
  const isMixed = modes.includes("ReadWriteOncePod") &&
    modes.some((mode) => mode !== "ReadWriteOncePod" && accessModes.includes(mode));
  if (isMixed) problems.forbidden(place, "may not use ReadWriteOncePod with other access modes");
}

/** Checks the volume mode of a volume or a claim. */
export function checkVolumeMode(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const mode = textAt(spec, "volumeMode");
  if (has(spec, "volumeMode") && !volumeModes.includes(mode)) {
    problems.notSupported(path.child("volumeMode"), mode, volumeModes);
  }
}

/** Checks the spec of a claim. @param allowsInvalidValues true when the old selector has an invalid label value */
export function checkClaimSpec(
  spec: JsonObject,
  path: FieldPath,
  problems: Problems,
  allowsInvalidValues = false,
): void {
  checkAccessModes(spec, "at least 1 access mode is required", path, problems);
  checkSelector(findObject(spec, "selector"), path.child("selector"), problems, allowsInvalidValues);
  const storage = textMapAt(objectAt(spec, "resources"), "requests").get("storage");
  const place = path.child("resources").key("storage");
  if (storage === undefined) problems.required(place);
  else if (compareQuantities(storage, "0") <= 0) problems.invalid(place, storage, "must be greater than zero");
  for (const key of ["storageClassName", "volumeAttributesClassName"]) {
    const name = textAt(spec, key);
    if (name !== "") problems.invalidAll(path.child(key), name, subdomainErrors(name));
  }
  checkVolumeMode(spec, path, problems);
  checkDataSources(spec, path, problems);
}

function checkDataSources(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const [source, reference] = [findObject(spec, "dataSource"), findObject(spec, "dataSourceRef")];
  if (source !== undefined) checkDataSource(source, path.child("dataSource"), problems);
  if (reference === undefined) return;
  checkDataSource(reference, path.child("dataSourceRef"), problems);
  const namespace = textAt(reference, "namespace");
  if (namespace !== "") {
    problems.invalidAll(path.child("dataSourceRef", "namespace"), namespace, labelErrors(namespace));
  }
  if (source === undefined) return;
  const isSame = ["apiGroup", "kind", "name"].every((key) =>
    isSameJson(read(source, key) ?? null, read(reference, key) ?? null)
  );
  if (namespace !== "") problems.invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified");
  else if (!isSame) problems.invalid(path, {}, "must match dataSourceRef");
}

function checkDataSource(source: JsonObject, path: FieldPath, problems: Problems): void {
  const [name, kind, group] = [textAt(source, "name"), textAt(source, "kind"), textAt(source, "apiGroup")];
  if (name === "") problems.required(path.child("name"));
  if (kind === "") problems.required(path.child("kind"));
  if (group === "" && kind !== claimKind) {
    problems.invalid(path, kind, `must be '${claimKind}' when referencing the default apiGroup`);
  }
  if (group !== "") problems.invalidAll(path.child("apiGroup"), group, subdomainErrors(group));
}

/** Checks a template of claims. */
export function checkClaimTemplate(template: JsonObject, path: FieldPath, problems: Problems): void {
  const metadata = objectAt(template, "metadata");
  const place = path.child("metadata");
  checkAnnotations(metadata, "annotations", place.child("annotations"), problems);
  checkLabels(metadata, "labels", place.child("labels"), problems);
  for (const key of Object.keys(metadata)) {
    if (key !== "annotations" && key !== "labels") problems.forbidden(place.child(key), "cannot be set");
  }
  checkClaimSpec(objectAt(template, "spec"), path.child("spec"), problems);
}

/** Returns the warnings about the spec of a claim: sizes must be whole bytes. */
export function claimSpecWarnings(spec: JsonObject, path: FieldPath): readonly string[] {
  return ["requests", "limits"].flatMap((key) => {
    const amount = textMapAt(objectAt(spec, "resources"), key).get("storage");
    if (amount === undefined || parseQuantity(amount).nano % nanosPerByte === 0n) return [];
    const place = path.child("resources", key).key("storage");
    return [`${place}: fractional byte value "${amount}" is invalid, must be an integer`];
  });
}
