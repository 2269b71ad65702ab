/**
 * Rules of the volume sources that Pods and PersistentVolumes share, those of removed in-tree plugins included: Kubernetes
 * still checks their fields. The texts and their paths are those of pkg/apis/core/validation of Kubernetes 1.36.
 */
import { type JsonObject, utf8Length } from "../../model/mod.ts";
import {
  checkNoParentSteps,
  checkRelativePath,
  type FieldPath,
  labelErrors,
  type Problems,
  rangeErrors,
} from "../rules/mod.ts";
import { booleanAt, findNumber, findObject, has, numberAt, textAt, textMapAt, textsAt } from "../types/mod.ts";

/** What has the source: a volume of a Pod, or a PersistentVolume with its name. */
export type VolumeHolder =
  | { readonly kind: "pod" }
  | { readonly kind: "persistentVolume"; readonly name: string };

type PluginCheck = (source: JsonObject, path: FieldPath, problems: Problems, holder: VolumeHolder) => void;

const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

const iqn = /^iqn\.\d{4}-\d{2}\.([0-9a-zA-Z.-]+)(:[^,;*&$|\s]*)$/;
const eui = /^eui.[0-9a-fA-F]{16}$/;
const naa = /^naa.[0-9a-fA-F]{32}$/;
const maxInitiatorBytes = 64;
const maxTenantBytes = 64;
const hostPortPairs = "must be a host:port pair or multiple pairs separated by commas";

/** Where the errors of a source stand, if not at its own name. */
const checkedAt: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };

/** Where the error of a second source stands, if not at its own name. */
const refusedAt: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };

/** Reports that a volume has a second source. @param path of the volume */
export function refuseSecondSource(source: string, path: FieldPath, problems: Problems): void {
  problems.forbidden(path.child(refusedAt[source] ?? source), "may not specify more than 1 volume type");
}

const plugins: Readonly<Record<string, PluginCheck>> = {
  hostPath: checkHostPath,
  gitRepo(source, path, problems) {
    checkRequired(source, ["repository"], path, problems);
    checkRelativePath(textAt(source, "directory"), path.child("directory"), problems);
  },
  gcePersistentDisk: (source, path, problems) => checkPartition(source, "pdName", path, problems),
  awsElasticBlockStore: (source, path, problems) => checkPartition(source, "volumeID", path, problems),
  glusterfs: checkGlusterfs,
  flocker: checkFlocker,
  nfs: checkNfs,
  rbd(source, path, problems) {
    checkListed(source, "monitors", path, problems);
    checkRequired(source, ["image"], path, problems);
  },
  quobyte: checkQuobyte,
  cephfs: (source, path, problems) => checkListed(source, "monitors", path, problems),
  iscsi: checkIscsi,
  cinder(source, path, problems, holder) {
    checkRequired(source, ["volumeID"], path, problems);
    checkSecret(source, holder, path, problems);
  },
  fc: checkFibreChannel,
  flexVolume: checkFlexVolume,
  azureFile(source, path, problems) {
    checkRequired(source, ["secretName", "shareName"], path, problems);
    if (has(source, "secretNamespace")) checkRequired(source, ["secretNamespace"], path, problems);
  },
  azureDisk: checkAzureDisk,
  vsphereVolume: (source, path, problems) => checkRequired(source, ["volumePath"], path, problems),
  photonPersistentDisk: (source, path, problems) => checkRequired(source, ["pdID"], path, problems),
  portworxVolume: (source, path, problems) => checkRequired(source, ["volumeID"], path, problems),
  scaleIO: (source, path, problems) => checkRequired(source, ["gateway", "system", "volumeName"], path, problems),
  storageos: checkStorageOs,
};

/** Checks a source that Pods and PersistentVolumes share. @param path of the volume */
export function checkVolumePlugin(
  name: string,
  source: JsonObject,
  holder: VolumeHolder,
  path: FieldPath,
  problems: Problems,
): void {
  plugins[name]?.(source, path.child(checkedAt[name] ?? name), problems, holder);
}

function checkRequired(source: JsonObject, keys: readonly string[], path: FieldPath, problems: Problems): void {
  for (const key of keys) if (textAt(source, key) === "") problems.required(path.child(key));
}

function checkListed(source: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  if (textsAt(source, key).length === 0) problems.required(path.child(key));
}

function checkSecret(source: JsonObject, holder: VolumeHolder, path: FieldPath, problems: Problems): void {
  const secret = findObject(source, "secretRef");
  if (secret === undefined) return;
  const keys = holder.kind === "pod" ? ["name"] : ["name", "namespace"];
  checkRequired(secret, keys, path.child("secretRef"), problems);
}

function checkHostPath(source: JsonObject, path: FieldPath, problems: Problems): void {
  const [at, type] = [textAt(source, "path"), textAt(source, "type")];
  if (at === "") return problems.required(path.child("path"));
  checkNoParentSteps(at, path.child("path"), problems);
  if (!hostPathTypes.includes(type)) problems.notSupported(path.child("type"), type, hostPathTypes);
}

function checkPartition(source: JsonObject, id: string, path: FieldPath, problems: Problems): void {
  checkRequired(source, [id], path, problems);
  const partition = numberAt(source, "partition");
  // The real server allows 0 and says that it does not.
  if (partition < 0 || partition > 255) {
    problems.invalidAll(path.child("partition"), partition, rangeErrors(partition, 1, 255));
  }
}

function checkGlusterfs(source: JsonObject, path: FieldPath, problems: Problems): void {
  checkRequired(source, ["endpoints", "path"], path, problems);
  if (!has(source, "endpointsNamespace")) return;
  const namespace = textAt(source, "endpointsNamespace");
  const place = path.child("endpointsNamespace");
  const empty = "if the endpointnamespace is set, it must be a valid namespace name";
  problems.invalidAll(place, namespace, namespace === "" ? [empty] : labelErrors(namespace));
}

function checkFlocker(source: JsonObject, path: FieldPath, problems: Problems): void {
  const [name, uuid] = [textAt(source, "datasetName"), textAt(source, "datasetUUID")];
  if (name === "" && uuid === "") problems.required(path, "one of datasetName and datasetUUID is required");
  if (name !== "" && uuid !== "") {
    problems.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (name.includes("/")) problems.invalid(path.child("datasetName"), name, "must not contain '/'");
}

function checkNfs(source: JsonObject, path: FieldPath, problems: Problems): void {
  const at = textAt(source, "path");
  checkRequired(source, ["server", "path"], path, problems);
  if (!at.startsWith("/")) problems.invalid(path.child("path"), at, "must be an absolute path");
}

function checkQuobyte(source: JsonObject, path: FieldPath, problems: Problems): void {
  const registry = textAt(source, "registry");
  if (registry === "") problems.required(path.child("registry"), hostPortPairs);
  else if (utf8Length(textAt(source, "tenant")) > maxTenantBytes) {
    const why = `must be a UUID and may not exceed a length of ${maxTenantBytes} characters`;
    problems.required(path.child("tenant"), why);
  } else {
    for (const pair of registry.split(",")) {
      if (!isHostPort(pair)) problems.invalid(path.child("registry"), registry, hostPortPairs);
    }
  }
  checkRequired(source, ["volume"], path, problems);
}

/** True when Go's net.SplitHostPort accepts it: one colon, or an address in brackets and a colon. */
function isHostPort(pair: string): boolean {
  return /^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair);
}

function checkIscsi(source: JsonObject, path: FieldPath, problems: Problems, holder: VolumeHolder): void {
  const why = holder.kind === "pod" ? "must be valid format starting with iqn, eui, or naa" : "must be valid format";
  checkRequired(source, ["targetPortal"], path, problems);
  const tooLong = holder.kind === "pod" ? undefined : initiatorError(source, holder.name);
  if (tooLong !== undefined) problems.invalid(path.child("targetportal"), textAt(source, "targetPortal"), tooLong);
  const name = textAt(source, "iqn");
  if (name === "") problems.required(path.child("iqn"));
  else checkIscsiName(name, why, path.child("iqn"), problems);
  const lun = numberAt(source, "lun");
  problems.invalidAll(path.child("lun"), lun, rangeErrors(lun, 0, 255));
  const needsSecret = booleanAt(source, "chapAuthDiscovery") || booleanAt(source, "chapAuthSession");
  if (needsSecret && !has(source, "secretRef")) problems.required(path.child("secretRef"));
  const secret = findObject(source, "secretRef");
  if (secret !== undefined && holder.kind === "persistentVolume") {
    checkRequired(secret, ["name"], path.child("secretRef"), problems);
  }
  if (has(source, "initiatorName")) {
    checkIscsiName(textAt(source, "initiatorName"), why, path.child("initiatorname"), problems);
  }
}

/** The error of an iSCSI volume whose initiator is named after the volume. @param name of the volume */
export function initiatorError(source: JsonObject, name: string): string | undefined {
  if (!has(source, "initiatorName")) return undefined;
  if (utf8Length(`${name}:${textAt(source, "targetPortal")}`) <= maxInitiatorBytes) return undefined;
  return "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
}

function checkIscsiName(name: string, why: string, path: FieldPath, problems: Problems): void {
  const start = name.slice(0, 3);
  if (!["iqn", "eui", "naa"].includes(start)) return problems.invalid(path, name, why);
  const pattern = start === "iqn" ? iqn : start === "eui" ? eui : naa;
  if (!pattern.test(name)) problems.invalid(path, name, "must be valid format");
}

function checkFibreChannel(source: JsonObject, path: FieldPath, problems: Problems): void {
  const [names, ids] = [textsAt(source, "targetWWNs"), textsAt(source, "wwids")];
  const place = path.child("targetWWNs");
  if (names.length === 0 && ids.length === 0) {
    problems.required(place, "must specify either targetWWNs or wwids, but not both");
  }
  if (names.length === 0) return;
  if (ids.length > 0) problems.invalid(place, names, "targetWWNs and wwids can not be specified simultaneously");
  const lun = findNumber(source, "lun");
  if (lun === undefined) problems.required(path.child("lun"), "lun is required if targetWWNs is specified");
  else problems.invalidAll(path.child("lun"), lun, rangeErrors(lun, 0, 255));
}

function checkFlexVolume(source: JsonObject, path: FieldPath, problems: Problems): void {
  checkRequired(source, ["driver"], path, problems);
  for (const key of textMapAt(source, "options").keys()) {
    const namespace = `.${(key.split("/")[0] ?? "").toLowerCase()}`;
    if (!namespace.endsWith(".kubernetes.io") && !namespace.endsWith(".k8s.io")) continue;
    problems.invalid(path.child("options").key(key), key, "kubernetes.io and k8s.io namespaces are reserved");
  }
}

const cachingModes = ["None", "ReadOnly", "ReadWrite"];
const diskKinds = ["Dedicated", "Managed", "Shared"];
const managedDisk = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const blobDisk = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

function checkAzureDisk(source: JsonObject, path: FieldPath, problems: Problems): void {
  checkRequired(source, ["diskName", "diskURI"], path, problems);
  const [mode, kind, uri] = [textAt(source, "cachingMode"), textAt(source, "kind"), textAt(source, "diskURI")];
  if (has(source, "cachingMode") && !cachingModes.includes(mode)) {
    problems.notSupported(path.child("cachingMode"), mode, cachingModes);
  }
  if (!has(source, "kind")) return;
  if (!diskKinds.includes(kind)) problems.notSupported(path.child("kind"), kind, diskKinds);
  const [start, form] = kind === "Managed" ? ["/subscriptions/", managedDisk] : ["https://", blobDisk];
  if (!uri.startsWith(start)) problems.notSupported(path.child("diskURI"), uri, [form]);
}

function checkStorageOs(source: JsonObject, path: FieldPath, problems: Problems, holder: VolumeHolder): void {
  const [name, namespace] = [textAt(source, "volumeName"), textAt(source, "volumeNamespace")];
  if (name === "") problems.required(path.child("volumeName"));
  else problems.invalidAll(path.child("volumeName"), name, labelErrors(name));
  if (namespace !== "") problems.invalidAll(path.child("volumeNamespace"), namespace, labelErrors(namespace));
  checkSecret(source, holder, path, problems);
}
