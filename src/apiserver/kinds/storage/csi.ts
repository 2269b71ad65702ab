/**
 * The kinds of CSI drivers: CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment, VolumeAttributesClass. They are checked
 * against their schema only.
 */
import { type Draft, isSameJson, type Json, type JsonObject, read } from "../../model/mod.ts";
import {
  ageCell,
  booleanCell,
  countCell,
  createdAtCell,
  type DefaultsByType,
  joinedCell,
  type KindRules,
  nameCell,
  type Row,
  rowOf,
  textCell,
} from "../rules/mod.ts";
import { draftAt, metadataOf, numberAt, objectAt, objectsAt, setIfAbsent, textAt, valuesAt } from "../types/mod.ts";

/** CSIDriver. A new one has no generation; each change of its spec increments it. */
export const csiDriverRules: KindRules = {
  depth: "schema",
  allowsUnconditionalUpdate: false,
  prepareForUpdate(draft, old) {
    const before = numberAt(metadataOf(old), "generation");
    if (!isSameJson(specOf(draft), specOf(old))) draftAt(draft, "metadata")["generation"] = before + 1;
  },
};

function specOf(object: JsonObject) {
  return read(object, "spec") ?? null;
}

/** CSINode and CSIStorageCapacity. */
export const csiNodeRules: KindRules = { depth: "schema", allowsUnconditionalUpdate: false };

/** VolumeAttachment. */
export const volumeAttachmentRules: KindRules = {
  depth: "schema",
  statusMetadata: "none",
  allowsUnconditionalUpdate: false,
};

/** The defaults of CSIDrivers. */
export const csiDriverDefaults: DefaultsByType = { "storage/v1.CSIDriver": setCsiDriverDefaults };

function setCsiDriverDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfAbsent(spec, "attachRequired", true);
  setIfAbsent(spec, "podInfoOnMount", false);
  setIfAbsent(spec, "storageCapacity", false);
  setIfAbsent(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  if (valuesAt(spec, "volumeLifecycleModes").length === 0) spec["volumeLifecycleModes"] = ["Persistent"];
  setIfAbsent(spec, "requiresRepublish", false);
  setIfAbsent(spec, "seLinuxMount", false);
}

/** The cells of a CSIDriver. */
export const csiDriverRow: Row = rowOf(
  nameCell,
  booleanCell("spec.attachRequired", true),
  booleanCell("spec.podInfoOnMount"),
  booleanCell("spec.storageCapacity"),
  tokenRequests,
  booleanCell("spec.requiresRepublish"),
  joinedCell("spec.volumeLifecycleModes", "<none>"),
  ageCell,
);

function tokenRequests(object: JsonObject): Json {
  const spec = objectAt(object, "spec");
  if (read(spec, "tokenRequests") === undefined) return "<unset>";
  return objectsAt(spec, "tokenRequests").map((request) => textAt(request, "audience")).join(",");
}

/** The cells of a CSINode. */
export const csiNodeRow: Row = rowOf(nameCell, countCell("spec.drivers"), ageCell);

/** The cells of a CSIStorageCapacity. */
export const csiStorageCapacityRow: Row = rowOf(nameCell, createdAtCell);

/** The cells of a VolumeAttachment. */
export const volumeAttachmentRow: Row = rowOf(
  nameCell,
  textCell("spec.attacher"),
  textCell("spec.source.persistentVolumeName"),
  textCell("spec.nodeName"),
  booleanCell("status.attached"),
  ageCell,
);

/** The cells of a VolumeAttributesClass. */
export const volumeAttributesClassRow: Row = rowOf(nameCell, textCell("driverName"), ageCell);
