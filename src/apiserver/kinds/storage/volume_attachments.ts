/** VolumeAttachments: rules and table row. The texts are those of pkg/apis/storage/validation of Kubernetes 1.36. */
import { isSameJson, type Json, type JsonObject, read, utf8Length } from "../../model/mod.ts";
import { checkInlineVolumeSpec } from "../core/mod.ts";
import { checkDriverName } from "../pods/mod.ts";
import {
  ageCell,
  booleanCell,
  fieldIsImmutable,
  FieldPath,
  type KindRules,
  maxInt32,
  nameCell,
  type Problems,
  rangeErrors,
  type Row,
  rowOf,
  subdomainErrors,
  textCell,
} from "../rules/mod.ts";
import { findNumber, findObject, has, objectAt, textAt, textMapAt } from "../types/mod.ts";

const specPath = FieldPath.of("spec");
const statusPath = FieldPath.of("status");
const maxMetadataBytes = 256 * 1024;
const maxMessageBytes = 1024;
const exactlyOne = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

/** VolumeAttachment. */
export const volumeAttachmentRules: KindRules = {
  depth: "full",
  statusMetadata: "none",
  allowsUnconditionalUpdate: false,
  validate: checkAttachment,
  validateUpdate: checkChange,
  validateStatus: checkChange,
};

function checkChange(attachment: JsonObject, old: JsonObject, problems: Problems): void {
  checkAttachment(attachment, problems);
  const [now, then] = [shownSpec(objectAt(attachment, "spec")), shownSpec(objectAt(old, "spec"))];
  if (!isSameJson(now, then)) problems.invalidStruct(specPath, now, fieldIsImmutable);
}

function checkAttachment(attachment: JsonObject, problems: Problems): void {
  const spec = objectAt(attachment, "spec");
  checkDriverName(textAt(spec, "attacher"), specPath.child("attacher"), problems);
  const source = objectAt(spec, "source");
  checkSource(source, specPath.child("source"), problems);
  const node = textAt(spec, "nodeName");
  problems.invalidAll(specPath.child("nodeName"), node, subdomainErrors(node));
  checkStatus(objectAt(attachment, "status"), problems);
  if (!has(source, "persistentVolumeName")) return;
  const volume = textAt(source, "persistentVolumeName");
  problems.invalidAll(specPath.child("source", "persistentVolumeName"), volume, subdomainErrors(volume));
}

function checkSource(source: JsonObject, path: FieldPath, problems: Problems): void {
  const inline = findObject(source, "inlineVolumeSpec");
  const isNamed = has(source, "persistentVolumeName");
  if (inline === undefined && !isNamed) return problems.required(path, exactlyOne);
  if (inline !== undefined && isNamed) return problems.forbidden(path, exactlyOne);
  if (inline !== undefined) return checkInlineVolumeSpec(inline, path.child("inlineVolumeSpec"), problems);
  if (textAt(source, "persistentVolumeName") !== "") return;
  problems.required(path.child("persistentVolumeName"), "must specify non empty persistentVolumeName");
}

function checkStatus(status: JsonObject, problems: Problems): void {
  let bytes = 0;
  for (const [key, value] of textMapAt(status, "attachmentMetadata")) bytes += utf8Length(key) + utf8Length(value);
  if (bytes > maxMetadataBytes) problems.tooLong(statusPath.child("attachmentMetadata"), maxMetadataBytes);
  for (const key of ["attachError", "detachError"]) {
    const error = findObject(status, key);
    if (error === undefined) continue;
    // The message names the limit of the metadata, as that of kube-apiserver.
    const isTooLong = utf8Length(textAt(error, "message")) > maxMessageBytes;
    if (isTooLong) problems.tooLong(statusPath.child(key, "message"), maxMetadataBytes);
    const code = findNumber(error, "errorCode");
    if (code !== undefined && code < 0) {
      problems.invalidAll(statusPath.child(key, "errorCode"), code, rangeErrors(code, 0, maxInt32));
    }
  }
}

/** The spec in the form of the Go type, as the error of a change shows it. */
function shownSpec(spec: JsonObject): JsonObject {
  const source = objectAt(spec, "source");
  const inline = findObject(source, "inlineVolumeSpec");
  return {
    Attacher: textAt(spec, "attacher"),
    Source: {
      PersistentVolumeName: read(source, "persistentVolumeName") ?? null,
      InlineVolumeSpec: inline === undefined ? null : shownVolume(inline),
    },
    NodeName: textAt(spec, "nodeName"),
  };
}

/** The names of volume sources in Go, in their order. */
const sources = {
  GCEPersistentDisk: "gcePersistentDisk",
  AWSElasticBlockStore: "awsElasticBlockStore",
  HostPath: "hostPath",
  Glusterfs: "glusterfs",
  NFS: "nfs",
  RBD: "rbd",
  Quobyte: "quobyte",
  ISCSI: "iscsi",
  FlexVolume: "flexVolume",
  Cinder: "cinder",
  CephFS: "cephfs",
  FC: "fc",
  Flocker: "flocker",
  AzureFile: "azureFile",
  VsphereVolume: "vsphereVolume",
  AzureDisk: "azureDisk",
  PhotonPersistentDisk: "photonPersistentDisk",
  PortworxVolume: "portworxVolume",
  ScaleIO: "scaleIO",
  Local: "local",
  StorageOS: "storageos",
} as const;

/** A spec whose source is CSI, which it always is in a valid object. */
function shownVolume(spec: JsonObject): JsonObject {
  const csi = findObject(spec, "csi");
  const others = Object.entries(sources).map(([name, key]) => [name, read(spec, key) ?? null] as const);
  return {
    Capacity: read(spec, "capacity") ?? null,
    ...Object.fromEntries(others),
    CSI: csi === undefined ? null : shownCsi(csi),
    AccessModes: read(spec, "accessModes") ?? null,
    ClaimRef: read(spec, "claimRef") ?? null,
    PersistentVolumeReclaimPolicy: textAt(spec, "persistentVolumeReclaimPolicy"),
    StorageClassName: textAt(spec, "storageClassName"),
    MountOptions: read(spec, "mountOptions") ?? null,
    VolumeMode: read(spec, "volumeMode") ?? null,
    NodeAffinity: read(spec, "nodeAffinity") ?? null,
    VolumeAttributesClassName: read(spec, "volumeAttributesClassName") ?? null,
  };
}

function shownCsi(csi: JsonObject): JsonObject {
  return {
    Driver: textAt(csi, "driver"),
    VolumeHandle: textAt(csi, "volumeHandle"),
    ReadOnly: read(csi, "readOnly") === true,
    FSType: textAt(csi, "fsType"),
    VolumeAttributes: read(csi, "volumeAttributes") ?? null,
    ControllerPublishSecretRef: shownSecret(csi, "controllerPublishSecretRef"),
    NodeStageSecretRef: shownSecret(csi, "nodeStageSecretRef"),
    NodePublishSecretRef: shownSecret(csi, "nodePublishSecretRef"),
    ControllerExpandSecretRef: shownSecret(csi, "controllerExpandSecretRef"),
    NodeExpandSecretRef: shownSecret(csi, "nodeExpandSecretRef"),
  };
}

function shownSecret(csi: JsonObject, key: string): Json {
  const secret = findObject(csi, key);
  return secret === undefined ? null : { Name: textAt(secret, "name"), Namespace: textAt(secret, "namespace") };
}

/** The cells of a VolumeAttachment. */
export const volumeAttachmentRow: Row = rowOf(
  nameCell,
  textCell("spec.attacher"),
  textCell("spec.source.persistentVolumeName"),
  textCell("spec.nodeName"),
  booleanCell("status.attached"),
  ageCell,
);
