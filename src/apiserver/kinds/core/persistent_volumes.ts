/** PersistentVolumes: rules, defaults, warnings and table row. The rules of their specs are in volume_spec.ts. */
import { type Draft, isSameJson, type Json, type JsonObject, read, type WriteContext } from "../../model/mod.ts";
import { hasInvalidNodeValue, nodeTermWarnings } from "../pods/mod.ts";
import {
  ageCell,
  annotationOf,
  asText,
  asTexts,
  changedFields,
  type DefaultsByType,
  fieldIsImmutable,
  FieldPath,
  isDeleted,
  type KindRules,
  type Problems,
} from "../rules/mod.ts";
import {
  draftAt,
  findObject,
  formatTime,
  has,
  metadataOf,
  nameOf,
  objectAt,
  objectIn,
  objectsAt,
  restoreField,
  setIfAbsent,
  setIfEmpty,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";
import { checkVolumeSpec, sourcesOf } from "./volume_spec.ts";

const specPath = FieldPath.of("spec");
const mountOptions = "volume.beta.kubernetes.io/mount-options";

/** The volume sources that support mount options in an annotation. */
const mountable = [
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "nfs",
  "rbd",
  "quobyte",
  "iscsi",
  "cinder",
  "cephfs",
  "azureFile",
  "vsphereVolume",
  "azureDisk",
  "photonPersistentDisk",
];

/** PersistentVolume. */
export const persistentVolumeRules: KindRules = {
  depth: "full",
  fieldSelectors: new Map([["name", nameOf]]),
  prepareForCreate(draft, context) {
    draft["status"] = { phase: "Pending", lastPhaseTransitionTime: formatTime(context.now) };
    addFinalizer(draft, "kubernetes.io/pv-protection");
  },
  prepareForStatus: setPhaseTime,
  validate(volume, problems) {
    checkSpec(volume, undefined, problems);
    checkMountOptions(volume, problems);
  },
  validateUpdate(volume, old, problems) {
    // Twice, as in kube-apiserver.
    checkSpec(volume, old, problems);
    checkMountOptions(volume, problems);
    checkSpec(volume, old, problems);
    checkChange(objectAt(volume, "spec"), objectAt(old, "spec"), problems);
  },
  warnings: warningsOf,
};

/** Adds a protection finalizer, which a controller removes when the object is no longer in use. */
export function addFinalizer(draft: Draft, finalizer: string): void {
  const metadata = draftAt(draft, "metadata");
  const present = textsAt(metadata, "finalizers");
  if (!present.includes(finalizer)) metadata["finalizers"] = [...present, finalizer];
}

function setPhaseTime(draft: Draft, old: JsonObject, context: WriteContext): void {
  const [status, before] = [draftAt(draft, "status"), objectAt(old, "status")];
  const key = "lastPhaseTransitionTime";
  if (textAt(status, "phase") === textAt(before, "phase")) {
    if (!has(status, key)) restoreField(status, before, key);
  } else if (!has(status, key) || textAt(status, key) === textAt(before, key)) {
    status[key] = formatTime(context.now);
  } else setIfAbsent(status, key, formatTime(context.now));
}

function checkSpec(volume: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const affinity = objectIn(old ?? {}, "spec", "nodeAffinity", "required");
  const allowsInvalidValues = hasInvalidNodeValue(affinity);
  checkVolumeSpec(objectAt(volume, "spec"), { name: nameOf(volume), allowsInvalidValues }, specPath, problems);
}

function checkMountOptions(volume: JsonObject, problems: Problems): void {
  const spec = objectAt(volume, "spec");
  if (mountable.some((source) => has(spec, source))) return;
  if (!textMapAt(metadataOf(volume), "annotations").has(mountOptions)) return;
  const place = FieldPath.of("metadata", "annotations", mountOptions);
  problems.forbidden(place, "may not specify mount options for this volume type");
}

function checkChange(spec: JsonObject, before: JsonObject, problems: Problems): void {
  const [now, then] = [comparedSources(spec, before), comparedSources(before, before)];
  if (!isSameJson(now, then)) {
    const why = `spec.persistentvolumesource is immutable after creation; ${changedFields(then, now, specPath)}`;
    problems.forbidden(specPath.child("persistentvolumesource"), why);
  }
  const mode = read(spec, "volumeMode") ?? null;
  if (!isSameJson(mode, read(before, "volumeMode") ?? null)) {
    problems.invalid(FieldPath.of("volumeMode"), mode, fieldIsImmutable);
  }
  checkSameAffinity(findObject(spec, "nodeAffinity"), findObject(before, "nodeAffinity"), problems);
  if (has(before, "volumeAttributesClassName") && !has(spec, "volumeAttributesClassName")) {
    problems.forbidden(specPath.child("volumeAttributesClassName"), "update from non-nil value to nil is forbidden");
  }
}

/** Labels of Nodes that were replaced, and the labels that replace them. */
const currentLabels: ReadonlyMap<string, string> = new Map([
  ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
  ["beta.kubernetes.io/os", "kubernetes.io/os"],
  ["beta.kubernetes.io/arch", "kubernetes.io/arch"],
  ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"],
]);

/** An affinity may be added, and its old labels may be replaced. */
function checkSameAffinity(now: JsonObject | undefined, before: JsonObject | undefined, problems: Problems): void {
  if (before === undefined) return;
  const [shown, then] = [now === undefined ? null : shownAffinity(now), shownAffinity(before, now)];
  if (isSameJson(shown, then)) return;
  const why = `${fieldIsImmutable}, except for updating from beta label to GA`;
  const path = FieldPath.of("nodeAffinity");
  if (shown === null) problems.invalid(path, null, why);
  else problems.invalidStruct(path, shown, why);
}

/** An affinity in the form of the Go type. @param next whose labels replace old ones at the same place */
function shownAffinity(affinity: JsonObject, next?: JsonObject): JsonObject {
  const required = findObject(affinity, "required");
  const nextTerms = objectsAt(objectAt(next ?? {}, "required"), "nodeSelectorTerms");
  if (required === undefined) return { Required: null };
  const terms = objectsAt(required, "nodeSelectorTerms").map((term, index) => ({
    MatchExpressions: shownRequirements(term, "matchExpressions", nextTerms[index]),
    MatchFields: shownRequirements(term, "matchFields", nextTerms[index]),
  }));
  return { Required: { NodeSelectorTerms: terms } };
}

function shownRequirements(term: JsonObject, key: string, next: JsonObject = {}): Json {
  const requirements = objectsAt(term, key).map((requirement, index) => {
    const [label, nextLabel] = [textAt(requirement, "key"), textAt(objectsAt(next, key)[index] ?? {}, "key")];
    return {
      Key: currentLabels.get(label) === nextLabel ? nextLabel : label,
      Operator: textAt(requirement, "operator"),
      Values: has(requirement, "values") ? textsAt(requirement, "values") : null,
    };
  });
  return requirements.length === 0 ? null : requirements;
}

/** The volume source without the field that may be added later, `controllerExpandSecretRef`. */
function comparedSources(spec: JsonObject, before: JsonObject): JsonObject {
  const held = sourcesOf(spec);
  const csi = findObject(spec, "csi");
  if (csi === undefined || has(objectAt(before, "csi"), "controllerExpandSecretRef")) return held;
  const { controllerExpandSecretRef: _, ...rest } = csi;
  return { ...held, csi: rest };
}

const annotationWarnings: readonly (readonly [string, string])[] = [
  ["volume.beta.kubernetes.io/storage-class", 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [mountOptions, 'deprecated since v1.31; use "mountOptions" attribute instead'],
];

const sourceWarnings: readonly (readonly [string, string, string])[] = [
  ["cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

function warningsOf(volume: JsonObject): readonly string[] {
  const spec = objectAt(volume, "spec");
  const annotations = textMapAt(metadataOf(volume), "annotations");
  const terms = objectsAt(objectIn(spec, "nodeAffinity", "required"), "nodeSelectorTerms");
  const termPath = specPath.child("nodeAffinity", "required", "nodeSelectorTerms");
  const recycle =
    "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
  return [
    ...annotationWarnings.filter(([key]) => annotations.has(key)).map(([key, why]) =>
      `metadata.annotations[${key}]: ${why}`
    ),
    ...(textAt(spec, "persistentVolumeReclaimPolicy") === "Recycle"
      ? [`spec.persistentVolumeReclaimPolicy: ${recycle}`]
      : []),
    ...terms.flatMap((term, index) => nodeTermWarnings(term, false, termPath.index(index))),
    ...sourceWarnings.filter(([key]) => has(spec, key)).map(([, name, why]) => `spec.${name}: ${why}`),
  ];
}

/** The defaults of PersistentVolumes. */
export const persistentVolumeDefaults: DefaultsByType = { "core/v1.PersistentVolume": setPersistentVolumeDefaults };

function setPersistentVolumeDefaults(draft: Draft): void {
  setIfEmpty(draftAt(draft, "status"), "phase", "Pending");
  const spec = draftAt(draft, "spec");
  setIfEmpty(spec, "persistentVolumeReclaimPolicy", "Retain");
  setIfAbsent(spec, "volumeMode", "Filesystem");
}

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
    ageCell(volume, now),
    orUnset(read(spec, "volumeMode")),
  ];
}

export function phaseOf(object: JsonObject): string {
  return isDeleted(object) ? "Terminating" : textAt(objectAt(object, "status"), "phase");
}

export function sizeOf(holder: JsonObject): string {
  const size = textAt(objectAt(holder, "capacity"), "storage");
  return size === "" ? "0" : size;
}

/** The access modes and their abbreviations, in the order in which they are shown. */
const accessModes = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
] as const;

export function modesText(holder: JsonObject): string {
  const modes = new Set(asTexts(read(holder, "accessModes")));
  return accessModes.flatMap(([mode, short]) => modes.has(mode) ? [short] : []).join(",");
}

/** The class of a volume or a claim; the older annotation has precedence. */
export function classOf(object: JsonObject): string {
  return annotationOf(object, "volume.beta.kubernetes.io/storage-class") ??
    textAt(objectAt(object, "spec"), "storageClassName");
}

export function orUnset(value: Json | undefined): string {
  return value === undefined ? "<unset>" : asText(value);
}
