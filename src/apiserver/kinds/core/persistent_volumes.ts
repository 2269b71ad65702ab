/**
 * PersistentVolumes: rules, defaults and table row. The volume sources that are still supported are checked: hostPath, local,
 * NFS, iSCSI and CSI. The others, whose drivers Kubernetes has removed, are not.
 */
import { type Draft, isSameJson, type Json, type JsonObject, read, type WriteContext } from "../../model/mod.ts";
import {
  checkAccessModes,
  checkDriverName,
  checkHostPath,
  checkIscsi,
  checkNfs,
  checkNodeSelector,
  checkVolumeMode,
  nodeTermWarnings,
} from "../pods/mod.ts";
import {
  ageCell,
  annotationOf,
  asText,
  asTexts,
  changedFields,
  checkNoParentSteps,
  type DefaultsByType,
  fieldIsImmutable,
  FieldPath,
  isDeleted,
  type KindRules,
  labelErrors,
  type Problems,
  subdomainErrors,
} from "../rules/mod.ts";
import {
  compareQuantities,
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

const specPath = FieldPath.of("spec");
const reclaimPolicies = ["Delete", "Recycle", "Retain"];
const mountOptions = "volume.beta.kubernetes.io/mount-options";

/** The volume sources, in the order in which they are checked. */
const sources = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
];

/** The volume sources that support mount options in an annotation. */
const mountable = new Set([
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
]);

/** PersistentVolume. */
export const persistentVolumeRules: KindRules = {
  depth: "partial",
  fieldSelectors: new Map([["name", nameOf]]),
  prepareForCreate(draft, context) {
    draft["status"] = { phase: "Pending", lastPhaseTransitionTime: formatTime(context.now) };
    addFinalizer(draft, "kubernetes.io/pv-protection");
  },
  prepareForStatus: setPhaseTime,
  validate: (volume, problems) => checkVolume(volume, problems),
  validateUpdate(volume, old, problems) {
    checkVolume(volume, problems);
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

function checkVolume(volume: JsonObject, problems: Problems): void {
  const spec = objectAt(volume, "spec");
  checkAccessModes(spec, "", specPath, problems);
  checkSpecCapacity(spec, problems);
  const policy = textAt(spec, "persistentVolumeReclaimPolicy");
  const policyPath = specPath.child("persistentVolumeReclaimPolicy");
  if (policy !== "" && !reclaimPolicies.includes(policy)) problems.notSupported(policyPath, policy, reclaimPolicies);
  const affinity = findObject(spec, "nodeAffinity");
  if (affinity !== undefined) checkAffinity(affinity, specPath.child("nodeAffinity"), problems);
  checkSources(spec, problems);
  const isRoot = /^\/*(\.\/*)*$/.test(textAt(objectAt(spec, "hostPath"), "path"));
  if (has(spec, "hostPath") && isRoot && policy === "Recycle") {
    problems.forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'");
  }
  checkClasses(spec, problems);
  const isMountable = sources.some((source) => has(spec, source) && mountable.has(source));
  if (isMountable || !textMapAt(metadataOf(volume), "annotations").has(mountOptions)) return;
  const place = FieldPath.of("metadata", "annotations", mountOptions);
  problems.forbidden(place, "may not specify mount options for this volume type");
}

function checkSpecCapacity(spec: JsonObject, problems: Problems): void {
  const capacity = textMapAt(spec, "capacity");
  const place = specPath.child("capacity");
  if (capacity.size === 0) problems.required(place);
  if (!capacity.has("storage") || capacity.size > 1) {
    problems.notSupported(place, read(spec, "capacity") ?? null, ["storage"]);
  }
  checkCapacity(spec, place, problems);
  for (const [name, amount] of capacity) {
    if (compareQuantities(amount, "0") <= 0) problems.invalid(place.key(name), amount, "must be greater than zero");
  }
}

/** Checks that amounts are not negative. */
export function checkCapacity(holder: JsonObject, place: FieldPath, problems: Problems): void {
  for (const [name, amount] of textMapAt(holder, "capacity")) {
    if (compareQuantities(amount, "0") < 0) {
      problems.invalid(place.key(name), amount, "must be a valid resource quantity");
    }
  }
}

function checkAffinity(affinity: JsonObject, place: FieldPath, problems: Problems): void {
  const required = findObject(affinity, "required");
  if (required === undefined) problems.required(place.child("required"), "must specify required node constraints");
  else checkNodeSelector(required, place.child("required"), problems);
}

function checkSources(spec: JsonObject, problems: Problems): void {
  const present = sources.filter((source) => has(spec, source));
  present.forEach((source, index) => {
    const place = specPath.child(source);
    if (index > 0) problems.forbidden(place, "may not specify more than 1 volume type");
    else checkSource(source, spec, place, problems);
  });
  if (present.length === 0) problems.required(specPath, "must specify a volume type");
}

function checkSource(source: string, spec: JsonObject, place: FieldPath, problems: Problems): void {
  const held = objectAt(spec, source);
  switch (source) {
    case "hostPath":
      return checkHostPath(held, place, problems);
    case "nfs":
      return checkNfs(held, place, problems);
    case "iscsi":
      return checkIscsi(held, place, problems);
    case "csi":
      return checkCsi(held, place, problems);
    case "local":
      if (textAt(held, "path") === "") problems.required(place.child("path"));
      else checkNoParentSteps(textAt(held, "path"), place.child("path"), problems);
      if (!has(spec, "nodeAffinity")) {
        problems.required(specPath.child("nodeAffinity"), "Local volume requires node affinity");
      }
  }
}

function checkCsi(csi: JsonObject, place: FieldPath, problems: Problems): void {
  checkDriverName(textAt(csi, "driver"), place.child("driver"), problems);
  if (textAt(csi, "volumeHandle") === "") problems.required(place.child("volumeHandle"));
  const secrets = ["controllerPublish", "controllerExpand", "nodePublish", "nodeExpand"].map((use) =>
    `${use}SecretRef`
  );
  for (const key of secrets) {
    const secret = findObject(csi, key);
    if (secret === undefined) continue;
    const [name, namespace] = [textAt(secret, "name"), textAt(secret, "namespace")];
    const [namePath, namespacePath] = [place.child(key, "name"), place.child(key, "namespace")];
    if (name === "") problems.required(namePath);
    else problems.invalidAll(namePath, name, subdomainErrors(name));
    if (namespace === "") problems.required(namespacePath);
    else problems.invalidAll(namespacePath, namespace, labelErrors(namespace));
  }
}

function checkClasses(spec: JsonObject, problems: Problems): void {
  const name = textAt(spec, "storageClassName");
  if (name !== "") problems.invalidAll(specPath.child("storageClassName"), name, subdomainErrors(name));
  checkVolumeMode(spec, specPath, problems);
  if (!has(spec, "volumeAttributesClassName")) return;
  const attributes = textAt(spec, "volumeAttributesClassName");
  const place = specPath.child("volumeAttributesClassName");
  if (attributes === "") problems.required(place, "an empty string is disallowed");
  else problems.invalidAll(place, attributes, subdomainErrors(attributes));
  if (!has(spec, "csi")) {
    problems.required(specPath.child("csi"), "has to be specified when using volumeAttributesClassName");
  }
}

function checkChange(spec: JsonObject, before: JsonObject, problems: Problems): void {
  const [now, then] = [sourcesOf(spec, before), sourcesOf(before, before)];
  if (!isSameJson(now, then)) {
    const why = `spec.persistentvolumesource is immutable after creation; ${changedFields(then, now, specPath)}`;
    problems.forbidden(specPath.child("persistentvolumesource"), why);
  }
  const mode = read(spec, "volumeMode") ?? null;
  if (!isSameJson(mode, read(before, "volumeMode") ?? null)) {
    problems.invalid(FieldPath.of("volumeMode"), mode, fieldIsImmutable);
  }
  if (has(before, "volumeAttributesClassName") && !has(spec, "volumeAttributesClassName")) {
    problems.forbidden(specPath.child("volumeAttributesClassName"), "update from non-nil value to nil is forbidden");
  }
}

/** The volume source without the field that may be added later, `controllerExpandSecretRef`. */
function sourcesOf(spec: JsonObject, before: JsonObject): JsonObject {
  const held = Object.fromEntries(Object.entries(spec).filter(([key]) => sources.includes(key)));
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
