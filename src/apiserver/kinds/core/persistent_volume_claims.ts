/**
 * PersistentVolumeClaims: rules, defaults, table row and quota meter. The rules of a claim's spec are in pods/claim_spec.ts.
 */
import { type Draft, draftOf, isSameJson, type Json, type JsonObject, read } from "../../model/mod.ts";
import { checkClaimSpec, claimSpecWarnings } from "../pods/mod.ts";
import {
  ageCell,
  changedFields,
  type DefaultsByType,
  fieldIsImmutable,
  FieldPath,
  hasInvalidLabelValue,
  type KindRules,
  type Problems,
  type QuotaMeter,
} from "../rules/mod.ts";
import {
  compareQuantities,
  draftAt,
  findDraft,
  findObject,
  has,
  metadataOf,
  nameOf,
  objectAt,
  objectIn,
  restoreField,
  setIfAbsent,
  setIfEmpty,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";
import { addFinalizer, classOf, modesText, orUnset, phaseOf, sizeOf } from "./persistent_volumes.ts";
import { checkCapacity } from "./volume_spec.ts";

const specPath = FieldPath.of("spec");
const classAnnotation = "volume.beta.kubernetes.io/storage-class";
const deprecatedClass = 'deprecated since v1.8; use "storageClassName" attribute instead';

const specIsImmutable =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

/** PersistentVolumeClaim. */
export const claimRules: KindRules = {
  depth: "full",
  fieldSelectors: new Map([["name", nameOf]]),
  prepareForCreate(draft) {
    setDataSources(draftAt(draft, "spec"), {});
    draft["status"] = { phase: "Pending" };
    addFinalizer(draft, "kubernetes.io/pvc-protection");
  },
  prepareForUpdate: (draft, old) => setDataSources(draftAt(draft, "spec"), objectAt(old, "spec")),
  validate: (claim, problems) => checkClaimSpec(objectAt(claim, "spec"), specPath, problems),
  validateUpdate(claim, old, problems) {
    const allowsInvalidValues = hasInvalidLabelValue(findObject(objectAt(old, "spec"), "selector"));
    checkClaimSpec(objectAt(claim, "spec"), specPath, problems, allowsInvalidValues);
    checkChange(claim, old, problems);
  },
  validateStatus(claim, _old, problems) {
    if (textsAt(objectAt(claim, "spec"), "accessModes").length === 0) {
      problems.required(FieldPath.of("Spec", "accessModes"));
    }
    checkCapacity(objectAt(claim, "status"), FieldPath.of("status", "capacity"), problems);
  },
  warnings: (claim) => [
    ...(textMapAt(metadataOf(claim), "annotations").has(classAnnotation)
      ? [`metadata.annotations[${classAnnotation}]: ${deprecatedClass}`]
      : []),
    ...claimSpecWarnings(objectAt(claim, "spec"), specPath),
  ],
};

/** Sets `dataSource` and `dataSourceRef` from each other. */
function setDataSources(spec: Draft, before: JsonObject): void {
  const reference = findDraft(spec, "dataSourceRef");
  // The feature gate for sources in other namespaces is off in 1.36.
  if (textAt(reference ?? {}, "namespace") !== "" && !has(before, "dataSourceRef")) delete spec["dataSourceRef"];
  const isKnown = has(before, "dataSource") || has(before, "dataSourceRef");
  if (!isKnown && !has(spec, "dataSourceRef") && !isClaimOrSnapshot(objectAt(spec, "dataSource"))) {
    delete spec["dataSource"];
  }
  const [source, target] = [findDraft(spec, "dataSource"), findDraft(spec, "dataSourceRef")];
  if (source !== undefined && target === undefined) spec["dataSourceRef"] = draftOf(source);
  else if (target !== undefined && source === undefined && textAt(target, "namespace") === "") {
    spec["dataSource"] = draftOf(target);
  }
}

/** True for the sources that `dataSource` could always refer to: claims and snapshots. */
function isClaimOrSnapshot(source: JsonObject): boolean {
  const [kind, group] = [textAt(source, "kind"), textAt(source, "apiGroup")];
  return (kind === "PersistentVolumeClaim" && group === "") ||
    (kind === "VolumeSnapshot" && group === "snapshot.storage.k8s.io");
}

function checkChange(claim: JsonObject, old: JsonObject, problems: Problems): void {
  const [spec, before] = [objectAt(claim, "spec"), objectAt(old, "spec")];
  const kept = draftOf(spec);
  const annotation = textMapAt(metadataOf(old), "annotations").get(classAnnotation);
  const now = textMapAt(metadataOf(claim), "annotations").get(classAnnotation);
  const isUpgraded = annotation !== undefined && !has(before, "storageClassName") &&
    textAt(spec, "storageClassName") === annotation && (now === undefined || now === annotation);
  if (!isUpgraded && (now ?? "") !== (annotation ?? "")) {
    problems.invalid(FieldPath.of("metadata", "annotations", classAnnotation), now ?? "", fieldIsImmutable);
  }
  if (
    !has(before, "storageClassName") && (annotation === undefined || annotation === textAt(spec, "storageClassName"))
  ) {
    restoreField(kept, before, "storageClassName");
  }
  if (textAt(before, "volumeName") === "") restoreField(kept, before, "volumeName");
  if (textAt(objectAt(claim, "status"), "phase") === "Bound") restoreResizableFields(kept, before);
  if (!isSameJson(kept, before)) {
    problems.forbidden(specPath, `${specIsImmutable}; ${changedFields(before, kept, specPath)}`);
  }
  checkSize(claim, old, problems);
  if (!isSameJson(read(spec, "volumeMode") ?? null, read(before, "volumeMode") ?? null)) {
    problems.invalid(FieldPath.of("volumeMode"), read(spec, "volumeMode") ?? null, fieldIsImmutable);
  }
  checkAttributesClass(spec, objectAt(old, "status"), problems);
}

function restoreResizableFields(kept: Draft, before: JsonObject): void {
  const requests = findDraft(draftAt(kept, "resources"), "requests");
  if (requests !== undefined) restoreField(requests, objectIn(before, "resources", "requests"), "storage");
  restoreField(kept, before, "volumeAttributesClassName");
}

function checkSize(claim: JsonObject, old: JsonObject, problems: Problems): void {
  const sizeOf = (object: JsonObject) => textAt(objectIn(object, "spec", "resources", "requests"), "storage") || "0";
  const held = textAt(objectIn(old, "status", "capacity"), "storage") || "0";
  if (compareQuantities(sizeOf(claim), sizeOf(old)) >= 0 || compareQuantities(sizeOf(claim), held) > 0) return;
  problems.forbidden(specPath.child("resources", "requests", "storage"), "field can not be less than status.capacity");
}

function checkAttributesClass(spec: JsonObject, status: JsonObject, problems: Problems): void {
  if (!has(status, "currentVolumeAttributesClassName") || textAt(spec, "volumeAttributesClassName") !== "") return;
  const what = has(spec, "volumeAttributesClassName") ? "empty string" : "nil";
  const why = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  problems.forbidden(specPath.child("volumeAttributesClassName"), why);
}

/** The defaults of PersistentVolumeClaims. */
export const claimDefaults: DefaultsByType = {
  "core/v1.PersistentVolumeClaim": (draft) => setIfEmpty(draftAt(draft, "status"), "phase", "Pending"),
  "core/v1.PersistentVolumeClaimSpec": (draft) => setIfAbsent(draft, "volumeMode", "Filesystem"),
};

/** The cells of a PersistentVolumeClaim: capacity and access modes are shown once it is bound. */
export function claimRow(claim: JsonObject, now: number): readonly Json[] {
  const [spec, status] = [objectAt(claim, "spec"), objectAt(claim, "status")];
  const volume = textAt(spec, "volumeName");
  return [
    nameOf(claim),
    phaseOf(claim),
    volume,
    volume === "" ? "" : sizeOf(status),
    volume === "" ? "" : modesText(status),
    classOf(claim),
    orUnset(read(spec, "volumeAttributesClassName")),
    ageCell(claim, now),
    orUnset(read(spec, "volumeMode")),
  ];
}

/** The quota meter of claims: their number and storage, in total and for each StorageClass. */
export const claimMeter: QuotaMeter = {
  usage(claim) {
    const spec = objectAt(claim, "spec");
    const annotations = textMapAt(objectAt(claim, "metadata"), "annotations");
    const name = annotations.get("volume.beta.kubernetes.io/storage-class") ?? textAt(spec, "storageClassName");
    const usage = new Map([["persistentvolumeclaims", "1"], ["count/persistentvolumeclaims", "1"]]);
    const storage = textMapAt(objectAt(spec, "resources"), "requests").get("storage");
    if (storage !== undefined) usage.set("requests.storage", storage);
    if (name === "") return usage;
    usage.set(`${name}${ofClass}persistentvolumeclaims`, "1");
    if (storage !== undefined) usage.set(`${name}${ofClass}requests.storage`, storage);
    return usage;
  },
  measures: (resource) =>
    resource === "count/persistentvolumeclaims" ||
    ["persistentvolumeclaims", "requests.storage"].some((name) =>
      resource === name || resource.endsWith(`${ofClass}${name}`)
    ),
  missingFieldsError: () => undefined,
};

const ofClass = ".storageclass.storage.k8s.io/";
