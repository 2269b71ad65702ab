/** The rows of PersistentVolumes and their claims. */
import { findObject, nameOf, objectAt, textAt } from "../kinds/mod.ts";
import { type Json, type JsonObject, read } from "../model/mod.ts";
import { age } from "./_cells.ts";
import { annotationOf, isDeleted, textIn, textsIn } from "./_values.ts";

/** The cells of a PersistentVolume. */
export function volumeRow(volume: JsonObject, now: number): readonly Json[] {
  const [spec, status] = [objectAt(volume, "spec"), objectAt(volume, "status")];
  const claim = findObject(spec, "claimRef");
  return [
    nameOf(volume),
    sizeOf(spec),
    modesText(spec),
    textAt(spec, "persistentVolumeReclaimPolicy"),
    phaseOf(volume),
    claim === undefined ? "" : `${textAt(claim, "namespace")}/${textAt(claim, "name")}`,
    classOf(volume),
    orUnset(read(spec, "volumeAttributesClassName")),
    textAt(status, "reason"),
    age(volume, now),
    orUnset(read(spec, "volumeMode")),
  ];
}

/** The cells of a PersistentVolumeClaim: what it got stands there once it has a volume. */
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
    age(claim, now),
    orUnset(read(spec, "volumeMode")),
  ];
}

function phaseOf(object: JsonObject): string {
  return isDeleted(object) ? "Terminating" : textAt(objectAt(object, "status"), "phase");
}

function sizeOf(holder: JsonObject): string {
  const size = textAt(objectAt(holder, "capacity"), "storage");
  return size === "" ? "0" : size;
}

/** In the order in which they are shown. */
const accessModes = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
] as const;

function modesText(holder: JsonObject): string {
  const modes = new Set(textsIn(read(holder, "accessModes")));
  return accessModes.flatMap(([mode, short]) => modes.has(mode) ? [short] : []).join(",");
}

/** The annotation is older than the field, and goes before it. */
function classOf(object: JsonObject): string {
  return annotationOf(object, "volume.beta.kubernetes.io/storage-class") ??
    textAt(objectAt(object, "spec"), "storageClassName");
}

function orUnset(value: Json | undefined): string {
  return value === undefined ? "<unset>" : textIn(value);
}
