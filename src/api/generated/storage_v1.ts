/** The types of storage/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { Quantity, Time } from "../builtin_resource.ts";
import type { ObjectMeta } from "../object.ts";
import type { LabelSelector } from "../selector.ts";
import type { PersistentVolumeSpec, TopologySelectorTerm } from "./core_v1.ts";

export interface CSIDriver {
  readonly kind: "CSIDriver";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: CSIDriverSpec;
}
export interface CSIDriverSpec {
  readonly attachRequired?: boolean;
  readonly podInfoOnMount?: boolean;
  readonly volumeLifecycleModes?: readonly string[];
  readonly storageCapacity?: boolean;
  readonly fsGroupPolicy?: string;
  readonly tokenRequests?: readonly TokenRequest[];
  readonly requiresRepublish?: boolean;
  readonly seLinuxMount?: boolean;
  readonly nodeAllocatableUpdatePeriodSeconds?: number;
  readonly serviceAccountTokenInSecrets?: boolean;
  readonly preventPodSchedulingIfMissing?: boolean;
}
export interface CSINode {
  readonly kind: "CSINode";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: CSINodeSpec;
}
export interface CSINodeDriver {
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys?: readonly string[];
  readonly allocatable?: VolumeNodeResources;
}
export interface CSINodeSpec {
  readonly drivers: readonly CSINodeDriver[];
}
export interface CSIStorageCapacity {
  readonly kind: "CSIStorageCapacity";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly nodeTopology?: LabelSelector;
  readonly storageClassName: string;
  readonly capacity?: Quantity;
  readonly maximumVolumeSize?: Quantity;
}
export interface StorageClass {
  readonly kind: "StorageClass";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly provisioner: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly reclaimPolicy?: "Delete" | "Recycle" | "Retain";
  readonly mountOptions?: readonly string[];
  readonly allowVolumeExpansion?: boolean;
  readonly volumeBindingMode?: "Immediate" | "WaitForFirstConsumer";
  readonly allowedTopologies?: readonly TopologySelectorTerm[];
}
export interface TokenRequest {
  readonly audience: string;
  readonly expirationSeconds?: number;
}
export interface VolumeAttachment {
  readonly kind: "VolumeAttachment";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec: VolumeAttachmentSpec;
  readonly status?: VolumeAttachmentStatus;
}
export interface VolumeAttachmentSource {
  readonly persistentVolumeName?: string;
  readonly inlineVolumeSpec?: PersistentVolumeSpec;
}
export interface VolumeAttachmentSpec {
  readonly attacher: string;
  readonly source: VolumeAttachmentSource;
  readonly nodeName: string;
}
export interface VolumeAttachmentStatus {
  readonly attached: boolean;
  readonly attachmentMetadata?: Readonly<Record<string, string>>;
  readonly attachError?: VolumeError;
  readonly detachError?: VolumeError;
}
export interface VolumeAttributesClass {
  readonly kind: "VolumeAttributesClass";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly driverName: string;
  readonly parameters?: Readonly<Record<string, string>>;
}
export interface VolumeError {
  readonly time?: Time;
  readonly message?: string;
  readonly errorCode?: number;
}
export interface VolumeNodeResources {
  readonly count?: number;
}
