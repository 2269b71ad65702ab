/**
 * Rules of the volumes of Pods, projected volumes included. What PersistentVolumes share is in volume_plugins.ts.
 */
import type { JsonObject } from "../../model/mod.ts";
import { checkFilePath, checkSelector, type FieldPath, labelErrors, Problems, subdomainErrors } from "../rules/mod.ts";
import { compareQuantities, findNumber, findObject, has, objectAt, objectsAt, textAt } from "../types/mod.ts";
import { checkClaimTemplate } from "./claim_spec.ts";
import { checkFieldRef, checkResourceRef } from "./env.ts";
import { checkVolumePlugin, initiatorError, refuseSecondSource } from "./volume_plugins.ts";

/** The volume sources, in the order in which they are checked. */
const volumeSources = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
];

const pullPolicies = ["Always", "IfNotPresent", "Never"];
const maxMode = 0o777;
const badMode = "must be a number between 0 and 0777 (octal), both inclusive";

const downwardFields = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];

/** The owner of the volumes. */
interface VolumeOwner {
  /** The name of the Pod; "" for a template. */
  readonly podName: string;
  readonly isPod: boolean;
}

/** Checks the volumes of a Pod. @returns the valid volumes, by name */
export function checkVolumes(
  spec: JsonObject,
  owner: VolumeOwner,
  path: FieldPath,
  problems: Problems,
): ReadonlyMap<string, JsonObject> {
  const volumes = objectsAt(spec, "volumes");
  const right = new Map<string, JsonObject>();
  const made = new Set(
    volumes.filter((volume) => has(volume, "ephemeral")).map((volume) => `${owner.podName}-${textAt(volume, "name")}`),
  );
  volumes.forEach((volume, index) => {
    const place = path.index(index);
    const own = new Problems();
    const name = textAt(volume, "name");
    checkSource(volume, owner, place, own);
    if (name === "") own.required(place.child("name"));
    else own.invalidAll(place.child("name"), name, labelErrors(name));
    if (right.has(name)) own.duplicate(place.child("name"), name);
    if (own.count === 0) right.set(name, volume);
    problems.add(own.list);
    const claim = textAt(objectAt(volume, "persistentVolumeClaim"), "claimName");
    if (owner.podName !== "" && claim !== "" && made.has(claim)) {
      const why = "must not reference a PVC that gets created for an ephemeral volume";
      problems.invalid(place.child("persistentVolumeClaim", "claimName"), claim, why);
    }
  });
  return right;
}

function checkSource(volume: JsonObject, owner: VolumeOwner, path: FieldPath, problems: Problems): void {
  const given = volumeSources.filter((kind) => findObject(volume, kind) !== undefined);
  given.forEach((kind, index) => {
    if (index > 0) refuseSecondSource(kind, path, problems);
    else checkKind(kind, findObject(volume, kind) ?? {}, owner, path, problems);
    const why = kind === "iscsi" ? initiatorError(objectAt(volume, kind), textAt(volume, "name")) : undefined;
    if (why !== undefined) problems.invalid(path.child("name"), textAt(volume, "name"), why);
  });
  if (given.length === 0) problems.required(path, "must specify a volume type");
  if (given[0] !== "ephemeral" || owner.podName === "") return;
  const claim = `${owner.podName}-${textAt(volume, "name")}`;
  for (const error of subdomainErrors(claim)) {
    problems.invalid(path.child("name"), textAt(volume, "name"), `PVC name "${claim}": ${error}`);
  }
}

/** @param volumePath of the volume */
function checkKind(
  kind: string,
  source: JsonObject,
  owner: VolumeOwner,
  volumePath: FieldPath,
  problems: Problems,
): void {
  const path = volumePath.child(kind);
  switch (kind) {
    case "emptyDir":
      return checkEmptyDir(source, path, problems);
    case "secret":
    case "configMap":
      return checkKeys(source, kind === "secret" ? "secretName" : "name", path, problems);
    case "downwardAPI":
      checkMode(source, "defaultMode", path, problems);
      for (const file of objectsAt(source, "items")) checkDownwardFile(file, path, problems);
      return;
    case "projected":
      checkMode(source, "defaultMode", path, problems);
      return checkProjected(source, path, problems);
    case "persistentVolumeClaim":
      if (textAt(source, "claimName") === "") problems.required(path.child("claimName"));
      return;
    case "csi":
      return checkCsi(source, path, problems);
    case "ephemeral":
      return checkEphemeral(source, path, problems);
    case "image":
      return checkImage(source, owner, path, problems);
    default:
      return checkVolumePlugin(kind, source, { kind: "pod" }, volumePath, problems);
  }
}

function checkEmptyDir(source: JsonObject, path: FieldPath, problems: Problems): void {
  const limit = textAt(source, "sizeLimit");
  if (limit !== "" && compareQuantities(limit, "0") < 0) {
    problems.forbidden(path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
  }
}

/** Checks the name of a CSI driver. */
export function checkDriverName(name: string, path: FieldPath, problems: Problems): void {
  if (name === "") return problems.required(path);
  if (name.length > 63) problems.tooLong(path, 63);
  problems.invalidAll(path, name, subdomainErrors(name.toLowerCase()));
}

function checkCsi(source: JsonObject, path: FieldPath, problems: Problems): void {
  checkDriverName(textAt(source, "driver"), path.child("driver"), problems);
  const secret = findObject(source, "nodePublishSecretRef");
  if (secret === undefined) return;
  const name = textAt(secret, "name");
  if (name === "") problems.required(path.child("nodePublishSecretRef", "name"));
  else problems.invalidAll(path.child("name"), name, subdomainErrors(name));
}

function checkEphemeral(source: JsonObject, path: FieldPath, problems: Problems): void {
  const template = findObject(source, "volumeClaimTemplate");
  if (template === undefined) problems.required(path.child("volumeClaimTemplate"));
  else checkClaimTemplate(template, path.child("volumeClaimTemplate"), problems);
}

function checkImage(source: JsonObject, owner: VolumeOwner, path: FieldPath, problems: Problems): void {
  if (owner.isPod && textAt(source, "reference") === "") problems.required(path.child("reference"));
  const policy = textAt(source, "pullPolicy");
  if (!pullPolicies.includes(policy)) problems.notSupported(path.child("pullPolicy"), policy, pullPolicies);
}

/** Checks files from a ConfigMap or a Secret. @param nameKey the field with its name */
function checkKeys(source: JsonObject, nameKey: string, path: FieldPath, problems: Problems): void {
  if (textAt(source, nameKey) === "") problems.required(path.child(nameKey));
  checkMode(source, "defaultMode", path, problems);
  objectsAt(source, "items").forEach((item, index) => checkKeyToPath(item, path.child("items").index(index), problems));
}

/** Checks a file from one key. */
function checkKeyToPath(item: JsonObject, path: FieldPath, problems: Problems): void {
  const [key, file] = [textAt(item, "key"), textAt(item, "path")];
  if (key === "") problems.required(path.child("key"));
  if (file === "") problems.required(path.child("path"));
  checkFilePath(file, path.child("path"), problems);
  checkMode(item, "mode", path, problems);
}

/** Checks a file from a field of the Pod. */
function checkDownwardFile(file: JsonObject, path: FieldPath, problems: Problems): void {
  const at = textAt(file, "path");
  if (at === "") problems.required(path.child("path"));
  checkFilePath(at, path.child("path"), problems);
  const [field, resource] = [findObject(file, "fieldRef"), findObject(file, "resourceFieldRef")];
  if (field !== undefined) {
    checkFieldRef(field, downwardFields, path.child("fieldRef"), problems);
    if (resource !== undefined) {
      problems.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (resource !== undefined) checkResourceRef(resource, true, path.child("resourceFieldRef"), problems);
  else problems.required(path, "one of fieldRef and resourceFieldRef is required");
  checkMode(file, "mode", path, problems);
}

function checkMode(holder: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  const mode = findNumber(holder, key);
  if (mode !== undefined && (mode > maxMode || mode < 0)) problems.invalid(path.child(key), mode, badMode);
}

const projectedSources = [
  "secret",
  "configMap",
  "downwardAPI",
  "serviceAccountToken",
  "clusterTrustBundle",
  "podCertificate",
];

const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;
const conflicting = "conflicting duplicate paths";

/** Checks the sources of a projected volume. */
function checkProjected(volume: JsonObject, path: FieldPath, problems: Problems): void {
  const paths = new Set<string>();
  /** @param shown the value in the error when two files have the same path */
  const take = (file: string, shown: string) => {
    if (file === "") return;
    if (paths.has(file)) problems.invalid(path, shown, conflicting);
    paths.add(file);
  };
  objectsAt(volume, "sources").forEach((source, index) => {
    const place = path.child("sources").index(index);
    const given = projectedSources.filter((kind) => findObject(source, kind) !== undefined);
    for (const kind of given) {
      checkProjectedSource(
        kind,
        findObject(source, kind) ?? {},
        { path: place.child(kind), volumePath: path, take },
        problems,
      );
    }
    if (given.length > 1) problems.forbidden(place, "may not specify more than 1 volume type per source");
  });
}

interface ProjectedPlace {
  readonly path: FieldPath;
  readonly volumePath: FieldPath;
  take(file: string, shown: string): void;
}

function checkProjectedSource(kind: string, source: JsonObject, place: ProjectedPlace, problems: Problems): void {
  switch (kind) {
    case "secret":
    case "configMap":
      return checkProjectedKeys(source, place, problems);
    case "downwardAPI":
      for (const file of objectsAt(source, "items")) {
        checkDownwardFile(file, place.path, problems);
        place.take(textAt(file, "path"), textAt(file, "path"));
      }
      return;
    case "serviceAccountToken":
      return checkToken(source, place, problems);
    case "clusterTrustBundle":
      return checkTrustBundle(source, place, problems);
    default:
      return checkCertificate(source, place, problems);
  }
}

function checkProjectedKeys(source: JsonObject, place: ProjectedPlace, problems: Problems): void {
  const name = textAt(source, "name");
  if (name === "") problems.required(place.path.child("name"));
  objectsAt(source, "items").forEach((item, index) => {
    checkKeyToPath(item, place.path.child("items").index(index), problems);
    place.take(textAt(item, "path"), name);
  });
}

function checkToken(source: JsonObject, { path, volumePath }: ProjectedPlace, problems: Problems): void {
  const seconds = findNumber(source, "expirationSeconds") ?? 0;
  const place = path.child("expirationSeconds");
  if (seconds < minTokenSeconds) problems.invalid(place, seconds, "may not specify a duration less than 10 minutes");
  if (seconds > maxTokenSeconds) {
    problems.invalid(place, seconds, "may not specify a duration larger than 2^32 seconds");
  }
  const file = textAt(source, "path");
  if (file === "") problems.required(volumePath.child("path"));
  else checkFilePath(file, volumePath.child("path"), problems);
}

function checkTrustBundle(source: JsonObject, place: ProjectedPlace, problems: Problems): void {
  const { path } = place;
  const [name, signer] = [textAt(source, "name"), textAt(source, "signerName")];
  if (has(source, "name") && has(source, "signerName")) {
    problems.invalid(path, source, "only one of name and signerName may be used");
  } else if (has(source, "name")) {
    if (name === "") problems.required(path.child("name"), "must be a valid object name");
    for (const error of subdomainErrors(name)) {
      problems.invalid(path.child("name"), name, `not a valid clustertrustbundlename: ${error}`);
    }
  } else if (has(source, "signerName")) {
    if (signer === "") problems.required(path.child("signerName"), "must be a valid signer name");
    checkSelector(findObject(source, "labelSelector"), path.child("labelSelector"), problems);
  } else problems.required(path, "either name or signerName must be specified");
  const file = textAt(source, "path");
  if (file === "") problems.required(path.child("path"));
  checkFilePath(file, path.child("path"), problems);
  place.take(file, file);
}

const keyTypes = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

function checkCertificate(source: JsonObject, place: ProjectedPlace, problems: Problems): void {
  const { path } = place;
  const type = textAt(source, "keyType");
  if (!keyTypes.includes(type)) problems.notSupported(path.child("keyType"), type, keyTypes);
  const keys = ["credentialBundlePath", "keyPath", "certificateChainPath"];
  for (const key of keys) {
    const file = textAt(source, key);
    if (file === "") continue;
    checkFilePath(file, path.child(key), problems);
    place.take(file, file);
  }
  if (keys.every((key) => textAt(source, key) === "")) {
    problems.required(path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
  }
}
