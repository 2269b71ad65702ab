/** Rules of PersistentVolumeClaims: what is filled in, what never changes, and that one in use is not deleted at once. */
import { type Draft, draftOf, isSameJson, type JsonObject, read } from "../../model/mod.ts";
import { checkClaimSpec, claimSpecWarnings } from "../claims.ts";
import { hasBadValue } from "../checks.ts";
import {
  draftAt,
  findDraft,
  findObject,
  has,
  metadataOf,
  nameOf,
  objectAt,
  objectIn,
  textAt,
  textMapAt,
  textsAt,
} from "../fields.ts";
import { immutable } from "../formats.ts";
import { keepField } from "../kept_fields.ts";
import type { KindRules } from "../kind_rules.ts";
import { internalDiff } from "../internal_form.ts";
import { FieldPath, type Problems } from "../problems.ts";
import { compareQuantities } from "../quantity.ts";
import { addFinalizer, checkCapacity } from "./persistent_volumes.ts";

const path = FieldPath.of("spec");
const classAnnotation = "volume.beta.kubernetes.io/storage-class";
const deprecatedClass = 'deprecated since v1.8; use "storageClassName" attribute instead';
const fixed =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

/** PersistentVolumeClaim. */
export const claimRules: KindRules = {
  depth: "full",
  selectable: new Map([["name", nameOf]]),
  prepareForCreate(draft) {
    fillDataSources(draftAt(draft, "spec"), {});
    draft["status"] = { phase: "Pending" };
    addFinalizer(draft, "kubernetes.io/pvc-protection");
  },
  prepareForUpdate: (draft, old) => fillDataSources(draftAt(draft, "spec"), objectAt(old, "spec")),
  validate: (claim, problems) => checkClaimSpec(objectAt(claim, "spec"), path, problems),
  validateUpdate(claim, old, problems) {
    const allowsAnyValue = hasBadValue(findObject(objectAt(old, "spec"), "selector"));
    checkClaimSpec(objectAt(claim, "spec"), path, problems, allowsAnyValue);
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
    ...claimSpecWarnings(objectAt(claim, "spec"), path),
  ],
};

/** Two fields say where the data comes from, the old and the new; whoever knows only one of them finds both filled. */
function fillDataSources(spec: Draft, before: JsonObject): void {
  const reference = findDraft(spec, "dataSourceRef");
  // To another namespace is off in 1.36.
  if (textAt(reference ?? {}, "namespace") !== "" && !has(before, "dataSourceRef")) delete spec["dataSourceRef"];
  const isKnown = has(before, "dataSource") || has(before, "dataSourceRef");
  if (!isKnown && !has(spec, "dataSourceRef") && !isClassic(objectAt(spec, "dataSource"))) delete spec["dataSource"];
  const [source, target] = [findDraft(spec, "dataSource"), findDraft(spec, "dataSourceRef")];
  if (source !== undefined && target === undefined) spec["dataSourceRef"] = draftOf(source);
  else if (target !== undefined && source === undefined && textAt(target, "namespace") === "") {
    spec["dataSource"] = draftOf(target);
  }
}

/** What the old field has always held: claims and snapshots. */
function isClassic(source: JsonObject): boolean {
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
    problems.invalid(FieldPath.of("metadata", "annotations", classAnnotation), now ?? "", immutable);
  }
  if (
    !has(before, "storageClassName") && (annotation === undefined || annotation === textAt(spec, "storageClassName"))
  ) {
    keepField(kept, before, "storageClassName");
  }
  if (textAt(before, "volumeName") === "") keepField(kept, before, "volumeName");
  if (textAt(objectAt(claim, "status"), "phase") === "Bound") putBackWhatMayGrow(kept, before);
  if (!isSameJson(kept, before)) {
    problems.forbidden(path, `${fixed}\n${internalDiff("PersistentVolumeClaimSpec", before, kept)}`);
  }
  checkSize(claim, old, problems);
  if (!isSameJson(read(spec, "volumeMode") ?? null, read(before, "volumeMode") ?? null)) {
    problems.invalid(FieldPath.of("volumeMode"), read(spec, "volumeMode") ?? null, immutable);
  }
  checkAttributesClass(spec, objectAt(old, "status"), problems);
}

function putBackWhatMayGrow(kept: Draft, before: JsonObject): void {
  const requests = findDraft(draftAt(kept, "resources"), "requests");
  if (requests !== undefined) keepField(requests, objectIn(before, "resources", "requests"), "storage");
  keepField(kept, before, "volumeAttributesClassName");
}

function checkSize(claim: JsonObject, old: JsonObject, problems: Problems): void {
  const sizeOf = (object: JsonObject) => textAt(objectIn(object, "spec", "resources", "requests"), "storage") || "0";
  const held = textAt(objectIn(old, "status", "capacity"), "storage") || "0";
  if (compareQuantities(sizeOf(claim), sizeOf(old)) >= 0 || compareQuantities(sizeOf(claim), held) > 0) return;
  problems.forbidden(path.child("resources", "requests", "storage"), "field can not be less than status.capacity");
}

function checkAttributesClass(spec: JsonObject, status: JsonObject, problems: Problems): void {
  if (!has(status, "currentVolumeAttributesClassName") || textAt(spec, "volumeAttributesClassName") !== "") return;
  const what = has(spec, "volumeAttributesClassName") ? "empty string" : "nil";
  const why = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  problems.forbidden(path.child("volumeAttributesClassName"), why);
}
