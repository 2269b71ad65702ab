/** Errors of PersistentVolumes, and of the volumes of Pods that share their sources, for invalid_storage.ts. */
import type { ConformanceCase } from "../conformance_case.ts";
import { type MutatedKind, type Mutation, mutationCases } from "./_mutations.ts";
import { at, type Body, pod } from "./_objects.ts";

const secretRef = { name: "", namespace: "" };

/** Sources of removed plugins, of Fibre Channel and iSCSI: a valid one and one with errors, or several. */
const sources: readonly (readonly [name: string, source: Body])[] = [
  ["gcePersistentDisk", { pdName: "", partition: 300 }],
  ["gcePersistentDisk", { pdName: "a", partition: 0 }],
  ["awsElasticBlockStore", { partition: -1 }],
  ["glusterfs", {}],
  ["flocker", {}],
  ["flocker", { datasetName: "a/b", datasetUUID: "c" }],
  ["rbd", {}],
  ["rbd", { monitors: ["a"], image: "b", secretRef }],
  ["quobyte", { registry: "a", volume: "" }],
  ["quobyte", { registry: "a:1,[::1]:2,b:c:d", volume: "v" }],
  ["quobyte", { registry: "a:1", volume: "v", tenant: "t".repeat(65) }],
  ["quobyte", {}],
  ["cephfs", {}],
  ["iscsi", { targetPortal: "", iqn: "x", lun: 256, chapAuthSession: true }],
  ["iscsi", { targetPortal: "1.2.3.4", iqn: "iqn.bad", lun: -1, initiatorName: "eui.x" }],
  ["iscsi", {
    targetPortal: "1.2.3.4".repeat(10),
    iqn: "naa.12345678901234567890123456789012",
    lun: 0,
    initiatorName: "",
  }],
  ["iscsi", { targetPortal: "1.2.3.4", iqn: "", lun: 0, secretRef: { name: "" } }],
  ["cinder", { secretRef }],
  ["fc", {}],
  ["fc", { targetWWNs: ["a"] }],
  ["fc", { targetWWNs: ["a"], wwids: ["b"], lun: 256 }],
  ["flexVolume", { options: { "a.kubernetes.io/b": "c" } }],
  ["flexVolume", { driver: "a/b", options: { "K8S.io": "c" } }],
  ["azureFile", {}],
  ["azureDisk", {}],
  ["azureDisk", { diskName: "a", diskURI: "b", cachingMode: "Fast", kind: "Managed" }],
  ["azureDisk", { diskName: "a", diskURI: "b", kind: "Odd" }],
  ["vsphereVolume", {}],
  ["photonPersistentDisk", {}],
  ["portworxVolume", {}],
  ["scaleIO", {}],
  ["storageos", { secretRef }],
  ["storageos", { volumeName: "Bad_Name", volumeNamespace: "a.b" }],
  ["nfs", { server: "", path: "relative" }],
  ["hostPath", { path: "/a/../b", type: "Tape" }],
];

/** Sources that only PersistentVolumes have in this form. */
const ofVolumes: readonly (readonly [name: string, source: Body])[] = [
  ["glusterfs", { endpoints: "a", path: "b", endpointsNamespace: "" }],
  ["glusterfs", { endpoints: "a", path: "b", endpointsNamespace: "a.b" }],
  ["azureFile", { secretName: "a", shareName: "b", secretNamespace: "" }],
  ["local", {}],
  ["local", { path: "../a" }],
  ["csi", { driver: "a.example", volumeHandle: "x", controllerPublishSecretRef: secretRef }],
  ["csi", { driver: "a.example", volumeHandle: "x", nodeExpandSecretRef: { name: "A", namespace: "B" } }],
];

const capacity = { storage: "1Gi" };
const affinity = (expression: Body): Body => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] },
});

const volume: MutatedKind = {
  what: "a PersistentVolume",
  path: () => "/api/v1/persistentvolumes",
  good: (run) => ({
    metadata: { name: run.name("volume") },
    spec: {
      capacity,
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      csi: { driver: "a.example", volumeHandle: "x" },
    },
  }),
  creates: [
    { "spec.capacity": { storage: "-1" } },
    { "spec.capacity": { storage: "-1.5Gi" } },
    { "spec.capacity": { storage: "1", cpu: "1" } },
    { "spec.capacity": { cpu: "1" } },
    { "spec.capacity": undefined },
    { "spec.accessModes": undefined },
    { "spec.accessModes": ["ReadWriteOncePod", "ReadOnlyMany", "Other"] },
    { "spec.persistentVolumeReclaimPolicy": "" },
    { "spec.nodeAffinity": affinity({ key: "a", operator: "In", values: ["bad value"] }) },
    { "spec.nodeAffinity": affinity({ key: "bad key", operator: "Gt", values: [] }) },
    { "spec.nodeAffinity": { required: { nodeSelectorTerms: [] } } },
    { "spec.volumeAttributesClassName": "" },
    { "spec.volumeAttributesClassName": "Bad_Name" },
    ["a class of attributes and another source", {
      "spec.csi": undefined,
      "spec.nfs": { server: "a", path: "/" },
      "spec.volumeAttributesClassName": "a",
    }],
    { "spec.flexVolume": {} },
    { "spec.cephfs": { monitors: ["a"] } },
    { "spec.gcePersistentDisk": { pdName: "a" } },
    { "spec.csi": undefined },
    { "spec.mountOptions": ["ro", ""] },
    { "metadata.annotations": { "volume.beta.kubernetes.io/mount-options": "ro" } },
    { "metadata.name": "Bad_Name" },
    ["a root that is recycled", {
      "spec.csi": undefined,
      "spec.hostPath": { path: "//./" },
      "spec.persistentVolumeReclaimPolicy": "Recycle",
    }],
    { "spec.claimRef": {} },
    ...[...sources, ...ofVolumes].map(([name, source]): Mutation => [
      `${name} ${JSON.stringify(source)}`,
      { "spec.csi": undefined, [`spec.${name}`]: source },
    ]),
  ],
  updates: [
    { "spec.csi.volumeHandle": "y" },
    { "spec.csi.controllerExpandSecretRef": { name: "a", namespace: "b" } },
    { "spec.csi.nodeExpandSecretRef": { name: "a", namespace: "b" } },
    { "spec.volumeMode": "Block" },
    { "spec.volumeMode": "Tape" },
    { "spec.capacity": { storage: "2Gi" } },
    { "spec.capacity": { storage: "0" } },
    { "spec.accessModes": [] },
    { "spec.persistentVolumeReclaimPolicy": "Burn" },
    { "spec.storageClassName": "Bad_Name" },
    { "spec.volumeAttributesClassName": "gold" },
    { "spec.volumeAttributesClassName": "" },
    { "spec.nodeAffinity": affinity({ key: "a", operator: "In", values: ["bad value"] }) },
    { "spec.nfs": { server: "a", path: "/" } },
    { "spec.csi": undefined },
    { "metadata.annotations": { "volume.beta.kubernetes.io/mount-options": "ro" } },
    { "metadata.resourceVersion": undefined },
  ],
  // Then kube-controller-manager writes no more.
  isSettled: (object) => Object(object.status).phase === "Available",
  traits: { needsControllers: true, needsNamespace: false },
  statusUpdates: [{ status: { phase: "Odd" } }, { "spec.capacity": {} }, { "metadata.resourceVersion": undefined }],
};

const affine: MutatedKind = {
  ...volume,
  what: "a PersistentVolume with an affinity",
  good: (run) => ({
    metadata: { name: run.name("affine") },
    spec: {
      capacity,
      accessModes: ["ReadWriteOnce"],
      local: { path: "/a" },
      volumeMode: "Block",
      nodeAffinity: affinity({ key: "beta.kubernetes.io/os", operator: "In", values: ["b"] }),
    },
  }),
  creates: [],
  updates: [
    { "spec.nodeAffinity": affinity({ key: "a", operator: "In", values: ["c"] }) },
    { "spec.nodeAffinity": affinity({ key: "kubernetes.io/os", operator: "In", values: ["b"] }) },
    { "spec.nodeAffinity": undefined },
    { "spec.nodeAffinity": {} },
    { "spec.local.path": "" },
  ],
  statusUpdates: [],
};

const podVolume: MutatedKind = {
  what: "a Pod",
  path: (run) => at(run, "pods"),
  good: () => pod("a"),
  creates: [
    ...sources.map(([name, source]): Mutation => [
      `a volume of ${name} ${JSON.stringify(source)}`,
      { "spec.volumes": [{ name: "v", [name]: source }] },
    ]),
    { "spec.volumes": [{ name: "v", emptyDir: {}, cephfs: {}, downwardAPI: {}, gcePersistentDisk: {} }] },
    { "spec.volumes": [{ name: "v", gitRepo: { repository: "", directory: "/a/.." } }] },
    { "spec.volumes": [{ name: "v", quobyte: { registry: "a:1", volume: "v" }, fc: { wwids: ["a"] } }] },
  ],
  traits: { needsAccount: true },
};

export const volumeCases: readonly ConformanceCase[] = [volume, affine, podVolume].flatMap(mutationCases);
