/**
 * Rules of the specs of PersistentVolumes, which VolumeAttachments may contain as well. The texts are those of
 * pkg/apis/core/validation of Kubernetes 1.36.
 */
import { type JsonObject, read } from "../../model/mod.ts";
import {
  checkAccessModes,
  checkDriverName,
  checkNodeSelector,
  checkVolumeMode,
  checkVolumePlugin,
  refuseSecondSource,
} from "../pods/mod.ts";
import { checkNoParentSteps, type FieldPath, labelErrors, type Problems, subdomainErrors } from "../rules/mod.ts";
import { compareQuantities, findObject, has, integerOf, objectAt, textAt, textMapAt } from "../types/mod.ts";

const reclaimPolicies = ["Delete", "Recycle", "Retain"];
const inline = "in the context of inline volumes";
const notInline = `may not be specified ${inline}`;

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

/** What the spec of a volume belongs to. */
export interface VolumeSpecOwner {
  /** The name of the PersistentVolume; "" for an inline volume. */
  readonly name: string;
  /** True when the old volume has an invalid label value in its affinity. @default false */
  readonly allowsInvalidValues?: boolean;
}

/** The volume sources of a spec. */
export function sourcesOf(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => sources.includes(key)));
}

/** Checks the spec of a PersistentVolume. */
export function checkVolumeSpec(spec: JsonObject, owner: VolumeSpecOwner, path: FieldPath, problems: Problems): void {
  checkAccessModes(spec, "", path, problems);
  checkSpecCapacity(spec, path, problems);
  const policy = textAt(spec, "persistentVolumeReclaimPolicy");
  const policyPath = path.child("persistentVolumeReclaimPolicy");
  if (policy !== "" && !reclaimPolicies.includes(policy)) problems.notSupported(policyPath, policy, reclaimPolicies);
  const affinity = findObject(spec, "nodeAffinity");
  if (affinity !== undefined) checkAffinity(affinity, owner, path.child("nodeAffinity"), problems);
  checkSources(spec, owner, path, problems);
  checkRecycled(spec, path, problems);
  const name = textAt(spec, "storageClassName");
  if (name !== "") problems.invalidAll(path.child("storageClassName"), name, subdomainErrors(name));
  checkVolumeMode(spec, path, problems);
  if (!has(spec, "volumeAttributesClassName")) return;
  const attributes = textAt(spec, "volumeAttributesClassName");
  const place = path.child("volumeAttributesClassName");
  if (attributes === "") problems.required(place, "an empty string is disallowed");
  else problems.invalidAll(place, attributes, subdomainErrors(attributes));
  if (!has(spec, "csi")) {
    problems.required(path.child("csi"), "has to be specified when using volumeAttributesClassName");
  }
}

/** Checks the spec of a volume that a VolumeAttachment contains: only CSI, without what concerns a claim. */
export function checkInlineVolumeSpec(spec: JsonObject, path: FieldPath, problems: Problems): void {
  if (has(spec, "claimRef")) problems.forbidden(path.child("claimRef"), notInline);
  if (textMapAt(spec, "capacity").size > 0) problems.forbidden(path.child("capacity"), notInline);
  if (!has(spec, "csi")) problems.required(path.child("csi"), `has to be specified ${inline}`);
  checkAccessModes(spec, "", path, problems);
  const policy = textAt(spec, "persistentVolumeReclaimPolicy");
  if (policy !== "" && policy !== "Retain") {
    problems.forbidden(path.child("persistentVolumeReclaimPolicy"), `may only be Retain ${inline}`);
  }
  if (has(spec, "nodeAffinity")) problems.forbidden(path.child("nodeAffinity"), notInline);
  checkSources(spec, { name: "" }, path, problems, true);
  checkRecycled(spec, path, problems);
  if (textAt(spec, "storageClassName") !== "") problems.forbidden(path.child("storageClassName"), notInline);
  if (has(spec, "volumeMode") && textAt(spec, "volumeMode") !== "Filesystem") {
    problems.forbidden(path.child("volumeMode"), `may not specify volumeMode other than Filesystem ${inline}`);
  }
}

function checkSpecCapacity(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const capacity = textMapAt(spec, "capacity");
  const place = path.child("capacity");
  if (capacity.size === 0) problems.required(place);
  if (!capacity.has("storage") || capacity.size > 1) {
    problems.notSupported(place, read(spec, "capacity") ?? null, ["storage"]);
  }
  for (const [name, amount] of capacity) {
    checkBasicAmount(amount, place.key(name), problems);
    if (compareQuantities(amount, "0") <= 0) problems.invalid(place.key(name), amount, "must be greater than zero");
  }
}

/** Checks that amounts are not negative. */
export function checkCapacity(holder: JsonObject, place: FieldPath, problems: Problems): void {
  for (const [name, amount] of textMapAt(holder, "capacity")) checkBasicAmount(amount, place.key(name), problems);
}

function checkBasicAmount(amount: string, place: FieldPath, problems: Problems): void {
  if (compareQuantities(amount, "0") >= 0) return;
  problems.invalid(place, integerOf(amount), "must be a valid resource quantity");
}

function checkAffinity(affinity: JsonObject, owner: VolumeSpecOwner, place: FieldPath, problems: Problems): void {
  const required = findObject(affinity, "required");
  if (required === undefined) problems.required(place.child("required"), "must specify required node constraints");
  else checkNodeSelector(required, place.child("required"), problems, owner.allowsInvalidValues);
}

function checkSources(
  spec: JsonObject,
  owner: VolumeSpecOwner,
  path: FieldPath,
  problems: Problems,
  isInline = false,
): void {
  const present = sources.filter((source) => has(spec, source));
  present.forEach((source, index) => {
    // A flexVolume may be the second, as in kube-apiserver.
    if (index > 0 && source !== "flexVolume") refuseSecondSource(source, path, problems);
    else checkSource(source, spec, owner, path, problems, isInline);
  });
  if (present.length === 0) problems.required(path, "must specify a volume type");
}

function checkSource(
  source: string,
  spec: JsonObject,
  owner: VolumeSpecOwner,
  path: FieldPath,
  problems: Problems,
  isInline: boolean,
): void {
  const held = objectAt(spec, source);
  const place = path.child(source);
  switch (source) {
    case "csi":
      return checkCsi(held, place, problems);
    case "local":
      if (textAt(held, "path") === "") problems.required(place.child("path"));
      else checkNoParentSteps(textAt(held, "path"), place.child("path"), problems);
      if (isInline || !has(spec, "nodeAffinity")) {
        problems.required(path.child("nodeAffinity"), "Local volume requires node affinity");
      }
      return;
    default:
      return checkVolumePlugin(source, held, { kind: "persistentVolume", name: owner.name }, path, problems);
  }
}

const secrets = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
];

function checkCsi(csi: JsonObject, place: FieldPath, problems: Problems): void {
  checkDriverName(textAt(csi, "driver"), place.child("driver"), problems);
  if (textAt(csi, "volumeHandle") === "") problems.required(place.child("volumeHandle"));
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

function checkRecycled(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const isRecycled = textAt(spec, "persistentVolumeReclaimPolicy") === "Recycle";
  if (!isRecycled || !isRoot(textAt(objectAt(spec, "hostPath"), "path"))) return;
  const why = "may not be 'recycle' for a hostPath mount of '/'";
  problems.forbidden(path.child("persistentVolumeReclaimPolicy"), why);
}

/** True when Go's path.Clean makes it `/`. */
function isRoot(path: string): boolean {
  if (!path.startsWith("/")) return false;
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return steps.length === 0;
}
